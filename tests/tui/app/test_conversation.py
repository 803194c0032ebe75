"""A conversation in the terminal, from the first word to the last."""

import os
import subprocess

from steersman.ports.tui.composer import Composer
from steersman.ports.tui.wanted import Wanted
from steersman.views.parting import rest
from tests.cli.kit import BROKEN, DONE, FIX, FIXED, READ, shell
from tests.tui.app.bridge import at_the_terminal, live
from tests.world import call


def test_words_make_a_thread_and_the_answer_is_shown(environ, workspace, script):
    async def scene():
        async with at_the_terminal(environ, workspace, script({"text": "Hello **you**."})) as me:
            assert me.app.seat.id == ""
            await me.say("hello there")
            await me.turn_ends()
            await me.sees("› hello there", "Hello you.", "done", me.app.seat.id)
            assert [m.body.text for m in me.messages("user")] == ["hello there"]

    live(scene)


def test_a_change_is_made_when_the_person_allows_it(environ, workspace, script):
    async def scene():
        model = script({"tool_calls": [READ, FIX]}, DONE)
        async with at_the_terminal(environ, workspace, model) as me:
            await me.say("fix it")
            await me.sees("wants to change", "return a + b")
            assert (workspace / "calc.py").read_text() == BROKEN
            assert me.app.attention == "asking"
            await me.press("y")
            await me.turn_ends()
            assert (workspace / "calc.py").read_text() == FIXED
            await me.sees("Done.")
            assert me.app.attention == "writing"

    live(scene)


def test_a_refusal_with_words_goes_to_the_model(environ, workspace, script):
    async def scene():
        model = script({"tool_calls": [FIX]}, DONE)
        async with at_the_terminal(environ, workspace, model) as me:
            await me.say("fix it")
            await me.sees("wants to change")
            await me.press("g")
            await me.until(lambda: type(me.app.focused).__name__ != "Approvals")
            await me.say("write a test first")
            await me.turn_ends()
            response = me.messages("confirm_response")[0].body
            assert (response.decision, response.guidance) == ("deny", "write a test first")
            assert (workspace / "calc.py").read_text() == BROKEN

    live(scene)


def test_who_is_writing_is_not_interrupted_by_a_request(environ, workspace, script, gate):
    async def scene():
        model = script({"tool_calls": [gate.wait]}, {"tool_calls": [FIX]}, DONE)
        async with at_the_terminal(environ, workspace, model) as me:
            await me.say("go")
            await me.until(gate.processes)
            await me.write("and also y")
            gate.open()
            await me.sees("wants to change")
            await me.write(" yes")
            assert me.app.query_one(Composer).text == "and also y yes"
            assert me.messages("confirm_response") == []
            await me.press("f8", "n")
            await me.turn_ends()
            assert me.messages("confirm_response")[0].body.decision == "deny"
            assert me.app.query_one(Composer).text == "and also y yes"

    live(scene)


def test_a_command_of_the_person_goes_through_the_gate_into_the_log(environ, workspace, script):
    async def scene():
        async with at_the_terminal(environ, workspace, script(DONE)) as me:
            await me.say("!echo from me")
            await me.until(lambda: me.story.blocks and me.messages("tool_result"))
            await me.sees("echo from me", "exit 0")
            assert me.messages("policy")[0].body.verdict.decision == "allow"

    live(scene)


def test_nobody_asks_about_a_command_that_the_person_typed(environ, workspace, script):
    """What it deletes is kept, so that they can undo it; what the guard always blocks it blocks."""
    (workspace / "notes.txt").write_text("git does not have this\n")

    async def scene():
        async with at_the_terminal(environ, workspace, script(DONE)) as me:
            await me.say("!rm notes.txt")
            await me.until(lambda: me.messages("tool_result"))
            assert not (workspace / "notes.txt").exists()
            assert me.messages("confirm_request") == []
            told = [m.body.verdict for m in me.messages("policy")]
            assert "you typed it" in [one.reason for one in told if one.decision == "allow"]
            await me.say("/undo")
            await me.sees("Undo 1 change?")
            await me.press("y")
            await me.until((workspace / "notes.txt").exists)
            await me.say("!rm -rf ~")
            await me.sees("! rm -rf ~ · blocked by rule fs.home")
            assert me.screen().count("fs.home") == 1
            assert me.messages("confirm_request") == []

    live(scene)


