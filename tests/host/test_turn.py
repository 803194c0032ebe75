"""A turn through `Host`: steering, queueing, cancelling, limits, and what the log says of them."""

import asyncio
import time
from pathlib import Path

import pytest

from steersman.host import Host
from steersman.records.errors import Exit, UsageProblem
from steersman.records.message import (
    Answer,
    Assistant,
    ConfirmRequest,
    ConfirmResponse,
    Question,
    Steer,
    ToolProgress,
    ToolResult,
    TurnEnd,
    User,
)
from steersman.records.settings import Settings
from tests.world import call


def run_in(environ, scenario):
    """Play a scenario against a host of its own."""

    async def whole():
        async with Host.at(Path(environ["STEERSMAN_HOME"]), environ) as host:
            return await scenario(host)

    return asyncio.run(whole())


async def opened(host, workspace, model, **how):
    settings = Settings(model=model, **{"approvals": "never", **how.pop("settings", {})})
    return await host.start(str(workspace), "a task", settings, **how)


async def until(thread, wanted, after=0):
    """The first message of a kind, broadcast or stored."""
    async for message in thread.events(after):
        if isinstance(message.body, wanted):
            return message
    raise AssertionError(f"no {wanted.__name__} came")


def bodies(host, thread, *kinds):
    return [m.body for m in host.messages(thread.id) if not kinds or isinstance(m.body, kinds)]


SLEEP = call("workspace_run_command", command="echo begun; sleep 600", wait_timeout=600)
# In the background a command runs on the workspace itself, so it sees a file that appears.
WAIT = call(
    "workspace_run_command",
    command="echo begun; while [ ! -e go ]; do sleep 0.02; done",
    background=True,
    wait_timeout=600,
)


def test_a_steered_message_is_heard_at_the_next_model_call(environ, workspace, script):
    model = script({"tool_calls": [WAIT]}, {"text": "Heard you."})

    async def scenario(host):
        thread = await opened(host, workspace, model)
        await thread.send("start")
        await until(thread, ToolProgress)
        corr = await thread.steer("use tabs")
        (workspace / "go").touch()
        await thread.wait()
        return corr, list(host.messages(thread.id))

    corr, messages = run_in(environ, scenario)
    told = [(m.kind, m.corr) for m in messages if m.corr == corr]
    assert told == [("steer", corr), ("steer", corr), ("user", corr)]
    assert [m.body.state for m in messages if isinstance(m.body, Steer)] == ["waiting", "delivered"]
    said = [m.body for m in messages if isinstance(m.body, User)]
    assert said == [User("start"), User("use tabs", via="steer")]
    order = [m.kind for m in messages if m.kind in ("user", "tool_result", "assistant")]
    assert order == ["user", "assistant", "tool_result", "user", "assistant"]


def test_a_steer_during_the_last_answer_prolongs_the_turn(environ, workspace, script):
    model = script({"text": "Almost done.", "chunk": 1, "delay_ms": 50}, {"text": "Now done."})

    async def scenario(host):
        thread = await opened(host, workspace, model)
        await thread.send("start")
        await thread.steer("one more thing")
        end = await thread.wait()
        return end, bodies(host, thread, User, Assistant)

    end, said = run_in(environ, scenario)
    assert end.ending == "done"
    assert said[-2:] == [User("one more thing", via="steer"), Assistant("Almost done.")]


def test_queued_messages_become_turns_of_their_own_in_order(environ, workspace, script):
    model = script({"tool_calls": [WAIT]}, {"text": "First."}, {"text": "Second."})

    async def scenario(host):
        thread = await opened(host, workspace, model)
        await thread.send("one")
        await until(thread, ToolProgress)
        await thread.queue("two")
        await thread.queue("three")
        (workspace / "go").touch()
        await thread.wait()
        return [m for m in host.messages(thread.id) if m.kind in ("user", "turn_end")]

    messages = run_in(environ, scenario)
    assert [(m.turn, m.kind) for m in messages] == [
        (turn, kind) for turn in (1, 2, 3) for kind in ("user", "turn_end")
    ]
    assert [m.body.text for m in messages if m.kind == "user"] == ["one", "two", "three"]


def test_a_withdrawn_message_is_never_heard(environ, workspace, script):
    model = script({"tool_calls": [WAIT]}, {"text": "Done."})

    async def scenario(host):
        thread = await opened(host, workspace, model)
        await thread.send("one")
        await until(thread, ToolProgress)
        steer, queue = await thread.steer("a"), await thread.queue("b")
        await thread.withdraw(steer)
        await thread.withdraw(queue)
        with pytest.raises(UsageProblem, match="No message"):
            await thread.withdraw(queue)
        (workspace / "go").touch()
        await thread.wait()
        return bodies(host, thread, User), bodies(host, thread, Steer)

    users, receipts = run_in(environ, scenario)
    assert users == [User("one")]
    assert [r.state for r in receipts] == ["waiting", "queued", "withdrawn", "withdrawn"]


