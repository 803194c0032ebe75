"""`steer hooks`: the hooks that hold in a folder, and the events that there are."""

import click
import msgspec

from steersman.host.hooks import known
from steersman.ports.cli.options import (
    at_terminal,
    folder_from,
    json_flag,
    open_host,
    settings_from,
    workspace_option,
)
from steersman.records.hooks import EVENTS, Hook
from steersman.views.text import one_line, safe

UNUSED = (
    "The folder's own hooks are not used: it is not trusted. Review it with `steer policy trust`."
)


@click.command("hooks")
@workspace_option
@json_flag
def command(workspace: str | None, as_json: bool) -> None:
    """Show the hooks in effect in this folder, by event, and the events that have none."""
    host, folder = open_host(), folder_from(workspace)
    own = host.permissions.settings_file(folder)
    found = known(host, folder, settings_from({}, own, attended=at_terminal()))
    hooks = [hook for event in EVENTS for hook, _ in found.hooks if hook.event == event]
    for hook in hooks:
        click.echo(msgspec.json.encode(hook).decode() if as_json else _line(hook))
    if as_json:
        return
    unheard = [event for event in EVENTS if event not in {hook.event for hook in hooks}]
    if unheard:
        click.echo(click.style(f"No hooks for {', '.join(unheard)}.", dim=True))
    for problem in (*found.problems, *([UNUSED] if found.unused else ())):
        click.echo(click.style(f"! {safe(problem)}", fg="yellow"))


def _line(hook: Hook) -> str:
    meant = f" {safe(hook.matcher)}" if hook.matcher else ""
    event = click.style(hook.event, bold=True)
    return f"{event}{meant}: {one_line(hook.command, 100)} ({hook.source})"
