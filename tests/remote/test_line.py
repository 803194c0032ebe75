"""A line between a host and an agent: whatever is cut, each request is done once and answered."""

import asyncio
import random
from collections import Counter
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Raw

from steersman.records.errors import Denied, SteersmanError
from steersman.threads.remote.answering import Reach
from steersman.threads.remote.calling import Caller, Hopeless, Lines
from steersman.threads.remote.frames import (
    LARGEST,
    PIECE,
    PROTOCOL,
    Ack,
    Failed,
    Frame,
    Garbled,
    Hello,
    Item,
    Note,
    Part,
    Payload,
    Reply,
    Request,
    framed,
    packed,
    payload_of,
)
from steersman.threads.remote.line import BEAT, ROOM, Held, Large, Line, Stopped
from steersman.threads.remote.sequence import Received, Sent
from steersman.threads.remote.waiting import Waiting
from steersman.threads.remote.wires import SILENCE, StreamWire


def played(test: Callable[[], Coroutine[Any, Any, None]]) -> Callable[[], None]:
    """A test that is a story of several who act at the same time."""

    @wraps(test)
    def play() -> None:
        asyncio.run(asyncio.wait_for(test(), 120))

    return play


# Numbers alone


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(["add", "send", "lose", "ack", "cut"]), max_size=80))
def test_whatever_is_lost_every_item_arrives_once_and_in_order(steps: list[str]) -> None:
    sent, received = Sent(), Received()
    added, arrived = 0, list[bytes]()

    def deliver(*, lost_after: int | None = None) -> None:
        for place, (number, payload) in enumerate(sent.pending()):
            if lost_after is not None and place >= lost_after:
                continue
            if received.take(number):
                arrived.append(payload)

    for step in steps:
        match step:
            case "add":
                added += 1
                sent.add(str(added).encode())
            case "send":
                deliver()
            case "lose":  # the connection is cut while things are under way
                deliver(lost_after=1)
                sent.again(received.count)
            case "ack":
                sent.acknowledged(received.count)
            case "cut":
                sent.again(received.count)
    deliver()
    sent.acknowledged(received.count)
    assert arrived == [str(number).encode() for number in range(1, added + 1)]
    assert sent.size == 0


def test_a_side_that_has_forgotten_what_it_had_is_not_believed() -> None:
    sent = Sent()
    sent.add(b"one")
    sent.acknowledged(1)
    with pytest.raises(Garbled):
        sent.again(0)
    with pytest.raises(Garbled):
        sent.acknowledged(2)
    with pytest.raises(Garbled):
        Received().take(2)


def test_what_is_acknowledged_before_it_is_sent_again_is_not_sent_again() -> None:
    sent = Sent()
    for payload in (b"one", b"two", b"three"):
        sent.add(payload)
    sent.again(0)  # the next connection knows of none of them yet
    sending = sent.pending()
    assert next(sending) == (1, b"one")
    sent.acknowledged(2)
    assert next(sending) == (3, b"three")
    sent.again(2)
    sent.acknowledged(3)
    assert list(sent.pending()) == []


# Two sides


class Pipe:
    """A connection in memory that can be cut after any number of frames, at either end."""

    def __init__(self, life: int = 1_000_000, room: int = 1 << 40) -> None:
        self.room = room  # bytes that it carries
        self._ends = (asyncio.Queue[Frame | None](), asyncio.Queue[Frame | None]())
        self.left = life
        self.closed = False

    def end(self, side: int) -> "End":
        return End(self, self._ends[side], self._ends[1 - side])

    def cut(self) -> None:
        self.closed = True
        for queue in self._ends:
            queue.put_nowait(None)


class End:
    def __init__(
        self, pipe: Pipe, reads: asyncio.Queue[Frame | None], writes: asyncio.Queue[Frame | None]
    ) -> None:
        self._pipe, self._reads, self._writes = pipe, reads, writes

    async def read(self) -> Frame | None:
        return await self._reads.get()

    async def write(self, frame: Frame) -> None:
        self._pipe.left -= 1
        self._pipe.room -= len(framed(frame))
        if min(self._pipe.left, self._pipe.room) <= 0 and not self._pipe.closed:
            self._pipe.cut()
        if self._pipe.closed:
            raise ConnectionResetError("cut")
        self._writes.put_nowait(frame)

    def close(self) -> None:
        if not self._pipe.closed:
            self._pipe.cut()


