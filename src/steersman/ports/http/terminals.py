"""Terminals over HTTP: a program is started by a request, and a socket shows it and types into it.

    GET /api/v0/terminals/{terminal}/attach

Frames of bytes are what the program shows, and what is typed. Frames of text are JSON: the page may
send `{"type": "resize", "columns": 120, "rows": 40}`; it gets `attached` first, `gap` when it was
too slow to be shown everything, and `exit` at the end.
"""

import asyncio
import shlex
from collections.abc import AsyncGenerator
from contextlib import suppress
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Raw, Struct

from steersman.host.desk import Desk
from steersman.host.terminals import Cells, Screen, Size, TerminalFacts, Terminals
from steersman.host.tokens import Holder
from steersman.ports.http.asgi import Disconnected, Socket
from steersman.ports.http.door import UNAUTHORIZED
from steersman.ports.http.folders import Path, Wanted
from steersman.ports.http.frames import Frame, plain
from steersman.ports.http.layer import Done, Nothing, operation, problem, status_of
from steersman.ports.http.streams import STALLED, Streams
from steersman.records.errors import SteersmanError
from steersman.records.problem import Problem
from steersman.records.validation import sentence

BYTES = "bytes"  # the event of frames that are no JSON
Word = Annotated[str, Meta(max_length=100_000)]


class NewTerminal(Wanted, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What to run in a terminal, as words; your shell when there are none."""

    argv: Annotated[tuple[Word, ...], Meta(max_length=1000)] = ()
    workdir: Path = "."
    columns: Cells = 80
    rows: Cells = 24


@operation("POST", "/terminals", needs="work")
async def open_terminal(
    desk: Desk, caller: Holder, body: NewTerminal, params: Nothing
) -> TerminalFacts:
    """Run a program in a terminal, in the sandbox that holds for the folder."""
    arguments = {
        "command": shlex.join(body.argv),
        "cwd": body.workdir,
        "columns": body.columns,
        "rows": body.rows,
    }
    return await Terminals(desk, caller).start(body.workspace, arguments, body.id)


class AllTerminals(Struct, frozen=True):
    """Terminals in the order they were opened, folder by folder."""

    terminals: list[TerminalFacts]


@operation("GET", "/terminals", needs="read")
async def list_terminals(desk: Desk, caller: Holder, params: Nothing) -> AllTerminals:
    """List the terminals whose programs run, and those that ended last."""
    return AllTerminals(Terminals(desk, caller).listed())


class OneTerminal(Struct, frozen=True, forbid_unknown_fields=True):
    """A terminal."""

    terminal: Annotated[str, Meta(min_length=1, max_length=100)]


@operation("DELETE", "/terminals/{terminal}", needs="work")
async def end_terminal(desk: Desk, caller: Holder, params: OneTerminal) -> Done:
    """End the program of a terminal and all it started."""
    await Terminals(desk, caller).end(params.terminal)
    return Done()


class Resize(Struct, frozen=True, tag="resize", forbid_unknown_fields=True):
    """The page has room for so much."""

    columns: Cells
    rows: Cells


_asked = msgspec.json.Decoder(Resize)


class Attaching:
    """All sockets of one server that are attached to terminals."""

    def __init__(self, desk: Desk, streams: Streams) -> None:
        self._desk = desk
        self._streams = streams

    async def socket(self, socket: Socket) -> None:
        """Show a terminal, and type into it."""
        caller: Holder = socket.scope["state"]["holder"]
        try:
            screen = await Terminals(self._desk, caller).attach(
                socket.scope["path_params"]["terminal"]
            )
        except SteersmanError as error:
            await socket.refuse(problem(status_of(error), Problem.of(error)))
            return
        await socket.accept()

        async def put(frame: Frame) -> None:
            async with asyncio.timeout(STALLED):
                if frame.event == BYTES:
                    await socket.send_bytes(bytes(frame.data))
                else:
                    told = {"type": frame.event, **msgspec.json.decode(frame.data)}
                    await socket.send_text(msgspec.json.encode(told).decode())

        async def hear() -> str:
            with suppress(Disconnected, TimeoutError, KeyError):
                while True:
                    if (wrong := await _typed(await socket.receive(), screen)) is not None:
                        await put(plain("problem", what=wrong))
            return "gone"

        over = False
        with suppress(TimeoutError, Disconnected):
            await self._streams.serve(_frames(screen), put, asyncio.ensure_future(hear()), caller)
            over = screen.terminal.over
        with suppress(RuntimeError, Disconnected):
            still = await self._streams.still(caller)
            await socket.close(1000 if over else 1001 if still else UNAUTHORIZED)


async def _frames(screen: Screen) -> AsyncGenerator[Frame, None]:
    """What a terminal shows, from the first that is kept; then how its program ended."""
    terminal, place = screen.terminal, 0
    size = terminal.size
    yield plain("attached", columns=size.columns, rows=size.rows)
    while (piece := await terminal.after(place)) is not None:
        if piece.missed:
            yield plain("gap", left_out=piece.missed)
        yield Frame(BYTES, Raw(piece.data))
        place = piece.end
    state, code = await screen.end()
    yield plain("exit", state=state, exit_code=code)


async def _typed(message: Any, screen: Screen) -> str | None:
    """Do what a page asks; the answer says what is wrong with it."""
    if (data := message.get("bytes")) is not None:
        await screen.terminal.type(data)
        return None
    try:
        asked = _asked.decode(message["text"])
    except (msgspec.DecodeError, RecursionError) as error:
        return sentence(error)
    screen.terminal.resize(Size(asked.columns, asked.rows))
    return None
