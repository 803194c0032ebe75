"""Hooks that were written for Claude Code run unchanged: eight of different kinds, in its files."""

import pytest

from steersman.records.errors import Denied
from steersman.records.message import (
    ConfirmRequest,
    ConfirmResponse,
    ToolResult,
    TurnEnd,
    User,
)
from tests.cli.kit import DONE, READ, outside, shell
from tests.hooks.kit import bodies, hook, opened, play, runs, trust, with_claude_files, worked
from tests.world import call

UNTIDY = call("workspace_write_file", path="tidy.py", content="x = 1   \ny = 2\t\n")
NOTED = call("workspace_write_file", path="NOTES.md", content="Noted.\n")


@pytest.fixture
def project(workspace):
    with_claude_files(workspace)
    return workspace


def test_a_formatter_runs_after_an_edit_and_the_turns_undo_takes_it_back(
    environ, project, script, steer
):
    (project / "tidy.py").write_text("before\n")
    model = script({"tool_calls": [UNTIDY, NOTED]}, DONE)

    async def scenario(host):
        trust(host, project)
        thread = await worked(host, project, model)
        return runs(host, thread, "PostToolUse")

    found = play(environ, scenario)
    assert (project / "tidy.py").read_text() == "x = 1\ny = 2\n"
    assert [(one.about, one.exit, one.changes) for one in found] == [
        ("Write", 0, ("changed tidy.py",)),
        ("Write", 0, ()),
    ]
    done = steer("undo", "--yes")
    assert done.returncode == 0, done.stderr
    assert (project / "tidy.py").read_text() == "before\n"


@pytest.mark.parametrize(
    ("event", "turns", "left"),
    [("UserPromptSubmit", [1, 2], "noted\n"), ("SessionStart", [1], None)],
)
def test_what_a_message_makes_hooks_change_is_undone_with_its_turn(
    environ, workspace, script, steer, event, turns, left
):
    model = script(DONE, DONE)

    async def scenario(host):
        noting = hook(event, "echo noted >> notes.txt")
        thread = await worked(host, workspace, model, hooks=noting)
        await thread.send("again")
        await thread.wait()
        found = [m for m in host.messages(thread.id) if m.kind == "checkpoint"]
        return [m.turn for m in found]

    assert play(environ, scenario) == turns
    done = steer("undo", "--yes")
    assert done.returncode == 0, done.stderr
    notes = workspace / "notes.txt"
    assert (notes.read_text() if notes.exists() else None) == left


@pytest.mark.parametrize(("say", "left"), [("queue", "noted\n"), ("steer", None)])
def test_what_hooks_change_for_a_message_is_undone_with_the_turn_that_gets_it(
    environ, workspace, script, steer, say, left
):
    """A queued message waits for the next turn; one that steers is of the turn that runs."""
    model = script({"tool_calls": [outside("true")]}, {"tool_calls": [NOTED]}, DONE, DONE)

    async def scenario(host):
        noting = hook("UserPromptSubmit", "echo noted >> notes.txt")
        thread = await opened(
            host, workspace, model, hooks=noting, approvals="on-failure", attended=True
        )
        await thread.send("go")
        last = 2 if say == "queue" else 1
        async for message in thread.events(0):
            if isinstance(message.body, ConfirmRequest):
                await getattr(thread, say)("more")
                await thread.answer(message.corr, ConfirmResponse("deny"))
            if isinstance(message.body, TurnEnd) and message.turn == last:
                break
        await thread.wait()
        return (workspace / "notes.txt").read_text()

    assert play(environ, scenario) == "noted\nnoted\n"
    done = steer("undo", "--yes")
    assert done.returncode == 0, done.stderr
    notes = workspace / "notes.txt"
    assert (notes.read_text() if notes.exists() else None) == left
    assert (workspace / "NOTES.md").exists() is (say == "queue")


