"""The state of the host is for its owner alone, whatever the umask and the folder's mode."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.kit import DONE
from tests.world import call

# A database that is in use has two more files beside it.
IN_USE = """
import os, stat, sys
os.umask(0)
from steersman.host.storage import open_host
host = open_host(os.environ)
host.threads()
host.create("/", "x")
home = os.environ["STEERSMAN_HOME"]
print(sorted((name, oct(stat.S_IMODE(os.stat(os.path.join(home, name)).st_mode)))
             for name in os.listdir(home) if name.startswith("steersman.db")))
"""


@pytest.fixture
def loose(environ):
    """A folder of the state that everybody may look into, and a umask that hides nothing."""
    home = Path(environ["STEERSMAN_HOME"])
    home.mkdir(parents=True, exist_ok=True)
    home.chmod(0o777)
    before = os.umask(0)
    yield home
    os.umask(before)


def test_nobody_else_can_read_what_a_thread_leaves(loose, steer, script):
    calls = [
        call("workspace_run_command", command="echo hi > made; echo said"),
        call("workspace_ranked_context", query="add"),
        call("workspace_write_file", path="n", content="x"),
    ]
    model = script({"tool_calls": calls}, DONE)
    assert steer("run", "--model", model, "--approvals", "never", "go").returncode == 0
    id = steer("run", "--detach", "--model", model, "--approvals", "never", "go").stdout.strip()
    steer("wait", id)
    steer("index", "build")

    found = [path for path in loose.rglob("*") if path.is_file()]
    assert {path.suffix for path in found} >= {".db", ".log"}
    open_to_others = [path for path in found if path.stat().st_mode & 0o077]
    folders = [path for path in loose.iterdir() if path.is_dir() and path.stat().st_mode & 0o077]
    assert (open_to_others, folders) == ([], [])


@pytest.mark.parametrize("before", [None, 0o644, 0o666])
def test_nobody_else_can_read_a_database_that_is_in_use(loose, environ, before):
    line = [sys.executable, "-c", IN_USE]
    if before is not None:
        subprocess.run(line, env=environ, check=True, capture_output=True)
        for path in loose.glob("steersman.db*"):
            path.chmod(before)
    done = subprocess.run(line, env=environ, check=True, capture_output=True, text=True)
    names = ("steersman.db", "steersman.db-shm", "steersman.db-wal")
    assert done.stdout.strip() == str([(name, "0o600") for name in names])
