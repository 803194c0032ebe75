"""One contract for every thread: whether this process runs it or another one does.

`here` is a thread of this process, `elsewhere` one of a real second process. What is asked of the
handle is answered in the same way, with the same errors.
"""

import asyncio
import threading
from contextlib import ExitStack
from pathlib import Path

import pytest

from steersman.host import Host
from steersman.host.posting import sender
from steersman.records.errors import TooLate, ToolProblem, UsageProblem
from steersman.records.inbox import Cancel, Close, Request
from steersman.records.message import (
    Answer,
    Assistant,
    AssistantDelta,
    ConfirmRequest,
    ConfirmResponse,
    Policy,
    RequestReceipt,
    SettingsChanged,
    Steer,
    ToolResult,
    TurnEnd,
    TurnStart,
    User,
)
from steersman.records.settings import Settings
from steersman.records.undo import Part
from steersman.threads.handle import ThreadHandle
from tests.host.owner import owned
from tests.world import call

PATIENCE = 120
# In the background a command runs on the workspace itself, so it sees a file that appears.
WAIT = call(
    "workspace_run_command",
    command="echo begun; while [ ! -e go ]; do sleep 0.02; done",
    background=True,
    wait_timeout=600,
)
STAYS = call("workspace_run_command", command="echo begun; sleep 600", background=True)
LIST = call("workspace_list_processes")
WRITE = call("workspace_write_file", path="new.txt", content="new\n")
OTHER = call("workspace_write_file", path="other.txt", content="other\n")
DONE = {"text": "Done."}


@pytest.fixture(params=["here", "elsewhere"])
def play(request, environ, workspace):
    """Play a scenario with a handle on a thread that runs here, or elsewhere."""

    def played(scenario, model, **how):
        settings = Settings(model=model, **{"approvals": "never", **how})

        async def whole(owner: str | None):
            home = Path(environ["STEERSMAN_HOME"])
            async with asyncio.timeout(PATIENCE), Host.at(home, environ) as host:
                if owner is None:
                    thread = await host.start(str(workspace), "a task", settings, attended=True)
                else:
                    thread = await host.attach(owner)
                assert thread.here is (owner is None)
                return await scenario(host, thread)

        with ExitStack() as stack:
            owner = None
            if request.param == "elsewhere":
                _, owner = stack.enter_context(owned(environ, workspace, settings))
            return asyncio.run(whole(owner))

    return played


async def until(thread: ThreadHandle, wanted, after=0):
    """The first message of a kind, live or stored."""
    async for message in thread.events(after):
        if isinstance(message.body, wanted):
            return message
    raise AssertionError(f"no {wanted.__name__} came")


def bodies(host, thread, *kinds):
    return [m.body for m in host.messages(thread.id) if isinstance(m.body, kinds)]


def test_a_turn_is_sent_steered_queued_and_waited_for(play, workspace, script):
    async def scenario(host, thread):
        assert thread.thread.id == thread.id
        assert await thread.send("one") == 1
        await until(thread, Policy)
        assert thread.busy or (await thread.state()).activity.turn == 1
        steered, queued = await thread.steer("use tabs"), await thread.queue("two")
        taken_back = await thread.queue("three")
        await thread.withdraw(taken_back)
        with pytest.raises(TooLate, match=f"No message {taken_back} is waiting"):
            await thread.withdraw(taken_back)
        with pytest.raises(UsageProblem, match="A turn is running; steer it, or queue"):
            await thread.send("too soon")
        state = await thread.state()
        (workspace / "go").touch()
        assert await thread.wait() == TurnEnd("done", steps=1)
        names = [m.corr for m in host.messages(thread.id, kinds={"user"})]
        assert names == [None, steered, queued]
        return state, bodies(host, thread, User, TurnEnd), await thread.last_words()

    model = script({"tool_calls": [WAIT]}, {"text": "First."}, {"text": "Second."})
    state, said, words = play(scenario, model)
    assert (state.state, state.activity.turn) == ("running", 1)
    assert state.owner is not None
    assert said == [
        User("one"),
        User("use tabs", via="steer"),
        TurnEnd("done", steps=2),
        User("two", via="queue"),
        TurnEnd("done", steps=1),
    ]
    assert words == "Second."