def test_an_undo_counts_a_persons_files_and_folds_what_tools_made(environ, workspace, script):
    async def scene():
        async with at_the_terminal(environ, workspace, script(DONE)) as me:
            made = "mkdir __pycache__; echo 1 > __pycache__/a.pyc; echo 2 > __pycache__/b.pyc"
            await me.say(f"!{made}; echo more >> calc.py")
            await me.until(lambda: me.messages("tool_result"))
            await me.say("/undo")
            await me.sees("Undo 1 change and 2 ignored files?")
            await me.sees("__pycache__: 2 files, made by tools")
            await me.press("y")
            await me.sees("↶ 1 change and 2 ignored files undone")
            shown = me.screen().partition("ignored files undone")[2].split("\n")
            assert [line.strip() for line in shown[1:3]] == ["calc.py", "2 files made by tools"]

    live(scene)


def test_an_undo_names_the_files_first_and_git_in_a_line(environ, workspace, script):
    async def scene():
        async with at_the_terminal(environ, workspace, script(DONE)) as me:
            await me.say("!echo more >> calc.py; echo no > .git/hooks/post-commit; git add .")
            await me.until(lambda: me.messages("tool_result"))
            await me.say("/undo")
            await me.sees("Undo 2 changes and git's own files?")
            await me.press("y")
            await me.sees("↶ 2 changes and git's own files undone")
            shown = me.screen().partition("own files undone")[2].split("\n")
            assert [line.strip() for line in shown[1:3]] == ["calc.py", ".git/hooks/post-commit"]
            assert shown[3].strip().startswith("git: ")

    live(scene)


def test_a_command_that_ends_with_an_ampersand_is_a_background_job(environ, workspace, script):
    async def scene():
        async with at_the_terminal(environ, workspace, script(DONE)) as me:
            await me.say("!echo up; sleep 600 &")
            await me.until(lambda: me.messages("tool_result"))
            await me.sees("up", "continues in the background as p1")
            assert me.screen().count("continues in the background") == 1
            assert dict(me.app.seat.jobs) == {"p1": "echo up; sleep 600"}

    live(scene)


def test_a_written_command_brings_the_files_and_pictures_it_names(
    environ, workspace, script, tmp_path
):
    commands = tmp_path / "home/.config/steersman/commands"
    commands.mkdir(parents=True)
    (commands / "look.md").write_text("# Look\n\nCompare @$1 with @seen.png.")
    (workspace / "seen.png").write_bytes(b"\x89PNG\r\n\x1a\n" + b"0" * 20)

    async def scene():
        async with at_the_terminal(environ, workspace, script(DONE, DONE)) as me:
            await me.say("/look calc.py")
            await me.turn_ends()
            [said] = [message.body for message in me.messages("user")]
            assert said.text == "# Look\n\nCompare @calc.py with @seen.png."
            assert [image.media for image in said.images] == ["image/png"]
            assert me.app.query_one(Composer).mentions.files == ("calc.py",)
            await me.say("and now?")
            await me.turn_ends(2)
            assert "@calc.py" in me.messages("user")[-1].body.text

    live(scene)


def test_a_turn_that_failed_is_tried_again(environ, workspace, script):
    async def scene():
        model = script({"error": {"status": 400, "message": "no"}}, DONE)
        async with at_the_terminal(environ, workspace, model) as me:
            await me.say("go on then")
            await me.turn_ends()
            await me.press("f7", "r")
            await me.sees("Try the last step again?", "go on then")
            await me.press("y")
            await me.turn_ends(2)
            assert [m.body.text for m in me.messages("user")] == ["go on then", "go on then"]
            assert me.messages("turn_end")[-1].body.ending == "done"

    live(scene)


def test_undo_takes_the_files_back_and_fork_goes_on_in_a_copy(environ, workspace, script):
    async def scene():
        model = script({"tool_calls": [FIX]}, DONE, DONE)
        async with at_the_terminal(environ, workspace, model) as me:
            await me.say("fix it")
            await me.sees("wants to change")
            await me.press("y")
            await me.turn_ends()
            await me.say("/undo")
            await me.until(lambda: len(me.app.screen_stack) > 1)
            await me.press("y")
            await me.until(lambda: (workspace / "calc.py").read_text() == BROKEN)
            await me.until(lambda: len(me.app.screen_stack) == 1)
            first = me.app.seat.id
            await me.say("/fork")
            await me.until(lambda: me.app.seat.id != first)
            await me.sees(me.app.seat.id, "fix it")

    live(scene)