async def no_pause(_: float) -> None:
    await asyncio.sleep(0)


class Two:
    """A host and an agent with a network between them that is cut as often as one likes."""

    def __init__(self, lives: list[int] | None = None) -> None:
        self.done = Counter[str]()
        self.asked_back = Counter[str]()
        self.heard = list[str]()
        self.hold = asyncio.Event()
        self._lives = lives or []
        self.room = 1 << 40
        self._serving = set[asyncio.Task[None]]()
        self.pipes = list[Pipe]()
        self.lines = Lines(self._begin)
        self.host = Line("l1", self._of_agent, self._hear)
        self.caller = Caller(self.dial, self.host, no_pause)

    def _begin(self, name: str) -> Line:
        self.agent = Line(name, self._of_host, self._hear)
        return self.agent

    def _hear(self, method: str, body: Raw) -> None:
        self.heard.append(msgspec.msgpack.decode(body, type=str))

    async def _of_host(self, method: str, body: Raw) -> str:
        text = msgspec.msgpack.decode(body, type=str)
        self.done[text] += 1
        match method:
            case "swell":
                return "x" * LARGEST
            case "ask back":  # as an agent asks the gate before it does something
                return text + await self.agent.ask("gate", text, str)
            case "hold":
                await self.hold.wait()
            case "refuse":
                raise Denied("Denied: no.", "a rule", "ask the user")
            case "break":
                raise ZeroDivisionError("oh")
        return text

    async def _of_agent(self, method: str, body: Raw) -> str:
        text = msgspec.msgpack.decode(body, type=str)
        self.asked_back[text] += 1
        return "!"

    async def dial(self) -> End:
        pipe = Pipe(self._lives.pop(0) if self._lives else 1_000_000, self.room)
        self.pipes.append(pipe)
        task = asyncio.create_task(self.lines.serve(pipe.end(1)))
        self._serving.add(task)
        return pipe.end(0)

    async def close(self) -> None:
        await self.caller.close()
        if hasattr(self, "agent"):
            await self.agent.close(SteersmanError("over"))
        for pipe in self.pipes:
            if not pipe.closed:
                pipe.cut()
        await asyncio.gather(*self._serving, return_exceptions=True)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(3, 12), max_size=30), st.integers(1, 12))
def test_requests_are_done_once_however_often_the_line_is_cut(lives: list[int], many: int) -> None:
    async def play() -> None:
        two = Two([1_000_000, *lives])  # the first greeting is that of a person who waits
        await two.caller.open()
        two.pipes[0].left = random.Random(many).randint(1, 20)
        names = [f"call {number}" for number in range(many)]
        answers = await asyncio.gather(*(two.host.ask("ask back", name, str) for name in names))
        assert answers == [f"{name}!" for name in names]
        assert set(two.done.values()) == {1} == set(two.asked_back.values())
        await two.close()

    asyncio.run(play())


@played
async def test_what_is_under_way_goes_on_while_the_line_is_cut() -> None:
    two = Two()
    await two.caller.open()
    asked = await two.host.send("hold", "work")
    while not two.done["work"]:
        await asyncio.sleep(0)
    two.pipes[-1].cut()
    two.hold.set()  # it ends there while nobody is connected, or just again
    assert msgspec.msgpack.decode(await asked.answer) == "work"
    assert two.done["work"] == 1
    await two.close()


@played
async def test_whoever_is_cancelled_stops_it_at_the_other_side() -> None:
    two = Two()
    await two.caller.open()
    asked = await two.host.send("hold", "work")
    two.host.stop(asked)
    with pytest.raises(Stopped):
        await asked.answer
    assert not two.agent.busy
    await two.close()