@pytest.mark.parametrize(
    "touching",
    [
        call("workspace_write_file", path="vendor/lib.py", content="mine\n"),
        call("workspace_write_file", path="src/../vendor/lib.py", content="mine\n"),
        call("workspace_read_file", path="vendor/lib.py"),
        call(
            "workspace_edit_files",
            files=[
                {"path": "calc.py", "edits": [{"search": "a - b", "replace": "a + b"}]},
                {"path": "vendor/lib.py", "edits": [{"search": "theirs", "replace": "mine"}]},
            ],
        ),
        call(
            "workspace_apply_patch",
            patch="*** Begin Patch\n*** Update File: vendor/lib.py\n@@\n-theirs\n+mine\n"
            "*** End Patch\n",
        ),
    ],
    ids=["write", "by a detour", "read", "one edit of two", "patch"],
)
def test_a_blocker_of_paths_sees_every_file_of_a_call(environ, project, script, touching):
    (project / "vendor").mkdir()
    (project / "vendor/lib.py").write_text("theirs\n")
    model = script({"tool_calls": [touching]}, {"tool_calls": [NOTED]}, DONE)

    async def scenario(host):
        trust(host, project)
        return bodies(host, await worked(host, project, model), ToolResult, TurnEnd)

    refused, noted, end = play(environ, scenario)
    assert (refused.status, noted.status, end.ending) == ("denied", "ok", "done")
    assert refused.message.startswith("Denied by a hook: vendor/ is not ours to touch")
    assert (project / "vendor/lib.py").read_text() == "theirs\n"
    assert "a - b" in (project / "calc.py").read_text()


def test_context_at_the_start_and_with_a_prompt_reaches_the_model_once(environ, project, script):
    model = script({"tool_calls": [NOTED]}, DONE, DONE)

    async def scenario(host):
        trust(host, project)
        thread = await worked(host, project, model, "fix it")
        await thread.send("and now this")
        await thread.wait()
        started = runs(host, thread, "SessionStart")
        assert [(one.about, one.context) for one in started] == [
            ("startup", "The release is on Friday.")
        ]
        submitted = runs(host, thread, "UserPromptSubmit")
        assert [one.context for one in submitted] == [
            "The prompt has 2 words.",
            "The prompt has 3 words.",
        ]
        return thread.id

    play(environ, scenario)


def test_a_prompt_filter_refuses_a_message_before_the_model_gets_it(environ, project, script):
    model = script({"tool_calls": [NOTED]}, DONE)

    async def scenario(host):
        trust(host, project)
        thread = await opened(host, project, model)
        for say in (thread.send, thread.queue, thread.steer):
            with pytest.raises(Denied, match="A hook refused the message") as refused:
                await say("the password is 1234")
            assert refused.value.why == "Passwords do not belong into prompts."
        await thread.send("fix it")
        await thread.wait()
        assert bodies(host, thread, User) == [User("fix it")]

    play(environ, scenario)


def test_a_rewriter_changes_a_call_which_is_judged_as_changed(environ, project, script):
    model = script({"tool_calls": [shell("npm install"), NOTED]}, DONE)

    async def scenario(host):
        trust(host, project)
        thread = await worked(host, project, model)
        result, _ = bodies(host, thread, ToolResult)
        assert result.output["output"] == "pnpm install\n"
        assert "A hook changed the call" in result.note
        (run,) = (one for one in runs(host, thread, "PreToolUse") if one.about == "Bash")
        assert run.arguments["command"] == "echo pnpm install"
        assert (run.decision, run.reason) == ("allow", "this project uses pnpm")

    play(environ, scenario)


def test_a_stop_condition_keeps_the_turn_going_until_it_is_met(environ, project, script):
    model = script(DONE, {"tool_calls": [NOTED]}, {"text": "Really done."})

    async def scenario(host):
        trust(host, project)
        thread = await worked(host, project, model)
        first, second = runs(host, thread, "Stop")
        assert (first.decision, first.context) == ("block", "Write NOTES.md before you stop.")
        assert second.decision == ""
        assert bodies(host, thread, TurnEnd) == [TurnEnd("done", 3)]

    play(environ, scenario)
    assert (project / "NOTES.md").read_text() == "Noted.\n"


def test_a_note_at_a_compaction_stays_with_the_model(environ, project, script):
    said = {"text": "word " * 3000}
    model = script({"tool_calls": [NOTED]}, said, said, said)

    async def scenario(host):
        trust(host, project)
        thread = await worked(host, project, model)
        for _ in range(3):
            await thread.send("more")
            await thread.wait()
        assert await thread.compact() is True
        (run,) = runs(host, thread, "PreCompact")
        assert run.context == "Keep in mind: compacted on a manual wish; the ticket is CALC-7."
        kinds = [m.kind for m in host.messages(thread.id)]
        assert kinds.index("compaction") > len(kinds) - 3

    play(environ, scenario)


