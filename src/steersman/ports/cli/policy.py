"""`steer policy`: the rules and answers in force, why a decision falls as it does, folder trust."""

import asyncio
from collections.abc import Iterator
from typing import Any

import click
import msgspec

from steersman.governance.gate import judged
from steersman.governance.policy import Evidence, steps
from steersman.governance.rule import Rule, stands, subject
from steersman.ports.cli.options import (
    at_terminal,
    folder_from,
    json_flag,
    open_host,
    settings_from,
    working,
)
from steersman.ports.cli.prompts import read_line
from steersman.ports.cli.text import safe
from steersman.records.action import Action, Execute, Verdict
from steersman.records.errors import Exit, UsageProblem

_COLOURS = {"allow": "green", "ask": "yellow", "deny": "red"}
_CODES = {"allow": Exit.DONE, "ask": Exit.NEEDS_ANSWER, "deny": Exit.DENIED}
_workspace = click.option("--workspace", "-w", metavar="DIR", help="Folder (default: here).")


@click.group("policy")
def command() -> None:
    """Show, explain and forget permissions; trust a folder or not."""


@command.command("list")
@working
@json_flag
def listing(as_json: bool, **flags: Any) -> None:
    """Show every rule and remembered answer that holds in this folder."""
    host = open_host()
    folder = folder_from(flags["workspace"])
    settings = settings_from(flags, host.permissions.settings_file(folder))
    rules = [*host.permissions.rules(folder, settings), *host.permissions.answers(folder)]
    for rule in rules:
        click.echo(msgspec.json.encode(rule).decode() if as_json else _rule_words(rule))
    if not rules and not as_json:
        click.echo("No rules and no remembered answers: the approvals level decides.")
    told = host.permissions.folder(folder).sentence(folder)
    if told and not as_json:
        click.echo(click.style(f"! {safe(told)} `steer policy trust` asks you.", fg="yellow"))


def _rule_words(rule: Rule) -> str:
    decision = click.style(f"{rule.decision:<5}", fg=_COLOURS[rule.decision], bold=True)
    reason = f" — {rule.reason}" if rule.reason else ""
    return f"{decision} {safe(_about(rule))}  [{rule.id}, {safe(stands(rule))}]{safe(reason)}"


def _about(rule: Rule) -> str:
    """What a rule is about; an answer in the words in which it was given."""
    if rule.source not in ("thread", "here"):
        return subject(rule)
    from steersman.governance.offers import told

    return told(rule)


@command.command()
@click.argument("ids", nargs=-1)
@click.option("--all", "everything", is_flag=True, help="Forget every answer, everywhere.")
def forget(ids: tuple[str, ...], everything: bool) -> None:
    """Forget remembered answers by their IDS, as `steer policy list` shows them."""
    host = open_host()
    if everything:
        host.permissions.forget_all()
        click.echo("Every remembered answer is forgotten.")
    elif not ids:
        raise UsageProblem("Which answer?", try_this="`steer policy list` shows their ids.")
    for name in ids:
        rule = host.permissions.forget(name)
        if rule is None:
            raise UsageProblem(
                f"There is no remembered answer “{name}”.",
                try_this="`steer policy list` shows them; rules of files are edited there.",
            )
        click.echo(f"Forgotten: {safe(_about(rule))}")


@command.command()
@click.argument("action")
@click.option("--tool", default="", help="The tool that asks.")
@working
@json_flag
def explain(action: str, tool: str, as_json: bool, **flags: Any) -> int:
    """Show each step of the decision on ACTION (JSON) and why.

    \b
    steer policy explain '{"action": "execute", "command": "git push", "cwd": "."}'
    steer policy explain '{"action": "write", "path": ".git/hooks/pre-commit"}'
    """
    host = open_host()
    folder = folder_from(flags["workspace"])
    settings = settings_from(flags, host.permissions.settings_file(folder))
    where = host.permissions.circumstances(folder, settings)
    wanted = _action(action, folder)
    judgement = judged(wanted, where)
    if isinstance(wanted, Execute) and judgement is not None and not as_json:
        click.echo(f"guard: {judgement.verdict} ({judgement.rule}): {safe(judgement.reason)}")
    decided: Verdict | None = None
    for step in steps(wanted, where, Evidence(tool, judgement)):
        first = decided is None and step.verdict is not None
        decided = decided or step.verdict
        if as_json:
            told = {"step": step.name, "verdict": step.verdict, "decides": first}
            click.echo(msgspec.json.encode(told).decode())
        else:
            click.echo(_step_words(step.name, step.verdict, decides=first))
        if first:
            break
    assert decided is not None
    return _CODES[decided.decision]


def _step_words(name: str, verdict: Verdict | None, *, decides: bool) -> str:
    if verdict is None:
        return f"  {name:<20} no word"
    mark = click.style("→" if decides else " ", bold=True)
    decision = click.style(verdict.decision, fg=_COLOURS[verdict.decision], bold=True)
    instead = f"\n    instead: {safe(verdict.instead)}" if verdict.instead else ""
    return f"{mark} {name:<20} {decision} ({verdict.rule}): {safe(verdict.reason)}{instead}"


def _action(text: str, folder: str) -> Action:
    from steersman.operations.workspace import Workspace

    try:
        fields = msgspec.json.decode(text, type=dict[str, Any])
        workspace = Workspace(folder)
        for name in ("path", "cwd"):
            if name in fields:
                fields[name] = workspace.locate(str(fields[name]))
        if fields.get("action") == "execute":
            fields.setdefault("cwd", folder)
        found: Action = msgspec.convert(fields, Action)
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        raise UsageProblem(
            "The action cannot be read.",
            str(error),
            """For example: '{"action": "execute", "command": "make", "cwd": "."}'""",
        ) from error
    return found


@command.command()
@_workspace
@click.option("--yes", "-y", is_flag=True, help="Trust it without being asked.")
def trust(workspace: str | None, yes: bool) -> int:
    """Show what this folder brings (settings, rules, hooks, …) and say whether it may be used."""
    host = open_host()
    folder = folder_from(workspace)
    standing = host.permissions.folder(folder)
    if not standing.found:
        click.echo("This folder brings nothing of its own.")
        return Exit.DONE
    for line in _brought(standing):
        click.echo(line)
    if standing.state == "trusted":
        click.echo("It is trusted.")
        return Exit.DONE
    said = "y" if yes else asyncio.run(_answer())
    host.permissions.trust(folder, standing, trusted=said == "y")
    click.echo("It is used from now on." if said == "y" else "It is not used.")
    return Exit.DONE


def _brought(standing: Any) -> Iterator[str]:
    for found in standing.found:
        new = " (new)" if found.path in standing.added else ""
        changed = " (changed)" if found.path in standing.changed else ""
        yield f"  {safe(found.path)}: {found.what}{new}{changed}"


async def _answer() -> str:
    if not at_terminal():
        raise UsageProblem("Nobody can answer here.", try_this="Pass --yes to trust the folder.")
    while True:
        said = (await read_line("Use it from now on? [y]es, [n]o: ")).strip().lower()[:1]
        if said in ("y", "n"):
            return said


@command.command()
@_workspace
def untrust(workspace: str | None) -> None:
    """Do not use what this folder brings."""
    host = open_host()
    folder = folder_from(workspace)
    host.permissions.trust(folder, host.permissions.folder(folder), trusted=False)
    click.echo("What this folder brings is not used.")
