"""Whether the log leaves an undo open, by what it says after it."""

import asyncio

import pytest

from steersman.records.message import Checkpoint, SessionEnd, UndoEnd
from steersman.records.undo import OpenUndo
from steersman.threads.open_undo import left_open
from tests.store.logs import a_lane

UNDO = Checkpoint("undo", count=2)
OPEN = OpenUndo(1, "undo", 2, working=True)


@pytest.mark.parametrize(
    ("later", "left"),
    [
        ([], OPEN),
        ([UndoEnd(1)], None),
        ([Checkpoint("void", undoes=(1,))], None),
        ([Checkpoint("effect")], None),
        ([SessionEnd("done", 0)], None),
        ([SessionEnd("interrupted")], OPEN),
    ],
    ids=["nothing", "heard of", "void", "changed since", "a session that ended well", "cut off"],
)
def test_an_undo_is_open_until_whoever_asked_has_heard_of_it(later, left):
    with a_lane() as lane:
        asyncio.run(lane.append(UNDO, *later))
        assert left_open(lane.log.store, lane.log.thread) == left
