"""`steer agents`: the roles that files describe."""

import os

import click
import msgspec

from steersman.host import agents
from steersman.ports.cli.options import folder_from, json_flag, open_host, workspace_option
from steersman.ports.cli.switching import end_list
from steersman.views.text import one_line, safe


@click.command("agents")
@workspace_option
@json_flag
def command(workspace: str | None, as_json: bool) -> None:
    """Show the roles that files in this folder and your own files describe."""
    known = agents.known(open_host(), folder_from(workspace), os.environ)
    for role in known.found.roles:
        if as_json:
            click.echo(msgspec.json.encode(role).decode())
            continue
        facts = [f"model {role.model}"] * bool(role.model)
        facts += [f"tools {', '.join(role.tools)}"] * bool(role.tools)
        told = one_line(role.description)
        click.echo(f"{click.style(role.name, bold=True)}  {told}")
        click.echo(f"    {safe(' · '.join([*facts, role.source]))}")
    if not as_json:
        none = "No roles. A Markdown file in .steersman/agents is one: docs/extensions.md."
        found = known.found
        end_list("roles", "" if found.roles else none, found.problems, unused=known.unused)