@played
async def test_errors_arrive_as_what_they_are() -> None:
    two = Two()
    await two.caller.open()
    with pytest.raises(Denied) as denied:
        await two.host.ask("refuse", "x", str)
    assert str(denied.value) == "Denied: no.\na rule\nask the user"
    with pytest.raises(SteersmanError, match="break failed: ZeroDivisionError: oh"):
        await two.host.ask("break", "x", str)
    await two.close()


@played
async def test_a_note_that_cannot_be_understood_ends_the_line_with_a_sentence() -> None:
    two = Two()
    await two.caller.open()
    asked = await two.host.send("hold", "work")
    while not two.done["work"]:
        await asyncio.sleep(0)
    assert two.agent.tell("note", 5)
    async with asyncio.timeout(20):
        with pytest.raises(SteersmanError, match="The line to the workspace failed") as failed:
            await asked.answer
        while two.agent.over is None:  # the other side learns it, and ends what was under way
            await asyncio.sleep(0)
    assert "Expected `str`, got `int`" in failed.value.why
    assert two.agent.over.what == "The line to the workspace failed."
    await two.close()


@played
async def test_an_answer_that_cannot_be_understood_is_a_sentence() -> None:
    two = Two()
    await two.caller.open()
    with pytest.raises(Garbled, match="answered “echo” with something unknown"):
        await two.host.ask("echo", "work", int)
    assert await two.host.ask("echo", "and the line goes on", str)
    await two.close()


@played
async def test_what_waits_for_the_other_side_is_bounded() -> None:
    two = Two()
    await two.caller.open()
    two.pipes[-1].cut()
    two._lives = [1] * 1000  # nothing comes through
    while two.host.tell("note", "x" * 1_000_000):
        pass
    assert ROOM <= two.host._sent.size < ROOM + 2_000_000
    waits = asyncio.create_task(two.host.ask("echo", "later", str))
    two._lives = []  # the network is there again
    assert await waits == "later"
    assert len(two.heard) == ROOM // 1_000_000 + 1
    await two.close()


class Deaf:
    """A side that asks and asks, and takes no answer until it is told to."""

    def __init__(self, answer: Callable[[], Any], held: Held | None = None) -> None:
        async def handle(method: str, body: Raw) -> Any:
            return answer()

        self.line = Line("l1", handle, lambda method, body: None, held)
        self._pipe = Pipe()
        self.wire = self._pipe.end(0)
        self.carrying = asyncio.create_task(self.line.carry(self._pipe.end(1), 0))
        self._said = 0

    async def say(self, payload: Payload) -> None:
        self._said += 1
        await self.wire.write(Item(self._said, 0, packed(payload)))

    async def ask(self, many: int) -> None:
        for number in range(many):
            await self.say(Request(number, "blob", packed(None)))
        while self.line.received < many:
            await asyncio.sleep(0)
        for _ in range(20 * many):  # everything that is done by itself
            await asyncio.sleep(0)

    async def take(self, many: int) -> list[Reply | Failed]:
        """Take answers until there are so many."""
        answers, parts = list[Reply | Failed](), b""
        while len(answers) < many:
            frame = await self.wire.read()
            if not isinstance(frame, Item):
                continue
            await self.wire.write(Ack(frame.number))
            said = payload_of(frame.payload)
            if isinstance(said, Part):
                parts += said.data
                if not said.last:
                    continue
                said, parts = payload_of(parts), b""
            assert isinstance(said, Reply | Failed)
            answers.append(said)
        return answers

    async def close(self) -> None:
        self.wire.close()
        await self.carrying
        await self.line.close(SteersmanError("over"))


@played
async def test_large_answers_are_made_when_those_before_are_taken() -> None:
    made = list[int]()

    async def make() -> bytes:
        made.append(1)
        return bytes(1_000_000)

    deaf = Deaf(lambda: Large(make))
    await deaf.ask(100)
    assert len(made) == ROOM // 1_000_000 + 1
    answers = await deaf.take(100)
    assert {type(one) for one in answers} == {Reply}
    assert len(made) == 100
    await deaf.close()