def test_escape_twice_rewinds_what_is_chosen_and_redo_reverses_it(environ, workspace, script):
    async def scene():
        model = script({"tool_calls": [FIX]}, DONE)
        file = workspace / "calc.py"
        async with at_the_terminal(environ, workspace, model, approvals="never") as me:
            await me.say("fix it")
            await me.turn_ends()
            first = me.app.seat.id
            await me.press("escape", "escape")
            await me.sees("Go back to before which message?")
            await me.press("enter")
            await me.sees(
                "before “fix it”, undoing 1 file change?",
                "Conversation and files (y)",
                "Conversation only (c)",
                "Files only (f)",
            )
            await me.press("y")
            await me.until(lambda: me.app.seat.id not in ("", first))
            await me.sees(f"rewound to message 1 of thread {first}; files were restored")
            await me.until(lambda: me.app.query_one(Composer).text == "fix it")
            assert file.read_text() == BROKEN
            me.app.query_one(Composer).text = ""
            await me.say("/redo")
            await me.sees("Undo the rewind, with 1 file change?")
            await me.press("y")
            await me.sees("1 change done again", "Done.")
            assert (me.app.seat.id, file.read_text()) == (first, FIXED)

    live(scene)


def test_a_thread_is_resumed_where_it_was_left(environ, workspace, script):
    async def first():
        async with at_the_terminal(environ, workspace, script({"text": "One."})) as me:
            await me.say("count")
            await me.turn_ends()
            left.append(me.app.seat.id)

    async def then():
        wanted = Wanted(resume=left[0][:6])
        model = script({"text": "Two."})
        async with at_the_terminal(environ, workspace, model, wanted=wanted) as me:
            await me.sees("› count", "One.", left[0])
            await me.say("go on")
            await me.turn_ends(2)
            await me.sees("Two.")

    left = []
    live(first)
    live(then)


def test_threads_are_picked_from_a_list_with_search(environ, workspace, script):
    async def scene():
        async with at_the_terminal(environ, workspace, script(DONE, DONE)) as me:
            await me.say("first task")
            await me.turn_ends()
            first = me.app.seat.id
            await me.say("/new")
            await me.until(lambda: not me.app.seat.id)
            await me.say("second task")
            await me.until(lambda: me.app.seat.id and not me.story.working and me.story.turn)
            await me.say("/resume")
            await me.sees("Resume a thread", "first task")
            await me.write("first")
            await me.press("enter")
            await me.until(lambda: me.app.seat.id == first)
            await me.sees("› first task")

    live(scene)


def test_a_thread_of_another_process_is_steered_and_then_taken_over(
    environ, workspace, script, gate
):
    async def scene():
        model = script({"tool_calls": [gate.wait]}, DONE)
        async with at_the_terminal(environ, workspace, model) as working:
            await working.say("wait")
            await working.until(gate.processes)
            wanted = Wanted(resume=working.app.seat.id)
            other = script(DONE, name="other.json")
            async with at_the_terminal(environ, workspace, other, wanted=wanted) as me:
                await me.sees("runs in process", "› wait")
                await me.say("hello")
                await me.sees("hello", "queued")
                await me.press("enter")  # with nothing written: now
                await me.sees("› hello")
                gate.open()
                await me.sees("Done.")
                await working.turn_ends()
                await working.app.seat.leave()
                await me.until(lambda: me.app.seat.owner is None)
                await me.say("now me")
                await me.turn_ends(2)
                assert me.app.seat.here

    live(scene)


def test_escape_sequences_of_a_tool_never_reach_the_terminal(environ, workspace, script):
    async def scene():
        evil = r"printf '\033]0;owned\007\033[31mred\033[0m \200\377\n'"
        model = script({"tool_calls": [shell(evil)]}, {"text": "ok \x1b]0;owned\x07"})
        async with at_the_terminal(environ, workspace, model) as me:
            await me.say("go")
            await me.turn_ends()
            await me.sees("ok")
            assert "\x1b" not in me.screen()
            assert "\x07" not in me.screen()

    live(scene)


def test_unsent_words_are_there_again_after_a_crash(environ, workspace, script):
    async def first():
        async with at_the_terminal(environ, workspace, script(DONE)) as me:
            await me.write("not yet sent")

    async def then():
        async with at_the_terminal(environ, workspace, script(DONE)) as me:
            assert me.app.query_one(Composer).text == "not yet sent"

    live(first)
    live(then)
    assert os.path.exists(environ["STEERSMAN_HOME"])