def test_messages_waiting_at_a_cancel_are_queued_and_survive_a_restart(environ, workspace, script):
    model = script({"tool_calls": [SLEEP]}, {"text": "Done."})

    async def cancelled(host):
        thread = await opened(host, workspace, model)
        await thread.send("one")
        await until(thread, ToolProgress)
        await thread.steer("keep this")
        await thread.cancel()
        await thread.close(Exit.INTERRUPTED)
        return thread.id, bodies(host, thread, Steer)

    thread_id, receipts = run_in(environ, cancelled)
    assert [r.state for r in receipts] == ["waiting", "queued"]

    async def resumed(host):
        settings = Settings(model=script({"text": "Yes."}), approvals="never")
        thread = await host.open(thread_id, settings)
        assert await thread.go_on()
        await thread.wait()
        return bodies(host, thread, User, Assistant)

    said = run_in(environ, resumed)
    assert said[-2:] == [User("keep this", via="queue"), Assistant("Yes.")]


def test_cancel_ends_the_stream_the_tools_and_their_processes(environ, workspace, script):
    """Within 200 ms, processes in other sessions included; the log says so."""
    trap = "trap '' TERM INT; setsid sleep 600 & sleep 600 & echo begun; wait"
    model = script({"tool_calls": [call("workspace_run_command", command=trap)]})

    async def scenario(host):
        thread = await opened(host, workspace, model)
        await thread.send("start")
        await until(thread, ToolProgress)
        before = time.monotonic()
        await thread.cancel()
        spent = time.monotonic() - before
        left = processes_of(workspace)
        return spent, left, await thread.wait(), bodies(host, thread, ToolResult, TurnEnd)

    spent, left, end, told = run_in(environ, scenario)
    assert end.ending == "cancelled"
    assert [b.status for b in told if isinstance(b, ToolResult)] == ["cancelled"]
    assert told[-1] == TurnEnd("cancelled", steps=1)
    assert left == []
    assert spent < 5, "a hang, not a measurement: the figure is in docs/benchmarks.md"


