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
    host = open_host()
    newest = host.latest(os.path.realpath(folder))
    steer = "steer" if shutil.which("steer") else f"{sys.executable} -m steersman"
    click.echo("\nNext steps:")
    click.echo(f"  {steer} ledger show {newest.id}      every message, in order")
    click.echo(f"  {steer} ledger verify {newest.id}    proof that nothing was altered")
    click.echo(f"  {steer} login     use a model with your own key, in your own project")
    click.echo(f"  {steer} doctor    which models of your own were found")
    return Exit.DONE if proof.returncode == 0 else Exit.FAILED
