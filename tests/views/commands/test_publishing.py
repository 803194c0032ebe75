"""`/commit` and `/pr`, typed by a person in a real repository; the model's words are scripted."""

import subprocess
from pathlib import Path

import pytest

from steersman.views.commands.stage import Selection
from steersman.views.facts import Gathering
from steersman.views.story import Story
from tests.views.commands.recording import at_desk

ADDED = "Make add() add\n\nIt subtracted."


@pytest.fixture
def git(workspace):
    """Git in the workspace, which has one commit."""

    def run(*words):
        return subprocess.run(
            ["git", *words], cwd=workspace, check=True, capture_output=True, text=True
        ).stdout

    run("config", "user.name", "n")
    run("config", "user.email", "e@example.org")
    run("add", ".")
    run("commit", "-qm", "first")
    return run


@pytest.fixture
def desk(environ, workspace, script):
    """Play a scenario at a desk whose model says something beside the conversation."""

    def play(scenario):
        model = script({"text": "Done."}, aside=ADDED)
        return at_desk(environ, workspace, scenario, model=model)

    return play


def test_a_commit_has_what_is_staged_or_else_what_is_shown(desk, git, workspace):
    (workspace / "calc.py").write_text("def add(a, b):\n    return a + b\n")
    (workspace / "new file.txt").write_text("new\n")
    (workspace / "README.md").write_text("# Calculator\n")
    git("add", "README.md")

    async def scenario(desk):
        staged = await desk.type("/commit", True)
        first = git("log", "-1", "--format=%B", "--name-only")
        declined = await desk.type("/commit", False)
        edit = Selection(("calc.py", "new file.txt"), "e")
        look, dropped = Selection(("calc.py",), "d"), Selection(("calc.py",), "c")
        some = await desk.type("/commit", edit, "Add, and say so", look, None, dropped)
        assert git("log", "-1", "--format=%s", "--name-only") == "Add, and say so\n\ncalc.py\n"
        assert some[-1][1] == "1 file not committed."
        title, diff = next(about for what, about in some if what == "read")
        assert title == "Changes of 1 file"
        assert "+    return a + b" in diff
        assert "new file.txt" not in diff
        assert [what for what, _ in some[:2]] == ["begin", "end"]  # no longer than it is so
        (workspace / "README.md").write_text("# C\n")
        git("add", ".")
        await desk.type("/commit -m Only one", Selection(("README.md",), "c"))
        assert git("log", "-1", "--format=%s", "--name-only") == "Only one\n\nREADME.md\n"
        await desk.type("/commit -m Add it all", True)
        return staged, first, declined, await desk.type("/commit")

    staged, first, declined, clean = desk(scenario)
    asked = next(about for what, about in staged if what == "confirm")
    assert asked[0] == "Commit 1 file?"
    assert ADDED in asked[1]
    assert "changed  README.md" in asked[1]
    assert staged[-2][1].endswith("Make add() add.")
    assert staged[-1] == ("tell", "2 unstaged changes left as before.")
    assert first == f"{ADDED}\n\n\nREADME.md\n"
    assert declined[-1] == (
        "tell",
        "Nothing was committed. The message was: Make add() add It subtracted.",
    )
    asked = next(about for what, about in declined if what == "confirm")
    assert asked[0] == "Commit 2 files?"
    assert git("log", "-1", "--format=%s", "--name-only") == "Add it all\n\nnew file.txt\n"
    assert clean == [("tell", "There is nothing to commit.")]


def test_a_staged_rename_is_committed_or_dropped_as_a_whole(desk, git, workspace):
    git("mv", "README.md", "ABOUT.md")
    (workspace / "calc.py").write_text("x = 1\n")
    git("add", "calc.py")

    async def scenario(desk):
        asked = await desk.type("/commit -m One", Selection(("calc.py",), "c"))
        assert git("show", "--format=", "--name-only") == "calc.py\n"
        assert git("status", "--porcelain") == " D README.md\n?? ABOUT.md\n"
        git("add", "-A")
        await desk.type("/commit -m Two", True)
        assert git("show", "--format=", "--name-status") == "R100\tREADME.md\tABOUT.md\n"
        return asked

    asked = next(about for what, about in desk(scenario) if what == "confirm")
    assert "renamed  README.md → ABOUT.md" in asked[1]