@played
async def test_answers_that_nobody_takes_are_bounded() -> None:
    deaf = Deaf(lambda: bytes(1_000_000))
    await deaf.ask(100)
    assert deaf.line._sent.size < ROOM + 2_000_000
    assert deaf.line._unsent <= LARGEST
    kinds = Counter(type(one) for one in await deaf.take(100))
    assert kinds[Reply] == ROOM // 1_000_000 + 1 + LARGEST // 1_000_001
    assert kinds[Failed] == 100 - kinds[Reply]
    assert deaf.line._unsent == 0
    await deaf.close()


@played
async def test_what_is_never_said_to_its_end_is_bounded_for_all_lines_together() -> None:
    held = Held(4 * PIECE)
    one, other = Deaf(str, held), Deaf(str, held)
    for _ in range(4):
        await one.say(Part(bytes(PIECE), last=False))
    while one.line.received < 4:
        await asyncio.sleep(0)
    await other.say(Part(bytes(PIECE), last=False))
    while other.line.over is None:
        await asyncio.sleep(0)
    assert other.line.over.what == "The other side says more at once than a line carries."
    assert one.line.over is None
    await one.close()
    await other.close()
    assert held.size == 0


@played
async def test_something_large_arrives_over_connections_that_never_carry_all_of_it() -> None:
    two = Two()
    two.room = 1_000_000
    await two.caller.open()
    asked = await two.host.send("echo", "x" * 5_000_000)
    while not asked.answer.done():
        assert len(two.pipes) < 50
        await asyncio.sleep(0)
    assert msgspec.msgpack.decode(asked.answer.result()) == "x" * 5_000_000
    assert set(two.done.values()) == {1}
    await two.close()


@played
async def test_what_is_too_large_to_be_sent_is_refused_before_it_is() -> None:
    two = Two()
    await two.caller.open()
    with pytest.raises(SteersmanError, match="“echo” is too large for the line to the workspace"):
        await two.host.ask("echo", bytes(LARGEST), str)
    with pytest.raises(SteersmanError, match="“swell” is too large for the line"):
        await two.host.ask("swell", "x", bytes)
    assert not two.host.tell("note", bytes(LARGEST))
    assert await two.host.ask("echo", "and the line goes on", str)
    await two.close()


class Hurried(asyncio.SelectorEventLoop):
    """An event loop whose clock can be put forward."""

    ahead = 0.0

    def time(self) -> float:
        return super().time() + self.ahead

    async def skip(self, seconds: float) -> None:
        self.ahead += seconds
        for _ in range(20):
            await asyncio.sleep(0)


def hurried(play: Callable[[Hurried], Coroutine[Any, Any, None]]) -> None:
    """Play a story in which time passes that nobody waits for."""
    with asyncio.Runner(loop_factory=Hurried) as runner:
        loop = runner.get_loop()
        assert isinstance(loop, Hurried)
        runner.run(play(loop))


class Unheard:
    """Where a side writes to that nobody reads."""

    def write(self, data: bytes) -> None: ...

    async def drain(self) -> None: ...

    def close(self) -> None: ...


def test_a_connection_on_which_bytes_come_is_not_cut_however_slow_it_is() -> None:
    async def play(loop: Hurried) -> None:
        reader = asyncio.StreamReader()
        heard = list[str]()
        line = Line("l1", _nobody, lambda method, body: heard.append(method))
        wire = StreamWire(reader, Unheard())  # type: ignore[arg-type]
        carrying = asyncio.create_task(line.carry(wire, 0))
        item = framed(Item(1, 0, packed(Note("slow", packed("x")))))
        for byte in item:
            await loop.skip(SILENCE - BEAT)
            reader.feed_data(bytes([byte]))
        await loop.skip(0)
        assert heard == ["slow"]
        assert line.connected
        reader.feed_data(item[:1])
        await loop.skip(SILENCE + BEAT)
        await carrying  # it is cut when nothing comes, also in the middle of a frame
        assert line.over is None

    hurried(play)


async def _nobody(method: str, body: Raw) -> str:
    return ""


