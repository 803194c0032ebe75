"""`steer cost`: what models were paid for, as a table or as JSON."""

from collections.abc import Callable, Sequence

import click
import msgspec

from steersman.monitoring.cost import Spent, bills, requests, total
from steersman.ports.cli.options import json_flag, open_host
from steersman.ports.cli.text import one_line, safe
from steersman.records.bill import Bill, Grouping
from steersman.records.errors import UsageProblem

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
    spent = list(requests(host.store, chosen))
    titles = {each.id: each.title for each in chosen}
    for number, by in enumerate(_groupings(thread, day=day, model=model)):
        _show(spent, by, titles, as_json=as_json, first=number == 0)


def _groupings(thread: str | None, *, day: bool, model: bool) -> tuple[Grouping, ...]:
    if day:
        return ("day",)
    if thread and not model:
        return ("agent", "model")
    return ("thread",) if thread == EVERY else ("model",)


def _show(
    spent: Sequence[Spent], by: Grouping, titles: dict[str, str], *, as_json: bool, first: bool
) -> None:
    found = bills(spent, by)
    if as_json:
        for bill in found:
            fields = msgspec.to_builtins(bill)
            click.echo(msgspec.json.encode({by: fields.pop("name"), **fields}).decode())
        return
    if not found:
        click.echo("Nothing was spent yet.")
        return
    click.echo("" if first else "\n", nl=False)
    notes = titles if by == "thread" else {}
    whole = total(found)
    for line in lines(by, [*found, whole], notes):
        click.echo(line)
    if whole.unpriced:
        click.echo(
            f"\n{whole.unpriced} of {whole.requests} requests have no price: local models, or "
            'models whose price is not known. Set it in config.toml: [models."NAME"] price.'
        )


Cell = Callable[[Bill], str]
COLUMNS: tuple[tuple[str, Cell], ...] = (
    ("requests", lambda bill: f"{bill.requests:,}"),
    ("input", lambda bill: f"{bill.input:,}"),
    ("cached", lambda bill: f"{bill.cached:,}"),
    ("output", lambda bill: f"{bill.output:,}"),
    ("reasoning", lambda bill: f"{bill.reasoning:,}"),
    ("cost", lambda bill: dollars(bill)),
)


def lines(by: str, found: Sequence[Bill], notes: dict[str, str]) -> list[str]:
    """The bills as lines of a table, numbers to the right."""
    cells = [[by, *(name for name, _ in COLUMNS), ""]]
    for bill in found:
        numbers = [shown(bill) for _, shown in COLUMNS]
        cells.append([one_line(bill.name, 60), *numbers, one_line(notes.get(bill.name, ""), 50)])
    widths = [max(len(row[n]) for row in cells) for n in range(len(cells[0]))]
    told = []
    for row in cells:
        figures = "  ".join(row[n].rjust(widths[n]) for n in range(1, len(row) - 1))
        told.append(safe(f"{row[0]:<{widths[0]}}  {figures}  {row[-1]}".rstrip()))
    return told


def dollars(bill: Bill) -> str:
    """The price of a bill; a dash where nothing in it has one."""
    if bill.cost == 0.0 and bill.unpriced:
        return "–"
    return f"${bill.cost:,.4f}"
