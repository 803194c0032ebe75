"""An undo, a redo or a rewind that dies half-way: the log says of it what the files say.

Whatever the moment, the same command afterwards ends where it should have, and its opposite brings
everything back, byte for byte.
"""

import json
from itertools import product
from pathlib import Path
from subprocess import PIPE, Popen

import pytest

from tests.cli.test_undo import picture
from tests.world import STEER, Steer, call

INSIDE = str(Path(__file__).parent / "inside")
COMMAND = (
    "for n in $(seq 6); do echo new > kept$n; done; rm gone; mv old moved; mkdir deep; "
    "echo a > deep/a; chmod 600 mode; ln -sfn kept2 link; rm -r folder; echo file > folder"
)
EVERY = 16  # steps; those between, and most ways to die, only with `make soak`
LAST = 120


@pytest.fixture
def folder(tmp_path):
    """One of everything."""
    place = tmp_path / "place"
    (place / "folder").mkdir(parents=True)
    for name in (*(f"kept{n}" for n in range(1, 7)), "gone", "old", "mode", "folder/in"):
        (place / name).write_text(f"{name}, as it was\n" * 20)
    (place / "link").symlink_to("kept1")
    return place


@pytest.fixture
def steer(environ, folder):
    return Steer(environ, folder)


@pytest.fixture
def changed(steer, folder, script):
    """A thread that changed all of it; the files before and after, and the thread."""
    before = picture(folder)
    model = script(
        {"tool_calls": [call("workspace_run_command", command=COMMAND)]}, {"text": "Done."}
    )
    messages = steer.messages("run", "--model", model, "--yes", "go")
    return before, picture(folder), messages[0]["thread"]


def dying(steer, at, how):
    """The command line, whose change of files dies at a step."""
    environ = {**steer.environ, "DIE_AT": str(at), "DIE_BY": how, "PYTHONPATH": INSIDE}
    return Steer(environ, steer.folder)


FEW = {("undo", "SIGKILL", 3), ("redo", "SIGKILL", 7), ("rewind", "SIGTERM", 5)}


@pytest.mark.parametrize(
    ("word", "how", "start"),
    [
        pytest.param(*one, marks=() if one in FEW else pytest.mark.soak)
        for one in product(("undo", "redo", "rewind"), ("SIGKILL", "SIGTERM"), range(1, EVERY + 1))
    ],
)
def test_an_undo_that_dies_at_any_step_is_done_or_never_was(
    steer, folder, changed, word, how, start
):
    before, after, thread = changed
    there, back = (after, before) if word == "redo" else (before, after)
    again, opposite = ("redo", "undo") if word == "redo" else ("undo", "redo")
    words = ["rewind", thread, "1"] if word == "rewind" else [word, thread]
    if word == "redo":
        assert steer("undo", thread, "--yes").returncode == 0
    deaths = 0
    for at in range(start, LAST, EVERY):
        assert picture(folder) == back
        died = dying(steer, at, how)(*words, "--yes")
        deaths += died.returncode != 0

        done = steer(again, thread, "--yes")
        if "was reverted" in done.stdout:  # that settled it, and did no more
            assert picture(folder) == back, at
            done = steer(again, thread, "--yes")

        assert done.returncode == 0 or f"nothing to {again}" in done.stderr, (at, done.stderr)
        assert picture(folder) == there, at
        reversed_ = steer(opposite, thread, "--yes")
        assert reversed_.returncode == 0, (at, reversed_.stderr)
        assert picture(folder) == back, at
        if died.returncode == 0:
            break
    assert deaths > 1
    assert died.returncode == 0, "the last step was reached"
    assert steer("ledger", "verify").returncode == 0


def test_an_undo_that_another_thread_reverted_never_was_whatever_became_of_its_files(
    steer, folder, script
):
    """The files cannot tell any more: someone changed them after they were put back."""
    names = ("one.txt", "two.txt")
    writes = [call("workspace_write_file", path=name, content="new\n") for name in names]
    model = script({"tool_calls": writes}, {"text": "-"})
    thread = steer.messages("run", "--model", model, "--yes", "write")[0]["thread"]
    at = 0
    while all((folder / name).exists() for name in names):
        at += 1
        steer("undo", thread, "--list")  # settles the last one
        assert dying(steer, at, "SIGKILL")("undo", thread, "--yes").returncode != 0

    looks = {"tool_calls": [call("workspace_run_command", command="true")]}
    assert steer("run", "--model", script(looks, {"text": "-"}), "--yes", "look").returncode == 0
    for name in names:
        assert (folder / name).read_text() == "new\n"
        (folder / name).write_text("mine\n")

    assert "The undo that was cut off was reverted" in steer("redo", thread, "--yes").stdout
    assert "nothing to redo" in steer("redo", thread, "--yes").stderr
    log = [json.loads(line) for line in steer("replay", thread).stdout.splitlines()]
    *_, undo, void = (one for one in log if one["kind"] == "checkpoint")
    assert (undo["body"]["cause"], void["body"]["cause"]) == ("undo", "void")
    assert void["body"]["undoes"] == [undo["seq"]]
    (left,) = Path(steer.environ["STEERSMAN_HOME"]).glob("**/reverted")
    assert list(left.iterdir()) == []


@pytest.fixture
def written_twice(steer, script):
    """A thread of two turns, which wrote main.py: `1`, then `2`."""
    writes = [call("workspace_write_file", path="main.py", content=text) for text in "12"]
    model = script(*[step for one in writes for step in ({"tool_calls": [one]}, {"text": "-"})])
    thread = steer.messages("run", "--model", model, "--yes", "one")[0]["thread"]
    assert steer("resume", thread, "two", "--yes").returncode == 0
    return thread


@pytest.mark.parametrize(
    "start", [pytest.param(n, marks=() if n == 1 else pytest.mark.soak) for n in range(1, 6)]
)
def test_a_chat_opened_after_an_undo_that_died_hides_it_from_no_one(
    steer, folder, written_twice, start
):
    """The person asked once: the turn before is undone only when they heard of the first."""
    file = folder / "main.py"
    for at in range(start, LAST, 5):
        assert file.read_text() == "2"
        died = dying(steer, at, "SIGKILL")("undo", "--yes")
        assert steer("--plain", "-c").returncode == 0
        if "Undone: " in died.stdout:
            break

        again = steer("undo", "--yes")

        assert again.returncode == 0, (at, again.stderr)
        assert file.read_text() == "1", (at, again.stdout)
        assert ("cut off was finished" in again.stdout) == ("Undone: " not in again.stdout)
        assert steer("redo", "--yes").returncode == 0
    assert at > 10
    assert "Undone: " in died.stdout, "the last step was reached"


def test_an_undo_whose_process_is_killed_later_was_finished(steer, folder, written_twice):
    """The conversation in which `/undo` was said lives on, and dies of something else."""
    command = [*STEER, "--plain", "-r", written_twice]
    pipes = {"stdin": PIPE, "stdout": PIPE, "text": True}
    with Popen(command, cwd=folder, env=steer.environ, **pipes) as chat:
        chat.stdin.write("/undo\ny\n")
        chat.stdin.flush()
        assert any("/redo reverses this." in line for line in chat.stdout)
        # What it does next, it does after it noted that this undo is over.
        chat.stdin.write("/status\n")
        chat.stdin.flush()
        assert any("thread" in line for line in chat.stdout)
        chat.kill()
    assert (folder / "main.py").read_text() == "1"

    assert "Undone: 1 change" in steer("undo", "--yes").stdout
    assert not (folder / "main.py").exists()
