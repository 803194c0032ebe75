"""What a turn changed, reviewed in the terminal: kept by writing on, undone whole or in part."""

import subprocess

import pytest

from steersman.ports.tui.composer import Composer
from steersman.ports.tui.panes.review import Review
from tests.cli.kit import DONE
from tests.tui.app.bridge import at_the_terminal, live
from tests.tui.snapshots import check
from tests.world import call

OLD = "".join(f"line {n}\n" for n in range(40))
NEW = OLD.replace("line 2\n", "line two\n").replace("line 30\n", "")
WRITES = [
    call("workspace_write_file", path="notes.md", content="# Notes\n"),
    call("workspace_write_file", path="long.py", content=NEW),
    call("workspace_write_file", path="src/new.py", content="one = 1\n"),
]
SIZES = [(80, 24), (120, 40)]


def git(folder, *words):
    """What git says in a folder, for a user with a name."""
    for name, value in (("user.name", "n"), ("user.email", "e@example.org")):
        subprocess.run(["git", "config", name, value], cwd=folder, check=True)
    return subprocess.run(
        ["git", *words], cwd=folder, check=True, capture_output=True, text=True
    ).stdout


@pytest.mark.parametrize("size", SIZES)
def test_a_turn_ends_with_one_card_and_parts_of_it_are_undone(size, environ, workspace, script):
    """The card takes no keys; a hunk is undone, then all; each is a line of the conversation."""
    (workspace / "long.py").write_text(OLD)
    name = "{}x{}".format(*size)

    async def scene():
        model = script({"tool_calls": WRITES}, DONE, DONE)
        how = {"size": size, "approvals": "review"}
        async with at_the_terminal(environ, workspace, model, **how) as me:
            await me.say("change them")
            await me.turn_ends()
            await me.sees("3 files changed, +3 −2", "F8 to review or undo", "✓ done")
            check(me.picture(), f"review-card-{name}.txt")

            await me.write("ku D and prose")  # no letter is a key of the card while one writes
            assert me.app.query_one(Composer).text == "ku D and prose"
            assert (workspace / "long.py").read_text() == NEW
            me.app.query_one(Composer).clear()

            await me.press("f8")
            await me.sees("Enter choose · k keep · u undo all", "long.py +1 −2", "notes.md +1")
            order = [
                me.screen().index(f"  {one} +") for one in ("long.py", "src/new.py", "notes.md")
            ]
            assert order == sorted(order)
            await me.press("enter")
            await me.sees("changes of turn 1", "4 of 4 kept", "keep or undo")
            await me.press("tab", "space")
            await me.sees("3 of 4 kept")
            check(me.picture(), f"review-choice-{name}.txt")
            await me.press("enter")
            half = OLD.replace("line 2\n", "line two\n")
            await me.until(lambda: (workspace / "long.py").read_text() == half)
            await me.sees("↶ undone: long.py hunk 2 · the rest of the turn stays")
            await me.sees("3 files changed, +3 −1")
            assert me.app.attention == "writing"

            await me.press("f8", "u")
            await me.until(lambda: (workspace / "long.py").read_text() == OLD)
            await me.until(lambda: not me.app.query_one(Review).display)
            assert not (workspace / "notes.md").exists()
            assert not (workspace / "src").exists()
            await me.say("/redo")
            await me.until(lambda: len(me.app.screen_stack) > 1)
            await me.press("y")
            await me.sees("3 files changed, +3 −1")

    live(scene)


