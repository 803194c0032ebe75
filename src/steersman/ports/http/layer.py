"""An operation of the API: a function whose types say what it takes and what it answers.

    @operation("GET", "/threads/{thread}", needs="read")
    async def show(desk: Desk, caller: Holder, params: OneThread) -> ThreadFacts: ...

`params` come from the path and the query, `body` from the JSON that was sent. Both are records that
refuse what they do not know. The same types make the description of the API.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, get_type_hints
from urllib.parse import parse_qsl

import msgspec
from msgspec import Struct

from steersman.host.desk import Desk
from steersman.host.tokens import Holder, Right
from steersman.host.workbench import Waits
from steersman.ports.http.asgi import (
    JSON,
    App,
    Disconnected,
    Receive,
    Response,
    Scope,
    Send,
    body_of,
    header,
)
from steersman.ports.http.bodies import MOST, too_many
from steersman.ports.http.door import LINES, TooLarge
from steersman.records import errors
from steersman.records.errors import SteersmanError
from steersman.records.problem import Problem
from steersman.records.thread_facts import API
from steersman.records.validation import sentence

log = logging.getLogger("steersman.http")
PREFIX = API
STATUS: tuple[tuple[type[SteersmanError], int], ...] = (
    (errors.Missing, 404),
    (errors.TooLate, 409),
    (errors.UsageProblem, 400),
    (errors.ThreadBusy, 409),
    (errors.NeedsAnswer, 409),
    (errors.Denied, 403),
    (errors.StorageProblem, 503),
    (errors.DriverProblem, 502),
)
PATIENCE = 60.0  # seconds that a body may take to arrive
OTHERWISE = 422  # it was understood, and could not be done


class Nothing(Struct, frozen=True, forbid_unknown_fields=True):
    """No parameters."""


class Done(Struct, frozen=True):
    """It was done."""

    done: bool = True


class Operation(Struct, frozen=True):
    """One thing the API can do."""

    method: str
    path: str
    needs: Right
    name: str
    summary: str
    params: type[Struct]
    body: Any
    answer: Any
    run: Callable[..., Awaitable[Any]]
    takes: str = JSON
    gives: str = LINES  # where it answers with bytes
    prefix: str = PREFIX

    @property
    def at(self) -> str:
        """Its whole path."""
        return f"{self.prefix}{self.path}"


def served(made: Operation, desk: Desk) -> App:
    """An operation as an application."""

    async def run(scope: Scope, receive: Receive, send: Send) -> None:
        answer = await answered(made, desk, scope, receive)
        await answer(scope, receive, send)

    return run


def operation(
    method: str,
    path: str,
    needs: Right,
    takes: str = JSON,
    gives: str = LINES,
    prefix: str = PREFIX,
) -> Callable[[Callable[..., Awaitable[Any]]], Operation]:
    """Make a function an operation."""

    def made(run: Callable[..., Awaitable[Any]]) -> Operation:
        hints = get_type_hints(run, include_extras=True)
        return Operation(
            method,
            path,
            needs,
            run.__name__,
            (run.__doc__ or "").strip(),
            hints.get("params", Nothing),
            hints.get("body"),
            hints["return"],
            run,
            takes,
            gives,
            prefix,
        )

    return made


async def answered(made: Operation, desk: Desk, scope: Scope, receive: Receive) -> Response:
    """What an operation answers to a request, or what is wrong with it."""
    try:
        answer = await made.run(**await _given(made, desk, scope, receive))
    except asyncio.CancelledError:  # what takes long is cut off when the server stops
        return problem(503, Problem("The server is stopping."))
    except Exception as error:
        return _failed(made, error)
    if isinstance(answer, Response):
        return answer
    return Response(msgspec.json.encode(answer))


class Rejected(Exception):
    """A request that cannot be for this operation."""

    def __init__(self, status: int, what: str, why: str = "") -> None:
        super().__init__(what)
        self.status, self.problem = status, Problem(what, why)


async def _given(made: Operation, desk: Desk, scope: Scope, receive: Receive) -> dict[str, Any]:
    """What an operation is called with."""
    caller: Holder = scope["state"]["holder"]
    if not caller.may(made.needs):
        raise Rejected(403, f"This token may not do that: it lacks the right “{made.needs}”.")
    given: dict[str, Any] = {"desk": desk, "caller": caller}
    try:
        given["params"] = _params(made.params, scope)
        if made.body is not None:
            given["body"] = await _body(made, scope, receive)
    except msgspec.ValidationError as error:
        raise Rejected(400, sentence(error)) from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Rejected(400, "The body is not JSON.", sentence(error)) from error
    except TooLarge as error:
        raise Rejected(413, "The request is too large.") from error
    except (TimeoutError, Disconnected) as error:
        raise Rejected(408, "The request did not arrive in time.") from error
    # Calls in folders are known by their names where they are made.
    if made.path.startswith("/threads") and (name := getattr(given.get("body"), "id", "")):
        thread = getattr(given["params"], "thread", "")
        await desk.named(name, thread, caller, [made.name, given["body"]])
    return given


async def _body(made: Operation, scope: Scope, receive: Receive) -> Any:
    if header(scope, b"content-type").partition(";")[0].strip().lower() != made.takes:
        raise Rejected(415, f"This takes `{made.takes}`.")
    async with asyncio.timeout(PATIENCE):
        data = await body_of(receive)
    if await too_many(data, lines=made.takes == LINES):
        raise Rejected(413, f"The request has more than {MOST:,} values.")
    return data if made.body is bytes else msgspec.json.decode(data, type=made.body)


def _failed(made: Operation, error: Exception) -> Response:
    """What is wrong, for a program and for a person."""
    match error:
        case Rejected():
            return problem(error.status, error.problem)
        case Waits():
            return problem(409, error.record)
        case SteersmanError():
            return problem(status_of(error), Problem.of(error))
    # A defect of ours: whoever runs the server reads about it.
    log.error("%s %s failed", made.method, made.path, exc_info=error)
    return problem(500, Problem("An error in Steersman stopped the request."))


def status_of(error: SteersmanError) -> int:
    """The status that tells a program what kind of problem it is."""
    return next((status for kind, status in STATUS if isinstance(error, kind)), OTHERWISE)


def problem(status: int, told: Problem) -> Response:
    """A problem as an answer."""
    return Response(msgspec.json.encode(told), status)


def _params(kind: type[Struct], scope: Scope) -> Struct:
    """The values of the path and the query; each may be there once."""
    values: dict[str, str] = dict(scope["path_params"])
    query = scope["query_string"].decode("latin-1")
    for name, value in parse_qsl(query, keep_blank_values=True) if query else ():
        if name == "ticket":
            continue  # the door took it
        if name in values:
            raise msgspec.ValidationError(f"Object contains unknown field `{name}`")
        values[name] = value
    if any("\0" in value for value in values.values()):
        raise msgspec.ValidationError("Expected `str` without NUL")
    return msgspec.convert(values, kind, strict=False)


def by_name(operations: Mapping[str, Any]) -> list[Operation]:
    """The operations of a module."""
    return [one for one in operations.values() if isinstance(one, Operation)]
