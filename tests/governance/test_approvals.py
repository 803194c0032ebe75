"""The desk: an answer that is in the log is the answer, whatever becomes of whoever gave it."""

import asyncio

from steersman.governance.approvals import Desk
from steersman.governance.gate import Gate, Leave
from steersman.governance.policy import Circumstances
from steersman.records.action import Execute
from steersman.records.message import ConfirmResponse
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
        leave = asyncio.run(asyncio.wait_for(work(lane), 30))
    assert isinstance(leave, Leave)
