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
        nothing = await desk.type("/commit -m Add it all", True)
        assert nothing[-1][1] == "Nothing was committed. The message was: Add it all"
        await desk.type("/commit -m Add it all", Selection(("new file.txt",), "c"))
        return staged, first, declined, await desk.type("/commit")

    staged, first, declined, clean = desk(scenario)
    asked = next(about for what, about in staged if what == "confirm")
    assert asked[0] == "Commit 1 file?"
    assert ADDED in asked[1]
    assert asked[1].endswith(
        "What is staged is marked:\n"
        "[x] changed  README.md\n[ ] changed  calc.py\n[ ] new      new file.txt"
    )
    assert staged[-2][1].endswith("`: Make add() add")
    assert staged[-1] == ("tell", "2 files not committed.")
    assert first == f"{ADDED}\n\n\nREADME.md\n"
    assert declined[-1] == (
        "tell",
        "Nothing was committed. The message was: Make add() add It subtracted.",
    )
    asked = next(about for what, about in declined if what == "confirm")
    assert asked[0] == "Commit 1 file?"
    assert asked[1].endswith("[x] changed  calc.py\n[ ] new      new file.txt")
    assert git("log", "-1", "--format=%s", "--name-only") == "Add it all\n\nnew file.txt\n"
    assert clean == [("tell", "There is nothing to commit.")]


def test_a_staged_rename_hides_nothing_and_the_rest_is_committed_with_it(desk, git, workspace):
    git("mv", "README.md", "ABOUT.md")
    (workspace / "calc.py").write_text("x = 1\n")
    (workspace / "ABOUT.md").write_text("# Calculator\n\nmore\n")
    (workspace / "mine.txt").write_text("mine\n")

    async def scenario(desk):
        some = await desk.type("/commit -m Only calc", Selection(("calc.py",), "c"))
        assert git("show", "--format=", "--name-only") == "calc.py\n"
        assert git("status", "--porcelain").startswith("RM README.md -> ABOUT.md\n")
        await desk.type("/commit -m Rest", True)
        assert git("status", "--porcelain") == "?? mine.txt\n"
        return some

    title, body = next(about for what, about in desk(scenario) if what == "confirm")
    assert title == "Commit 2 files?"
    assert body.endswith(
        "All changes are marked, new files only if this thread made them:\n"
        "[x] renamed  README.md → ABOUT.md\n"
        "[x] changed  calc.py\n[ ] new      mine.txt"
    )


def test_a_commit_says_how_many_changes_are_marked(desk, git, workspace):
    (workspace / "calc.py").write_text("x = 1\n")
    (workspace / "README.md").write_text("# Calculator\n\nmore\n")

    async def scenario(desk):
        return await desk.type("/commit -m One", Selection(("calc.py",), "e"), "Two", None)

    first, second = (about[1] for what, about in desk(scenario) if what == "confirm")
    assert "All changes are marked:" in first
    assert "1 of 2 changes is marked:" in second


@pytest.mark.usefixtures("git")
def test_new_files_are_marked_only_if_this_thread_made_them(environ, workspace, script):
    """Also where the workspace is a folder of its repository."""
    below = workspace / "below"
    below.mkdir()
    (workspace / "mine.txt").write_text("mine\n")
    (below / "mine.txt").write_text("mine\n")
    write = {"name": "workspace_write_file", "arguments": {"path": "made.py", "content": "m\n"}}
    model = script({"tool_calls": [write]}, {"text": "Done."}, aside=ADDED)

    async def scenario(desk):
        await desk.type("write it")
        return await desk.type("/commit", False)

    done = at_desk(environ, below, scenario, model=model)
    title, body = next(about for what, about in done if what == "confirm")
    assert title == "Commit 1 file?"
    assert body.endswith(
        "[x] new      below/made.py\n[ ] new      below/mine.txt\n[ ] new      mine.txt"
    )


