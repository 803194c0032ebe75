"""A thread that another process runs: `owned` starts one and gives its id.

`python -m tests.host.owner SETTINGS` is that process. It runs a thread in its working folder until
its standard input ends, and takes what is asked of it from the thread's inbox.
"""

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from steersman.host import Host
from steersman.records.settings import Settings
from tests.store.elsewhere import ROOT


@contextmanager
def owned(
    environ: dict[str, str], workspace: Path, settings: Settings
) -> Iterator["tuple[subprocess.Popen[str], str]"]:
    """A process that runs a thread, and the thread's id."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.host.owner", msgspec.json.encode(settings).decode()],
        cwd=workspace,
        env={**environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        yield process, process.stdout.readline().strip()
    finally:
        process.communicate(timeout=60)


async def main(settings: Settings) -> None:
    """Run a thread until nobody wants it any more."""
    async with Host.at(Path(os.environ["STEERSMAN_HOME"]), os.environ) as host:
        thread = await host.start(os.getcwd(), "a task", settings, attended=True)
        print(thread.id, flush=True)
        await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main(msgspec.json.decode(sys.argv[1], type=Settings)))
