"""Programs beside the host: they talk, they are confined, and none outlives the host."""

import asyncio
import os
import select
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from steersman.operations.journal.journal import Journal
from steersman.operations.journal.objects import Objects
from steersman.operations.running.command_runs import CommandRuns
from steersman.operations.running.companions import Companions
from steersman.operations.running.guardian import Guardian
from steersman.records.errors import ToolProblem
from steersman.records.profile import Profile
from tests.store.elsewhere import ROOT

ENVIRON = {"PATH": os.environ["PATH"]}


class Rig:
    """Companions of a workspace."""

    def __init__(self, tmp_path: Path) -> None:
        self.workspace = tmp_path / "ws"
        self.workspace.mkdir()
        self._guardian = Guardian()
        self._state = tmp_path / "state"

    async def __aenter__(self) -> Companions:
        journal = Journal(str(self.workspace), Objects(self._state / "objects"))
        runs = CommandRuns(journal, str(self._state))
        self.companions = Companions(
            self._guardian,
            str(self.workspace),
            lambda environ: runs.beside(Profile(files="read", environ=environ)),
        )
        return self.companions

    async def __aexit__(self, *_: object) -> None:
        await self.companions.close()
        self._guardian.close()


def python(code: str) -> list[str]:
    return [sys.executable, "-c", textwrap.dedent(code)]


ECHO = python(
    """
    import sys
    for line in sys.stdin:
        print("heard", line.strip(), flush=True)
    print("bye", file=sys.stderr)
    """
)


@pytest.mark.parametrize("confined", [False, True])
def test_a_companion_hears_and_answers_until_its_input_is_closed(tmp_path, confined):
    rig = Rig(tmp_path)

    async def talk() -> None:
        async with rig as companions:
            companion = await companions.start(ECHO, str(rig.workspace), ENVIRON, confined=confined)
            companion.write(b"one\n")
            await companion.drain()
            assert await companion.reader.readline() == b"heard one\n"
            assert not companion.ended
            await companion.stop()
            assert await companion.wait() == 0
            assert companion.last_words() == "bye"
            companion.write(b"nobody hears this\n")
            await companion.drain()

    asyncio.run(asyncio.wait_for(talk(), 30))


def test_a_confined_companion_changes_nothing_and_has_its_own_environment(tmp_path):
    rig = Rig(tmp_path)
    tries = python(
        """
        import os
        for path in ("new.txt", "/usr/new.txt"):
            try:
                open(path, "w")
            except OSError as error:
                print(type(error).__name__, flush=True)
        print(sorted(n for n in os.environ if n.startswith("MY_")), flush=True)
        """
    )

    async def look() -> list[bytes]:
        async with rig as companions:
            environ = {**ENVIRON, "MY_NAME": "x"}
            companion = await companions.start(tries, str(rig.workspace), environ, confined=True)
            await companion.wait()
            return (await companion.reader.read()).splitlines()

    assert asyncio.run(asyncio.wait_for(look(), 30)) == [b"OSError", b"OSError", b"['MY_NAME']"]
    assert list(rig.workspace.iterdir()) == []


def test_what_a_companion_started_ends_with_it(tmp_path):
    rig = Rig(tmp_path)
    parent = python(
        """
        import subprocess, sys
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"],
                                 start_new_session=True)
        print(child.pid, flush=True)
        """
    )

    async def leave() -> int:
        async with rig as companions:
            companion = await companions.start(parent, str(rig.workspace), ENVIRON, confined=False)
            left = int(await companion.reader.readline())
            await companion.stop()
            return left

    with pytest.raises(ProcessLookupError):
        os.kill(asyncio.run(asyncio.wait_for(leave(), 30)), 0)


def test_a_program_that_is_missing_or_of_the_workspace_is_not_started(tmp_path):
    rig = Rig(tmp_path)
    own = rig.workspace / "bin" / "sly-server"
    own.parent.mkdir()
    own.write_text("#!/bin/sh\ntrue\n")
    own.chmod(0o755)

    async def start(name: str, **environ: Any) -> None:
        async with rig as companions:
            await companions.start([name], str(rig.workspace), environ, confined=False)

    with pytest.raises(ToolProblem, match="no program “sly-server”"):
        asyncio.run(start("sly-server", PATH=f"{own.parent}:/usr/bin"))
    with pytest.raises(ToolProblem, match="cannot be started"):
        asyncio.run(start(str(tmp_path / "missing"), PATH="/usr/bin"))


HOST = """
import asyncio, sys
sys.path.insert(0, {root!r})
from pathlib import Path
from tests.operations.processes.test_companions import Rig, ENVIRON
async def main():
    rig = Rig(Path({folder!r}))
    companions = await rig.__aenter__()
    stubborn = [sys.executable, "-c", "import signal, sys, time\\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\\nprint('up', flush=True)\\ntime.sleep(600)"]
    for confined in (False, True):
        companion = await companions.start(stubborn, str(rig.workspace), ENVIRON, confined=confined)
        await companion.reader.readline()
        print(companion.pid, flush=True)
    await asyncio.sleep(600)
asyncio.run(main())
"""


def test_no_companion_outlives_a_host_that_is_killed(tmp_path):
    code = HOST.format(root=str(ROOT), folder=str(tmp_path))
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as host:
        assert host.stdout is not None
        pids = [int(host.stdout.readline()) for _ in range(2)]
        handles = [os.pidfd_open(pid) for pid in pids]
        host.send_signal(signal.SIGKILL)
        for handle in handles:  # readable when the process has ended
            assert select.select([handle], [], [], 30)[0], "it lives on"
            os.close(handle)
