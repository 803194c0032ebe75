"""The first minutes in a terminal: install, log in, a task, its review, undo in parts, commit."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.cli.kit import DONE
from tests.host.wires import RecordingStage
from tests.tui.tmux import NEEDED, bodies, threads
from tests.world import call

pytestmark = NEEDED
READY = "Say what to do"
OLD = "".join(f"line {n}\n" for n in range(40))
NEW = OLD.replace("line 2\n", "line two\n").replace("line 30\n", "")


PING = {"tool_calls": [{"name": "ping", "arguments": {"text": "ok"}}]}
WRITES = [
    call("workspace_write_file", path="long.py", content=NEW),
    call("workspace_write_file", path="new.py", content="one = 1\n"),
]
AS_A_PERSON = {"STEERSMAN_APPROVALS": ""}
ROOT = Path(__file__).parents[2]
BEGIN = """
git config user.name Dev && git config user.email dev@example.org
git add -A && git commit -q -m Begin
"""


@pytest.fixture
def server():
    """A model server."""
    stage = RecordingStage()
    yield stage
    stage.close()


def log_in(window, server):
    """The first page of a fresh home: log in at the model server, and keep what is proposed."""
    server.play(PING)
    window.until("Choose a model", "Log in with a key")
    window.say("log in")
    window.until("Log in with a key of", "Another server")
    window.say("another")
    window.until("Address of the server")
    window.say(server.url.removeprefix("http://"))
    window.until(f"Paste the key for {server.url}")
    window.press(*"words-of-nobody", "Enter")
    window.until("When are you asked?", "Now: review")
    window.press("Enter")
    window.until(READY, "local:scripted", gone="When are you asked?")


@pytest.fixture
def project(steer, workspace):
    """A repository with a commit."""
    (workspace / "long.py").write_text(OLD)
    subprocess.run(BEGIN, shell=True, cwd=workspace, check=True, env=steer.environ)
    return workspace


def test_log_in_a_task_a_hunk_here_a_file_from_the_shell_and_the_rest_is_committed(
    steer, server, project, open_window
):
    window = open_window(size=(80, 24), environ=AS_A_PERSON)
    first_minutes(window, server, steer, project)


@pytest.mark.real
def test_the_same_after_installing_it_as_the_readme_says(
    steer, server, project, open_window, tmp_path
):
    installed = tmp_path / "steersman"
    environ = {**os.environ, **steer.environ}
    for words in (["git", "clone", "-q", ROOT, installed], ["make", "-C", installed, "demo"]):
        done = subprocess.run(words, env=environ, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    program = [str(installed / ".venv/bin/steer")]
    window = open_window(size=(80, 24), environ=AS_A_PERSON, program=program)
    first_minutes(window, server, steer, project)


def first_minutes(window, server, steer, workspace):
    """Log in, a task, a hunk and a file undone, the rest committed."""
    log_in(window, server)
    server.play({"tool_calls": WRITES}, DONE, aside="A title")
    window.say("change them")
    window.until("2 files changed, +2 −2", "F8 to review or undo", READY)

    window.press("F8")
    window.until("u undo all")
    window.press("Enter")
    window.until("changes of turn 1", "3 of 3 kept", "long.py")
    window.press("Tab", "Space")
    window.until("2 of 3 kept", "to be undone")
    window.press("Enter")
    window.until("↶ undone: long.py hunk 2", "2 files changed, +2 −1", READY)
    assert (workspace / "long.py").read_text() == OLD.replace("line 2\n", "line two\n")

    thread, *_ = threads(steer)  # the newest; `make demo` made another
    done = steer("undo", thread, "--file", "new.py", "--yes")
    assert done.returncode == 0, done.stderr
    assert not (workspace / "new.py").exists()
    window.until("↶ undone: new.py", "1 file changed, +1 −1", READY)

    window.say("/commit -m Spell it out")
    window.until("Spell it out", "long.py", "c commit")
    window.press("c")
    window.until("Committed 1 file as", "Spell it out", READY)
    shown = ["git", "show", "--stat", "--format=%s", "HEAD"]
    done = subprocess.run(shown, cwd=workspace, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[0] == "Spell it out"
    assert "long.py | 2 +-" in done.stdout
    assert (workspace / "long.py").read_text() == OLD.replace("line 2\n", "line two\n")
    undone = [body["parts"] for body in bodies(steer, thread, "checkpoint") if body.get("parts")]
    assert undone == [[{"path": "long.py", "hunks": [2]}], [{"path": "new.py"}]]
