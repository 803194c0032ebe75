"""`steer doctor`: what was found, what is missing, and the command that fixes it, as a table."""

import os

import click
import msgspec

from steersman.host import doctor
from steersman.ports.cli.options import folder_from, json_flag
from steersman.records.errors import Exit
from steersman.views.text import safe

_MARKS = {"ok": ("✓", "green"), "note": ("·", "yellow"), "bad": ("✗", "red")}


@click.command()
@click.option("--offline", is_flag=True, help="Ask no provider and no model; costs nothing.")
@json_flag
def command(offline: bool, as_json: bool) -> int:
    """Try what there is: the model, keys, the sandbox, programs, the database.

    Shows what works, what is missing, and the command that fixes it. The model gets one tiny
    request; what it cost is shown.
    """
    bad = False
    for finding in doctor.findings(folder_from(None), os.environ, offline=offline):
        bad = bad or finding.state == "bad"
        if as_json:
            click.echo(msgspec.json.encode(finding).decode())
            continue
        mark, colour = _MARKS[finding.state]
        click.echo(f"{click.style(mark, fg=colour)} {finding.subject:<12} {safe(finding.found)}")
        if finding.fix:
            click.echo(f"  {'':<12} → {safe(finding.fix)}")
    return Exit.FAILED if bad else Exit.DONE
