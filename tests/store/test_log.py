"""The one writer of a thread: stored first, then told; in order; whole after anything."""

import asyncio
import random
from typing import Any

import pytest

from steersman.bus import Bus
from steersman.records.errors import StorageProblem
from steersman.records.message import (
    MASK,
    AssistantDelta,
    Message,
    Progress,
    ToolCall,
    ToolProgress,
    User,
)
from steersman.store.contract import Row
from steersman.store.log import Draft, Lane
from steersman.store.sqlite import SqliteStore
from tests.store.logs import Place, a_place, proven, stored


def said(text: str) -> Draft:
    """Something to append."""
    return Draft(User(text), "steersman")


class Witness(Bus):
    """Notes what was on disk when each message was told."""

    def __init__(self) -> None:
        super().__init__()
        self.place: Place | None = None
        self.told: list[Message] = []

    def publish(self, message: Message) -> None:
        """Look at the disk first."""
        assert self.place is not None
        if message.seq:
            (row,) = self.place.store.read(message.thread, after=message.seq - 1, until=message.seq)
            assert row.kind == message.kind
        self.told.append(message)
        super().publish(message)


def test_a_message_is_told_only_after_it_is_stored_and_just_as_it_is_stored():
    bus = Witness()
    with a_place(bus=bus) as place:
        bus.place = place
        log = place.new_log(secrets=["sk-0123456789"])

        async def work() -> None:
            await log.append(said("one"), said("key sk-0123456789"))
            await log.append(said("three"))

        asyncio.run(work())
        assert bus.told == stored(log)
        assert [message.body.text for message in bus.told] == ["one", f"key {MASK}", "three"]
        assert [message.seq for message in bus.told] == [1, 2, 3]


@pytest.mark.parametrize("body", [AssistantDelta("x"), ToolProgress("x"), Progress("x")])
def test_a_broadcast_is_told_and_not_stored(body):
    with a_place() as place:
        log = place.new_log()

        async def work() -> object:
            with place.bus.subscribe(log.thread) as reader:
                Lane(log, "steersman", turn=3).broadcast(body, corr="call_1")
                return await reader.next()

        told = asyncio.run(work())
        assert (told.seq, told.turn, told.corr, told.body) == (0, 3, "call_1", body)
        assert stored(log) == []
        assert log.head == 0


def test_a_broadcast_is_masked():
    with a_place() as place:
        log = place.new_log(secrets=["sk-0123456789"])

        async def work() -> object:
            with place.bus.subscribe(log.thread) as reader:
                Lane(log, "steersman").broadcast(Progress("using sk-0123456789"))
                return await reader.next()

        assert asyncio.run(work()).body == Progress(f"using {MASK}")


def test_nothing_is_appended_when_nothing_is_given():
    with a_place() as place:
        log = place.new_log()
        assert asyncio.run(log.append()) == []
        assert log.head == 0


def test_appends_of_many_tasks_keep_one_order_and_every_batch_together():
    with a_place() as place:
        log = place.new_log()

        async def work() -> list[list[Message]]:
            with place.bus.subscribe(log.thread) as reader:
                batches = [[said(f"{n}.{part}") for part in range(n % 4 + 1)] for n in range(60)]
                done = await asyncio.gather(*(log.append(*batch) for batch in batches))
                told = [await reader.next() for _ in range(log.head)]
                assert told == stored(log)
                return done

        for number, batch in enumerate(asyncio.run(work())):
            texts = [message.body.text for message in batch]
            assert texts == [f"{number}.{part}" for part in range(number % 4 + 1)]
            seqs = [message.seq for message in batch]
            assert seqs == list(range(seqs[0], seqs[0] + len(seqs)))
        assert proven(log) == []


@pytest.mark.parametrize("seed", range(6))
def test_cancelled_writers_leave_a_whole_log(seed):
    chance = random.Random(seed)
    with a_place() as place:
        log = place.new_log()

        async def write(number: int) -> None:
            for part in range(3):
                await log.append(said(f"{number}.{part}.a"), said(f"{number}.{part}.b"))

        async def work() -> None:
            tasks = [asyncio.create_task(write(number)) for number in range(25)]
            while not all(task.done() for task in tasks):
                for _ in range(chance.randrange(4)):
                    await asyncio.sleep(0)
                chance.choice(tasks).cancel()
                if chance.random() < 0.2:
                    chance.choice(tasks).cancel()
                await asyncio.sleep(chance.choice([0, 0, 0.001]))
            await asyncio.gather(*tasks, return_exceptions=True)
            # A writer that was cancelled twice may have left one message on its way.
            await log.append(said("last"))

        asyncio.run(work())
        messages = stored(log)
        assert [message.seq for message in messages] == list(range(1, len(messages) + 1))
        assert messages[-1].body == User("last")
        assert log.head == len(messages)
        assert proven(log) == []
        texts = [message.body.text for message in messages[:-1]]
        for first, second in zip(texts[::2], texts[1::2], strict=True):
            assert (first[:-1], first[-1], second) == (second[:-1], "a", f"{first[:-1]}b")


