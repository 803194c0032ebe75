"""Hooks that are stopped, wait or work on the same file: nothing is lost, and nobody waits."""

import pytest

from steersman.records.message import ConfirmRequest, ToolResult, TurnEnd
from tests.cli.kit import DONE, WRITE, outside
from tests.hooks.kit import bodies, hook, opened, play, runs, worked
from tests.hooks.test_hostile import running
from tests.world import call

BACK = call(
    "workspace_edit_files",
    files=[{"path": "new.txt", "edits": [{"search": "tidy", "replace": "new"}]}],
)


async def begun(thread, event):
    """Wait until a hook of an event is before the gate, or past it."""
    async for message in thread.events(0):
        if message.kind == "policy" and message.corr.startswith(f"hook_{event}_"):
            return message
    raise AssertionError("it ended")


def test_a_call_that_is_done_stays_done_when_the_hook_after_it_is_stopped(
    environ, workspace, script
):
    model = script({"tool_calls": [WRITE]}, DONE)

    async def scenario(host):
        after = hook("PostToolUse", "sleep 71240")
        thread = await opened(host, workspace, model, hooks=after)
        await thread.send("go")
        await begun(thread, "PostToolUse")
        await thread.cancel()
        assert [one.status for one in bodies(host, thread, ToolResult)] == ["ok"]
        assert [one.problem for one in runs(host, thread)] == ["stopped"]
        assert [one.ending for one in bodies(host, thread, TurnEnd)] == ["cancelled"]
        assert running("71240") == []

    play(environ, scenario)
    assert (workspace / "new.txt").read_text() == "new\n"


@pytest.mark.parametrize("event", ["PostToolUse", "Stop"])
def test_hooks_that_change_one_file_work_on_it_in_their_order(environ, workspace, script, event):
    model = script({"tool_calls": [WRITE]}, DONE)
    commands = ("sleep 0.5; echo one >> new.txt", "echo two >> new.txt")
    both = {event: [{"hooks": [{"type": "command", "command": one} for one in commands]}]}

    async def scenario(host):
        thread = await worked(host, workspace, model, hooks=both)
        assert [(one.problem, one.changes) for one in runs(host, thread)] == [
            ("", ("changed new.txt",)),
            ("", ("changed new.txt",)),
        ]

    play(environ, scenario)
    assert (workspace / "new.txt").read_text() == "new\none\ntwo\n"


def test_what_a_hook_changed_was_changed_also_where_a_later_call_changed_it_back(
    environ, workspace, script
):
    """After a crash, files are compared only with changes that may have been cut off."""
    model = script({"tool_calls": [WRITE, BACK]}, DONE)

    async def scenario(host):
        tidy = hook("PostToolUse", "echo tidy > new.txt", "Write")
        thread = await worked(host, workspace, model, hooks=tidy)
        assert [one.status for one in bodies(host, thread, ToolResult)] == ["ok", "ok"]
        assert [one.changes for one in runs(host, thread)] == [("changed new.txt",)]
        journal = host.session(thread.id)._systems.journal
        assert journal.never_made(host.messages(thread.id)) == []

    play(environ, scenario)
    assert (workspace / "new.txt").read_text() == "new\n"


def test_a_notifier_that_needs_an_approval_is_not_run(environ, workspace, script):
    model = script({"tool_calls": [outside("true")]}, DONE)

    async def scenario(host):
        thread = await opened(
            host, workspace, model, approvals="on-failure", attended=True,
            hooks=hook("Notification", "git push --force origin topic"),
        )  # fmt: skip
        await thread.send("go")
        async for message in thread.events(0):
            if message.kind == "hook_run":
                break
            if isinstance(message.body, ConfirmRequest):
                assert message.body.tool == "workspace_run_command"
                assert not message.body.call.startswith("hook_")
        return message.body.problem

    assert play(environ, scenario).startswith("not run: Denied: it needs your approval")


def test_a_thread_is_closed_while_a_notifier_runs(environ, workspace, script):
    model = script({"tool_calls": [outside("true")]}, DONE)

    async def scenario(host):
        thread = await opened(
            host, workspace, model, approvals="on-failure", attended=True,
            hooks=hook("Notification", "sleep 71241", timeout=600),
        )  # fmt: skip
        await thread.send("go")
        await begun(thread, "Notification")
        await thread.close()
        assert [one.problem for one in runs(host, thread)] == ["stopped"]
        assert running("71241") == []

    play(environ, scenario)
