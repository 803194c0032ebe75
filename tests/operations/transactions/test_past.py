"""What a thread changed so far, as the log has it."""

import asyncio
import os

import pytest

from steersman.operations.journal.commit import Conflict
from steersman.operations.journal.journal import Journal
from steersman.operations.journal.past import LoggedPast
from steersman.records.action import ChangeMany, Delete
from steersman.records.change import ABSENT, Change
from steersman.records.message import (
    Checkpoint,
    ConfirmRequest,
    ConfirmResponse,
    TurnEnd,
    TurnStart,
)
from steersman.records.names import written
from steersman.store.log import Lane, ThreadLog
from tests.operations.transactions.tree import Yard, made
from tests.store.logs import a_place


def test_what_failed_was_never_changed(yard: Yard) -> None:
    journal = Journal(str(yard.root), yard.objects)
    (yard.root / "new").write_text("by a person")

    async def work(lane: Lane) -> None:
        body = Checkpoint("effect", (made("new", yard.file(b"by the command")),))
        with pytest.raises(Conflict):
            await journal.make(body, lane, "call_1")

    with a_place() as place:
        lane = Lane(place.new_log(), "steersman")
        asyncio.run(work(lane))
        assert LoggedPast(journal, lane).thread() == []
    assert (yard.root / "new").read_text() == "by a person"


def test_a_deletion_that_a_person_allowed_is_agreed_to_whatever_bytes_its_name_has(
    yard: Yard,
) -> None:
    change = Change(written(os.fsdecode(b"lib\xe9")), yard.file(b"x"), ABSENT)
    journal = Journal(str(yard.root), yard.objects)
    (action,) = journal.actions([change], "command")
    assert isinstance(action, Delete)

    async def work(lane: Lane) -> None:
        asked = ConfirmRequest("c1", "workspace_run_command", (action,), "why")
        await lane.append(asked, corr="r1")
        await lane.append(ConfirmResponse("allow"), corr="r1")
        await journal.record(Checkpoint("effect", (change,)), lane, "c1")

    with a_place() as place:
        lane = Lane(place.new_log(), "steersman")
        asyncio.run(work(lane))
        assert LoggedPast(journal, lane).turn() == []


def test_what_others_do_meanwhile_is_not_of_a_turn(yard: Yard) -> None:
    """Neither do their changes count as lost by it, nor does an answer to them forgive its own."""
    names = ("early", "before", "agreed", "by hand", "own", "later", "by hand again")
    early, before, agreed, hand, own, late, again = (made(name, yard.file(b"x")) for name in names)
    many = ChangeMany("/", 0, 0, 60)
    journal = Journal(str(yard.root), yard.objects)

    async def work(log: ThreadLog) -> None:
        person, first, second = (Lane(log, "steersman", turn) for turn in range(3))
        await first.append(TurnStart())
        await journal.record(Checkpoint("effect", (early,)), first, "c1")
        await journal.record(Checkpoint("effect", (before,)), person, "by hand")
        await person.append(ConfirmRequest("y", "run", (many,), "why"), corr="q")
        await person.append(ConfirmResponse("allow"), corr="q")
        await first.append(TurnEnd("done"))
        await journal.record(Checkpoint("effect", (agreed,)), person, "y")
        await second.append(TurnStart())
        await journal.record(Checkpoint("effect", (own,)), second, "c2")
        await journal.record(Checkpoint("effect", (hand,)), person, "by hand")
        await journal.record(Checkpoint("effect", (late,)), first, "c1")
        await person.append(ConfirmRequest("x", "run", (many,), "why"), corr="r")
        await person.append(ConfirmResponse("allow"), corr="r")
        await journal.record(Checkpoint("effect", (again,)), person, "by hand")

    with a_place() as place:
        log = place.new_log()
        asyncio.run(work(log))
        seen = [LoggedPast(journal, Lane(log, "steersman", turn)).turn() for turn in range(3)]
    assert seen == [[again], [early, late], [own]]


def test_what_an_imported_log_says_of_the_next_turn_is_not_of_it(yard: Yard) -> None:
    """Somebody's files would be the turn's own then, and deleting them no loss."""
    forged, own = (made(name, yard.file(b"x")) for name in ("of a person", "its own"))
    journal = Journal(str(yard.root), yard.objects)

    async def work(lane: Lane) -> None:
        await lane.append(TurnStart())
        await journal.record(Checkpoint("effect", (forged,)), lane, "c0")
        await lane.append(TurnStart())
        await journal.record(Checkpoint("effect", (own,)), lane, "c1")

    with a_place() as place:
        lane = Lane(place.new_log(), "steersman", turn=2)
        asyncio.run(work(lane))
        assert LoggedPast(journal, lane).turn() == [own]