def processes_of(workspace):
    """Living processes whose working folder is the workspace."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                state = (entry / "stat").read_text().rsplit(")", 1)[1].split()[0]
                if (entry / "cwd").readlink() == workspace and state != "Z":
                    found.append(entry.name)
            except OSError:
                continue
    return found


def test_cancel_while_the_model_speaks_keeps_what_it_said(environ, workspace, script):
    model = script({"text": "x" * 400, "chunk": 1, "stall_ms": 0, "delay_ms": 0}, {"text": "-"})

    async def scenario(host):
        from steersman.records.message import AssistantDelta

        thread = await opened(host, workspace, model)
        await thread.send("start")
        await until(thread, AssistantDelta)
        await thread.cancel()
        return bodies(host, thread, Assistant, TurnEnd)

    told = run_in(environ, scenario)
    assert told[-1] == TurnEnd("cancelled", steps=1)
    assert isinstance(told[0], Assistant)
    assert told[0].stop == "cancelled"
    assert 0 < len(told[0].text) < 400


def test_a_cancelled_approval_is_closed_and_the_thread_goes_on(environ, workspace, script):
    model = script(
        {"tool_calls": [call("workspace_write_file", path="new.txt", content="x")]},
        {"text": "Done."},
        {"text": "Going on."},
    )

    async def scenario(host):
        how = {"settings": {"approvals": "on-request"}, "attended": True}
        thread = await opened(host, workspace, model, **how)
        await thread.send("start")
        await until(thread, ConfirmRequest)
        await thread.cancel()
        await thread.send("go on then")
        await thread.wait()
        return bodies(host, thread, ToolResult, TurnEnd)

    told = run_in(environ, scenario)
    assert [getattr(b, "status", None) or b.ending for b in told] == [
        "cancelled", "cancelled", "done",
    ]  # fmt: skip
    assert not (workspace / "new.txt").exists()


def test_a_denial_with_guidance_reaches_the_model(environ, workspace, script):
    model = script(
        {"tool_calls": [call("workspace_write_file", path="new.txt", content="x")]},
        {"expect": "put it in docs/", "text": "I will."},
    )

    async def scenario(host):
        how = {"settings": {"approvals": "on-request"}, "attended": True}
        thread = await opened(host, workspace, model, **how)
        await thread.send("start")
        request = await until(thread, ConfirmRequest)
        await thread.answer(request.corr, ConfirmResponse("deny", "put it in docs/"))
        return await thread.wait(), bodies(host, thread, ToolResult)

    end, results = run_in(environ, scenario)
    assert end.ending == "done"
    assert results[0].status == "denied"
    assert "put it in docs/" in results[0].message


def test_a_person_may_let_a_long_turn_go_on_past_its_limit(environ, workspace, script):
    looks = [
        {"tool_calls": [call("workspace_read_file", path=f)]} for f in ("calc.py", "README.md")
    ]
    model = script(*looks, *looks, {"text": "Done."})

    async def scenario(host):
        thread = await opened(host, workspace, model, settings={"max_steps": 3}, attended=True)
        await thread.send("start")
        question = await until(thread, Question)
        await thread.answer(question.corr, Answer("go on"))
        return await thread.wait()

    assert run_in(environ, scenario) == TurnEnd("done", steps=5)


def test_going_in_circles_is_noted_then_asked_about_and_never_killed(environ, workspace, script):
    same = {"tool_calls": [call("workspace_read_file", path="calc.py")]}
    model = script(*[same] * 12, {"text": "Done."})

    async def alone(host):
        thread = await opened(host, workspace, model)
        await thread.send("start")
        return await thread.wait(), bodies(host, thread, ToolResult, Answer)

    end, told = run_in(environ, alone)
    assert end.ending == "done", "nobody was there to ask, so honest work went on"
    results = [b for b in told if isinstance(b, ToolResult)]
    assert [bool(r.note) for r in results] == [False] * 3 + [True] * 9
    assert Answer("go on", by="default") in told

    async def watched(host):
        thread = await opened(host, workspace, model, attended=True)
        await thread.send("start")
        question = await until(thread, Question)
        await thread.answer(question.corr, Answer("stop"))
        return await thread.wait()

    assert run_in(environ, watched).ending == "cancelled"


def test_parallel_reads_run_together_and_every_call_gets_its_result(environ, workspace, script):
    reads = [call("workspace_read_file", path="calc.py") for _ in range(6)]
    model = script(
        {"tool_calls": [*reads, call("workspace_status"), call("nonsense")]}, {"text": "."}
    )

    async def scenario(host):
        thread = await opened(host, workspace, model)
        await thread.send("start")
        await thread.wait()
        return list(host.messages(thread.id))

    messages = run_in(environ, scenario)
    calls = [m.corr for m in messages if m.kind == "tool_call"]
    results = [m for m in messages if m.kind == "tool_result"]
    assert sorted(calls) == sorted(m.corr for m in results)
    assert [m.body.status for m in results].count("ok") == 7
    wrong = next(m.body.message for m in results if m.body.status == "malformed")
    assert wrong.startswith("There is no tool “nonsense”.")


def test_only_one_turn_at_a_time(environ, workspace, script):
    model = script({"tool_calls": [WAIT]}, {"text": "Done."})

    async def scenario(host):
        thread = await opened(host, workspace, model)
        await thread.send("one")
        with pytest.raises(UsageProblem, match="steer it, or queue"):
            await thread.send("two")
        (workspace / "go").touch()
        await thread.wait()
        with pytest.raises(UsageProblem, match="No turn is running"):
            await thread.cancel()

    run_in(environ, scenario)


def test_the_prompt_after_a_resume_is_the_prompt_before_it(environ, workspace, script):
    """Built message by message or read back from the log, the conversation is the same."""
    from steersman.intelligence.context import KINDS, Context
    from steersman.threads.turning import ROOT

    model = script(
        {"text": "a", "tool_calls": [call("workspace_read_file", path="calc.py"), call("nope")]},
        {"reasoning": "hm", "text": "b"},
    )

    async def scenario(host):
        thread = await opened(host, workspace, model)
        await thread.send("start")
        await thread.wait()
        live = host.session(thread.id)._context.items
        again = Context(ROOT)
        again.observe(host.messages(thread.id, kinds=KINDS))
        return live, again.items

    live, again = run_in(environ, scenario)
    assert live == again
    assert len(live) == 5


def ends_slowly(session):
    """Let turns end only when told; an event for when one is about to, and the word to go on."""
    ending, go_on, last_words = asyncio.Event(), asyncio.Event(), session._last_words

    async def slowly(*words):
        ending.set()
        await go_on.wait()
        await last_words(*words)

    session._last_words = slowly
    return ending, go_on


def test_words_to_a_turn_that_is_ending_begin_the_next(environ, workspace, script):
    async def scenario(host):
        thread = await opened(host, workspace, script({"text": "First."}, {"text": "Second."}))
        ending, go_on = ends_slowly(host.session(thread.id))
        await thread.send("one")
        await ending.wait()
        await thread.steer("two")
        go_on.set()
        await thread.wait()
        return bodies(host, thread, User)

    assert [(one.text, one.via) for one in run_in(environ, scenario)[1:]] == [("two", "queue")]


def test_a_thread_that_is_closed_while_its_turn_ends_begins_no_other(environ, workspace, script):
    """The next turn began with a queued message and asked for leave; nobody heard the answer."""
    asks = {"tool_calls": [call("workspace_run_command", command="true", outside_sandbox=True)]}
    model = script({"text": "First."}, asks, {"text": "Never."})

    async def scenario(host):
        thread = await opened(host, workspace, model, settings={"approvals": "on-request"})
        ending, go_on = ends_slowly(host.session(thread.id))
        await thread.send("one")
        await thread.queue("two")
        await ending.wait()
        closing = asyncio.create_task(thread.close())
        await asyncio.sleep(0)
        go_on.set()
        await asyncio.wait_for(closing, 30)
        return bodies(host, thread, TurnEnd, Steer), (await thread.state()).activity.queued

    told, queued = run_in(environ, scenario)

    assert [one.ending for one in told if isinstance(one, TurnEnd)] == ["done"]
    assert [one.state for one in told if isinstance(one, Steer)] == ["queued"]
    assert len(queued) == 1
