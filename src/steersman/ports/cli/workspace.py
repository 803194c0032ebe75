"""`steer workspace`: what a host on another machine starts here."""

import asyncio
import os

import click

from steersman.host import workspace_agent


@click.group()
def command() -> None:
    """Work in a folder of this machine for a host on another."""


@command.command()
@click.argument("folder")
@click.option("--stdio", is_flag=True, help="Speak on standard input and output.")
@click.option("--stay", is_flag=True, hidden=True)
def agent(folder: str, stdio: bool, stay: bool) -> None:
    """Be the agent of FOLDER; `steer --workspace ssh://HOST/FOLDER` starts this by itself."""
    if stay:
        asyncio.run(workspace_agent.stay(folder, os.environ))
    elif stdio:
        workspace_agent.attach(folder, os.environ)
    else:
        raise click.UsageError("Pass --stdio. A host on another machine does so by itself.")
