"""A turn's changes, reviewed in a real terminal: one hunk undone there, one file from the shell."""

from tests.cli.kit import DONE
from tests.tui.tmux import NEEDED, bodies, threads
from tests.world import call

pytestmark = NEEDED
READY = "Say what to do"
OLD = "".join(f"line {n}\n" for n in range(40))
NEW = OLD.replace("line 2\n", "line two\n").replace("line 30\n", "")


def test_a_hunk_here_a_file_from_the_shell_and_the_rest_is_kept(
    steer, script, workspace, open_window
):
    (workspace / "long.py").write_text(OLD)
    writes = [
        call("workspace_write_file", path="long.py", content=NEW),
        call("workspace_write_file", path="new.py", content="one = 1\n"),
    ]
    model = script({"tool_calls": writes}, DONE, {"text": "On with it."})
    window = open_window("--model", model, "--approvals", "review", size=(80, 24))
    window.until(READY)
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

    window.say("keep the rest, and on")
    window.until("On with it.", READY, gone="file changed")
    assert (workspace / "long.py").read_text() == OLD.replace("line 2\n", "line two\n")
    undone = [body["parts"] for body in bodies(steer, thread, "checkpoint") if body.get("parts")]
    assert undone == [[{"path": "long.py", "hunks": [2]}], [{"path": "new.py"}]]
