"""A line between a host and an agent: requests both ways, each done once, over any connections.

What is asked and answered survives connections that are cut: `carry` takes the line on with the
next one. A line is over only when someone says so.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from functools import partial
from itertools import count
from typing import Any, TypeVar

import msgspec
from msgspec import Raw

from steersman.records import errors
from steersman.records.errors import SteersmanError
from steersman.threads.remote.frames import (
    LARGEST,
    PIECE,
    Ack,
    Bye,
    Failed,
    Garbled,
    Hello,
    Item,
    Note,
    Part,
    Payload,
    Reply,
    Request,
    Stop,
    TooLarge,
    fitting,
    payload_of,
    pieces,
)
from steersman.threads.remote.sequence import Received, Sent
from steersman.threads.remote.wires import Wire

T = TypeVar("T")
BEAT = 5.0  # seconds after which an idle side says that it is there
ROOM = 8 * 1024 * 1024  # bytes that wait for the other side; who has more to say waits
FULL = 2 * ROOM + LARGEST  # bytes that an honest side never leaves waiting
MOST = 256  # requests that are done at the same time
_SOON = 0.02  # seconds until what was received is acknowledged, if nothing else is said


class Asked:
    """A request that was sent, and its answer."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.answer: asyncio.Future[Raw] = asyncio.get_running_loop().create_future()


class Large:
    """An answer that is made when there is room for it, one after the other."""

    def __init__(self, make: Callable[[], Awaitable[Any]]) -> None:
        self.make = make


class Held:
    """Bytes that came over some lines and are not whole or not done; together they have a limit."""

    def __init__(self, most: int = 2 * LARGEST) -> None:
        self.most = most
        self.size = 0


Handler = Callable[[str, Raw], Coroutine[Any, Any, Any]]


