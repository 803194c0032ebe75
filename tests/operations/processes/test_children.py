"""Programs that the host starts for itself end with it, also when it is killed."""

import fcntl
import os
import pty
import re
import signal
import socket
import subprocess
import sys
import termios
from importlib.util import cache_from_source
from pathlib import Path

import pytest

import steersman
from steersman.operations.running.guardian import BEGIN, PROGRAM
from tests.operations.processes.kit import eventually

SOURCE = Path(steersman.__file__).parent
# The one way, and what is tied otherwise or is not ours to end: the guardian and the tunnel hang on
# a socket or pipe of the host, a carrier goes on without it, an editor belongs to the person.
STARTERS = {
    "children.py",
    "operations/running/guardian.py",
    "operations/running/guardian_process.py",
    "intelligence/tunnel.py",
    "host/carrying.py",
    "host/reaching.py",
    "host/workspace_agent.py",
    "ports/tui/editor.py",
}
STARTING = re.compile(r"create_subprocess_|\bPopen\(|subprocess\.(run|call)\(|posix_spawn\w*\(")
NOT_RUN = ("governance/guard/", "samples/")

HELPER = '#!/bin/sh\necho $$ >"$NOTE"\nexec sleep 600\n'
SEARCHES = """
import asyncio, os, sys
from steersman.operations.finding import Query, SearchPlace, find
asyncio.run(find(SearchPlace(sys.argv[1], sys.argv[1]), Query("x"), os.environ))
"""
# What the terminal's host does when a person leaves it while a program runs for the host itself.
LEAVES = """
import asyncio, sys
from pathlib import Path
from steersman import children
from steersman.ports.cli.leaving import let_go, split

began, goes_on, ended = map(Path, sys.argv[2:])
line = ["sh", "-c", 'touch "$0"; until test -e "$1"; do sleep 0.05; done', began, goes_on]

def talked():
    with children.talk(line) as child:
        return child.wait()

async def started():
    return await (await children.start(line, "/", {})).wait()

def ran(tied):
    return children.run(line, seconds=60, tied=tied).returncode

WAYS = {
    "run": lambda: asyncio.to_thread(ran, True),
    "run, not tied": lambda: asyncio.to_thread(ran, False),
    "talk": lambda: asyncio.to_thread(talked),
    "start": started,
}

async def leave():
    running = asyncio.ensure_future(WAYS[sys.argv[1]]())
    while not began.exists():
        await asyncio.sleep(0.01)
    let_go()
    ended.write_text(f"{await running}\\n")

split()
asyncio.run(leave())
"""
ASKS_GIT = """
import asyncio, os, sys
from steersman.operations.code.index.recency import head
asyncio.run(asyncio.to_thread(head, sys.argv[1], os.environ))
"""


def test_programs_are_started_in_one_way():
    found = {
        str(path.relative_to(SOURCE))
        for path in SOURCE.rglob("*.py")
        if STARTING.search(path.read_text())
    }
    assert {name for name in found if not name.startswith(NOT_RUN)} == STARTERS


@pytest.mark.parametrize(("helper", "host"), [("rg", SEARCHES), ("git", ASKS_GIT)])
def test_a_host_that_is_killed_leaves_no_helper(tmp_path, helper, host):
    folder, programs, note = tmp_path / "work", tmp_path / "bin", tmp_path / "pid"
    (folder / ".git").mkdir(parents=True)
    programs.mkdir()
    (programs / helper).write_text(HELPER)
    (programs / helper).chmod(0o755)
    environ = {"PATH": f"{programs}:/usr/bin:/bin", "NOTE": str(note)}
    with subprocess.Popen([sys.executable, "-c", host, folder], env=environ) as running:
        assert eventually(lambda: note.exists() and note.read_text().endswith("\n"))
        running.send_signal(signal.SIGKILL)
    state = Path("/proc", note.read_text().strip(), "stat")
    assert eventually(lambda: not state.exists() or state.read_text().split()[2] == "Z")


@pytest.mark.parametrize("way", ["run", "run, not tied", "talk", "start"])
def test_who_leaves_the_terminal_ends_no_helper_with_it(tmp_path, way):
    """A session that loses its leader is hung up, and with it all that belong to its terminal."""
    began, goes_on, ended = tmp_path / "began", tmp_path / "goes-on", tmp_path / "ended"
    here, there = pty.openpty()
    line = [sys.executable, "-c", LEAVES, way, began, goes_on, ended]
    with subprocess.Popen(
        line, stdin=there, start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
    ) as launcher:  # fmt: skip
        assert launcher.wait(60) == 0
    os.close(there)
    os.close(here)
    goes_on.touch()
    assert eventually(lambda: ended.exists() and ended.read_text().endswith("\n"))
    assert ended.read_text() == "0\n"


def guardian_says(*options):
    """What Python tells of a guardian whose host is gone, so that it ends at once."""
    ours, theirs = socket.socketpair()
    ours.close()
    with theirs:
        done = subprocess.run(
            [sys.executable, "-I", "-S", *options, "-c", BEGIN, str(PROGRAM)],
            stdin=theirs.fileno(),
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
    return done.stderr


def test_the_guardian_imports_little_because_every_guard_is_a_copy_of_it():
    told = guardian_says("-X", "importtime")
    imported = {line.rpartition("|")[2].strip() for line in told.splitlines()}
    assert {"ctypes", "guardian_process"} <= imported
    assert not imported & {"collections", "contextlib", "enum", "re", "signal", "socket", "typing"}


def test_the_guardian_is_not_compiled_for_every_start():
    guardian_says()
    assert f"# code object from '{cache_from_source(PROGRAM)}'" in guardian_says("-v")