def test_live_pieces_and_stored_messages_come_in_order(play, script):
    async def scenario(host, thread):
        await thread.send("go")
        seen = []
        async for message in thread.events():
            seen.append(message)
            if message.kind == "turn_end":
                break
        assert [m for m in seen if m.seq] == list(host.messages(thread.id))[: seen[-1].seq]
        return [m.body for m in seen if isinstance(m.body, AssistantDelta | Assistant)]

    told = play(scenario, script({"text": "a word or two", "chunk": 3, "delay_ms": 300}))
    *pieces, whole = told
    assert "".join(piece.text for piece in pieces) == whole.text == "a word or two"


def test_of_two_answers_the_first_stands(play, workspace, script):
    async def scenario(host, thread):
        await thread.send("go")
        corr = (await until(thread, ConfirmRequest)).corr
        state = await thread.state()
        with pytest.raises(UsageProblem, match="No request ask_never is waiting"):
            await thread.answer("ask_never", ConfirmResponse("allow"))
        with pytest.raises(UsageProblem, match="must be a confirm_response"):
            await thread.answer(corr, Answer("yes"))
        assert not (workspace / "new.txt").exists()
        await thread.answer(corr, ConfirmResponse("allow"))
        with pytest.raises(TooLate, match=f"The request {corr} was already answered"):
            await thread.answer(corr, ConfirmResponse("deny"))
        assert (await thread.wait()).ending == "done"
        return corr, state, bodies(host, thread, ConfirmResponse)

    model = script({"tool_calls": [WRITE]}, DONE)
    corr, state, answers = play(scenario, model, approvals="on-request")
    assert state.state == "waiting"
    assert [(one.corr, one.kind) for one in state.activity.waiting] == [(corr, "permission")]
    assert answers == [ConfirmResponse("allow")]
    assert (workspace / "new.txt").read_text() == "new\n"


def test_a_turn_is_stopped_once(play, workspace, script):
    async def scenario(host, thread):
        with pytest.raises(UsageProblem, match="No turn is running"):
            await thread.cancel()
        await thread.send("go")
        await until(thread, Policy)
        await thread.steer("keep this")
        await thread.cancel()
        assert not thread.busy
        with pytest.raises(UsageProblem, match="No turn is running"):
            await thread.cancel()
        assert await thread.wait() == TurnEnd("cancelled", steps=1)
        assert (await thread.state()).state == "queued"
        (workspace / "go").touch()
        assert await thread.go_on() is True
        assert (await thread.wait()).ending == "done"
        assert await thread.go_on() is False
        return bodies(host, thread, User, ToolResult, TurnEnd)

    told = play(scenario, script({"tool_calls": [WAIT]}, DONE))
    said = [b.text for b in told if isinstance(b, User)]
    assert said == ["go", "keep this"]
    assert [b.status for b in told if isinstance(b, ToolResult)] == ["cancelled", "ok"]
    assert [b.ending for b in told if isinstance(b, TurnEnd)] == ["cancelled", "done"]


def test_a_model_answers_beside_the_conversation(play, script):
    async def scenario(host, thread):
        answer = await thread.aside("Be short.", "Name it.")
        return answer, [m.kind for m in host.messages(thread.id, kinds={"user", "usage"})]

    assert play(scenario, script(DONE, aside="It.")) == ("It.", ["usage"])


def test_a_call_of_a_person_gives_its_result(play, script):
    async def scenario(host, thread):
        read = await thread.call("workspace_read_file", {"path": "calc.py"}, "call_mine")
        wrong = await thread.call("workspace_read_file", {"path": "missing.py"})
        return read, wrong.body

    read, wrong = play(scenario, script(DONE))
    assert (read.corr, read.body.status) == ("call_mine", "ok")
    assert "return a - b" in str(read.body.output)
    assert (wrong.status, wrong.tool) == ("error", "workspace_read_file")