class Line:
    """One side of a line. `handle` does what the other asks, `hear` takes what it only tells."""

    def __init__(
        self,
        name: str,
        handle: Handler,
        hear: Callable[[str, Raw], None],
        held: Held | None = None,
    ) -> None:
        self.name = name
        self._held = held or Held()
        self._unsent = 0  # bytes of answers that wait for room
        self._large = asyncio.Lock()
        self._handle = handle
        self._hear = hear
        self._sent = Sent()
        self._received = Received()
        self._parts = bytearray()  # of what comes in several items
        self._numbers = count(1)
        self._asked: dict[int, Asked] = {}
        self._doing: dict[int, asyncio.Task[None]] = {}
        self._wake = asyncio.Event()
        self._room = asyncio.Event()
        self._room.set()
        self._owed = False  # an acknowledgement
        self._carrying = asyncio.Lock()
        self._wire: Wire | None = None
        self.over: SteersmanError | None = None

    @property
    def received(self) -> int:
        """How many items came from the other side."""
        return self._received.count

    @property
    def connected(self) -> bool:
        """Whether there is a connection now, as far as is known."""
        return self._wire is not None

    @property
    def busy(self) -> bool:
        """Whether something that the other side asked for is under way."""
        return bool(self._doing)

    # What is said

    async def ask(self, method: str, body: Any, answer: type[T]) -> T:
        """Have the other side do something; who is cancelled meanwhile stops it there."""
        done: T = await self._answer(method, body, answer)
        return done

    async def ask_for(self, method: str, body: Any, answer: type[T]) -> T | None:
        """The same, where there may be nothing to answer."""
        found: T | None = await self._answer(method, body, answer | None)
        return found

    async def _answer(self, method: str, body: Any, kind: Any) -> Any:
        asked = await self.send(method, body)
        try:
            said = await asked.answer
        except asyncio.CancelledError:
            self.stop(asked)
            raise
        try:
            return msgspec.msgpack.decode(said, type=kind)
        except msgspec.DecodeError as error:
            told = f"The other side answered “{method}” with something unknown."
            raise Garbled(told, str(error)) from error

    async def send(self, method: str, body: Any) -> Asked:
        """Ask for something whose answer is waited for elsewhere."""
        said = fitting(body, f"What is sent with “{method}”")
        await self._put_room()
        asked = Asked(next(self._numbers))
        self._asked[asked.number] = asked
        self._put(Request(asked.number, method, said))
        return asked

    def stop(self, asked: Asked) -> None:
        """Say that the answer is not wanted any more; it comes anyway."""
        if asked.number in self._asked and self.over is None:
            self._put(Stop(asked.number))

    def tell(self, method: str, body: Any) -> bool:
        """Say something without an answer; False where it is too much, or too much waits."""
        if self.over is not None or not self._room.is_set():
            return False
        try:
            self._put(Note(method, fitting(body, "It")))
        except TooLarge:
            return False
        return True

    async def _put_room(self) -> None:
        while self.over is None and not self._room.is_set():
            await self._room.wait()
        if self.over is not None:
            raise self.over

    def _put(self, payload: Payload) -> None:
        for piece in pieces(payload):
            self._sent.add(piece)
        self._measure()
        self._wake.set()
        if self._sent.size > FULL:
            self.end(Garbled("The other side asks on and on, and takes no answers."))

    def _measure(self) -> None:
        if self._sent.size < ROOM:
            self._room.set()
        else:
            self._room.clear()

    # Connections

    async def carry(self, wire: Wire, received: int) -> None:
        """Use a connection until it is cut; the other side has received so much before.

        A connection that is still in use gives way: the other side knows better that it is dead.
        What cannot be understood ends the line: what it asked for would never be answered.
        """
        if self._wire is not None:
            self._wire.close()
        async with self._carrying:
            if self.over is not None:
                return
            self._wire = wire
            writing = asyncio.create_task(self._write(wire))
            try:
                self._sent.again(received)
                self._measure()
                self._wake.set()
                await self._read(wire)
            except Exception as error:
                self.end(broken(error))
                await asyncio.wait([writing], timeout=BEAT)  # it says so to the other side
            finally:
                self._wire = None
                wire.close()
                writing.cancel()
                await asyncio.gather(writing, return_exceptions=True)

    async def _write(self, wire: Wire) -> None:
        try:
            while True:
                with suppress(TimeoutError):
                    async with asyncio.timeout(BEAT):
                        await self._wake.wait()
                self._wake.clear()
                said = False
                for number, payload in self._sent.pending():
                    await wire.write(Item(number, self._received.count, Raw(payload)))
                    said = True
                if self.over is not None:
                    await wire.write(Bye(self.over.what, self.over.why, self.over.try_this))
                    break
                if not said:
                    await wire.write(Ack(self._received.count))
                self._owed = False
        except OSError:
            pass
        except Exception as error:
            self.end(broken(error))
        finally:
            wire.close()

    async def _read(self, wire: Wire) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                frame = await wire.read()
            except TimeoutError:
                return
            match frame:
                case Item():
                    self._acknowledged(frame.received)
                    if self._received.take(frame.number):
                        self._take(payload_of(frame.payload))
                    if not self._owed:
                        self._owed = True
                        loop.call_later(_SOON, self._wake.set)
                case Ack(received=received):
                    self._acknowledged(received)
                case Bye(what=what, why=why, try_this=try_this):
                    told = what or "The other side has ended the line."
                    self.end(SteersmanError(told, why, try_this))
                    return
                case None:
                    return
                case Hello():
                    raise Garbled("The other side began again in the middle of a connection.")

    def _acknowledged(self, received: int) -> None:
        self._sent.acknowledged(received)
        self._measure()

    # What is heard

    def _take(self, payload: Payload) -> None:
        match payload:
            case Request():
                size = memoryview(payload.body).nbytes
                if len(self._doing) >= MOST or self._held.size + size > self._held.most:
                    self._put(_too_much(payload.id))
                    return
                self._held.size += size
                doing = asyncio.create_task(self._do(payload))
                self._doing[payload.id] = doing
                doing.add_done_callback(partial(self._done, payload.id, size))
            case Reply(id=number) | Failed(id=number):
                asked = self._asked.pop(number, None)
                if asked is None or asked.answer.done():
                    return
                if isinstance(payload, Reply):
                    asked.answer.set_result(payload.body)
                else:
                    asked.answer.set_exception(
                        error_of(payload.kind, payload.what, payload.why, payload.try_this)
                    )
            case Stop(id=number):
                if number in self._doing:
                    self._doing[number].cancel()
            case Note(method=method, body=body):
                self._hear(method, body)
            case Part():
                self._join(payload)

    def _join(self, part: Part) -> None:
        if self.over is not None:
            return
        self._parts += part.data
        self._held.size += len(part.data)
        if len(self._parts) > LARGEST + PIECE or self._held.size > self._held.most:
            raise Garbled("The other side says more at once than a line carries.")
        if part.last:
            whole = bytes(self._parts)
            self._drop_parts()
            self._take(payload_of(whole))

    def _drop_parts(self) -> None:
        self._held.size -= len(self._parts)
        self._parts = bytearray()

    async def _do(self, request: Request) -> None:
        with suppress(_Over):
            answer = await self._outcome(request, self._handle(request.method, request.body))
            if not isinstance(answer, Large):
                await self._put_answer(answer)
                return
            async with self._large:
                await self._answer_room()
                made = await self._outcome(request, answer.make())
                assert not isinstance(made, Large)
                await self._put_answer(made)

    async def _outcome(self, request: Request, doing: Awaitable[Any]) -> Reply | Failed | Large:
        try:
            done = await doing
            if isinstance(done, Large):
                return done
            return Reply(request.id, fitting(done, f"The answer to “{request.method}”"))
        except SteersmanError as error:
            return Failed(request.id, type(error).__name__, error.what, error.why, error.try_this)
        except Exception as error:
            # A defect in one request must not end the line; whoever asked learns of it.
            told = f"{request.method} failed: {type(error).__name__}: {error}"
            return Failed(request.id, "SteersmanError", told)

    async def _put_answer(self, answer: Reply | Failed) -> None:
        """Say it when there is room; what waits for that is bounded, too."""
        size = memoryview(answer.body).nbytes if isinstance(answer, Reply) else 0
        if self._unsent + size > LARGEST:
            answer, size = _too_much(answer.id), 0
        self._unsent += size
        try:
            await self._answer_room()
        finally:
            self._unsent -= size
        self._put(answer)

    async def _answer_room(self) -> None:
        try:
            await self._put_room()
        except SteersmanError as error:
            raise _Over from error

    def _done(self, number: int, size: int, doing: asyncio.Task[None]) -> None:
        self._doing.pop(number, None)
        self._held.size -= size
        if doing.cancelled() and self.over is None:  # perhaps before it had begun
            self._put(Failed(number, "Stopped", "It was stopped."))

    def end(self, why: SteersmanError) -> None:
        """The line is over: whoever waits for an answer learns why there will be none."""
        if self.over is not None:
            return
        self.over = why
        self._drop_parts()
        for asked in self._asked.values():
            if not asked.answer.done():
                asked.answer.set_exception(why)
                asked.answer.exception()  # nobody may wait any more
        self._asked.clear()
        for doing in self._doing.values():
            doing.cancel()
        self._room.set()
        self._wake.set()

    async def close(self, why: SteersmanError) -> None:
        """End the line and what is under way on it."""
        doing = list(self._doing.values())
        self.end(why)
        await asyncio.gather(*doing, return_exceptions=True)
        async with self._carrying:
            pass


class _Over(Exception):
    """The line is over: nobody waits for an answer."""


class Stopped(SteersmanError):
    """A request was stopped before it was done."""


_KINDS: dict[str, type[SteersmanError]] = {
    name: kind
    for name, kind in vars(errors).items()
    if isinstance(kind, type) and issubclass(kind, SteersmanError)
} | {"Stopped": Stopped}


def _too_much(number: int) -> Failed:
    return Failed(number, "SteersmanError", "Too much is asked at once.")


def broken(error: Exception) -> SteersmanError:
    """Why a line is over, where something failed that nobody thought of."""
    if isinstance(error, SteersmanError):
        return error
    return SteersmanError("The line to the workspace failed.", f"{type(error).__name__}: {error}")


def error_of(kind: str, what: str, why: str, try_this: str) -> SteersmanError:
    """What the other side says went wrong, as the error that it is there."""
    return _KINDS.get(kind, SteersmanError)(what, why, try_this)
