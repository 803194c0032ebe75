"""The only place where a tool is run: together where that is safe, in order where it is not."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from steersman.governance.budgets import Budget
from steersman.intelligence.context import Context
from steersman.operations.admission import NONE
from steersman.operations.executor import Outcome
from steersman.operations.tool import Answered, Bench, Family
from steersman.operations.workspace import Workspace
from steersman.records.action import Execute, Read, Write
from steersman.records.dialogue import Call
from steersman.records.errors import BudgetSpent, NeedsAnswer, StorageProblem, ToolProblem
from steersman.records.limits import Limits
from steersman.records.message import (
    MASK,
    Assistant,
    ConfirmRequest,
    DiffReady,
    Message,
    Policy,
    ToolResult,
    WholeResult,
)
from steersman.store.contract import Row
from steersman.store.log import Draft, Lane, ThreadLog
from steersman.store.sqlite import SqliteStore
from steersman.systems import Hooked, Permit
from tests.operations.doubles import Double, Rig, Turnstile
from tests.operations.workshop import Workshop, toolbox_of
from tests.store.logs import a_lane, a_place, proven, stored


async def nothing(n: int, bench: Bench) -> int:
    """A tool that does nothing."""
    return n


def numbered(name: str, count: int) -> list[tuple[str, dict[str, Any]]]:
    """That many calls of a tool."""
    return [(name, {"n": n}) for n in range(count)]


@pytest.mark.parametrize("family", [Family.READ, Family.AGENTS])
def test_calls_of_these_families_run_together_up_to_their_limit(tmp_path, family):
    gate = Turnstile()
    rig = Rig(tmp_path, [Double("look", family, gate)])
    results = rig.do(*numbered("look", 10))
    assert [result.output for result in results] == list(range(10))
    assert gate.most == family.limit > 1


@pytest.mark.parametrize("family", [Family.EDIT, Family.RUN])
def test_calls_of_these_families_run_one_after_another_in_order(tmp_path, family):
    gate = Turnstile()
    Rig(tmp_path, [Double("change", family, gate)]).do(*numbered("change", 5))
    assert gate.order == [(how, n) for n in range(5) for how in ("in", "out")]


def test_a_read_never_overtakes_a_change(tmp_path):
    gate = Turnstile()
    tools = [Double("look", Family.READ, gate), Double("change", Family.EDIT, gate)]
    calls = [
        ("look", {"n": 0}), ("look", {"n": 1}), ("change", {"n": 2}), ("look", {"n": 3}),
        ("look", {"n": 4}), ("change", {"n": 5}),
    ]  # fmt: skip
    Rig(tmp_path, tools).do(*calls)
    order = [n for how, n in gate.order]
    assert {*order[:4]} == {0, 1}
    assert order[4:6] == [2, 2]
    assert {*order[6:10]} == {3, 4}
    assert order[10:] == [5, 5]


def test_results_that_were_ready_in_another_order_give_the_context_that_the_log_gives(tmp_path):
    gate = Turnstile()
    calls = [Call(f"call_{n}", "look", {"n": n}) for n in range(5)]

    async def work(lane: Lane) -> Context:
        toolbox = toolbox_of(tmp_path, [Double("look", Family.READ, gate)], Generous())
        said = Assistant("", "", tuple(call.id for call in calls))
        drafts = [Draft(said, "steersman/intelligence")]
        drafts += [toolbox.announce(call, lane) for call in calls]
        live = Context("steersman")
        live.observe(await lane.log.append(*drafts))
        live.observe(await toolbox.execute(calls, lane, lambda call: ""))
        return live

    with a_lane() as lane:
        live = asyncio.run(work(lane))
        from_log = Context("steersman")
        from_log.observe(stored(lane.log))
    assert [n for how, n in gate.order if how == "out"] != list(range(5))
    assert live.items == from_log.items
    assert [item.text for item in live.items[1:]] == ["0", "1", "2", "3", "4"]


class Generous:
    asks_early = False

    def over(self, call):
        """Nothing was asked about it."""

    """A gate that allows everything and writes nothing, for tools that need nothing."""

    async def admit(
        self,
        call: str,
        tool: str,
        actions: Any,
        lane: Lane,
        *,
        edited: bool = False,
        whole: bool = False,
    ) -> Permit:
        """Take note of the call, which may be one too many; nothing else is asked for."""
        assert not actions
        return NONE

    async def question(self, text: str, options: Any, default: str, lane: Lane) -> str:
        """Nobody asks."""
        return default


# What goes wrong


async def crash(n: int, bench: Bench) -> None:
    """A tool with a defect."""
    raise ZeroDivisionError("oh no")


async def refuse(n: int, bench: Bench) -> None:
    """A tool that cannot."""
    raise ToolProblem("It cannot be.", "Because.", "Try else.")


async def unspeakable(n: int, bench: Bench) -> object:
    """A tool whose answer JSON cannot say."""
    return object()


async def latin(n: int, bench: Bench) -> str:
    """A tool whose answer is not valid text."""
    return "caf\udce9"


@pytest.mark.parametrize(
    ("run", "status", "says"),
    [
        (crash, "error", "ZeroDivisionError: oh no"),
        (refuse, "error", "It cannot be.\nBecause.\nTry else."),
        (unspeakable, "error", "object"),
        (latin, "ok", ""),
    ],
)
def test_a_defect_of_one_tool_is_a_result_and_the_others_go_on(tmp_path, run, status, says):
    for family in Family:
        tools = [Double("bad", family, run), Double("good", family, nothing)]
        bad, good = Rig(tmp_path, tools).do(("bad", {}), ("good", {"n": 7}))
        assert (bad.status, good.status, good.output) == (status, "ok", 7)
        assert says in bad.message


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (Call("c", "workspace_fly", {}), "no tool “workspace_fly”"),
        (Call("c", "", {}), "no tool"),
        (Call("c", "look", {"m": 1}), "m"),
        (Call("c", "look", malformed="{n: 1"), "{n: 1"),
    ],
)
def test_a_malformed_call_is_a_result_that_says_what_is_wrong(tmp_path, call, says):
    rig = Rig(tmp_path, [Double("look", Family.READ, nothing)])
    (result,) = rig.do(call)
    assert result.status == "malformed"
    assert says in result.message
    assert "look" in result.message
    assert "policy" not in rig.kinds()


def test_what_the_gate_denies_is_never_run(tmp_path):
    ran = []

    async def run(n: int, bench: Bench) -> None:
        ran.append(n)

    tool = Double("peek", Family.READ, run, lambda w: [Read(f"{w.root}/x"), Read("/etc/passwd")])
    rig = Rig(tmp_path, [tool])
    result = rig.one("peek")
    assert ran == []
    assert result.status == "denied"
    assert "paths.outside" in result.message
    assert "use paths inside the workspace" in result.message
    verdicts = [m.body.verdict.decision for m in rig.messages if isinstance(m.body, Policy)]
    assert verdicts == ["allow", "deny"]


def test_every_verdict_is_in_the_log_before_the_tool_runs(tmp_path):
    async def run(n: int, bench: Bench) -> list[str]:
        return [message.kind for message in stored(bench.lane.log)]

    tool = Double("run", Family.RUN, run, lambda w: [Execute("git push", w.root)])
    result = Rig(tmp_path, [tool], answer=lambda request: "allow").one("run")
    assert result.output == ["tool_call", "policy", "confirm_request", "confirm_response"]


def asking(workspace: Workspace) -> list[Write]:
    """What a person is asked about."""
    return [Write(f"{workspace.root}/x", "", "0" * 64, "+x\n")]


def test_only_what_is_about_to_be_done_can_be_changed_by_the_answer(tmp_path):
    """What a call turns out to do is asked about as a whole, such as a refactoring."""

    async def run(n: int, bench: Bench) -> None:
        await bench.admit(asking(bench.workspace))

    rig = Rig(tmp_path, [Double("both", Family.EDIT, run, asking)], answer=lambda request: "allow")
    assert rig.one("both").status == "ok"
    requests = [m.body for m in rig.messages if isinstance(m.body, ConfirmRequest)]
    assert [request.whole for request in requests] == [False, True]


@pytest.mark.parametrize("family", list(Family))
def test_when_nobody_can_answer_every_call_gets_a_result_and_the_need_goes_up(tmp_path, family):
    tools = [Double("ask", family, nothing, asking), Double("look", family, nothing)]
    rig = Rig(tmp_path, tools, approvals="on-request")
    results = rig.do(("look", {"n": 1}), ("ask", {}), ("look", {"n": 2}), ("ask", {}))
    assert isinstance(rig.stopped, NeedsAnswer)
    assert len(results) == 4
    assert "denied" in (results[1].status, results[3].status)  # whichever was asked about first
    assert rig.kinds().count("tool_result") == 4
    assert {result.status for result in results} <= {"ok", "denied", "cancelled"}


@pytest.mark.parametrize("family", [Family.READ, Family.AGENTS])
def test_calls_that_began_within_the_budget_finish_beside_the_one_that_spends_it(tmp_path, family):
    async def last(n: int, bench: Bench) -> str:
        """Be done only when the call that is one too many was refused, and ask for more then."""
        log = bench.lane.log
        with log._bus.subscribe(log.thread) as news:
            while not any(one.kind == "tool_result" for one in stored(log)):
                await news.next()
        await bench.admit([Read(str(tmp_path / "a"))])
        return "done"

    rig = Rig(tmp_path, [Double("look", family, last)], budget=Budget(Limits(calls=1)))
    results = rig.do(*numbered("look", 3))
    assert isinstance(rig.stopped, BudgetSpent)
    assert [result.status for result in results] == ["ok", "denied", "denied"]
    assert "1 tool call for this run is spent" in results[1].message


class Refusing(SqliteStore):
    """A store that cannot write while told so."""

    refuses = False

    def append(self, thread_id: str, rows: Sequence[Row], *, sync: bool, **how: Any) -> None:
        """Write, or say why not."""
        if self.refuses:
            raise StorageProblem("There is no room left to write the log.")
        super().append(thread_id, rows, sync=sync, **how)


@pytest.mark.parametrize("family", list(Family))
def test_a_log_that_cannot_be_written_stops_the_turn_with_that_very_problem(tmp_path, family):
    """Never with a group of errors, which no port would know how to tell."""

    async def work(lane: Lane) -> None:
        async def fill_the_disk(n: int, bench: Bench) -> None:
            place.store.refuses = True

        tools = [Double("fill", family, fill_the_disk)]
        toolbox = toolbox_of(tmp_path, tools, Generous())
        calls = [Call(f"c{n}", "fill", {"n": n}) for n in range(3)]
        await lane.log.append(*(toolbox.announce(call, lane) for call in calls))
        await toolbox.execute(calls, lane, lambda call: "")

    with a_place(store=Refusing) as place, pytest.raises(StorageProblem):
        asyncio.run(work(Lane(place.new_log(), "steersman")))


class Cancelled(Rig):
    """A rig whose work is cancelled once a tool has begun."""

    async def during(self, work: Any) -> None:
        self.begun = asyncio.Event()
        task = asyncio.ensure_future(work)
        await self.begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


@pytest.mark.parametrize("family", list(Family))
def test_a_cancelled_turn_gives_every_call_one_result(tmp_path, family):
    async def forever(n: int, bench: Bench) -> None:
        rig.begun.set()
        await asyncio.Event().wait()

    rig = Cancelled(tmp_path, [Double("wait", family, forever)])
    results = rig.do(*numbered("wait", 3))
    assert [result.status for result in results] == ["cancelled"] * 3
    assert rig.kinds().count("tool_result") == 3


@pytest.mark.parametrize(
    ("error", "stops", "note"),
    [
        (asyncio.CancelledError(), True, ""),
        (BudgetSpent("The budget is spent."), True, ""),
        (ToolProblem("It cannot be."), False, "The hooks after it failed: It cannot be."),
        (ZeroDivisionError("oh no"), False, "The hooks after it failed: oh no"),
    ],
    ids=lambda one: type(one).__name__ if isinstance(one, BaseException) else "",
)
def test_whatever_goes_wrong_after_a_call_its_result_stays(tmp_path, error, stops, note):
    class Failing:
        async def before(self, call: Call, lane: Lane) -> Hooked:
            return Hooked(call)

        async def after(self, call: Call, result: ToolResult, lane: Lane) -> Hooked:
            raise error

    async def work(lane: Lane) -> Outcome:
        tools = [Double("do", Family.EDIT, nothing)]
        toolbox = toolbox_of(tmp_path, tools, Generous(), hooks=Failing())
        return await toolbox.outcome(Call("c", "do", {"n": 7}), lane, lambda call: "")

    with a_lane() as lane:
        outcome = asyncio.run(work(lane))
    assert (outcome.result.status, outcome.result.output, outcome.result.note) == ("ok", 7, note)
    assert outcome.stop is (error if stops else None)


# Calls of an earlier process


def test_a_call_that_an_earlier_process_announced_is_carried_out_under_its_id(tmp_path):
    async def announce(log: ThreadLog) -> None:
        toolbox = toolbox_of(tmp_path, [Double("look", Family.READ, nothing)], Generous())
        lane = Lane(log, "steersman", turn=3)
        calls = [Call("c1", "look", {"n": 1}), Call("c2", "look", {"n": 2}), Call("c3", "gone")]
        calls.append(Call("c4", "look", {"n": "sk-0123456789"}))
        await log.append(*(toolbox.announce(call, lane) for call in calls))

    async def resume(log: ThreadLog) -> list[Message]:
        toolbox = toolbox_of(tmp_path, [Double("look", Family.READ, nothing)], Generous())
        return await toolbox.resume(stored(log), Lane(log, "steersman", turn=3), lambda call: "")

    with a_place() as place:
        asyncio.run(announce(place.new_log(["sk-0123456789"])))
        results = asyncio.run(resume(place.open_log("t1", ["sk-0123456789"])))
        log = place.open_log("t1")
        messages = stored(log)
        assert not proven(log)
    assert [m.kind for m in messages] == ["tool_call"] * 4 + ["tool_result"] * 4
    assert [m.corr for m in results] == ["c1", "c2", "c3", "c4"]
    assert {m.turn for m in messages} == {3}
    bodies = [m.body for m in results if isinstance(m.body, ToolResult)]
    assert [b.status for b in bodies] == ["ok", "ok", "malformed", "interrupted"]
    assert [b.output for b in bodies] == [1, 2, None, None]
    assert "held a secret" in bodies[3].message


# What is written down about a call


def test_what_a_server_sent_is_for_the_caller_and_not_for_the_log(tmp_path):
    sent = {"content": [{"type": "image", "data": "AAAA"}]}

    async def call(n: int, bench: Bench) -> Answered:
        return Answered("a picture", sent, ToolProblem("It failed.") if n else None)

    async def work(lane: Lane) -> list[Message]:
        toolbox = toolbox_of(tmp_path, [Double("remote", Family.READ, call)], Generous())
        calls = [Call(f"c{n}", "remote", {"n": n}) for n in range(2)]
        return await toolbox.execute(calls, lane, lambda call: "")

    with a_lane() as lane:
        answers = asyncio.run(work(lane))
        logged = stored(lane.log)
    assert [type(m.body) for m in logged] == [ToolResult, ToolResult]
    bodies = [m.body for m in answers if isinstance(m.body, WholeResult)]
    assert [b.whole for b in bodies] == [sent, sent]
    assert [(b.status, b.output, b.message) for b in bodies] == [
        ("ok", "a picture", ""), ("error", None, "It failed."),
    ]  # fmt: skip


def test_progress_is_told_and_not_stored_and_carries_the_name_of_the_call(tmp_path):
    async def run(n: int, bench: Bench) -> str:
        bench.progress("half")
        return "whole"

    rig = Rig(tmp_path, [Double("look", Family.READ, run)])
    rig.do(Call("call_7", "look"))
    progress = [m for m in rig.told if m.kind == "tool_progress"]
    assert [(m.corr, m.seq, m.body.text) for m in progress] == [("call_7", 0, "half")]
    assert "tool_progress" not in rig.kinds()


def test_progress_never_shows_a_secret_not_even_in_pieces(tmp_path):
    async def run(n: int, bench: Bench) -> None:
        for piece in ("the key is sk-01", "234", "56789, and ", "sk", "ip the rest: sk-0"):
            bench.progress(piece)

    rig = Rig(tmp_path, [Double("look", Family.READ, run)], secrets=["sk-0123456789"])
    rig.one("look")
    shown = [m.body.text for m in rig.told if m.kind == "tool_progress"]
    assert "".join(shown) == f"the key is {MASK}, and skip the rest: sk-0"
    assert "" not in shown


def test_a_call_and_its_result_have_the_lane_of_the_tool(tmp_path):
    rig = Rig(tmp_path, [Double("look", Family.READ, nothing)])
    rig.do(("look", {}), ("unheard-of", {}))
    places = {(m.kind, m.path) for m in rig.messages}
    assert places == {
        (kind, f"steersman/operations/{name}")
        for kind in ("tool_call", "tool_result")
        for name in ("look", "unknown")
    }


DIFFS = [
    ("a\nb\n", "a\nc\n", 1, 1),
    ("", "a\nb\n", 2, 0),
    ("-- a comment in SQL\nx\n", "x\n", 0, 1),
    ("x\n", "++ more\nx\n", 1, 0),
    ("a", "a\n", 1, 1),
    ("x\n", "x\none\x0ctwo\x1cthree\u2028four\n", 1, 0),
]


@pytest.mark.parametrize(("before", "after", "added", "removed"), DIFFS)
def test_a_change_is_told_with_its_diff_and_its_size(tmp_path, before, after, added, removed):
    (tmp_path / "f.sql").write_bytes(before.encode())
    workshop = Workshop(tmp_path)
    result = workshop.one("workspace_write_file", path="f.sql", content=after)
    assert result.status == "ok"
    (diff,) = [m.body for m in workshop.messages if isinstance(m.body, DiffReady)]
    assert (diff.file, diff.added, diff.removed) == ("f.sql", added, removed)


def test_the_hosts_remark_is_part_of_the_result(tmp_path):
    async def work(lane: Lane) -> list[Message]:
        toolbox = toolbox_of(tmp_path, [Double("look", Family.READ, nothing)], Generous())
        return await toolbox.execute([Call("c", "look")], lane, lambda call: f"again {call.name}?")

    with a_lane() as lane:
        (message,) = asyncio.run(work(lane))
    assert isinstance(message.body, ToolResult)
    assert message.body.note == "again look?"


def test_specs_are_in_the_order_of_the_tools_and_always_the_same(tmp_path):
    names = ["c", "a", "b"]
    tools = [Double(name, Family.READ, nothing) for name in names]
    toolbox = toolbox_of(tmp_path, tools, Generous())
    assert [spec.name for spec in toolbox.specs()] == names
    assert toolbox.specs() is toolbox.specs()