def test_a_moved_file_is_one_rename_and_both_names_are_taken_back(environ, workspace, script):
    """With only the lines that changed; in the conversation, on the card, in the choice."""
    (workspace / "long.py").write_text(OLD)
    (workspace / "same.py").write_text("same = 1\n" * 3)
    git(workspace, "add", ".")
    git(workspace, "commit", "-qm", "first")
    command = (
        "mkdir lib && git mv long.py lib/new.py && git mv same.py lib/same.py"
        " && sed -i -e 's/^line 2$/line two/' -e '/^line 30$/d' lib/new.py"
    )

    def names():
        found = [*workspace.glob("*.py"), *workspace.glob("lib/*")]
        return sorted(str(one.relative_to(workspace)) for one in found if one.name != "calc.py")

    async def scene():
        moving = {"tool_calls": [call("workspace_run_command", command=command)]}
        model = script(moving, DONE)
        how = {"size": (120, 40), "approvals": "review"}
        async with at_the_terminal(environ, workspace, model, **how) as me:
            await me.say("move it")
            await me.turn_ends()
            await me.sees("2 files changed, +1 −2", "long.py → lib/new.py +1 −2 renamed")
            await me.sees("same.py → lib/same.py renamed")
            changed = me.messages("tool_result")[0].body.output["changes"]
            own = [one for one in changed if ".git" not in one]
            assert own == [
                "created lib", "renamed long.py → lib/new.py", "renamed same.py → lib/same.py"
            ]  # fmt: skip
            assert [
                (one.body.file, one.body.added, one.body.removed)
                for one in me.messages("diff_ready")
            ] == [("long.py → lib/new.py", 1, 2), ("same.py → lib/same.py", 0, 0)]

            await me.press("f8", "enter")
            await me.sees("3 of 3 kept", "[x] long.py → lib/new.py", "line two")
            check(me.picture(), "review-rename-120x40.txt")
            await me.press("space")
            await me.sees("2 of 3 kept", "[ ] long.py → lib/new.py")
            await me.press("enter")
            await me.until(lambda: names() == ["lib/same.py", "long.py"])
            assert (workspace / "long.py").read_text() == OLD
            await me.sees("↶ undone: long.py, lib/new.py", "1 file changed, +0 −0")

            await me.say("/undo lib/same.py")  # its new name stands for both
            await me.sees("--- a/lib/same.py", "+++ b/same.py")
            await me.press("y")
            await me.until(lambda: names() == ["long.py", "same.py"])

    live(scene)


def test_writing_on_keeps_it_and_so_does_k(environ, workspace, script):
    async def scene():
        model = script({"tool_calls": WRITES}, DONE, {"tool_calls": WRITES[:1]}, DONE)
        async with at_the_terminal(environ, workspace, model, approvals="review") as me:
            await me.say("change them")
            await me.turn_ends()
            await me.sees("3 files changed")
            await me.press("f8", "x")  # no key of the card: it is prose
            await me.until(lambda: me.app.query_one(Composer).text == "x")
            me.app.query_one(Composer).clear()
            await me.press("f8", "k")
            await me.until(lambda: not me.app.query_one(Review).display)
            assert (workspace / "notes.md").exists()
            await me.press("f7", "D")  # it can still be looked at, and undone
            await me.sees("3 of 3 kept")
            (workspace / "notes.md").write_text("mine\n")
            await me.press("x", "enter")
            await me.sees("This overwrites later changes in", "notes.md")
            await me.press("n")
            await me.sees("Nothing was done.")
            assert (workspace / "notes.md").read_text() == "mine\n"

            await me.press("escape")  # from reading to writing
            await me.say("and on")
            await me.turn_ends(2)
            assert not me.messages("checkpoint")[-1].body.undoes
            assert me.messages("confirm_request") == []

    live(scene)


def test_diff_shows_the_whole_thread_and_diff_last_its_last_turn(environ, workspace, script):
    (workspace / "long.py").write_text(OLD)

    async def scene():
        model = script({"tool_calls": WRITES[:2]}, DONE, {"tool_calls": WRITES[2:]}, DONE)
        async with at_the_terminal(
            environ, workspace, model, size=(120, 40), approvals="review"
        ) as me:
            await me.say("/diff")
            await me.sees("This thread has changed no files.")
            await me.say("change them")
            await me.turn_ends()
            await me.say("and another")
            await me.turn_ends(2)

            await me.say("/diff")
            await me.sees("changes of this thread  3 files  +3 -2", "long.py", "notes.md", "new.py")
            await me.press("escape")
            await me.say("/diff last")
            await me.sees("changes of turn 2  1 file  +1 -0")

    live(scene)