def test_a_notifier_learns_that_someone_is_waited_for(environ, project, script):
    model = script({"tool_calls": [outside("true"), NOTED]}, DONE)

    async def scenario(host):
        trust(host, project)
        thread = await opened(host, project, model, approvals="on-failure", attended=True)
        await thread.send("go")
        asked = None
        async for message in thread.events(0):
            if isinstance(message.body, ConfirmRequest):
                asked = message.corr
            if message.kind == "hook_run" and message.body.event == "Notification":
                break
        assert asked
        assert message.body.exit == 0
        assert message.body.problem == ""
        await thread.answer(asked, ConfirmResponse("deny"))
        await thread.wait()

    play(environ, scenario)
    told = (project / "notified.txt").read_text()
    assert told == "Steersman needs your permission: workspace_run_command\n"


def test_who_is_asked_to_trust_a_folder_is_shown_what_its_hooks_run(environ, project):
    async def scenario(host):
        return host.permissions.folder(str(project)).sentence("project")

    told = play(environ, scenario)
    assert 'the hook PreToolUse runs "python3 .claude/hooks/rewrite.py" in a sandbox' in told


@pytest.mark.parametrize("mode", ["ask", "spec", "plan"])
def test_hooks_run_in_modes_that_run_no_commands_and_change_nothing_there(
    environ, workspace, script, mode
):
    model = script({"tool_calls": [READ]}, DONE)
    tries = "touch changed.txt && echo changed || echo only looked"

    async def scenario(host):
        hooks = hook("PostToolUse", tries) | hook("UserPromptSubmit", "cat >&2; exit 0")
        thread = await worked(host, workspace, model, mode=mode, hooks=hooks)
        asked, ran = runs(host, thread)
        assert (asked.event, asked.exit, asked.problem) == ("UserPromptSubmit", 0, "")
        assert '"prompt":"go"' in asked.output
        assert (ran.event, ran.exit, ran.problem) == ("PostToolUse", 0, "")
        assert ran.output.splitlines()[0] == "only looked"
        assert ran.changes == ()
        assert bodies(host, thread, TurnEnd)[0].ending == "done"

    play(environ, scenario)
    assert not (workspace / "changed.txt").exists()


@pytest.mark.parametrize("mode", ["ask", "spec"])
def test_a_hook_refuses_in_modes_that_run_no_commands_too(environ, workspace, script, mode):
    model = script({"tool_calls": [READ]}, DONE)

    async def scenario(host):
        hooks = hook("PreToolUse", "echo not today >&2; exit 2", "Read")
        thread = await worked(host, workspace, model, mode=mode, hooks=hooks)
        (result,) = bodies(host, thread, ToolResult)
        assert result.status == "denied"
        assert "not today" in result.message

    play(environ, scenario)


@pytest.mark.parametrize("mode", ["ask", "spec"])
def test_a_hook_that_runs_in_a_mode_does_not_let_the_model_run_commands_in_it(
    environ, workspace, script, mode
):
    model = script({"tool_calls": [READ, call("workspace_run_command", command="ls")]}, DONE)

    async def scenario(host):
        hooks = hook("PreToolUse", "true")
        thread = await worked(host, workspace, model, mode=mode, hooks=hooks)
        statuses = [one.status for one in bodies(host, thread, ToolResult)]
        assert statuses[0] == "ok"
        assert statuses[1] != "ok"

    play(environ, scenario)


def test_a_folder_that_nobody_trusts_has_no_hooks(environ, project, script):
    model = script({"tool_calls": [UNTIDY]}, DONE)

    async def scenario(host):
        thread = await worked(host, project, model)
        assert runs(host, thread) == []
        trust(host, project)
        settings = project / ".claude/settings.json"
        settings.write_text(settings.read_text().replace("Friday", "Monday"))
        thread = await worked(host, project, model)
        assert runs(host, thread) == []  # what was trusted is not what is there now

    play(environ, scenario)
    assert (project / "tidy.py").read_text() == "x = 1   \ny = 2\t\n"
