"""Hooks that are stopped, wait or work on the same file: nothing is lost, and nobody waits."""

import asyncio
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from steersman.host import Host
from steersman.records.errors import UsageProblem
from steersman.records.inbox import Queue
from steersman.records.message import (
    ConfirmRequest,
    ConfirmResponse,
    ToolResult,
    TurnEnd,
    User,
)
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


# What the user says


SLOW = hook("UserPromptSubmit", "sleep 71242", timeout=600)
ASKING = hook("UserPromptSubmit", "git push --force origin topic")


async def ended(thread, turns):
    """Wait until so many turns have ended."""
    async for message in thread.events(0):
        turns -= isinstance(message.body, TurnEnd)
        if not turns:
            return


@asynccontextmanager
async def elsewhere(environ, thread):
    """The same thread, as another process has it."""
    async with Host.at(Path(environ["STEERSMAN_HOME"]), environ) as host:
        yield await host.attach(thread.id)


@pytest.mark.parametrize("say", ["send", "steer", "queue"])
def test_a_cancel_stops_the_hook_that_looks_at_a_message_and_no_turn_begins(
    environ, workspace, script, say
):
    async def scenario(host):
        thread = await opened(host, workspace, script(DONE), hooks=SLOW)
        saying = asyncio.create_task(getattr(thread, say)("go"))
        await begun(thread, "UserPromptSubmit")
        await thread.cancel()
        with pytest.raises(UsageProblem, match="The message was not sent"):
            await saying
        assert [one.problem for one in runs(host, thread)] == ["stopped"]
        assert bodies(host, thread, User, TurnEnd) == []
        assert running("71242") == []

    play(environ, scenario)


@pytest.mark.parametrize("say", ["send", "steer", "queue"])
def test_a_message_counts_also_when_whoever_said_it_left_while_its_hook_ran(
    environ, workspace, script, gate, say
):
    waits = hook("UserPromptSubmit", gate.command)

    async def scenario(host):
        thread = await opened(host, workspace, script(DONE), hooks=waits)
        saying = asyncio.create_task(getattr(thread, say)("go"))
        await asyncio.to_thread(gate.waiting)
        saying.cancel()
        await asyncio.wait({saying})
        gate.open()
        await host.drain()
        assert [one.problem for one in runs(host, thread)] == [""]
        assert [one.text for one in bodies(host, thread, User)] == ["go"]
        assert [one.ending for one in bodies(host, thread, TurnEnd)] == ["done"]

    play(environ, scenario)


@pytest.mark.parametrize("say", ["send", "queue"])
def test_another_process_answers_what_a_hook_of_its_own_message_asks(
    environ, workspace, script, say
):
    async def scenario(host):
        thread = await opened(
            host, workspace, script(DONE), hooks=ASKING, approvals="on-failure", attended=True
        )
        async with elsewhere(environ, thread) as remote:
            saying = asyncio.create_task(getattr(remote, say)("go"))
            async for message in remote.events(0):
                if isinstance(message.body, ConfirmRequest):
                    await remote.answer(message.corr, ConfirmResponse("deny"))
                    break
            await saying
            await ended(thread, 1)
        assert [one.problem[:15] for one in runs(host, thread)] == ["not run: Denied"]
        assert [one.text for one in bodies(host, thread, User)] == ["go"]
        assert [one.ending for one in bodies(host, thread, TurnEnd)] == ["done"]

    play(environ, scenario)


def test_other_requests_do_not_wait_for_the_hooks_of_a_message(environ, workspace, script):
    async def scenario(host):
        thread = await opened(host, workspace, script(DONE), hooks=SLOW)
        async with elsewhere(environ, thread) as remote:
            saying = asyncio.create_task(remote.send("go"))
            await begun(thread, "UserPromptSubmit")
            await remote.set(title="another")
            assert not saying.done()
            await thread.cancel()
            with pytest.raises(UsageProblem, match="The message was not sent"):
                await saying
        assert bodies(host, thread, User) == []

    play(environ, scenario)


def test_messages_of_another_process_stay_in_their_order(environ, workspace, script):
    first = hook("UserPromptSubmit", "grep -q first && sleep 0.5; true")

    async def scenario(host):
        thread = await opened(host, workspace, script(DONE, DONE), hooks=first)
        async with elsewhere(environ, thread) as remote:
            await remote.post(Queue("first"))
            await remote.queue("second")
            await ended(thread, 2)
        assert [one.text for one in bodies(host, thread, User)] == ["first", "second"]

    play(environ, scenario)


def test_a_message_whose_hook_ran_when_the_thread_was_closed_waits_for_the_next_process(
    environ, workspace, script
):
    async def scenario(host):
        thread = await opened(host, workspace, script(DONE), hooks=SLOW)
        async with elsewhere(environ, thread) as remote:
            request = await remote.post(Queue("go"))
            await begun(thread, "UserPromptSubmit")
            await thread.close()
            assert [one.id for one in host.store.requests(thread.id)] == [request.id]
            assert running("71242") == []

    play(environ, scenario)
