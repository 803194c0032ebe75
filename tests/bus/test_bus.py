"""The bus: ordered, bounded, never waiting; and a reader that catches up from the log."""

import asyncio
import os
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from steersman.bus import Bus, Missed, Subscription
from steersman.host import Host
from steersman.records.clock import now
from steersman.records.message import AssistantDelta, Message, User
from steersman.records.thread import EVERY
from steersman.store.log import Draft, ThreadLog
from steersman.store.redactor import Redactor
from steersman.threads.live import decode, encode

THREAD = "k3n5p7q9rs"


def a_message(seq: int, thread: str = THREAD) -> Message:
    """A stored message, or a broadcast when `seq` is 0."""
    body = User(str(seq)) if seq else AssistantDelta("…")
    return Message(thread, seq, now(), 1, body.kind, "steersman", None, body)


async def drained(reader: Subscription) -> list[Message | Missed]:
    """All that a closed subscription still has."""
    found = []
    while (item := await reader.next()) is not None:
        found.append(item)
    return found


def test_every_reader_of_a_thread_gets_every_message_in_order():
    async def work() -> None:
        bus = Bus()
        messages = [a_message(seq) for seq in range(1, 6)]
        with bus.subscribe(THREAD) as one, bus.subscribe(THREAD) as other:
            for message in messages:
                bus.publish(message)
            for reader in (one, other):
                assert [await reader.next() for _ in messages] == messages

    asyncio.run(work())


def test_a_reader_gets_only_its_own_thread_and_only_what_comes_later():
    async def work() -> None:
        bus = Bus()
        bus.publish(a_message(1))
        reader = bus.subscribe(THREAD)
        bus.publish(a_message(1, "another"))
        bus.publish(a_message(2))
        bus.end("another")
        bus.end(THREAD)
        assert [item.seq for item in await drained(reader)] == [2]

    asyncio.run(work())


# `0` is a broadcast. The last part says which stored messages went by, and how many in all.
SLOW = [
    (3, [1, 2, 3], [1, 2, 3], None),
    (3, [1, 2, 3, 4], [1, 2, 3], (4, 4, 1)),
    (2, [1, 2, 3, 4, 5, 6], [1, 2], (3, 6, 4)),
    (2, [1, 0, 2, 3], [1, 0], (2, 3, 2)),
    (2, [1, 2, 0, 0, 3, 0], [1, 2], (3, 3, 4)),
    (2, [1, 2, 0, 0], [1, 2], (0, 0, 2)),
    (1, [7, 8], [7], (8, 8, 1)),
]


@pytest.mark.parametrize(("capacity", "sent", "kept", "missed"), SLOW)
def test_a_slow_reader_is_told_exactly_what_it_missed(capacity, sent, kept, missed):
    async def work() -> None:
        bus = Bus()
        reader = bus.subscribe(THREAD, capacity=capacity)
        for seq in sent:
            bus.publish(a_message(seq))
        assert [(await reader.next()).seq for _ in kept] == kept
        if missed:
            assert await reader.next() == Missed(*missed)
        bus.publish(a_message(99))
        assert (await reader.next()).seq == 99

    asyncio.run(work())


@given(
    st.integers(1, 4),
    st.lists(st.one_of(st.just("stored"), st.just("broadcast"), st.just("read")), max_size=40),
)
def test_what_a_reader_gets_and_what_it_missed_are_together_everything(capacity, deeds):
    async def work() -> None:
        bus = Bus()
        reader = bus.subscribe(THREAD, capacity=capacity)
        stored = broadcasts = waiting = 0
        got: list[Message | Missed] = []
        for deed in deeds:
            if deed == "read":
                if waiting:
                    got.append(await reader.next())
                    waiting = len(reader._queue) + (reader._gap is not None)
                continue
            stored += deed == "stored"
            broadcasts += deed == "broadcast"
            bus.publish(a_message(stored if deed == "stored" else 0))
            waiting = len(reader._queue) + (reader._gap is not None)
            assert len(reader._queue) <= capacity
        bus.end(THREAD)
        got += await drained(reader)
        seqs: list[int] = []
        count = 0
        for item in got:
            if isinstance(item, Missed):
                count += item.dropped
                seqs += range(item.first, item.last + 1) if item.first else ()
            else:
                count += 1
                seqs += [item.seq] if item.seq else []
        assert seqs == list(range(1, stored + 1))
        assert count == stored + broadcasts

    asyncio.run(work())