def test_changes_are_undone_and_redone_and_never_beside_a_turn(play, workspace, script):
    new = workspace / "new.txt"

    async def scenario(host, thread):
        with pytest.raises(ToolProblem, match="nothing to undo"):
            await thread.plan_undo()
        await thread.send("write")
        await thread.wait()
        plan = await thread.plan_undo(turn=1)
        await thread.undo(plan)
        assert not new.exists()
        await thread.undo(await thread.plan_redo())
        assert new.read_text() == "new\n"
        await thread.undo(await thread.plan_undo(turn=1, parts=[Part("other.txt")]))
        assert (new.exists(), (workspace / "other.txt").exists()) == (True, False)
        await thread.undo(await thread.plan_redo())
        assert (workspace / "other.txt").read_text() == "other\n"

        new.write_text("somebody else's\n")
        plan = await thread.plan_undo(turn=1)
        with pytest.raises(ToolProblem):
            await thread.undo(plan)
        assert new.read_text() == "somebody else's\n"
        assert await thread.plan_undo(turn=1) == plan  # what failed is not held for done
        with pytest.raises(ToolProblem, match="nothing to redo"):
            await thread.plan_redo()

        await thread.send("wait")
        head = host.find(thread.id).head
        await until(thread, Policy, head - 1)
        with pytest.raises(UsageProblem, match="A turn is running; stop it first"):
            await thread.undo(plan, force=True)
        assert new.read_text() == "somebody else's\n"
        await thread.cancel()
        await thread.undo(plan, force=True)
        assert not new.exists()

    play(scenario, script({"tool_calls": [WRITE, OTHER]}, DONE, {"tool_calls": [WAIT]}))


def test_whoever_reads_the_last_words_of_a_turn_may_go_on_at_once(play, workspace, script):
    """The words are in the log a moment before the process that wrote them is ready again."""

    async def ended(thread, after):
        return (await until(thread, TurnEnd, after)).seq

    async def scenario(host, thread):
        last = 0
        for _ in range(10):
            await thread.send("write")
            last = await ended(thread, last)
            await thread.undo(await thread.plan_undo())
            await thread.send("write")
            last = await ended(thread, last)
            await thread.compact()
            await thread.send("write")
            last = await ended(thread, last)
            await thread.queue("write")
            last = await ended(thread, last)

    turn = [{"tool_calls": [WRITE]}, {"tool_calls": [OTHER]}, DONE]
    play(scenario, script(*turn * 40))


def test_a_conversation_is_compacted_and_that_undone(play, script):
    async def scenario(host, thread):
        assert await thread.compact() is False
        for _ in range(20):
            await thread.send("more")
            await thread.wait()
        assert await thread.compact() is True
        assert await thread.compact(undo=True) is True
        assert await thread.compact(undo=True) is False
        return [m.body.undone for m in host.messages(thread.id, kinds={"compaction"})]

    undone = play(scenario, script(*[{"text": "As I said, and say again. " * 40}] * 20))
    assert undone == [False, True]


def test_settings_change_in_a_running_turn_and_programs_go_on(play, workspace, script):
    async def scenario(host, thread):
        await thread.send("go")
        await until(thread, ToolResult)
        await thread.set(mode="ask", title="looking")
        with pytest.raises(UsageProblem, match="There is no setting “colour” of a thread"):
            await thread.set(colour="red")
        (workspace / "go").touch()
        assert (await thread.wait()).ending == "done"
        await thread.send("and now?")
        await thread.wait()
        results = bodies(host, thread, ToolResult)
        return results, bodies(host, thread, SettingsChanged), bodies(host, thread, TurnStart)

    model = script({"tool_calls": [STAYS, WAIT]}, {"tool_calls": [WRITE, LIST]}, DONE, DONE)
    (_, _, written, listed), changed, turns = play(scenario, model)
    assert written.status == "denied"
    assert "mode.ask" in written.message
    states = [process["state"] for process in listed.output["processes"]]
    assert "running" in states
    assert changed == [SettingsChanged(mode="ask", title="looking")]
    assert [(turn.mode, turn.title) for turn in turns] == [("code", "a task"), ("ask", "looking")]
    assert not (workspace / "new.txt").exists()