def test_an_agent_that_greets_and_is_silent_then_does_not_keep_anyone_waiting() -> None:
    async def play(loop: Hurried) -> None:
        two = Two()
        asked = list[str]()

        async def silent(method: str, body: Raw) -> None:
            asked.append(method)
            await asyncio.Event().wait()

        two.lines = Lines(lambda name: Line(name, silent, two._hear))
        reach = Reach("l1", "ssh://box/project", two.dial)
        opening = asyncio.create_task(reach.open())
        while not asked:
            await asyncio.sleep(0)
        await loop.skip(SILENCE)
        with pytest.raises(SteersmanError, match="The workspace agent does not answer") as told:
            await opening
        assert told.value.why == "It has greeted, and does not say which folder it works in."
        assert asked == ["enter"]
        assert reach.line.over is not None
        for pipe in two.pipes:
            assert pipe.closed
        await asyncio.gather(*two._serving)

    hurried(play)


@played
async def test_a_thread_waits_for_an_answer_until_none_is_wanted_or_none_comes() -> None:
    two = Two()
    await two.caller.open()
    waiting = Waiting()
    waits = asyncio.create_task(asyncio.to_thread(waiting.wait, two.host.ask("hold", "a", str)))
    while not two.done["a"]:
        await asyncio.sleep(0)
    waiting.end()
    with pytest.raises(SteersmanError, match="It was stopped"):
        await waits
    with pytest.raises(SteersmanError, match="It was stopped"):
        await asyncio.to_thread(waiting.wait, two.host.ask("hold", "b", str))
    with pytest.raises(SteersmanError, match="does not answer"):
        await asyncio.to_thread(Waiting(0.0).wait, two.host.ask("hold", "c", str))
    await two.close()


@played
async def test_a_line_is_given_up_after_a_quarter_of_an_hour_however_long_each_try_takes() -> None:
    two = Two()
    tried = list[float]()
    two.caller = Caller(two.dial, two.host, no_pause, lambda: 200.0 * len(tried))
    await two.caller.open()
    asked = await two.host.send("hold", "work")

    async def unreachable() -> End:
        tried.append(1)
        raise ConnectionRefusedError("nobody is there")

    two.caller._dial = unreachable
    two.pipes[-1].cut()
    with pytest.raises(SteersmanError, match="The line to the workspace is cut"):
        await asked.answer
    assert len(tried) == 5  # 1000 seconds
    await two.close()


@played
async def test_an_agent_that_was_restarted_says_that_it_does_not_know_the_line() -> None:
    two = Two()
    await two.caller.open()
    asked = await two.host.send("hold", "work")
    two.lines.open.clear()
    two.pipes[-1].cut()
    with pytest.raises(Hopeless, match="The workspace agent was restarted"):
        await asked.answer
    await two.close()


@played
async def test_a_new_connection_takes_the_place_of_one_that_is_dead_unnoticed() -> None:
    two = Two()
    await two.caller.open()
    first = two.pipes[0]
    wire = await two.dial()
    from steersman.threads.remote.calling import greet

    hello = await greet(wire, two.host, fresh=False)
    carrying = asyncio.create_task(two.host.carry(wire, hello.received))
    assert await two.host.ask("echo", "still there", str) == "still there"
    assert first.closed
    await two.close()
    await carrying


class Older:
    """An agent of another version: it says hello in its own way."""

    def __init__(self, hello: Hello) -> None:
        self._hello = hello

    async def read(self) -> Frame:
        return self._hello

    async def write(self, frame: Frame) -> None:
        pass

    def close(self) -> None:
        pass


@played
async def test_an_agent_of_another_version_is_known_by_a_sentence() -> None:
    async def nothing(method: str, body: Raw) -> None:
        pass

    async def dial() -> Older:
        return Older(Hello("l1", protocol=PROTOCOL + 1, version="9.9.9"))

    line = Line("l1", nothing, lambda method, body: None)
    with pytest.raises(Hopeless, match=r"The agent there is Steersman 9\.9\.9, and this is"):
        await Caller(dial, line).open()