def test_publishing_never_waits_for_a_reader():
    bus = Bus()
    bus.subscribe(THREAD, capacity=1)
    for seq in range(1, 10_001):
        bus.publish(a_message(seq))  # not a coroutine: there is nothing to wait for


def test_a_waiting_reader_is_woken_by_a_message_and_by_the_end():
    async def work() -> None:
        bus = Bus()
        reader = bus.subscribe(THREAD)
        waiting = asyncio.create_task(reader.next())
        await asyncio.sleep(0)
        bus.publish(a_message(1))
        assert (await waiting).seq == 1
        waiting = asyncio.create_task(reader.next())
        await asyncio.sleep(0)
        bus.end(THREAD)
        assert await waiting is None
        assert await reader.next() is None

    asyncio.run(asyncio.wait_for(work(), 10))


def test_after_the_end_what_is_there_can_be_read_and_nothing_is_added():
    async def work() -> None:
        bus = Bus()
        reader = bus.subscribe(THREAD, capacity=2)
        for seq in (1, 2, 3):
            bus.publish(a_message(seq))
        bus.end(THREAD)
        bus.publish(a_message(4))
        first, second, gap = await drained(reader)
        assert (first.seq, second.seq, gap) == (1, 2, Missed(3, 3, 1))

    asyncio.run(work())


def test_a_reader_that_leaves_is_forgotten_and_leaves_the_others():
    async def work() -> None:
        bus = Bus()
        stays = bus.subscribe(THREAD)
        with bus.subscribe(THREAD) as leaves:
            pass
        leaves.close()
        bus.publish(a_message(1))
        bus.end(THREAD)
        bus.end(THREAD)
        assert [item.seq for item in await drained(stays)] == [1]
        assert await drained(leaves) == []
        assert bus._readers == {}

    asyncio.run(work())


# A reader that follows a thread through the host


class Flooded:
    """A host with one thread whose log is written from here."""

    def __init__(self, host: Host, writer: ThreadPoolExecutor) -> None:
        self.host = host
        self.thread = host.create("/srv/app", "flood")
        self.log = ThreadLog(
            host.store, host.bus, self.thread, redactor=Redactor(), executor=writer
        )

    async def write(self, count: int) -> None:
        """Append that many messages at once, with a broadcast before and after."""
        self.log.broadcast(Draft(AssistantDelta("…"), "steersman"))
        if count:
            await self.log.append(*(Draft(User("x"), "steersman") for _ in range(count)))
        self.log.broadcast(Draft(AssistantDelta("…"), "steersman"))


def followed(tmp_path, batches: list[int], pauses: list[int], after: int = 0) -> list[int]:
    """What a follower of a flooded thread sees that dawdles at some messages."""

    async def work() -> list[int]:
        with ThreadPoolExecutor(1) as writer:
            async with Host.at(tmp_path, os.environ) as host:
                flood = Flooded(host, writer)
                await flood.write(batches[0])
                seen: list[int] = []

                async def follow() -> None:
                    async for message in host.follow(flood.thread.id, after):
                        seen.append(message.seq)
                        if message.seq and message.seq % 97 in pauses:
                            await asyncio.sleep(0.001)

                following = asyncio.create_task(follow())
                await asyncio.sleep(0)
                for count in batches[1:]:
                    await flood.write(count)
                host.bus.end(flood.thread.id)
                await asyncio.wait_for(following, 60)
                host.delete(flood.thread.id)
                return seen

    return asyncio.run(work())


@given(
    st.lists(st.integers(0, 900), min_size=2, max_size=7),
    st.lists(st.integers(0, 96), max_size=3),
    st.integers(0, 500),
)
@settings(max_examples=12)
def test_a_follower_sees_every_stored_message_once_and_in_order(
    tmp_path_factory, batches, pauses, after
):
    seen = followed(tmp_path_factory.mktemp("flood"), batches, pauses, after)
    assert [seq for seq in seen if seq] == list(range(after + 1, sum(batches) + 1))


