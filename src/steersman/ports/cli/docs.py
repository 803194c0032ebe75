"""`steer docs`: the manual in the terminal; Markdown where the output is no terminal."""

import os
import shutil
import sys

import click

from steersman.views import manual

WIDEST = 100


@click.command()
@click.argument("topic", required=False)
def command(topic: str | None) -> None:
    """Read the manual: TOPIC, or the list of topics."""
    if topic is None:
        width = max(len(name) for name, _ in manual.listing())
        for name, title in manual.listing():
            click.echo(f"{click.style(name, bold=True)}{'':{width - len(name)}}  {title}")
        click.echo("\n`steer docs TOPIC` shows one.")
        return
    text = manual.page(manual.find(topic))
    if sys.stdout.isatty():
        os.environ.setdefault("LESS", "-FRX")  # a short page is only printed
        click.echo_via_pager(_drawn(text), color=True)
    else:
        click.echo(text, nl=False)


def _drawn(text: str) -> str:
    """Markdown as a terminal shows it."""
    from rich.console import Console
    from rich.markdown import Markdown

    width = min(shutil.get_terminal_size().columns, WIDEST)
    console = Console(width=width, force_terminal=True)
    with console.capture() as drawn:
        console.print(Markdown(text, hyperlinks=False))
    return drawn.get()