def test_a_commit_from_a_folder_of_a_repository(environ, workspace, script, git):
    """The repository is above the workspace, where no sandbox lets a command write."""
    below = workspace / "below"
    below.mkdir()
    (below / "mine.txt").write_text("mine\n")

    async def scenario(desk):
        return await desk.type("/commit", Selection(("below/mine.txt",), "c"))

    done = at_desk(environ, below, scenario, model=script({"text": "Done."}, aside=ADDED))
    assert git("log", "-1", "--format=%s", "--name-only") == "Make add() add\n\nbelow/mine.txt\n"
    assert done[-1][1].endswith("`: Make add() add")


def test_what_is_too_much_to_show_is_named_with_what_helps(desk, git, workspace):
    for folder in (".venv/lib", "web/node_modules"):
        (workspace / folder).mkdir(parents=True)
        for number in range(900):
            (workspace / folder / f"a-file-with-a-rather-long-name-{number}.txt").touch()
    (workspace / "web/app.js").write_text("app\n")
    git("add", "web/app.js")

    async def scenario(desk):
        told = (await desk.type("/commit"))[-1][1]
        (workspace / ".gitignore").write_text("web/node_modules/\n.venv/\n")
        return told, await desk.type("/commit -m Ignore", True)

    told, done = desk(scenario)
    assert "New, and not ignored by git: web/node_modules/ (900 files), .venv/ (900 files)." in told
    assert "Add `web/node_modules/` and `.venv/` to .gitignore." in told
    assert done[-1] == ("tell", "1 file not committed.")


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


def test_a_file_that_this_thread_moved_is_one_row(environ, workspace, script, git):
    """Nobody staged that; what was changed with it is shown and committed with it."""
    (workspace / "README.md").write_text("one\ntwo\nthree\nfour\n")
    git("commit", "-qam", "more to read")
    (workspace / "mine.txt").write_text("mine\n")
    command = "mkdir docs && mv README.md 'docs/A B.md' && echo five >> 'docs/A B.md'"
    run = {"name": "workspace_run_command", "arguments": {"command": f"{command}; mv calc.py c.py"}}
    model = script({"tool_calls": [run]}, {"text": "Done."}, aside=ADDED)
    moved = "README.md → docs/A B.md"

    async def scenario(desk):
        await desk.type("move them")
        done = await desk.type("/commit", Selection((moved,), "d"), None, Selection((moved,), "c"))
        first = git("show", "-M", "--format=", "--name-status")
        assert git("status", "--porcelain") == " D calc.py\n?? c.py\n?? mine.txt\n"
        return done, first

    done, first = at_desk(environ, workspace, scenario, model=model)
    assert next(about for what, about in done if what == "confirm")[1].endswith(
        f"[x] renamed  calc.py → c.py\n[x] renamed  {moved}\n[ ] new      mine.txt"
    )
    shown = next(about for what, about in done if what == "read")[1]
    assert "rename from README.md\nrename to docs/A B.md\n" in shown
    assert [line for line in shown.splitlines() if line[:1] in "+-" and line[1:2].isalpha()] == [
        "+five"
    ]
    assert first.endswith("\tREADME.md\tdocs/A B.md\n")


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


@pytest.mark.parametrize(
    ("written", "subject"),
    [
        ('-m "Fix nights"', "Fix nights"),
        ("-m 'Fix nights'", "Fix nights"),
        ('-m"Fix nights"', "Fix nights"),
        ('--message="Fix nights"', "Fix nights"),
        ("-m Fix nights", "Fix nights"),
        ("-m Don't round twice", "Don't round twice"),
        ('-m "a" and "b"', '"a" and "b"'),
        ("Fix nights", "Fix nights"),
        ('"Fix nights"', "Fix nights"),
        ("-more words please", "-more words please"),
    ],
)
def test_a_message_of_ones_own_is_written_with_quotes_or_without(
    desk, git, workspace, written, subject
):
    (workspace / "calc.py").write_text("def add(a, b):\n    return a + b\n")

    async def scenario(desk):
        await desk.type(f"/commit {written}", True)
        return git("log", "-1", "--format=%s")

    assert desk(scenario) == f"{subject}\n"


