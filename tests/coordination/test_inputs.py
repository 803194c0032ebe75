"""What is said while a turn runs: each message ends in one way, once, in order, in the log."""

import asyncio
from contextlib import ExitStack
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    invariant,
    precondition,
    rule,
)

from steersman.coordination.inputs import Inputs
from steersman.records.errors import StorageProblem, UsageProblem
from steersman.records.message import Message, Steer, User
from steersman.store.contract import Row
from steersman.store.log import Lane
from steersman.store.sqlite import SqliteStore
from tests.store.logs import a_lane, a_place, proven, stored

FINAL = ("delivered", "withdrawn")


def receipts(messages: list[Message], corr: str) -> list[str]:
    """The states one message went through."""
    return [m.body.state for m in messages if isinstance(m.body, Steer) and m.corr == corr]


def heard(messages: list[Message]) -> list[tuple[str, str, str]]:
    """What the model was told, in order: which message, its words, how it came."""
    return [(m.corr, m.body.text, m.body.via) for m in messages if isinstance(m.body, User)]


class Talking(RuleBasedStateMachine):
    """A person who says and takes back things while turns come and go."""

    known = Bundle("known")

    def __init__(self) -> None:
        super().__init__()
        self.open = ExitStack()
        self.runner = self.open.enter_context(asyncio.Runner())
        self.lane = self.open.enter_context(a_lane("steersman/coordination"))
        self.inputs = Inputs()
        self.expected: dict[str, str] = {}  # by id, in order: waiting, queued or a final state
        self.texts: dict[str, str] = {}
        self.order: list[str] = []  # ids as the model should hear them

    def teardown(self) -> None:
        """Let go of the log."""
        self.open.close()

    @rule(target=known, text=st.text("xyz ", max_size=3), how=st.sampled_from(["steer", "queue"]))
    def say(self, text, how):
        corr = self.runner.run(self.inputs.admit(text, how, self.lane))
        self.expected[corr] = "waiting" if how == "steer" else "queued"
        self.texts[corr] = text
        return corr

    @rule(corr=known)
    def take_back(self, corr):
        if self.expected[corr] in FINAL:
            with pytest.raises(UsageProblem):
                self.runner.run(self.inputs.withdraw(corr, self.lane))
        else:
            self.runner.run(self.inputs.withdraw(corr, self.lane))
            self.expected[corr] = "withdrawn"

    @rule(corr=known)
    def send_it_now(self, corr):
        """A queued message is for the next model call; one that waits for that waits on."""
        if self.expected[corr] in FINAL:
            with pytest.raises(UsageProblem):
                self.runner.run(self.inputs.hasten(corr, self.lane))
        else:
            self.runner.run(self.inputs.hasten(corr, self.lane))
            self.expected[corr] = "waiting"

    @rule()
    def take_back_what_was_never_said(self):
        with pytest.raises(UsageProblem):
            self.runner.run(self.inputs.withdraw("in_never", self.lane))

    @rule()
    def call_the_model(self):
        messages = self.runner.run(self.inputs.deliver(self.lane))
        waiting = [corr for corr, state in self.expected.items() if state == "waiting"]
        self._delivered(waiting)
        assert heard(messages) == [(corr, self.texts[corr], "steer") for corr in waiting]

    @rule()
    def begin_the_next_turn(self):
        messages = self.runner.run(self.inputs.deliver_next(self.lane))
        queued = [corr for corr, state in self.expected.items() if state == "queued"][:1]
        self._delivered(queued)
        assert heard(messages) == [(corr, self.texts[corr], "queue") for corr in queued]

    @rule()
    def end_the_turn(self):
        self.runner.run(self.inputs.requeue(self.lane))
        self.expected = {
            corr: "queued" if state == "waiting" else state for corr, state in self.expected.items()
        }

    @precondition(lambda self: self.expected)
    @rule(corr=consumes(known), first=st.booleans(), next_turn=st.booleans())
    def take_back_while_it_is_being_delivered(self, corr, first, next_turn):
        """Whichever comes first, the message ends in one way only."""
        deliver = self.inputs.deliver_next if next_turn else self.inputs.deliver

        async def both() -> None:
            deeds = [self.inputs.withdraw(corr, self.lane), deliver(self.lane)]
            for outcome in await asyncio.gather(
                *(deeds if first else deeds[::-1]), return_exceptions=True
            ):
                assert isinstance(outcome, list | UsageProblem | None)

        self.runner.run(both())
        messages = stored(self.lane.log)
        fresh = [name for name, _, _ in heard(messages) if name not in self.order]
        self._delivered(fresh)
        if receipts(messages, corr)[-1:] == ["withdrawn"]:
            self.expected[corr] = "withdrawn"

    @rule(ticks=st.integers(0, 3), deed=st.sampled_from(["deliver", "deliver_next", "requeue"]))
    def the_turn_is_cancelled_meanwhile(self, ticks, deed):
        """What the log says was delivered is delivered, whoever stopped waiting for it."""

        async def cancelled() -> None:
            task = asyncio.create_task(getattr(self.inputs, deed)(self.lane))
            for _ in range(ticks):
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

        self.runner.run(cancelled())
        messages = stored(self.lane.log)
        self._delivered([name for name, _, _ in heard(messages) if name not in self.order])
        for corr in self.expected:
            self.expected[corr] = receipts(messages, corr)[-1]

    @rule()
    def the_process_is_replaced(self):
        self.inputs = Inputs()
        self.inputs.observe(stored(self.lane.log))

    def _delivered(self, corrs: list[str]) -> None:
        for corr in corrs:
            self.expected[corr] = "delivered"
            self.order.append(corr)

    @invariant()
    def what_is_pending_is_what_was_not_delivered_or_taken_back(self):
        pending = {entry.id: (entry.state, entry.text) for entry in self.inputs.pending()}
        assert list(pending.items()) == [
            (corr, (state, self.texts[corr]))
            for corr, state in self.expected.items()
            if state not in FINAL
        ]

    @invariant()
    def every_message_ends_once_and_the_log_says_how(self):
        messages = stored(self.lane.log)
        for corr, state in self.expected.items():
            states = receipts(messages, corr)
            assert states[-1] == state
            assert sum(found in FINAL for found in states) == (state in FINAL)
        assert [corr for corr, _, _ in heard(messages)] == self.order

    @invariant()
    def the_log_alone_gives_the_same_state(self):
        rebuilt = Inputs()
        rebuilt.observe(stored(self.lane.log))
        assert rebuilt.pending() == self.inputs.pending()


