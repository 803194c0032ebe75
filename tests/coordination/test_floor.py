"""Every move of an open thread: the allowed ones by name, the others refused with a sentence."""

from itertools import product

import pytest

from steersman.coordination.floor import Floor, FloorState, Move
from steersman.records.errors import UsageProblem

TRANSITIONS = """
idle    start   running
idle    close   closed
running cancel  ending
running end     idle
ending  cancel  ending
ending  end     idle
"""
ALLOWED = [tuple(line.split()) for line in TRANSITIONS.strip().splitlines()]
REFUSED = [
    (state, move)
    for state, move in product(FloorState, Move)
    if (state, move) not in {(before, how) for before, how, _ in ALLOWED}
]


def floor_in(state: str) -> Floor:
    """A floor that has come to a state by moves alone."""
    floor = Floor()
    moves = {"idle": (), "running": ("start",), "ending": ("start", "cancel"), "closed": ("close",)}
    for move in moves[state]:
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
    assert {FloorState(name) for before, _, after in ALLOWED for name in (before, after)} == set(
        FloorState
    )
    assert {Move(move) for _, move, _ in ALLOWED} == set(Move)
