"""Undo, redo and rewind where git notes things for itself: only a real commit is a step."""

import subprocess

import pytest

from tests.views.commands.recording import at_desk
from tests.world import call

RUN = "workspace_run_command"
BROKEN = "def add(a, b):\n    return a - b\n"
FIXED = "def add(a, b):\n    return a + b\n"
SAFE = "def add(a, b):\n    return int(a) + int(b)\n"


def edit(search, replace):
    """An edit of the program by the model."""
    edits = [{"search": search, "replace": replace}]
    return call("workspace_edit_files", files=[{"path": "calc.py", "edits": edits}])


@pytest.fixture
def git(workspace):
    """Git in the workspace, which has one commit; it writes nothing that a question does not."""

    def run(*words):
        return subprocess.run(
            ["git", "--no-optional-locks", *words],
            cwd=workspace, check=True, capture_output=True, text=True,
        ).stdout  # fmt: skip

    run("config", "user.name", "n")
    run("config", "user.email", "e@example.org")
    (workspace / ".gitignore").write_text("*.log\n")
    run("add", ".")
    run("commit", "-qm", "first")
    return run


@pytest.fixture
def desk(environ, workspace, script):
    """Play a scenario with a model that fixes the program, and then makes it safe."""
    log = call("workspace_write_file", path="run.log", content="ran\n")
    model = script(
        {"tool_calls": [edit("a - b", "a + b"), log]},
        {"text": "Fixed."},
        {"tool_calls": [edit("a + b", "int(a) + int(b)")]},
        {"text": "Safe."},
    )

    def play(scenario, **settings):
        return at_desk(environ, workspace, scenario, model=model, **settings)

    return play


def subjects(git):
    """The commits, the latest first."""
    return git("log", "--format=%s").split("\n")[:-1]


def newest(rows):
    """Choose the last message."""
    return rows[0].key


def checkpoints(desk):
    """What was done to files, as the log has it."""
    return [m.body.cause for m in desk.messages("checkpoint")]


async def two_commits(desk):
    """Two turns, each committed."""
    await desk.type("fix it")
    await desk.type("/commit -m Fix", True)
    await desk.type("make it safe")
    await desk.type("/commit -m Safe", True)


@pytest.mark.usefixtures("git")
@pytest.mark.parametrize("trust", ["sandboxed", "untrusted"])
def test_a_look_for_what_is_shown_changes_nothing_and_is_no_step(desk, workspace, trust):
    """The files are as they were committed, but newer: git would note that in its index."""
    index = workspace / ".git" / "index"

    async def scenario(desk):
        await desk.type("fix it")
        await desk.type("/undo", True)
        before, log = index.read_bytes(), checkpoints(desk)
        assert await desk.type("/commit") == [("tell", "There is nothing to commit.")]
        assert (index.read_bytes(), checkpoints(desk)) == (before, log)

    desk(scenario, trust=trust)


def test_redo_reverses_a_rewind_that_removed_commits(desk, git, workspace):
    file = workspace / "calc.py"

    async def scenario(desk):
        await two_commits(desk)
        first = desk.seat.id
        await desk.type("/rewind", newest, "y")
        assert (file.read_text(), subjects(git)) == (FIXED, ["Fix", "first"])
        assert await desk.type("/commit") == [("tell", "There is nothing to commit.")]
        await desk.type("/redo", True)
        assert desk.seat.id == first
        assert (file.read_text(), subjects(git)) == (SAFE, ["Safe", "Fix", "first"])
        assert git("status", "--porcelain") == ""

    desk(scenario)


def test_a_status_of_mine_leaves_undo_and_redo_as_they_were(desk, git, workspace):
    """`git status` writes the index again; the next undo is still about the commit."""
    file = workspace / "calc.py"

    async def scenario(desk):
        await two_commits(desk)
        for _ in range(2):
            told = await desk.type("/undo", True)
            assert (file.read_text(), subjects(git)) == (SAFE, ["Fix", "first"]), told
            (workspace / "README.md").touch()
            await desk.seat.call(RUN, {"command": "git status"})
            await desk.type("/redo", True)
            assert (file.read_text(), subjects(git)) == (SAFE, ["Safe", "Fix", "first"])
            (workspace / "README.md").touch()
            await desk.seat.call(RUN, {"command": "git status"})
        for left in (["Fix", "first"], ["Fix", "first"], ["first"], ["first"]):
            await desk.type("/undo", True)
            assert subjects(git) == left
        assert file.read_text() == BROKEN
        assert await desk.type("/undo") == [("tell", "There is nothing to undo.")]

    desk(scenario)


def test_a_status_of_mine_leaves_a_rewind_as_it_was(desk, git, workspace):
    file = workspace / "calc.py"

    async def scenario(desk):
        await two_commits(desk)
        first = desk.seat.id
        await desk.type("/rewind", newest, "y")
        await desk.seat.call(RUN, {"command": "git status"})
        await desk.type("/redo", True)
        assert (desk.seat.id, file.read_text()) == (first, SAFE)
        assert subjects(git) == ["Safe", "Fix", "first"]

    desk(scenario)


def test_a_commit_that_a_hook_refused_is_no_step(desk, git, workspace):
    """It left objects that nothing leads to, and the index as it was."""
    hook = workspace / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)

    async def scenario(desk):
        await desk.type("fix it")
        await desk.type("/commit -m Fix", True, None)
        happened = await desk.type("/undo", True)
        assert (workspace / "calc.py").read_text() == BROKEN
        assert await desk.type("/undo") == [("tell", "There is nothing to undo.")]
        await desk.type("/redo", True)
        assert (workspace / "calc.py").read_text() == FIXED
        return happened

    happened = desk(scenario)
    assert "-    return a + b" in happened[0][1][1]


def test_what_i_stage_is_a_step(desk, git, workspace):
    async def scenario(desk):
        await desk.type("fix it")
        await desk.type("/undo", True)
        (workspace / "README.md").write_text("# Mine, and longer than before\n")
        await desk.seat.call(RUN, {"command": "git add README.md"})
        assert (await desk.type("/redo"))[-1][1].startswith("There is nothing to redo.")
        await desk.type("/undo", True)
        assert git("status", "--porcelain") == " M README.md\n"

    desk(scenario)