def test_a_follower_that_was_overrun_is_caught_up_from_the_log(tmp_path):
    seen = followed(tmp_path, [3, 1500, 1500, 1500], [5])
    assert [seq for seq in seen if seq] == list(range(1, 4504))


def test_a_follower_of_a_quiet_thread_gets_what_is_there_and_then_what_comes(tmp_path):
    seen = followed(tmp_path, [5, 1, 1], [], after=2)
    assert [seq for seq in seen if seq] == [3, 4, 5, 6, 7]
    assert seen.count(0) == 4  # the broadcasts since it began


def test_a_nudge_takes_its_place_among_broadcasts_and_loses_none():
    async def work() -> None:
        bus = Bus()
        with bus.subscribe(THREAD) as reader:
            for nudged in (False, True, True, False):
                bus.nudge(THREAD) if nudged else bus.publish(a_message(0))
            seen = [await reader.next() for _ in range(3)]
        assert [isinstance(item, Missed) for item in seen] == [False, True, False]

    asyncio.run(work())


def test_pieces_are_taken_out_up_to_the_moment_of_what_they_led_to():
    async def work() -> None:
        bus = Bus()
        stored = a_message(7)
        tick = timedelta(milliseconds=1)
        early, late = (replace(a_message(0), time=stored.time + d) for d in (-tick, tick))
        with bus.subscribe(THREAD) as reader:
            for message in (early, stored, late):
                bus.publish(message)
            assert reader.pieces(stored) == [early]
            reader.close()
            assert await drained(reader) == [stored, late]

    asyncio.run(work())


def test_pieces_before_others_led_to_the_same_though_the_clock_was_set_back_between_them():
    async def work() -> None:
        bus = Bus()
        stored = a_message(7)
        seconds = (60, 61, -2, -1, 1)  # from the message on
        first, second, third, fourth, late = (
            replace(a_message(0), time=stored.time + timedelta(seconds=one)) for one in seconds
        )
        with bus.subscribe(THREAD) as reader:
            for message in (first, second, third, fourth, late):
                bus.publish(message)
            assert reader.pieces(stored) == [first, second, third, fourth]
            reader.close()
            assert await drained(reader) == [late]

    asyncio.run(work())


def test_a_page_costs_no_more_than_its_messages_and_the_pieces_before_them():
    compared = 0

    class Moment(datetime):
        def __le__(self, other: datetime) -> bool:
            nonlocal compared
            compared += 1
            return super().__le__(other)

    def at(second: int, seq: int, thread: str) -> Message:
        return replace(a_message(seq, thread), time=Moment.fromtimestamp(second, UTC))

    async def work() -> None:
        bus = Bus()
        with bus.subscribe(EVERY) as reader:
            for number in range(500):
                bus.publish(at(number, 0, THREAD))
                bus.publish(at(number, 0, "another"))
            page = [at(number, 1 + number, THREAD) for number in range(100)]
            assert [len(reader.pieces(message)) for message in page] == [1] * 100
            assert compared <= 2 * len(page)
            reader.close()
            left = await drained(reader)
        assert [one.thread for one in left] == ["another"] * 100 + [THREAD, "another"] * 400

    asyncio.run(work())


def test_a_live_piece_that_is_none_of_ours_is_passed_over():
    ours = encode([a_message(0)])
    assert len(decode(THREAD, ours)) == 1
    for spoilt in (b"", b"[" * 100_000, b"\xff", ours.replace(b"Z", b"")):
        assert decode(THREAD, spoilt) == []


def test_text_of_other_processes_is_kept_until_they_store_something():
    bus = Bus()
    bus.keeps = True
    for thread in ("elsewhere", "here"):
        bus.publish(a_message(0, thread))
        bus.publish(a_message(0, thread))
    (kept,) = bus.partial("elsewhere")
    assert kept.body == AssistantDelta("……")
    bus.forget(lambda thread: thread == "here", {"elsewhere", "here"})
    assert bus.partial("elsewhere") == []
    assert bus.partial("here") != []  # what this process stores, it publishes
