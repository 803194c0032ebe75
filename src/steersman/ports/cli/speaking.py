"""Print mode at work: prompts in, lines out, and questions about permission in between."""

import asyncio
import os
import stat
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any

import msgspec

from steersman.host import Host, ThreadHandle
from steersman.ports.cli.options import folder_from, folders_from, open_host, settings_from
from steersman.ports.cli.outlet import Outlet, outlet, polite, shown
from steersman.ports.cli.printing import closed
from steersman.ports.cli.views import AnswerView
from steersman.ports.cli.work import kept_settings
from steersman.records.dialogue import Image
from steersman.records.errors import Exit, SteersmanError, TooLate, UsageProblem
from steersman.records.message import (
    Answer,
    ConfirmRequest,
    ConfirmResponse,
    Message,
    Question,
    TurnEnd,
)
from steersman.records.outcomes import ENDINGS
from steersman.records.settings import Settings
from steersman.records.thread import Thread
from steersman.records.tool_names import offers
from steersman.views.claude.control import (
    answer_of,
    may_ask,
    may_use,
    object_of,
    prompt_of,
    refused,
    reply_of,
    succeeded,
)
from steersman.views.claude.lines import Line, Lines
from steersman.views.claude.modes import answering, settings_of
from steersman.views.text import json_line

ANSWERS_ALL = "bypassPermissions"
LONGEST = 64 << 20  # of a line that comes in
DENIED = (
    "Nobody is there to approve this. Do it another way, or say in your answer what needs approval."
)


async def speak(prompt: str | None, flags: dict[str, Any], *, asks: bool) -> Exit:
    """Print mode: one prompt, or, without one, what standard input brings."""
    async with open_host() as host:
        with outlet() as output:
            speaker = Speaker(host, flags, output, asks=asks)
            working = asyncio.create_task(speaker.once(prompt) if prompt else speaker.listen())
            loop = asyncio.get_running_loop()
            for number in polite():
                loop.add_signal_handler(number, speaker.stop, working)
            return await speaker.until(working)