def test_no_card_where_each_change_was_asked_about(environ, workspace, script):
    async def scene():
        model = script({"tool_calls": WRITES[:1]}, DONE)
        async with at_the_terminal(environ, workspace, model, approvals="on-failure") as me:
            await me.say("change it")
            await me.turn_ends()
            assert (workspace / "notes.md").exists()
            await me.pilot.pause()
            assert not me.app.query_one(Review).display

    live(scene)


def test_a_commit_is_chosen_and_worded_and_what_it_has_needs_no_review(environ, workspace, script):
    git(workspace, "add", ".")
    git(workspace, "commit", "-qm", "first")

    def log():
        return git(workspace, "log", "-1", "--format=%s", "--name-only")

    async def scene():
        model = script({"tool_calls": [WRITES[0], WRITES[2]]}, DONE, aside="Add notes")
        async with at_the_terminal(environ, workspace, model, approvals="review") as me:
            await me.say("write them")
            await me.turn_ends()
            await me.sees("2 files changed, +2 −0")
            await me.say("/commit")
            await me.sees("Commit 2 files?", "Add notes", "[x] new      notes.md")
            await me.press("down", "space")
            await me.sees("Commit 1 file?")
            await me.press("e")
            await me.sees("Commit message")
            await me.press("!", "ctrl+s")
            await me.sees("Add notes!", "[x] new      notes.md", "[ ] new      src/new.py")
            await me.sees("c commit", "d diff", "Esc cancel")
            assert "writing the message" not in me.screen()
            await me.press("d")
            await me.sees("Changes of 1 file", "# Notes")
            await me.press("escape")
            await me.sees("Commit 1 file?", "[ ] new      src/new.py")
            await me.press("space", "enter")  # Enter never marks
            await me.sees("Nothing is marked: Space marks a row.", "[ ] new      notes.md")
            await me.press("space", "enter")
            await me.sees("1 file changed, +1 −0")
            assert log() == "Add notes!\n\nnotes.md\n"
            assert "git status" not in me.screen()
            await me.say("!git add . && git commit -m rest")
            await me.until(lambda: not me.app.query_one(Review).display)
            assert log() == "rest\n\nsrc/new.py\n"

    live(scene)


def test_the_pane_of_changes_has_each_file_once_and_follows_what_stands(environ, workspace, script):
    """Undone, restored, by a hunk or whole, committed here or in another terminal."""
    git(workspace, "add", ".")
    git(workspace, "commit", "-qm", "first")
    (workspace / "long.py").write_text(OLD)
    once = OLD.replace("line 2\n", "line two\n")
    edits = [
        call("workspace_write_file", path="long.py", content=once),
        call("workspace_write_file", path="long.py", content=NEW),
        WRITES[0],
    ]

    async def scene():
        steps = [{"tool_calls": [one]} for one in edits]
        model = script(*steps, DONE)
        how = {"size": (200, 50), "approvals": "review"}
        async with at_the_terminal(environ, workspace, model, **how) as me:
            await me.say("change them")
            await me.turn_ends()
            await me.sees("changes of turn 1  2 files  +2 -2")
            await me.say("/undo long.py:2")
            await me.sees("Undo 1 change?")
            await me.press("y")
            await me.sees("changes of turn 1  2 files  +2 -1")
            await me.say("/undo")
            await me.sees("Undo 2 changes?")
            await me.press("y")
            await me.sees("changes  0 files  +0 -0")
            await me.say("/redo")
            await me.sees("Redo 2 changes?")
            await me.press("y")
            await me.sees("changes of turn 1  2 files  +2 -1")
            git(workspace, "add", "notes.md")
            git(workspace, "commit", "-qm", "by hand")
            await me.app.showing.watch()
            await me.sees("changes of turn 1  1 file  +1 -1")
            await me.say("!git add . && git commit -m rest")
            await me.sees("changes  0 files  +0 -0")

    live(scene)


