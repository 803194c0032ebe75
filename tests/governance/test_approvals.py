"""The desk: an answer that is in the log is the answer, whatever becomes of whoever gave it."""

import asyncio

import pytest
from msgspec.structs import replace

from steersman.governance.approvals import Desk
from steersman.governance.gate import Gate, Permit
from steersman.governance.policy import Circumstances
from steersman.records.action import Execute, Write
from steersman.records.errors import TooLate, UsageProblem
from steersman.records.message import ConfirmRequest, ConfirmResponse
from steersman.store.log import Lane
from tests.store.logs import a_lane

RUN = Execute("make", "/srv/app", outside=True)


def test_an_answer_counts_although_its_giver_is_cancelled_when_it_is_stored():
    async def work(lane: Lane) -> object:
        desk = Desk(attended=True)
        gate = Gate(Circumstances("/srv/app"), desk)
        asked = asyncio.create_task(gate.admit("call_1", "tool", [RUN], lane))
        with lane.log._bus.subscribe(lane.log.thread) as news:
            while (message := await news.next()).kind != "confirm_request":
                pass
            giving = asyncio.create_task(desk.answer(message.corr, ConfirmResponse("allow")))
            while (await news.next()).kind != "confirm_response":
                pass
            giving.cancel()
        return await asked

    with a_lane() as lane:
        permit = asyncio.run(asyncio.wait_for(work(lane), 30))
    assert isinstance(permit, Permit)


def test_what_a_dead_process_asked_is_answered_in_any_order():
    """A second answer that waited for its request to be asked again kept the first one out."""

    async def work(lane: Lane) -> list[object]:
        asked = [ConfirmRequest(f"call_{n}", "run", (RUN,), "it leaves") for n in (1, 2)]
        stored = [
            (await lane.append(request, corr=f"ask_{n}"))[0] for n, request in enumerate(asked, 1)
        ]
        desk = Desk(attended=True)
        desk.recall(stored, lane.log)
        allow, deny = ConfirmResponse("allow"), ConfirmResponse("deny")
        await desk.answer("ask_2", deny)
        first = asyncio.create_task(desk.confirm(asked[0], lane))
        await desk.answer("ask_1", allow)
        with pytest.raises(TooLate):
            await desk.answer("ask_2", allow)
        return [await first, await desk.confirm(asked[1], lane)]

    with a_lane() as lane:
        given = asyncio.run(asyncio.wait_for(work(lane), 30))
    assert [answer.decision for answer in given] == ["allow", "deny"]


def test_what_is_never_asked_again_cannot_be_answered():
    async def work(lane: Lane) -> None:
        request = ConfirmRequest("call_1", "run", (RUN,), "it leaves")
        (stored,) = await lane.append(request, corr="ask_1")
        desk = Desk(attended=True)
        desk.recall([stored], lane.log)
        desk.forget()
        with pytest.raises(UsageProblem, match="No request ask_1"):
            await desk.answer("ask_1", ConfirmResponse("allow"))

    with a_lane() as lane:
        asyncio.run(asyncio.wait_for(work(lane), 30))


def test_nobody_can_deny_what_is_being_done_because_it_needs_no_answer_any_more():
    """It was asked about early, and then less was asked about."""

    async def work(lane: Lane) -> object:
        desk = Desk(attended=True)
        gate = Gate(Circumstances("/srv/app", approvals="on-request"), desk)
        write = Write("/srv/app/a.txt", after="0" * 64)
        await gate.foresee("call_1", "write", [write], lane)
        ((corr, _, _),) = desk.open_requests()
        gate.where = replace(gate.where, approvals="on-failure")
        permit = await gate.admit("call_1", "write", [write], lane)
        with pytest.raises(UsageProblem, match="No request"):
            await desk.answer(corr, ConfirmResponse("deny"))
        return permit

    with a_lane() as lane:
        assert isinstance(asyncio.run(asyncio.wait_for(work(lane), 30)), Permit)


def test_an_answer_that_is_being_written_is_the_only_one():
    """Meanwhile the request of a dead process was asked again, and could be answered once more."""

    async def work(lane: Lane) -> list[str]:
        request = ConfirmRequest("call_1", "run", (RUN,), "it leaves")
        (stored,) = await lane.append(request, corr="ask_1")
        desk = Desk(attended=True, yes=True)
        desk.recall([stored], lane.log)
        giving = asyncio.create_task(desk.answer("ask_1", ConfirmResponse("deny")))
        await asyncio.sleep(0)  # it is on its way
        asked = asyncio.create_task(desk.confirm(request, lane))
        await asyncio.sleep(0)
        with pytest.raises(TooLate):
            await desk.answer("ask_1", ConfirmResponse("allow"))
        await giving
        return [(await asked).decision]

    with a_lane() as lane:
        assert asyncio.run(asyncio.wait_for(work(lane), 30)) == ["deny"]