def test_a_thread_that_is_closed_can_be_taken_up_again(play, script):
    model = script(DONE)

    async def scenario(host, thread):
        await thread.send("go")
        await thread.wait()
        await thread.detach()
        await thread.close()
        while (await thread.state()).owner is not None:
            await asyncio.sleep(0.01)
        again = await host.attach(thread.id, Settings(model=model, approvals="never"))
        assert again.here
        await again.close()
        return [m.kind for m in host.messages(thread.id)]

    kinds = play(scenario, model)
    assert kinds.count("session_start") == kinds.count("session_end") == 2


# Requests and receipts


def test_what_another_process_asks_is_in_the_log_with_its_sender(environ, workspace, script):
    settings = Settings(model=script({"tool_calls": [WAIT]}, DONE), approvals="never")

    async def scenario(owner: str):
        home = Path(environ["STEERSMAN_HOME"])
        async with asyncio.timeout(PATIENCE), Host.at(home, environ) as host:
            thread = await host.attach(owner)
            await thread.send("go")
            await until(thread, Policy)
            await thread.steer("use tabs")
            with pytest.raises(UsageProblem):
                await thread.send("too soon")
            (workspace / "go").touch()
            await thread.wait()
            return list(host.messages(thread.id)), sender()

    with owned(environ, workspace, settings) as (_, owner):
        messages, mine = asyncio.run(scenario(owner))
    receipts = [m for m in messages if isinstance(m.body, RequestReceipt)]
    assert [(m.body.what, m.body.outcome) for m in receipts] == [
        ("send", "taken"), ("steer", "taken"), ("send", "refused"),
    ]  # fmt: skip
    assert {m.body.sender for m in receipts} == {mine}
    assert "A turn is running; steer it, or queue the message." in receipts[-1].body.reason
    assert len({m.corr for m in receipts}) == 3
    following = [messages[m.seq].body for m in receipts[:2]]
    assert isinstance(following[0], TurnStart)
    assert following[1] == Steer("waiting", "steer", "use tabs")


def test_a_close_that_was_heard_ends_the_thread_though_its_process_is_just_leaving(
    environ, workspace, script
):
    asks = call("workspace_run_command", command="touch x", outside_sandbox=True)
    settings = Settings(model=script({"tool_calls": [asks]}, DONE))

    async def scenario():
        home = Path(environ["STEERSMAN_HOME"])
        async with asyncio.timeout(PATIENCE), Host.at(home, environ) as host:
            thread = await host.start(str(workspace), "a task", settings, attended=True)
            await thread.send("go")
            await until(thread, ConfirmRequest)
            writer, slow, free = host.runner._writer, threading.Event(), threading.Event()
            writer.submit(lambda: slow.set() or free.wait())  # a disk that takes its time
            slow.wait()
            now = host.find(thread.id).created
            host.store.post(Request("req_close", thread.id, "somebody", now, Close()))
            host.newsroom.wake(thread.id)
            while not writer.waiting:
                await asyncio.sleep(0)
            leaving = asyncio.create_task(host.let_go(thread.id))
            for _ in range(100):
                await asyncio.sleep(0)
            free.set()
            await leaving
            return [m.kind for m in host.messages(thread.id)], host.store.requests(thread.id)

    kinds, left = asyncio.run(scenario())
    assert (kinds.count("session_end"), left) == (1, [])


def test_a_request_that_nobody_took_in_time_is_expired_and_the_log_says_so(
    environ, workspace, script
):
    settings = Settings(model=script(DONE), approvals="never")

    async def scenario():
        home = Path(environ["STEERSMAN_HOME"])
        async with asyncio.timeout(PATIENCE), Host.at(home, environ) as host:
            thread = await host.start(str(workspace), "a task", settings)
            await thread.close()
            long_ago = host.find(thread.id).created
            late = Request("req_late", thread.id, "somebody", long_ago, Cancel(), long_ago)
            host.store.post(late)
            assert host.store.expire("req_late").outcome == "expired"
            again = await host.open(thread.id, settings)
            receipt = await until(again, RequestReceipt)
            await again.close()
            return receipt

    receipt = asyncio.run(scenario())
    assert receipt.corr == "req_late"
    assert receipt.body == RequestReceipt("cancel", "somebody", "expired")