def test_the_message_is_written_from_the_diff_beside_the_conversation(desk, git, workspace):
    (workspace / "calc.py").write_text("def add(a, b):\n    return a + b\n")

    async def scenario(desk):
        await desk.type("/commit", True)
        kinds = [message.kind for message in desk.messages()]
        return kinds, desk.messages("usage"), await desk.type("/ask"), await desk.type("/commit")

    kinds, usage, _, refused = desk(scenario)
    assert "assistant" not in kinds
    assert "user" not in kinds
    assert len(usage) == 1
    assert "was not run" in refused[-1][1]


def test_a_pull_request_is_opened_with_gh_or_not_at_all(desk, git, workspace, environ, tmp_path):
    remote = tmp_path / "remote.git"
    git("init", "-q", "--bare", str(remote))
    git("remote", "add", "origin", str(remote))
    git("push", "-q", "origin", "main")
    bin_folder = tmp_path / "bin"
    bin_folder.mkdir()
    for program in ("git", "bash", "sh", "env", "true", "cat"):
        found = subprocess.run(["which", program], capture_output=True, text=True, check=True)
        (bin_folder / program).symlink_to(found.stdout.strip())
    environ["PATH"] = str(bin_folder)

    async def scenario(desk):
        on_main = await desk.type("/pr")
        git("switch", "-qc", "fix/x")
        empty = await desk.type("/pr")
        git("commit", "-qm", "work", "--allow-empty")
        without = await desk.type("/pr")
        pushed = Path(remote, "refs/heads/fix/x").exists()
        gh = bin_folder / "gh"
        gh.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {tmp_path}/gh.args\n'
                      "echo https://example.org/pr/1\n")  # fmt: skip
        gh.chmod(0o755)
        return on_main, empty, without, pushed, await desk.type("/pr", True)

    on_main, empty, without, pushed, opened = desk(scenario)
    assert "this is main" in on_main[-1][1]
    assert "fix/x has no commits beyond main" in empty[-1][1]
    kind, (_, told) = without[-1]
    assert kind == "show"
    assert "git push -u origin fix/x" in told
    assert not pushed
    assert opened[-1] == ("tell", "Opened https://example.org/pr/1")
    assert Path(remote, "refs/heads/fix/x").exists()
    args = (tmp_path / "gh.args").read_text()
    assert args == (
        "pr\ncreate\n--base\nmain\n--head\nfix/x\n--title\nMake add() add\n--body\nIt subtracted.\n"
    )


def test_a_hunk_is_undone_after_a_commit_and_git_is_not_named(environ, workspace, script, git):
    edit = {"path": "calc.py", "edits": [{"search": "a - b", "replace": "a + b"}]}
    fix = {"name": "workspace_edit_files", "arguments": {"files": [edit]}}
    model = script({"tool_calls": [fix]}, {"text": "Done."}, aside=ADDED)

    async def scenario(desk):
        await desk.type("fix it")
        await desk.type("/commit", True)
        wrong = await desk.type("/undo README.md")
        return wrong, await desk.type("/undo calc.py:1", True)

    wrong, undone = at_desk(environ, workspace, scenario, model=model)
    assert "Changed were: what git keeps for itself." in wrong[-1][1]
    title, body = undone[0][1]
    assert title == "Undo 1 change?"
    assert ".git" not in body
    assert ("done", "Undone: 1 change.") in undone
    assert "a - b" in (workspace / "calc.py").read_text()


def test_the_branch_is_seen_to_change_whoever_changes_it(desk, git, environ):
    async def scenario(desk):
        gathering = Gathering(desk.seat, environ)
        seen = [await gathering.look_again(), gathering.facts(Story()).branch]
        git("switch", "-qc", "other")
        seen += [await gathering.look_again(), gathering.facts(Story()).branch]
        seen.append(await gathering.look_again())
        git("commit", "-qm", "by hand", "--allow-empty")
        return [*seen, await gathering.look_again()]

    assert desk(scenario) == [
        (True, False), "main", (True, True), "other", (False, False), (False, True),
    ]  # fmt: skip