def test_an_answer_is_copied_and_a_thread_renamed(environ, workspace, script):
    async def scene():
        async with at_the_terminal(environ, workspace, script({"text": "Forty-two."})) as me:
            await me.say("what is it?")
            await me.turn_ends()
            await me.say("/copy")
            await me.sees("Copied the last answer: 1 line.")
            assert me.app.clipboard == "Forty-two."
            await me.say("/rename the answer")
            await me.until(lambda: "the answer" in me.screen().splitlines()[0])
            await me.say("/context")
            await me.sees("What fills the window", "answers")

    live(scene)


def test_files_in_context_are_listed_and_dropped(environ, workspace, script):
    async def scene():
        async with at_the_terminal(environ, workspace, script(DONE)) as me:
            await me.say("look at @calc.py and @README.md")
            await me.turn_ends()
            await me.sees("in context @README.md @calc.py", "F5 drops")
            await me.press("f5")
            await me.sees("in context @README.md ", "Del drops")
            await me.press("left", "delete")
            await me.sees("in context @README.md ")
            await me.press("x")  # a letter is prose
            assert me.app.query_one(Composer).text == "x"
            await me.press("enter")
            await me.turn_ends(2)
            await me.say("/drop README.md")
            await me.until(lambda: "F5 drops" not in me.screen())
            await me.say("y")
            await me.turn_ends(3)
            said = [m.body.text for m in me.messages("user")][1:]
            assert said == [
                "x\n\nFiles in context: @README.md",
                "y\n\nFiles in context: none",
            ]

    live(scene)


def test_the_status_line_is_the_persons_own(environ, workspace, script):
    show = (
        "read -r said; printf '\\033[31mmine\\033[0m '; "
        'case $said in *\'"mode":"plan"\'*) echo planning;; *) echo coding;; esac'
    )

    async def scene():
        async with at_the_terminal(environ, workspace, script(DONE), status_line=show) as me:
            await me.sees("mine coding")
            await me.say("/plan")
            await me.sees("mine planning")

    live(scene)


def test_what_a_command_prints_is_coloured_for_the_person_and_words_for_the_model(
    environ, workspace, script
):
    red = r"printf '\033[31mred\033[0m and \033[1;38;5;208morange\033[0m\n'"
    model = script({"text": "Seen."})

    async def scene():
        async with at_the_terminal(environ, workspace, model) as me:
            await me.say(f"!{red}")
            await me.sees("red and orange")
            assert "\\x1b" not in me.screen()
            pieces = {part.text: part.style for strip in me.app.screen._compositor.render_strips()
                      for part in strip}  # fmt: skip
            assert pieces["red"].color.name == "#ff5555"
            assert pieces["orange"].bold
            await me.say("look")
            await me.turn_ends()
            assert "| red and orange" in me.messages("meanwhile")[-1].body.text

    live(scene)


def test_a_write_of_what_is_there_asks_nothing_and_says_so(environ, workspace, script):
    write = call("workspace_write_file", path="docs/a.md", content="hello\n")
    model = script({"tool_calls": [write]}, {"tool_calls": [write]}, {"text": "Written."})

    async def scene():
        async with at_the_terminal(environ, workspace, model, approvals="on-request") as me:
            await me.say("write it")
            await me.sees("create `docs/a.md`")
            await me.press("y")
            await me.turn_ends()
            await me.sees("write docs/a.md · created", "write docs/a.md · unchanged")
            assert len(me.messages("confirm_request")) == 1

    live(scene)


def test_a_command_that_is_killed_shows_what_it_printed_and_how_it_ended(
    environ, workspace, script
):
    slow = call("workspace_run_command", command="echo begun $((40+3)); sleep 600", wait_timeout=1)
    kill = call("workspace_signal_process", process_id="p2", signal="KILL")
    model = script(
        {"tool_calls": [shell("echo begun $((40+2)); kill -9 $$")]},
        {"tool_calls": [slow]},
        {"tool_calls": [kill]},
        DONE,
    )

    async def scene():
        async with at_the_terminal(environ, workspace, model, size=(90, 40)) as me:
            await me.say("go")
            await me.turn_ends()
            await me.sees("kill -9 $$ · ended by SIGKILL (exit 137)", "begun 42", "begun 43")
            await me.sees("● signal p2 (echo begun $((40+3)); sleep 600) · ended by SIGKILL")
            await me.sees("sleep 600) ended by SIGKILL")

    live(scene)


