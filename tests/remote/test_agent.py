"""The agent of a folder: there is one, and it keeps nothing for hosts that are gone."""

import asyncio
import fcntl
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from msgspec import Raw

from steersman.host.workspace_agent import Workplace, _connected, socket_of
from steersman.records.errors import SteersmanError
from steersman.records.settings import Settings
from steersman.threads.remote.calling import PATIENCE, Caller, Lines
from steersman.threads.remote.line import Line
from steersman.threads.remote.words import Open, Opened
from tests.remote.test_line import End, Pipe

SECONDS = 60


async def refuse(method: str, body: Raw) -> Any:
    """A host that has nothing to say."""
    raise SteersmanError("There is nothing.")


@pytest.mark.parametrize("how", ["cut", "closed"])
def test_what_a_host_had_here_ends_when_the_host_is_gone(
    environ: dict[str, str], workspace: Path, how: str
) -> None:
    async def story() -> tuple[list[str], list[str]]:
        moment = 0.0
        place = Workplace(str(workspace), environ)
        lines = Lines(place.agent.begin, clock=lambda: moment)
        serving, pipes = list[asyncio.Task[None]](), list[Pipe]()

        async def dial() -> End:
            pipes.append(Pipe())
            serving.append(asyncio.create_task(lines.serve(pipes[-1].end(1))))
            return pipes[-1].end(0)

        async def look() -> list[str]:
            lines.give_up()
            await place.agent.leave_gone()
            return list(place.agent._serving)

        lives, dies = (Line(name, refuse, lambda *_: None) for name in ("lives", "dies"))
        for line in (lives, dies):
            await Caller(dial, line).open()
            await line.ask("open", Open(line.name, 0, Settings()), Opened)
        before = await look()
        if how == "cut":
            dies.end(SteersmanError("killed"))
            pipes[1].cut()
            await serving[1]
            moment += PATIENCE
        else:
            await dies.close(SteersmanError("It has left."))
            await serving[1]
        after = await look()
        await lives.close(SteersmanError("over"))
        await asyncio.gather(*serving, return_exceptions=True)
        await place.close()
        return before, after

    assert asyncio.run(asyncio.wait_for(story(), SECONDS)) == (["lives", "dies"], ["lives"])


def test_an_agent_waits_for_the_one_before_to_end(environ: dict[str, str], workspace: Path) -> None:
    path = socket_of(os.path.realpath(workspace), environ)
    former = os.open(f"{path}.lock", os.O_CREAT | os.O_RDWR, 0o600)
    fcntl.flock(former, fcntl.LOCK_EX)  # it has closed its socket, and has not ended yet
    words = ["-m", "steersman", "workspace", "agent", "--stay", "--", str(workspace)]
    with subprocess.Popen([sys.executable, *words], env=environ) as agent:

        def has_found_the_lock() -> bool:
            links = Path(f"/proc/{agent.pid}/fd").iterdir()
            return any(os.path.realpath(one) == f"{path}.lock" for one in links)

        def until(what: Any) -> Any:
            while not (found := what()):
                assert agent.poll() is None, "it has given up"
                time.sleep(0.02)
            return found

        try:
            until(has_found_the_lock)
            os.close(former)
            until(lambda: _connected(path)).close()
        finally:
            agent.kill()
