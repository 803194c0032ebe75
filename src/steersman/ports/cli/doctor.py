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
@json_flag
def command(as_json: bool) -> int:
    """Tell what was found, what is missing, and how to fix it."""
    bad = False
    for finding in doctor.findings(folder_from(None), os.environ):
        bad = bad or finding.state == "bad"
        if as_json:
            click.echo(msgspec.json.encode(finding).decode())
            continue
        mark, colour = _MARKS[finding.state]
        click.echo(f"{click.style(mark, fg=colour)} {finding.subject:<12} {safe(finding.found)}")
        if finding.fix:
            click.echo(f"  {'':<12} → {safe(finding.fix)}")
    return Exit.FAILED if bad else Exit.DONE