TestTalking = Talking.TestCase
TestTalking.settings = settings(max_examples=30, stateful_step_count=20)


def test_the_receipt_of_a_delivery_is_stored_together_with_the_words():
    batches = []

    class Listening(SqliteStore):
        def append(self, thread_id: str, rows: list[Row], *, sync: bool, **how: Any) -> None:
            batches.append(([row.kind for row in rows], sync))
            super().append(thread_id, rows, sync=sync, **how)

    with a_place(store=Listening) as place:
        lane = Lane(place.new_log(), "steersman/coordination")

        async def work() -> None:
            inputs = Inputs()
            await inputs.admit("one", "steer", lane)
            await inputs.admit("two", "steer", lane)
            await inputs.deliver(lane)

        asyncio.run(work())
        assert batches[-1] == (["steer", "user", "steer", "user"], True)


def test_a_message_whose_delivery_could_not_be_written_is_still_waiting():
    class Refusing(SqliteStore):
        refuses = False

        def append(self, thread_id: str, rows: list[Row], *, sync: bool, **how: Any) -> None:
            if self.refuses:
                raise StorageProblem("There is no room left to write the log.")
            super().append(thread_id, rows, sync=sync, **how)

    with a_place(store=Refusing) as place:
        lane = Lane(place.new_log(), "steersman/coordination")

        async def work() -> None:
            inputs = Inputs()
            corr = await inputs.admit("later", "queue", lane)
            before = inputs.pending()
            place.store.refuses = True
            for deed in (inputs.deliver_next(lane), inputs.withdraw(corr, lane)):
                with pytest.raises(StorageProblem):
                    await deed
            assert inputs.pending() == before
            place.store.refuses = False
            assert heard(await inputs.deliver_next(lane)) == [(corr, "later", "queue")]

        asyncio.run(work())
        assert proven(lane.log) == []


def test_messages_of_other_kinds_and_without_a_name_are_passed_over():
    with a_lane() as lane:
        asyncio.run(lane.append(Steer("queued", "queue", "nameless"), User("x")))
        inputs = Inputs()
        inputs.observe(stored(lane.log))
        assert inputs.pending() == []


def test_a_queued_message_that_is_sent_now_goes_to_the_running_turn_before_the_others():
    async def work(lane: Lane) -> list[list[tuple[str, str, str]]]:
        inputs = Inputs()
        first = await inputs.admit("first", "queue", lane)
        await inputs.admit("second", "queue", lane)
        await inputs.hasten(first, lane)
        return [heard(await inputs.deliver(lane)), heard(await inputs.deliver_next(lane))]

    with a_lane() as lane:
        told = [[(text, via) for _, text, via in one] for one in asyncio.run(work(lane))]
        assert told == [[("first", "steer")], [("second", "queue")]]


def test_one_that_came_too_late_for_the_turn_begins_the_next_in_its_old_place():
    async def work(lane: Lane) -> list[str]:
        inputs = Inputs()
        first = await inputs.admit("first", "queue", lane)
        await inputs.admit("second", "queue", lane)
        await inputs.hasten(first, lane)
        await inputs.requeue(lane)
        await inputs.deliver_next(lane)
        return receipts(stored(lane.log), first)

    with a_lane() as lane:
        assert asyncio.run(work(lane)) == ["queued", "waiting", "queued", "delivered"]


def test_words_that_are_being_written_when_the_turn_ends_are_queued_like_others():
    """They were taken for the turn, which did not see them any more, and waited for nobody."""

    async def work(lane: Lane) -> list[str]:
        inputs = Inputs()
        await asyncio.gather(inputs.admit("just now", "steer", lane), inputs.requeue(lane))
        return [entry.state for entry in inputs.pending()]

    with a_lane() as lane:
        assert asyncio.run(work(lane)) == ["queued"]
