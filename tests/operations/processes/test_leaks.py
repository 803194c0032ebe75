"""Nothing a command started outlives it, its thread or the host, however these end."""

import asyncio
import os
import subprocess
import sys
from contextlib import suppress

import pytest

from tests.operations.processes.kit import (
    ESCAPES,
    PATIENCE,
    SWARM,
    bash,
    eventually,
    living_in,
    printed,
    processes_in,
    run,
    sandbox,
)

WRAPS = pytest.mark.parametrize("wrap", [(), sandbox()], ids=["direct", "sandbox"])
ON = f"{SWARM}\nsleep 0.2; echo on; "

HOST = """
import asyncio, os, sys
from contextlib import suppress
from pathlib import Path
from steersman.operations.running.processes import Processes

async def main():
    folder, command, *wrap = sys.argv[1:]
    processes = Processes(Path(folder, "spool"))
    running = await processes.start(
        [*wrap, "bash", "-c", command], folder, os.environ, call="leak")
    while "on" not in running.output.text():
        await running.wait_for_output(running.output.size, 60)
    print("on", flush=True)
    if HOW == "a normal end":
        return
    await asyncio.sleep(600)

asyncio.run(main())
"""


@pytest.mark.parametrize("escape", ESCAPES)
def test_every_escape_is_one(tmp_path, escape):
    """Each leaves a process that the end of its parent does not end, or the tests show nothing."""
    subprocess.run(["bash", "-c", ESCAPES[escape]], cwd=tmp_path, check=True, timeout=PATIENCE,
                   stdout=subprocess.DEVNULL)  # fmt: skip
    assert eventually(lambda: bool(living_in(tmp_path)))

    def gone() -> bool:
        # Again and again: one that is killed may have started another a moment before.
        for pid in living_in(tmp_path):
            with suppress(ProcessLookupError):
                os.kill(pid, 9)
        return not living_in(tmp_path)

    assert eventually(gone)


@WRAPS
@pytest.mark.parametrize("how", ["kill -9", "kill", "a normal end"])
def test_nothing_outlives_the_host(tmp_path, wrap, how):
    program = HOST.replace("HOW", repr(how))
    host = subprocess.Popen(
        [sys.executable, "-c", program, tmp_path, ON + "sleep 615", *wrap],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert host.stdout is not None
    assert host.stdout.readline() == "on\n"
    if how == "kill -9":
        assert len(living_in(tmp_path)) >= len(ESCAPES) + 1
        host.kill()
    elif how == "kill":
        host.terminate()
    host.communicate(timeout=PATIENCE)
    assert eventually(lambda: not living_in(tmp_path))


def test_nothing_outlives_a_host_that_dies_while_it_starts_commands(tmp_path):
    program = """
import asyncio, os, sys
from pathlib import Path
from steersman.operations.running.processes import Processes

async def main():
    processes = Processes(Path(sys.argv[1], "spool"))
    start = lambda: processes.start(["sleep", "616"], sys.argv[1], os.environ, call="x")
    print("on", flush=True)
    await asyncio.gather(*(start() for _ in range(20)))

asyncio.run(main())
"""
    for _ in range(5):
        host = subprocess.Popen(
            [sys.executable, "-c", program, tmp_path], stdout=subprocess.PIPE, text=True
        )
        assert host.stdout is not None
        assert host.stdout.readline() == "on\n"
        eventually(lambda: bool(living_in(tmp_path)))
        host.kill()
        host.communicate(timeout=PATIENCE)
        assert eventually(lambda: not living_in(tmp_path))


@WRAPS
@pytest.mark.parametrize("how", ["its own end", "kill_tree", "KILL", "close"])
def test_nothing_outlives_the_command(tmp_path, wrap, how):
    async def work():
        async with processes_in(tmp_path) as processes:
            command = ON + ("exit 3" if how == "its own end" else "sleep 615")
            running = await bash(processes, tmp_path, command, wrap=wrap)
            await printed(running, "on")
            match how:
                case "kill_tree":
                    running.kill_tree()
                case "KILL":
                    running.signal("KILL")
                case "close":
                    await processes.close()
            assert await running.wait(PATIENCE)
            return str(running.state), living_in(tmp_path)

    state, left = run(work())
    assert left == set()
    assert state == ("exited 3" if how == "its own end" else "killed by SIGKILL")


def test_many_at_once_end_together(tmp_path):
    async def work():
        async with processes_in(tmp_path) as processes:
            starts = (bash(processes, tmp_path, ON + "sleep 615") for _ in range(8))
            for running in await asyncio.gather(*starts):
                await printed(running, "on")
            assert len(living_in(tmp_path)) >= 8 * (len(ESCAPES) + 1)

    run(work())
    assert living_in(tmp_path) == set()