class Speaker:
    """One run of print mode, on one thread."""

    def __init__(self, host: Host, flags: dict[str, Any], output: Outlet, *, asks: bool) -> None:
        self._host = host
        self._flags = flags
        self._output = output
        self._stopped = asyncio.Event()  # the process was asked to end
        self._asks = asks
        mode = flags["permission_mode"] or ""
        free = flags["yes"] or flags["skip"] or mode == ANSWERS_ALL
        self._free = free  # whether the run may ever be one in which everything is allowed
        self._answering = answering(ANSWERS_ALL if free else mode, asks=asks)
        self._text = AnswerView()
        self._lines: Lines | None = None
        self._handle: ThreadHandle | None = None
        self._showing: asyncio.Task[None] | None = None
        self._ended = asyncio.Event()  # what the turn came to has been shown
        self._end: TurnEnd | None = None
        self._hears = asks  # whether a program answers what the agent asks
        self._replies: dict[str, Mapping[str, Any]] = {}  # to questions, by the calls that ask them
        self._open: dict[str, ConfirmRequest | Question] = {}  # asked, and not answered
        self._set: dict[str, str] = {}  # asked for before there was a thread

    # The whole run

    async def once(self, prompt: str) -> None:
        """One prompt."""
        await self._say(prompt, ())

    async def listen(self) -> None:
        """Whatever comes in, until nothing more does."""
        prompts: asyncio.Queue[tuple[str, tuple[Image, ...]] | None] = asyncio.Queue()
        reading = asyncio.create_task(self._read(prompts))
        try:
            while (prompt := await prompts.get()) is not None:
                await self._say(*prompt)
            await reading
        finally:
            reading.cancel()
            await asyncio.wait({reading})

    def stop(self, working: "asyncio.Task[None]") -> None:
        """End, as the process was asked to."""
        self._stopped.set()
        working.cancel()

    async def until(self, working: "asyncio.Task[None]") -> Exit:
        """Wait for the work, and leave the thread with what came of it."""
        code, reason = Exit.DONE, ""
        try:
            await working
            if self._end is not None:
                code, reason = ENDINGS[self._end.ending], self._end.reason
        except asyncio.CancelledError:
            code, reason = Exit.INTERRUPTED, "interrupted"
        finally:
            if self._handle is not None:
                await self._handle.close(code, reason)
            if self._showing is not None:
                await shown(self._showing, self._stopped)
        return code

    # What comes in

    async def _read(self, prompts: asyncio.Queue[Any]) -> None:
        try:
            async for line in _incoming():
                match line:
                    case {"type": "user"}:
                        prompts.put_nowait(prompt_of(line))
                    case {
                        "type": "control_request",
                        "request_id": str(name),
                        "request": dict(asked),
                    }:
                        await self._control(name, asked)
                    case {"type": "control_response", "response": dict(response)}:
                        await self._answered(response)
        finally:
            prompts.put_nowait(None)
            self._hears = False
            if self._answering == "ask":  # nobody answers any more
                self._answering = "deny"
            for corr in list(self._open):
                await self._answered({"request_id": corr, "error": DENIED})

    async def _control(self, name: str, asked: Mapping[str, Any]) -> None:
        doing = _CONTROLS.get(str(asked.get("subtype")))
        if doing is None:
            await self._write(refused(name, f"Steersman has no “{asked.get('subtype')}”."))
            return
        try:
            await self._write(succeeded(name, await doing(self, asked)))
        except SteersmanError as problem:
            await self._write(refused(name, f"{problem.what} {problem.why}".strip()))

    async def _initialize(self, asked: Mapping[str, Any]) -> Line:
        if asked.get("hooks"):
            raise UsageProblem("Hooks of a program are not supported.")
        styles = [self._flags.get("output_style") or "default"]
        return {"commands": [], "output_style": styles[0], "available_output_styles": styles,
                "models": [], "account": {}}  # fmt: skip

    async def _interrupt(self, _: Mapping[str, Any]) -> Line:
        if self._handle is not None and self._handle.busy:
            await self._handle.cancel()
        return {}

    async def _set_mode(self, asked: Mapping[str, Any]) -> Line:
        mode = str(asked.get("mode"))
        wanted = {"mode": "code", **settings_of(mode)}
        if mode == ANSWERS_ALL and not self._free:
            raise UsageProblem("Start the run with --permission-mode bypassPermissions for that.")
        await self._change(wanted)
        self._answering = answering(mode, asks=self._asks)
        if self._lines is not None:
            self._lines.answers = self._answering
        return {"mode": mode}

    async def _set_model(self, asked: Mapping[str, Any]) -> Line:
        if asked.get("model"):
            await self._change({"model": str(asked["model"])})
        return {}

    async def _change(self, values: Mapping[str, str]) -> None:
        if self._handle is None:
            self._set |= values
        else:
            await self._handle.set(**values)

    async def _answered(self, response: Mapping[str, Any]) -> None:
        corr = str(response.get("request_id"))
        request = self._open.pop(corr, None)
        if request is None or self._handle is None:
            return
        said = response.get("response")
        given = said if isinstance(said, dict) else {"message": str(response.get("error") or "")}
        assert self._lines is not None
        if isinstance(request, Question):
            self._replies[request.call] = given
            await self._answer(corr, reply_of(given, request))
        else:
            root, call = self._handle.thread.workspace, self._lines.call(request.call)
            await self._answer(corr, answer_of(given, request, call, root))
        if given.get("interrupt"):
            await self._interrupt({})

    # What is done

    async def _say(self, text: str, images: tuple[Image, ...]) -> None:
        handle = await self._ready(text)
        self._ended.clear()
        await handle.send(text, images)
        assert self._showing is not None
        ended = asyncio.create_task(self._ended.wait())
        await asyncio.wait({ended, self._showing}, return_when=asyncio.FIRST_COMPLETED)
        if not ended.done():
            ended.cancel()
            await self._showing  # what went wrong with it
        self._end = await handle.wait()

    async def _ready(self, text: str) -> ThreadHandle:
        if self._handle is None:
            handle, after, only = await self._opened(text)
            self._handle = handle
            every = await asyncio.to_thread(self._host.tools, handle.thread.workspace)
            tools = tuple(spec.name for spec in every if offers(only, spec.name))
            how = {"partial": self._flags["partial"], "replay": self._flags["replay"]}
            self._lines = Lines(handle.id, handle.thread.workspace, tools=tools, **how)
            self._lines.answers = self._answering
            self._showing = asyncio.create_task(self._show(handle, after))
        return self._handle

    async def _opened(self, text: str) -> tuple[ThreadHandle, int, tuple[str, ...]]:
        """The thread, the message after which it is shown, and the tools it has."""
        flags = dict(self._flags) | self._set
        mode = flags["permission_mode"] or ("default" if self._asks else "")
        for name, value in (settings_of(mode) if mode else {}).items():
            flags[name] = flags[name] or value
        how: dict[str, Any] = {"attended": True, "questions": self._asks}
        thread = await asyncio.to_thread(self._continued)
        if thread is None:
            folder = folder_from(flags["workspace"])
            settings = self._settings(flags, folder)
            handle = await self._host.start(folder, text, settings, **how)
            await self._host.chose_model(flags["model"])
            return handle, 0, settings.tools
        kept = kept_settings(self._host, thread, flags, thread.workspace)
        handle = await self._host.open(thread.id, kept, resume=False, **how)
        return handle, thread.head, kept.tools

    def _settings(self, flags: dict[str, Any], folder: str) -> Settings:
        return settings_from(flags, self._host.permissions.settings_file(folder))

    def _continued(self) -> Thread | None:
        named, flags = self._flags["resume"], self._flags
        if not (named or flags["go_on"]):
            return None
        here = folders_from(flags["workspace"])
        thread = self._host.find(named) if named else self._host.latest(*here)
        return self._host.fork(thread.id) if flags["fork"] else thread

    async def _show(self, handle: ThreadHandle, after: int) -> None:
        """Print what happens until the thread is closed; answer what nobody is there to answer."""
        try:
            async for message in handle.events(after):
                await self._print(message)
                match message.body:
                    case ConfirmRequest() as request:
                        await self._asked(message.corr or "", request)
                    case ConfirmResponse() | Answer() if self._open.pop(message.corr or "", None):
                        await self._write(
                            {"type": "control_cancel_request", "request_id": message.corr}
                        )
                    case Question() as question:
                        await self._questioned(message.corr or "", question)
                    case TurnEnd():
                        self._ended.set()
        except BrokenPipeError:  # nobody reads it any more
            closed()
            await handle.cancel()

    async def _print(self, message: Message) -> None:
        if self._flags["output_format"] == "text":
            self._text.show(message)
            await self._output.drain()
            return
        assert self._lines is not None
        for line in self._lines.feed(message):
            if self._flags["output_format"] == "stream-json" or line["type"] == "result":
                await self._write(line)

    async def _asked(self, corr: str, request: ConfirmRequest) -> None:
        assert self._handle is not None
        assert self._lines is not None
        if self._answering == "ask":
            self._open[corr] = request
            call = self._lines.call(request.call)
            await self._write(may_use(corr, request, call, self._handle.thread.workspace))
            return
        free = self._answering == "allow"
        given = ConfirmResponse("allow", by="yes-flag") if free else ConfirmResponse("deny", DENIED)
        await self._answer(corr, given)

    async def _questioned(self, corr: str, question: Question) -> None:
        """Put the questions of a call to the program, all at once; others have their default."""
        assert self._handle is not None
        assert self._lines is not None
        call = self._lines.call(question.call)
        if question.call in self._replies:
            await self._answer(corr, reply_of(self._replies[question.call], question))
        elif self._hears and call is not None:
            self._open[corr] = question
            await self._write(may_ask(corr, question, call, self._handle.thread.workspace))
        else:
            await self._answer(corr, Answer(question.default, by="default"))

    async def _write(self, line: Line) -> None:
        """Print a line."""
        self._output.write(json_line(msgspec.json.encode(line)) + b"\n")
        await self._output.drain()

    async def _answer(self, corr: str, answer: ConfirmResponse | Answer) -> None:
        assert self._handle is not None
        with suppress(TooLate, UsageProblem):  # someone was first, or it is asked no longer
            await self._handle.answer(corr, answer)


_CONTROLS: Mapping[str, Callable[[Speaker, Mapping[str, Any]], Awaitable[Line]]] = {
    "initialize": Speaker._initialize,
    "interrupt": Speaker._interrupt,
    "set_permission_mode": Speaker._set_mode,
    "set_model": Speaker._set_model,
}


async def _incoming() -> AsyncIterator[dict[str, Any]]:
    """The lines of standard input, until it is closed."""
    reader = asyncio.StreamReader(limit=LONGEST)
    loop = asyncio.get_running_loop()
    kind = os.fstat(sys.stdin.fileno()).st_mode
    if stat.S_ISFIFO(kind) or stat.S_ISSOCK(kind) or sys.stdin.isatty():
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    else:  # a file, or nothing
        reader.feed_data(await asyncio.to_thread(sys.stdin.buffer.read))
        reader.feed_eof()
    while line := await _line(reader):
        if line.strip():
            yield object_of(line)


async def _line(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.readline()
    except ValueError as error:
        most = f"A line may have {LONGEST:,} bytes."
        raise UsageProblem("A line of the input is too long.", most) from error
