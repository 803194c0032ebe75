"""Programs that work beside the host and talk with it: MCP servers, language servers, checkers.

They are started by the same guardian as commands, so none outlives the host, whatever ends it. A
confined companion sees the workspace and the disk to be read only, and reaches no network.
"""

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress

from msgspec.structs import replace

from steersman.operations.running.command_run import CommandRun
from steersman.operations.running.guardian import NOTHING, Guardian, Handed, Lifeline
from steersman.operations.running.programs import found
from steersman.records.errors import ToolProblem

LINE = 1024 * 1024  # what a reader holds before the program has to wait
WORDS = 4096  # of what was printed as errors
PIECE = 64 * 1024
GRACE = 2.0
LEAVING = 5.0

Confine = Callable[[Mapping[str, str]], Awaitable[CommandRun | None]]


class Companion:
    """A program that was started, with its standard input and output in our hands."""

    def __init__(
        self,
        lifeline: Lifeline,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        errors: int,
        run: CommandRun | None,
    ) -> None:
        self.pid = lifeline.pid
        self.reader = reader
        self._lifeline = lifeline
        self._writer = writer
        self._errors = errors
        self._run = run
        self._words = bytearray()
        self._code = 128 + signal.SIGKILL  # unless its guard says otherwise
        self._exited = asyncio.Event()
        self._following = asyncio.create_task(self._follow(), name=f"companion-{self.pid}")

    @property
    def ended(self) -> bool:
        """True when the program has ended; what it started ends with it."""
        return self._exited.is_set()

    def write(self, data: bytes) -> None:
        """Say something to it; a program that has ended gets nothing."""
        if not self._writer.is_closing():
            self._writer.write(data)

    async def drain(self) -> None:
        """Wait until it has taken most of what was said, or has ended."""
        with suppress(ConnectionError):
            await self._writer.drain()

    def last_words(self) -> str:
        """The end of what it printed as errors."""
        return self._words.decode("utf-8", "replace").strip()

    async def wait(self) -> int:
        """Wait for its end; the exit code, as a shell says it."""
        await self._exited.wait()
        return self._code

    async def stop(self, grace: float = GRACE) -> None:
        """Close its input and give it a moment; then kill it and all it started."""
        self._writer.close()
        if grace > 0:
            with suppress(TimeoutError):
                async with asyncio.timeout(grace):
                    await self._exited.wait()
        self._lifeline.end()
        await asyncio.wait({self._following}, timeout=LEAVING)
        if not self._following.done():  # what cannot be killed is left to its guard
            self._following.cancel()
            await asyncio.wait({self._following})

    async def _follow(self) -> None:
        """From the start until nobody is left; this task owns all that is open."""
        loop = asyncio.get_running_loop()
        loop.add_reader(self._errors, self._listen)
        try:
            async for word, number in self._lifeline.words():
                if word == "exit":
                    self._code = number if number >= 0 else 128 - number
                    self._take_rest()
                    self._exited.set()
                    self._lifeline.end()
        finally:
            self._exited.set()
            loop.remove_reader(self._errors)
            os.close(self._errors)
            self._lifeline.close()
            if self._writer.transport.get_write_buffer_size():
                self._writer.transport.abort()  # nobody will hear the rest
            self._writer.close()
            if self._run is not None:
                await self._run.discard()

    def _take_rest(self) -> None:
        while self._listen():
            pass

    def _listen(self) -> bool:
        try:
            piece = os.read(self._errors, PIECE)
        except BlockingIOError:
            return False
        if not piece:
            asyncio.get_running_loop().remove_reader(self._errors)
            return False
        self._words += piece
        del self._words[:-WORDS]
        return True


class Companions:
    """Starts and keeps the companions of one thread; closing it ends them.

    `confine` gives the run of a program that may only look, with its environment; `root` is the
    workspace, whose own programs are not taken for those of the machine.
    """

    def __init__(self, guardian: Guardian, root: str, confine: Confine) -> None:
        self._guardian = guardian
        self._root = root
        self._confine = confine
        self._known: set[Companion] = set()
        self._closed = False

    async def start(
        self, argv: Sequence[str], cwd: str, environ: Mapping[str, str], *, confined: bool | Confine
    ) -> Companion:
        """Start a program; a name is looked for on the PATH of `environ`, outside the workspace.

        `confined` may give a run of its own for it, or none.
        """
        program = argv[0]
        if "/" not in program:
            program = found(program, environ, self._root) or ""
        if not program:
            raise ToolProblem(f"There is no program “{argv[0]}” on the PATH.")
        confine = confined if callable(confined) else self._confine if confined else None
        run = await confine(environ) if confine is not None else None
        if run is None:
            return await self._begin([program, *argv[1:]], cwd, environ, None)
        try:
            line = await asyncio.to_thread(run.argv, [program, *argv[1:]], cwd)
            return await self._begin(line, cwd, run.environ, run)
        except BaseException:
            await run.discard()
            raise

    async def _begin(
        self, argv: Sequence[str], cwd: str, environ: Mapping[str, str], run: CommandRun | None
    ) -> Companion:
        if self._closed:
            raise ToolProblem(f"{argv[0]} was not started: the thread is being closed.")
        opened: list[int] = []

        def pipe() -> tuple[int, int]:
            ends = os.pipe()
            opened.extend(ends)
            return ends

        try:
            (heard, saying), (listening, said), (telling, told) = pipe(), pipe(), pipe()
            handed = Handed(run.inherit, view=run.view) if run is not None else NOTHING
            handed = replace(handed, talk=(heard, said))
            lifeline = await self._guardian.start(argv, cwd, environ, told, handed)
        except BaseException:
            for descriptor in opened:
                os.close(descriptor)
            raise
        for descriptor in (heard, said, told):
            os.close(descriptor)
        os.set_blocking(telling, False)
        reader, writer = await _streams(listening, saying)
        companion = Companion(lifeline, reader, writer, telling, run)
        self._known.add(companion)
        if self._closed:
            await companion.stop(0)
            raise ToolProblem(f"{argv[0]} was not started: the thread is being closed.")
        self._known = {known for known in self._known if not known.ended}
        return companion

    async def close(self) -> None:
        """End everything."""
        self._closed = True
        async with asyncio.TaskGroup() as group:
            for companion in self._known:
                group.create_task(companion.stop())


async def _streams(
    listening: int, saying: int
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Both ends of a conversation, given to the loop."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=LINE)
    hearing = asyncio.StreamReaderProtocol(reader)
    await loop.connect_read_pipe(lambda: hearing, os.fdopen(listening, "rb", 0))
    # The loop's own class for a writer that nobody reads from.
    transport, protocol = await loop.connect_write_pipe(
        asyncio.streams.FlowControlMixin, os.fdopen(saying, "wb", 0)
    )
    return reader, asyncio.StreamWriter(transport, protocol, None, loop)
