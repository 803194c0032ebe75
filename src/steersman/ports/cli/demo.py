"""`steer demo`: the whole loop on a bundled sample with a real bug, a real edit and real tests."""

import asyncio
import os
import shutil
import sys
from pathlib import Path

import click

from steersman import children
from steersman.host import Host, ThreadHandle, demo
from steersman.ports.cli.options import open_host
from steersman.ports.cli.views import PlainView
from steersman.ports.cli.watch import Job, Watched, do
from steersman.records.errors import Exit
from steersman.records.settings import Settings


@click.command()
@click.option("--keep", metavar="DIR", help="Put the sample project there (default: a new folder).")
def command(keep: str | None) -> int:
    """Let a scripted model fix a bug in a sample project.

    The model is scripted, so this needs no key and no network; everything else is real: the log,
    the gate, the edit and the tests.
    """
    folder = demo.lay_out(keep)
    click.echo(click.style("Steersman demo", bold=True))
    click.echo("The model is scripted: it plays a file. Everything else is real.")
    click.echo(f"Sample project: {folder}\n")
    click.echo(click.style(f"› {demo.TASK}", bold=True))
    path = os.environ.get("PATH", "")
    # The sample calls `python3`; let that be the Python that runs this.
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{path}"
    code = asyncio.run(do(DemoJob(folder), PlainView(), attended=False))
    os.environ["PATH"] = path
    return code or _proof(folder)


class DemoJob(Job):
    """The sample's task with the sample's script."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._settings = Settings(model=demo.model(), approvals="never")

    async def open(self, host: Host, *, attended: bool) -> Watched:
        """Make the thread."""
        handle = await host.start(str(self._folder), demo.TASK, self._settings, origin="demo")
        return Watched(handle, 0)

    async def say(self, handle: ThreadHandle, *, attended: bool) -> None:
        """Give it the task."""
        await handle.send(demo.TASK)


def _proof(folder: Path) -> int:
    """Run the tests once more, outside the agent, and say what to do next."""
    proof = children.run([sys.executable, "-m", "unittest"], cwd=str(folder), seconds=None)
    click.echo(click.style("\nThe same tests, run once more by the demo itself:", bold=True))
    click.echo("  " + proof.stderr.decode(errors="replace").strip().replace("\n", "\n  "))
    newest = open_host().latest(os.path.realpath(folder))
    click.echo("\n".join(_next_steps(newest.id)))
    return Exit.DONE if proof.returncode == 0 else Exit.FAILED


def _next_steps(thread: str) -> list[str]:
    """Where the program is, and what to type next."""
    place = Path(sys.executable).with_name("steer")
    steer, told = "steer", [""]
    if not shutil.which("steer"):
        if place.exists():
            told += [f"`steer` is in {place.parent}. Let your shell find it there:",
                     f'  export PATH="{place.parent}:$PATH"', ""]  # fmt: skip
        else:
            steer = f"{sys.executable} -m steersman"
    return [
        *told,
        "Then go to a project of yours and type:",
        f"  {steer}           the conversation; it helps you choose a model or log in",
        f"  {steer} doctor    which models of your own were found",
        "",
        "What the demo did:",
        f"  {steer} ledger show {thread}      every message, in order",
        f"  {steer} ledger verify {thread}    proof that nothing was altered",
    ]