def test_a_commit_is_one_line_and_one_that_fails_is_in_the_words_of_git(environ, workspace, script):
    """What a hook printed is also known to the model, with the next words of the person."""

    def git(*words):
        done = subprocess.run(["git", *words], cwd=workspace, check=True, capture_output=True)
        return done.stdout.decode().strip()

    git("config", "user.name", "n")
    git("config", "user.email", "e@example.org")
    git("add", ".")
    git("commit", "-qm", "first")
    hook = workspace / ".git/hooks/pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho lint: calc.py is ugly\nexit 1\n")
    hook.chmod(0o755)
    (workspace / "calc.py").write_text("x = 1\n")
    (workspace / "README.md").write_text("# Other\n")

    async def scene():
        model = script({"text": "Fixed."})
        async with at_the_terminal(environ, workspace, model) as me:
            await me.say("/commit Set x")
            await me.sees("Commit 2 files?")
            await me.press("enter")
            await me.sees("The commit failed:")
            await me.press("escape")
            await me.sees("✗ commit Set x · exit 1", "lint: calc.py is ugly", "Nothing was")
            assert "index=" not in me.screen()
            me.app.query_one(Composer).text = ""
            await me.say("fix it")
            await me.turn_ends()
            await me.sees("Fixed.")
            told = "".join(message.body.text for message in me.messages("meanwhile"))
            assert "| lint: calc.py is ugly" in told
            hook.unlink()
            await me.say("/commit Set x")
            await me.sees("Commit 2 files?")
            await me.press("enter")
            await me.sees("● Committed 2 files as `")
            head = git("rev-parse", "--short", "HEAD")
            await me.sees(f"● Committed 2 files as `{head}`: Set x")
            assert "git add" not in me.screen()

    live(scene)


def test_a_request_that_is_tried_again_has_one_line_with_a_count(environ, workspace, script):
    async def scene():
        fault = {"status": 529, "message": "overloaded", "retry_after": 0, "times": 3}
        model = script({"error": fault, "text": "At last."}, {"error": fault, "text": "Again."})
        async with at_the_terminal(environ, workspace, model) as me:
            await me.say("go")
            await me.turn_ends()
            await me.sees("At last.", "· 3 times")
            assert "✗" not in me.screen()  # it was overcome
            await me.say("more")
            await me.turn_ends(2)
            await me.sees("Again.")
            assert "✗" not in me.screen()
            assert len(me.messages("error")) == 6

    live(scene)


def test_what_was_said_before_goes_when_something_is_done(environ, workspace, script):
    async def scene():
        model = script({"tool_calls": [FIX]}, DONE)
        async with at_the_terminal(environ, workspace, model, approvals="never") as me:
            await me.say("fix add")
            await me.turn_ends()
            await me.say("/undo")
            await me.sees("Undo 1 change?")
            await me.press("n")
            await me.sees("Nothing was done.")
            await me.say("/undo")
            await me.sees("Undo 1 change?")
            await me.press("y")
            await me.sees("1 change undone", "/redo reverses this.")
            assert "Nothing was done." not in me.screen()

    live(scene)


def test_a_turn_that_failed_names_the_command_that_sends_it_again(environ, workspace, script):
    async def scene():
        fault = {"status": 400, "message": "no such thing", "times": 9}
        async with at_the_terminal(environ, workspace, script({"error": fault})) as me:
            await me.say("go")
            await me.turn_ends()
            await me.sees("✗ failed", "/retry sends your message again.")

    live(scene)


def test_a_long_answer_is_wrapped_and_cut_when_you_leave(environ, workspace, script):
    async def scene():
        model = script({"text": "one two three four five six seven eight\n" * 8})
        async with at_the_terminal(environ, workspace, model) as me:
            await me.say("go")
            await me.turn_ends()
            assert await rest(me.app.seat, me.story, 20) == [
                "› go", "", *["one two three four", "five six seven eight"] * 5,
                f"… 6 more lines: steer replay {me.app.seat.id}", "",
            ]  # fmt: skip

    live(scene)


def test_what_is_said_at_the_end_is_the_last_message_with_its_own_answer(
    environ, workspace, script, gate
):
    async def scene():
        said = {"text": "It is **done** now, with `f(**a, **b)`."}
        model = script(said, {"tool_calls": [gate.wait]})
        async with at_the_terminal(environ, workspace, model) as me:
            await me.say("first")
            await me.turn_ends()
            first = await rest(me.app.seat, me.story)
            assert first == ["› first", "", "It is done now, with `f(**a, **b)`.", ""]
            await me.say("second")
            await me.until(gate.processes)
            await me.press("escape")
            await me.turn_ends(2)
            assert await rest(me.app.seat, me.story) == ["› second", ""]

    live(scene)