def test_a_cancelled_writer_waits_until_its_message_is_stored():
    with a_place() as place:
        log = place.new_log()

        async def work() -> None:
            writer = asyncio.create_task(log.append(said("heard")))
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            writer.cancel()
            with pytest.raises(asyncio.CancelledError):
                await writer
            assert [message.body for message in stored(log)] == [User("heard")]
            assert log.head == 1

        asyncio.run(work())


class Refusing(SqliteStore):
    """A store that cannot write while told so."""

    refuses = False

    def append(self, thread_id: str, rows: list[Row], *, sync: bool, **how: Any) -> None:
        """Write, or say why not."""
        if self.refuses:
            raise StorageProblem("There is no room left to write the log.")
        super().append(thread_id, rows, sync=sync, **how)


def test_a_log_that_could_not_be_written_stays_as_it_was_and_goes_on_later():
    with a_place(store=Refusing) as place:
        log = place.new_log()

        async def work() -> None:
            with place.bus.subscribe(log.thread) as reader:
                await log.append(said("before"))
                place.store.refuses = True
                for _ in range(3):
                    with pytest.raises(StorageProblem):
                        await log.append(said("lost"), said("lost too"))
                assert log.head == 1
                place.store.refuses = False
                await log.append(said("after"))
                assert [(await reader.next()).body.text for _ in range(2)] == ["before", "after"]

        asyncio.run(work())
        assert [message.body.text for message in stored(log)] == ["before", "after"]
        assert proven(log) == []


def test_a_second_writer_of_the_same_thread_is_refused_and_harms_nothing():
    with a_place() as place:
        log = place.new_log()
        late = place.open_log(log.thread)

        async def work() -> None:
            await log.append(said("first"))
            with pytest.raises(StorageProblem):
                await late.append(said("second"))
            await log.append(said("third"))

        asyncio.run(work())
        assert [message.body.text for message in stored(log)] == ["first", "third"]
        assert proven(log) == []


def test_an_opened_log_goes_on_where_it_was_left():
    with a_place() as place:
        log = place.new_log()
        asyncio.run(log.append(said("one"), said("two")))
        again = place.open_log(log.thread)
        asyncio.run(again.append(said("three")))
        assert [message.seq for message in stored(again)] == [1, 2, 3]
        assert proven(again) == []


def test_synced_kinds_are_flushed_and_the_others_need_not_be():
    synced = []

    class Listening(SqliteStore):
        def append(self, thread_id: str, rows: list[Row], *, sync: bool, **how: Any) -> None:
            synced.append(([row.kind for row in rows], sync))
            super().append(thread_id, rows, sync=sync, **how)

    with a_place(store=Listening) as place:
        log = place.new_log()

        async def work() -> None:
            await log.append(Draft(ToolCall("run"), "steersman"))
            await log.append(Draft(ToolCall("run"), "steersman"), said("words of the person"))

        asyncio.run(work())
        assert synced == [(["tool_call"], False), (["tool_call", "user"], True)]


def test_a_message_for_later_is_stored_with_the_next_one_and_before_it():
    batches = []

    class Listening(Refusing):
        def append(self, thread_id: str, rows: list[Row], **how: Any) -> None:
            super().append(thread_id, rows, **how)
            batches.append(len(rows))

    with a_place(store=Listening) as place:
        log = place.new_log()

        async def work() -> None:
            with place.bus.subscribe(log.thread) as reader:
                log.later(said("verdict"))
                assert log.head == 0
                place.store.refuses = True
                with pytest.raises(StorageProblem):
                    await log.append(said("lost"))
                place.store.refuses = False
                (own,) = await log.append(said("checkpoint"))
                assert own.seq == 2
                told = [(await reader.next()).body.text for _ in range(2)]
                assert told == ["verdict", "checkpoint"]

        asyncio.run(work())
        assert batches == [2]
        assert [message.body.text for message in stored(log)] == ["verdict", "checkpoint"]
        assert proven(log) == []
