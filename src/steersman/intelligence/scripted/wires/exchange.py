"""From a request to the reply a script gives: turn, faults, filler. Plans time, never waits.

Nothing here touches a socket or a file.
"""

import hashlib
import time
from collections.abc import Iterable, Iterator
from itertools import zip_longest
from secrets import token_hex
from typing import Any

import msgspec
from msgspec import Struct

from steersman.intelligence.scripted.driver import answer_calls
from steersman.intelligence.scripted.script import (
    Faults,
    Player,
    Script,
    ScriptedTurn,
    Standing,
    check_expectation,
)
from steersman.intelligence.scripted.wires import CHAT, route
from steersman.intelligence.scripted.wires.records import (
    Answer,
    Asked,
    BadRequest,
    Frame,
    SpokenCall,
    Wire,
)
from steersman.intelligence.scripted.wires.schema import minimal_instance
from steersman.records.dialogue import Tokens
from steersman.records.errors import ScriptProblem

FILLER = "A scripted conversation"


class Request(Struct, frozen=True):
    """An HTTP request; the names of its headers are in lower case."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes


class Reply(Struct, frozen=True, kw_only=True):
    """What to send and when. `stall_at` and `cut_at` count characters said so far."""

    status: int
    headers: tuple[tuple[str, str], ...]
    frames: Iterable[Frame]
    wire: str
    asked: Asked | None = None
    turn: int | None = None
    problem: str = ""
    delay_ms: int = 0
    stall_ms: int = 0
    stall_at: int = 0
    cut_at: int | None = None


class Exchange:
    """Answers requests with one script."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self._player = Player(script)
        self._faults = Faults(script)

    def reply(self, request: Request) -> Reply:
        """The reply to a request in any of the formats."""
        wire, place = route(request.method, request.target, request.headers)
        if place.purpose == "models":
            return _whole(wire, wire.models())
        if place.purpose == "unknown":
            path = request.target.partition("?")[0]
            return _failure(wire, 404, f"{request.method} {path} is not served here.")
        try:
            asked = wire.read(request.body, place)
        except BadRequest as error:
            return _failure(wire, 400, str(error))
        if place.purpose == "count":
            return _whole(wire, wire.counted(_size(request)), asked=asked)
        try:
            return self._play(wire, asked, _size(request))
        except ScriptProblem as problem:
            text = str(problem)
            return _failure(wire, 400, text, asked=asked, problem=text)

    def _play(self, wire: Wire, asked: Asked, size: int) -> Reply:
        index = self._position(asked)
        if index is None:
            return _said(wire, asked, ScriptedTurn(text=self._aside(asked)), size)
        check_expectation(self._script, index, asked.prompt.items)
        turn = self._script.turns[index]
        fault = self._faults.due(index, (wire.name, asked.stream, _digest(asked)))
        if fault is None or fault.error is None:
            return _said(wire, asked, turn, size, fault=fault, number=index + 1)
        error = fault.error
        return _failure(
            wire,
            error.status,
            error.message,
            retry_after=error.retry_after,
            asked=asked,
            turn=next(n for n, one in enumerate(self._script.turns, 1) if one is fault),
            delay_ms=fault.delay_ms + fault.stall_ms,
        )

    def _position(self, asked: Asked) -> int | None:
        """The turn that answers; none for a request beside the conversation, such as a title."""
        if not asked.prompt.tools and (asked.schema is not None or self._script.aside):
            return None
        standing = Standing()
        standing.follow(asked.prompt.items)
        index = self._player.turn(standing)
        return index if asked.prompt.tools or not self._script.turns[index].results else None

    def _aside(self, asked: Asked) -> str:
        if asked.schema is None:
            return self._script.aside or FILLER
        return msgspec.json.encode(minimal_instance(asked.schema)).decode()


def unreadable(status: int, why: str) -> Reply:
    """The reply to what is not an HTTP request; nobody can tell which format it wants."""
    return _failure(CHAT, status, why)


def _said(
    wire: Wire,
    asked: Asked,
    turn: ScriptedTurn,
    size: int,
    *,
    fault: ScriptedTurn | None = None,
    number: int | None = None,
) -> Reply:
    """A turn as the reply that says it, with its stall and its cut."""
    answer = _answer(asked, turn, size)
    stall_ms = fault.stall_ms if fault else 0
    drop = fault.drop if fault else False
    if not asked.stream:
        body = wire.whole(asked, answer)
        half = len(body) // 2
        return _whole(
            wire,
            body,
            asked=asked,
            turn=number,
            delay_ms=turn.delay_ms,
            stall_ms=stall_ms,
            stall_at=half,
            cut_at=half if drop else None,
        )
    middle = answer.characters // 2
    cut_at = min(middle if drop is True else int(drop), answer.characters)
    if fault is not None and not answer.chunk:
        # One delta would carry everything: without pieces there is no middle.
        answer = msgspec.structs.replace(answer, chunk=max(cut_at or middle, 1))
    kind = "text/event-stream" if asked.sse else "application/json"
    return Reply(
        status=200,
        headers=(("content-type", kind), ("cache-control", "no-cache")),
        frames=wire.frames(asked, answer),
        wire=wire.name,
        asked=asked,
        turn=number,
        delay_ms=turn.delay_ms,
        stall_ms=stall_ms,
        stall_at=middle,
        cut_at=cut_at if drop else None,
    )


def _answer(asked: Asked, turn: ScriptedTurn, size: int) -> Answer:
    tag = token_hex(8)
    answer = Answer(
        tag=tag,
        created=int(time.time()),
        model=asked.model,
        text=turn.text,
        reasoning=turn.reasoning,
        calls=tuple(_calls(asked, turn, tag)),
        tokens=turn.usage or Tokens(),
        chunk=turn.chunk,
    )
    if turn.usage is not None:
        return answer
    output, reasoning = answer.characters // 4, len(turn.reasoning) // 4
    tokens = Tokens(input=size, output=output, reasoning=reasoning)
    return msgspec.structs.replace(answer, tokens=tokens)


def _calls(asked: Asked, turn: ScriptedTurn, tag: str) -> Iterator[SpokenCall]:
    scripted = (call.arguments for call in turn.tool_calls)
    for call, given in zip_longest(answer_calls(turn, asked.prompt, tag), scripted):
        text = given if isinstance(given, str) else msgspec.json.encode(call.arguments).decode()
        arguments = call.arguments if call.malformed is None else {"_raw": call.malformed}
        yield SpokenCall(call.id, call.name, text, arguments)


def _size(request: Request) -> int:
    """Tokens of a request, roughly."""
    return len(request.body) // 4


def _digest(asked: Asked) -> bytes:
    return hashlib.sha256(repr(asked.prompt.items).encode()).digest()


def _failure(
    wire: Wire, status: int, message: str, *, retry_after: float | None = None, **more: Any
) -> Reply:
    failure = wire.failure(status, message, retry_after)
    return _whole(wire, failure.body, status=status, headers=failure.headers, **more)


def _whole(
    wire: Wire,
    body: bytes,
    *,
    status: int = 200,
    headers: tuple[tuple[str, str], ...] = (),
    **more: Any,
) -> Reply:
    """A reply whose length is known, in two halves so that a fault can come between them."""
    half = len(body) // 2
    kinds = (("content-type", "application/json"), ("content-length", str(len(body))))
    frames = (Frame(body[:half], half), Frame(body[half:], len(body) - half))
    return Reply(status=status, headers=kinds + headers, frames=frames, wire=wire.name, **more)
