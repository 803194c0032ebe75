"""The first minutes in a real terminal: log in, a task, its review, undo in parts, commit."""

import subprocess

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


def test_log_in_a_task_a_hunk_here_a_file_from_the_shell_and_the_rest_is_committed(
    steer, server, workspace, open_window
):
    (workspace / "long.py").write_text(OLD)
    subprocess.run(BEGIN, shell=True, cwd=workspace, check=True, env=steer.environ)
    window = open_window(size=(80, 24), environ={"STEERSMAN_APPROVALS": ""})
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

    (thread,) = threads(steer)
    done = steer("undo", thread, "--file", "new.py", "--yes")
    assert done.returncode == 0, done.stderr
    assert not (workspace / "new.py").exists()
    window.until("↶ undone: new.py", "1 file changed, +1 −1", READY)

    window.say("/commit -m Spell it out")
    window.until("Spell it out", "long.py", "y yes")
    window.press("y")
    window.until("Committed", READY)
    shown = ["git", "show", "--stat", "--format=%s", "HEAD"]
    done = subprocess.run(shown, cwd=workspace, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[0] == "Spell it out"
    assert "long.py | 2 +-" in done.stdout
    assert (workspace / "long.py").read_text() == OLD.replace("line 2\n", "line two\n")
    undone = [body["parts"] for body in bodies(steer, thread, "checkpoint") if body.get("parts")]
    assert undone == [[{"path": "long.py", "hunks": [2]}], [{"path": "new.py"}]]
