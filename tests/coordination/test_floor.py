"""Every move of an open thread: the allowed ones by name, the others refused with a sentence."""

import asyncio
from itertools import product

import pytest

from steersman.coordination.floor import Floor, FloorState, Move
from steersman.records.errors import UsageProblem

TRANSITIONS = """
idle       start   starting
idle       undo    undoing
idle       compact compacting
idle       close   closed
starting   begin   running
starting   fail    idle
running    cancel  stopping
running    finish  ending
running    fail    torn
stopping   cancel  stopping
stopping   finish  ending
stopping   fail    torn
ending     cancel  ending
ending     end     idle
ending     fail    torn
torn       start   starting
torn       close   closed
undoing    end     idle
compacting cancel  compacting
compacting end     idle
"""
ALLOWED = [tuple(line.split()) for line in TRANSITIONS.strip().splitlines()]
REFUSED = [
    (state, move)
    for state, move in product(FloorState, Move)
    if (state, move) not in {(before, how) for before, how, _ in ALLOWED}
]
WAYS = {
    "idle": "",
    "starting": "start",
    "running": "start begin",
    "stopping": "start begin cancel",
    "ending": "start begin finish",
    "torn": "start begin finish fail",
    "undoing": "undo",
    "compacting": "compact",
    "closed": "close",
}


def floor_in(state: str) -> Floor:
    """A floor that has come to a state by moves alone."""
    floor = Floor()
    for move in WAYS[state].split():
        floor.move(Move(move))
    assert floor.state == state
    return floor


@pytest.mark.parametrize(("before", "move", "after"), ALLOWED)
def test_this_move_leads_there(before, move, after):
    floor = floor_in(before)
    floor.move(Move(move))
    assert floor.state == after


@pytest.mark.parametrize(("state", "move"), REFUSED)
def test_this_move_is_refused_with_a_sentence_and_changes_nothing(state, move):
    floor = floor_in(state)
    with pytest.raises(UsageProblem) as refusal:
        floor.move(move)
    assert floor.state == state
    assert str(move) in refusal.value.what
    assert refusal.value.what.endswith(".")


def test_every_state_and_every_move_is_in_the_table():
    assert len(ALLOWED) + len(REFUSED) == len(FloorState) * len(Move)
    named = {FloorState(name) for before, _, after in ALLOWED for name in (before, after)}
    assert named == set(FloorState)
    assert {Move(move) for _, move, _ in ALLOWED} == set(Move)


def test_one_can_wait_until_a_state_is_left():
    async def story() -> list[str]:
        floor = floor_in("starting")
        seen = []

        async def waits() -> None:
            await floor.leaves(FloorState.STARTING)
            seen.append(str(floor.state))

        waiting = asyncio.ensure_future(waits())
        await asyncio.sleep(0)
        assert not seen
        floor.move(Move.BEGIN)
        await waiting
        return seen

    assert asyncio.run(story()) == ["running"]