def test_redo_brings_commits_back_that_a_rewind_removed(environ, workspace, script):
    """The card still has an ignored file, so it asks git; that is nothing to undo."""
    (workspace / ".gitignore").write_text("*.log\n")
    git(workspace, "add", ".")
    git(workspace, "commit", "-qm", "first")

    def commits():
        return git(workspace, "--no-optional-locks", "log", "--format=%s").split()

    async def scene():
        ignored = call("workspace_write_file", path="run.log", content="ran\n")
        again = call("workspace_write_file", path="notes.md", content="# More\n")
        steps = [{"tool_calls": [WRITES[0], ignored]}, DONE, {"tool_calls": [again]}, DONE]
        async with at_the_terminal(environ, workspace, script(*steps), approvals="review") as me:
            for turn, (words, subject) in enumerate((("notes", "one"), ("more", "two")), 1):
                await me.say(words)
                await me.turn_ends(turn)
                await me.say(f"/commit -m {subject}")
                await me.sees("Commit 1 file?")
                await me.press("c")
                await me.until(lambda subject=subject: commits()[0] == subject)
                await me.until(lambda: me.app.seat.doing != "working")
            before = me.app.seat.id
            await me.say("/rewind")
            await me.sees("› more")
            await me.press("enter")
            await me.sees("Go back to before “more”")
            await me.press("y")
            await me.until(lambda: me.app.seat.id != before)
            await me.sees("/redo goes back there.")
            assert commits() == ["one", "first"]
            looked = {"after": me.app.seat.thread.parent_seq, "kinds": {"tool_result"}}
            await me.until(lambda: [*me.app.seat.host.messages(me.app.seat.id, **looked)])
            await me.press("ctrl+u")  # the words of that message
            await me.say("/redo")
            await me.sees("Undo the rewind")
            await me.press("y")
            await me.sees("The rewind is undone")
            assert commits() == ["two", "one", "first"]

    live(scene)


def test_the_card_has_what_is_still_there_of_a_turn(environ, workspace, script):
    """Files can be restored or edited by others; that is said, and the rest is offered."""
    (workspace / "long.py").write_text(OLD)
    git(workspace, "add", ".")
    git(workspace, "commit", "-qm", "first")

    async def scene():
        model = script({"tool_calls": WRITES}, DONE)
        async with at_the_terminal(environ, workspace, model, approvals="review") as me:
            await me.say("change them")
            await me.turn_ends()
            await me.sees("3 files changed, +3 −2")
            (workspace / "src/new.py").unlink()
            await me.app.showing.watch()
            await me.sees("2 files changed, +2 −2 · 1 reverted since")
            mine = NEW.replace("line two\n", "line 2\n") + "mine\n"  # one hunk is gone
            (workspace / "long.py").write_text(mine)
            await me.press("f8")  # to go there is to look again
            await me.sees("2 files changed, +1 −1 · 1 reverted since", "long.py −1 edited since")
            await me.press("enter")
            await me.sees("2 of 2 kept", "long.py  +0 -1  edited since", "line 30")
            assert "line two" not in me.screen()
            await me.press("space", "enter")  # only the hunk of the turn; the rest is mine
            await me.sees("Later changes that stay")
            await me.press("y")
            await me.until(lambda: (workspace / "long.py").read_text() == OLD + "mine\n")
            await me.sees("1 file changed, +1 −0 · 2 reverted since")

            git(workspace, "stash", "-u")
            await me.app.showing.watch()
            await me.until(lambda: not me.app.query_one(Review).display)
            await me.sees("Nothing of it is left to review")

    live(scene)


def test_what_changed_at_the_last_moment_is_shown_before_anything_is_undone(
    environ, workspace, script
):
    (workspace / "long.py").write_text(OLD)

    async def scene():
        model = script({"tool_calls": WRITES}, DONE)
        async with at_the_terminal(environ, workspace, model, approvals="review") as me:
            await me.say("change them")
            await me.turn_ends()
            await me.press("f8")
            await me.sees("k keep · u undo all")
            (workspace / "notes.md").write_text("mine\n")
            await me.press("u")
            await me.sees("The files changed meanwhile, so nothing was undone", "edited since")
            assert (workspace / "long.py").read_text() == NEW
            assert me.app.query_one(Review).has_focus
            await me.press("u")
            await me.sees("This overwrites later changes in", "notes.md")
            await me.press("n")
            assert (workspace / "notes.md").read_text() == "mine\n"

    live(scene)
