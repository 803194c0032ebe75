"""`steer cost`: what models were paid for, as a table or as JSON."""

import click
import msgspec

from steersman.host import costs
from steersman.host.costs import Account
from steersman.ports.cli.options import json_flag, open_host
from steersman.records.bill import Grouping
from steersman.records.counting import counted
from steersman.records.errors import UsageProblem
from steersman.views.bills import table

EVERY = ""


@click.command()
@click.option(
    "--thread",
    "thread",
    metavar="[ID]",
    is_flag=False,
    flag_value=EVERY,
    help="By thread; with an id, that thread by agent and model.",
)
@click.option("--day", is_flag=True, help="By day.")
@click.option("--model", is_flag=True, help="By model (this is the default).")
@json_flag
def command(thread: str | None, day: bool, model: bool, as_json: bool) -> None:
    """Show what requests to models used and cost, all agents included.

    A request that several threads share, because one was forked from the other, counts once.
    """
    if sum((thread is not None, day, model)) > 1 and not (thread and (day or model)):
        raise UsageProblem(
            "--thread, --day and --model are three ways to group.", try_this="Pass one of them."
        )
    host = open_host()
    chosen = [host.find(thread)] if thread else host.threads()
    titles = {each.id: each.title for each in chosen}
    accounts = costs.spent(host, chosen, *_groupings(thread, day=day, model=model))
    for number, account in enumerate(accounts):
        _show(account, titles, as_json=as_json, first=number == 0)


def _groupings(thread: str | None, *, day: bool, model: bool) -> tuple[Grouping, ...]:
    if day:
        return ("day",)
    if thread and not model:
        return ("agent", "model")
    return ("thread",) if thread == EVERY else ("model",)


def _show(account: Account, titles: dict[str, str], *, as_json: bool, first: bool) -> None:
    by, found, whole = account.by, account.bills, account.total
    if as_json:
        for bill in found:
            fields = msgspec.to_builtins(bill)
            click.echo(msgspec.json.encode({by: fields.pop("name"), **fields}).decode())
        return
    if not found:
        click.echo("No usage yet.")
        return
    click.echo("" if first else "\n", nl=False)
    notes = titles if by == "thread" else {}
    for line in table(by, [*found, whole], notes):
        click.echo(line)
    if whole.unpriced:
        click.echo(
            f"\nNo price for {whole.unpriced} of {counted(whole.requests, 'request')}: "
            "local models, or models whose price is not known. "
            'Set it in config.toml: [models."NAME"] price.'
        )
