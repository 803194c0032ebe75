"""`steer policy`: the rules and answers in force, why a decision falls as it does, folder trust."""

import asyncio
from typing import Any

import click
import msgspec

from steersman.host import policy
from steersman.host.policy import DecisionStep, RuleShown
from steersman.ports.cli.options import (
    at_terminal,
    folder_from,
    json_flag,
    open_host,
    settings_from,
    working,
    workspace_option,
)
from steersman.records.errors import Exit, UsageProblem
from steersman.views.text import safe

_COLOURS = {"allow": "green", "ask": "yellow", "deny": "red"}
_CODES = {"allow": Exit.DONE, "ask": Exit.NEEDS_ANSWER, "deny": Exit.DENIED}


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
    settings = settings_from(flags, host.permissions.settings_file(folder), attended=at_terminal())
    rules = policy.rules(host, folder, settings)
    for shown in rules:
        click.echo(msgspec.json.encode(shown.rule).decode() if as_json else _rule_words(shown))
    if not rules and not as_json:
        click.echo("No rules and no remembered answers: the approvals level decides.")
    told = host.permissions.folder(folder).sentence(folder)
    if told and not as_json:
        click.echo(click.style(f"! {safe(told)} Review it with `steer policy trust`.", fg="yellow"))


def _rule_words(shown: RuleShown) -> str:
    rule = shown.rule
    decision = click.style(f"{rule.decision:<5}", fg=_COLOURS[rule.decision], bold=True)
    reason = f" — {rule.reason}" if rule.reason else ""
    return f"{decision} {safe(shown.about)}  [{rule.id}, {safe(shown.stands)}]{safe(reason)}"


@command.command()
@click.argument("ids", nargs=-1)
@click.option(
    "--all", "everything", is_flag=True, help="Delete every remembered answer, everywhere."
)
def forget(ids: tuple[str, ...], everything: bool) -> None:
    """Forget remembered answers by their IDS, as `steer policy list` shows them."""
    host = open_host()
    if everything:
        host.permissions.forget_all()
        click.echo("All remembered answers were deleted.")
    elif not ids:
        raise UsageProblem("Which answer?", try_this="`steer policy list` shows their ids.")
    for name in ids:
        click.echo(f"Deleted: {safe(policy.forget(host, name).about)}")


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
    settings = settings_from(flags, host.permissions.settings_file(folder), attended=at_terminal())
    found = policy.explain(host, folder, settings, action, tool)
    if found.guard is not None and not as_json:
        said = found.guard
        click.echo(f"guard: {said.verdict} ({said.rule}): {safe(said.reason)}")
    for step in found.steps:
        click.echo(msgspec.json.encode(step).decode() if as_json else _step_words(step))
    return _CODES[found.verdict.decision]


def _step_words(step: DecisionStep) -> str:
    verdict = step.verdict
    if verdict is None:
        return f"  {step.step:<20} no decision"
    mark = click.style("→" if step.decides else " ", bold=True)
    decision = click.style(verdict.decision, fg=_COLOURS[verdict.decision], bold=True)
    instead = f"\n    instead: {safe(verdict.instead)}" if verdict.instead else ""
    return f"{mark} {step.step:<20} {decision} ({verdict.rule}): {safe(verdict.reason)}{instead}"


@command.command()
@workspace_option
@click.option("--yes", "-y", is_flag=True, help="Trust it without being asked.")
def trust(workspace: str | None, yes: bool) -> int:
    """Show this folder's configuration (settings, rules, hooks, …) and choose whether to use it."""
    host = open_host()
    folder = folder_from(workspace)
    standing = host.permissions.folder(folder)
    if not standing.found:
        click.echo("This folder has no configuration of its own.")
        return Exit.DONE
    from steersman.ports.cli.prompts import show_brought

    show_brought(standing)
    for name in standing.drifted if standing.state == "trusted" else ():
        click.echo(f"  MCP server {safe(name)}: the files it starts have changed")
    if standing.state == "trusted" and not standing.drifted:
        click.echo("It is trusted.")
        return Exit.DONE
    trusted = yes or asyncio.run(_answer())
    host.permissions.trust(folder, standing, trusted=trusted)
    click.echo("It is used from now on." if trusted else "It is not used.")
    return Exit.DONE


async def _answer() -> bool:
    from steersman.ports.cli.prompts import wants_it

    if not at_terminal():
        raise UsageProblem(
            "There is no one to ask here.", try_this="Pass --yes to trust the folder."
        )
    return await wants_it()


@command.command()
@workspace_option
def untrust(workspace: str | None) -> None:
    """Do not use this folder's configuration."""
    host = open_host()
    folder = folder_from(workspace)
    host.permissions.trust(folder, host.permissions.folder(folder), trusted=False)
    click.echo("This folder's configuration is not used.")