def test_without_a_model_the_message_is_written_by_hand(environ, workspace, git):
    """The card is there all the same, and says why it has no message."""
    (workspace / "calc.py").write_text("x = 1\n")

    async def scenario(desk):
        return await desk.type("/commit", True, "Set x", True)

    gone = {"wire": "openai-chat", "base_url": "http://127.0.0.1:1/v1"}  # nobody listens there
    done = at_desk(environ, workspace, scenario, model="gone:m", providers={"gone": gone})
    (title, body), *_ = [about for what, about in done if what == "confirm"]
    assert title == "Commit 1 file?"
    assert "The model wrote no message: " in body
    assert "127.0.0.1:1" in body
    assert [about for what, about in done if what == "edit"] == [("Commit message", "")]
    assert git("log", "-1", "--format=%s") == "Set x\n"


@pytest.mark.parametrize("chosen", [("calc.py",), ("README.md", "calc.py"), ("new.txt",)])
def test_a_hook_that_refuses_leaves_the_index_as_it_was(desk, git, workspace, chosen):
    """Its output is shown with the message, to be tried again."""
    hook = workspace / ".git/hooks/pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho lint: calc.py is ugly\ntest -f fine\n")
    hook.chmod(0o755)
    (workspace / "README.md").write_text("# Staged\n")
    git("add", "README.md")
    (workspace / "README.md").write_text("# Staged\n\nand not\n")
    (workspace / "calc.py").write_text("x = 1\n")
    (workspace / "new.txt").write_text("new\n")
    before = git("status", "--porcelain"), git("diff", "--cached")

    async def scenario(desk):
        kept = Selection(chosen, "c")
        refused = await desk.type("/commit Set x", kept, None)
        assert (git("status", "--porcelain"), git("diff", "--cached")) == before
        (workspace / "fine").touch()
        await desk.type("/commit Set x", kept)
        return refused

    refused = desk(scenario)
    first, again = [about for what, about in refused if what == "confirm"]
    assert "lint: calc.py is ugly" not in first[1]
    assert "lint: calc.py is ugly" in again[1]
    assert "Set x" in again[1]
    assert all(f"[x] changed  {one}" in again[1] or "new" in one for one in chosen)
    assert ("compose", "/commit Set x") in refused
    assert git("log", "-1", "--format=%s", "--name-only").split("\n\n")[0] == "Set x"


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


@pytest.mark.parametrize(
    ("command", "words", "files", "left"),
    [
        (
            "git commit -qam mine",
            "1 commit “mine”",
            "Your files stay as they are; what was committed is uncommitted again.",
            "mine",
        ),
        (
            "echo yours > calc.py; git commit -qam yours",
            "1 change and 1 commit “yours”",
            "The files above go back, too.",
            "mine",
        ),
    ],
)
def test_undo_of_a_commit_says_what_becomes_of_history_and_files(
    environ, git, workspace, script, command, words, files, left
):
    before = git("rev-parse", "HEAD")
    (workspace / "calc.py").write_text("mine\n")

    async def scenario(desk):
        await desk.type("go")
        assert git("rev-parse", "HEAD") != before
        undone = await desk.type("/undo", True)
        went_back = git("rev-parse", "HEAD"), (workspace / "calc.py").read_text()
        return undone, went_back, await desk.type("/redo", True)

    run = {"name": "workspace_run_command", "arguments": {"command": command}}
    model = script({"tool_calls": [run]}, {"text": "Done."})
    undone, went_back, redone = at_desk(environ, workspace, scenario, model=model)
    title, body = undone[0][1]
    assert title == f"Undo {words}?"
    assert f"Git's history goes back to before the commit. {files}" in body
    assert ("done", f"Undone: {words}.") in undone
    assert went_back == (before, f"{left}\n")
    assert "Git's history has the commit again." in redone[0][1][1]
    assert git("rev-parse", "HEAD") != before


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
