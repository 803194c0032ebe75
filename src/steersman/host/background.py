"""Commands that programs start in a folder: listed, read and signalled by names of their own.

A process belongs to a thread, and there may be several threads of calls in a folder: `THREAD.p1`.
"""

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from steersman.host.tokens import Holder
from steersman.host.workbench import Asked, Workbench
from steersman.operations.running.output import HEAD, TAIL, Excerpt
from steersman.records.counting import counted
from steersman.records.errors import Missing, ToolProblem
from steersman.records.patterns import pattern

LONGEST_WAIT = 300.0  # seconds
BEYOND = 1 << 40  # no output is that long: only the end of the command ends the wait for it
TORN = "\ufffd"  # what is shown of a character whose first bytes are left out
NAME = pattern(r"p[0-9]{1,9}")
_OUTPUT, _LIST = "workspace_read_command_output", "workspace_list_processes"


class Listed(Struct, frozen=True):
    """One process; `seconds` is how long it has been running, or ran."""

    process_id: str
    command: str
    state: str
    seconds: float
    bytes: int
    pid: int
    background: bool


class Printed(Struct, frozen=True):
    """The first and the last of what a command printed; `left_out` bytes between are not here.

    `truncated` also when long lines were cut. `size` counts all bytes, `success` unless the command
    ended with an `error`; it has no `exit_code` while it runs.
    """

    success: bool
    process_id: str
    state: str
    exit_code: int | None
    output: str
    size: int
    left_out: int
    truncated: bool
    error: str


class _Part(Struct, frozen=True):
    success: bool
    state: str
    output: str
    next_offset: int
    size: int
    exit_code: int | None = None
    error: str = ""


class Background:
    """The processes of one folder, for one caller."""

    def __init__(self, bench: Workbench, folder: str, caller: Holder) -> None:
        self._bench = bench
        self._folder = folder
        self._caller = caller

    async def start(self, arguments: Mapping[str, Any], request: str) -> dict[str, Any]:
        """Run a command; one that continues has a name here."""
        asked = Asked(self._caller, self._folder, "workspace_run_command", dict(arguments), request)
        thread, given = await self._bench.answer(asked)
        if name := given.get("background_process_id"):
            given = {**given, "background_process_id": f"{thread}.{name}"}
        return dict(given)

    async def listed(self) -> list[Listed]:
        """Those that run and those that ended last, in every thread of calls."""
        found: list[Listed] = []
        root = await self._bench.folder(self._folder, self._caller)
        for thread in self._bench.threads(root):
            given = (await self._look(thread, _LIST))["processes"]
            for one in msgspec.convert(given, list[Listed]):
                found.append(replace(one, process_id=f"{thread}.{one.process_id}"))
        return found

    async def printed(self, process: str, *, wait: bool) -> Printed:
        """What a command has printed; with `wait` once it has ended, or after five minutes."""
        thread, name = await self._apart(process)
        if wait:
            await self._part(thread, name, BEYOND, LONGEST_WAIT)
        found = await self._part(thread, name, 0, limit=HEAD + TAIL)
        output, shortened = _cut(found.output)
        left_out = 0
        if found.size > HEAD + TAIL:
            head = await self._part(thread, name, 0)
            tail = await self._part(thread, name, found.size - TAIL)
            left_out = found.size - TAIL - head.next_offset
            first, last = _cut(head.output), _cut(tail.output.lstrip(TORN))
            output = f"{first[0]}\n[… {counted(left_out, 'byte')} left out …]\n{last[0]}"
            shortened = first[1] or last[1]
        return Printed(
            found.success, process, found.state, found.exit_code, output, found.size, left_out,
            shortened or left_out > 0, found.error,
        )  # fmt: skip

    async def signal(self, process: str, signal: str, request: str) -> Any:
        """Send a signal to a command and all it started."""
        thread, name = await self._apart(process)
        arguments = {"process_id": name, "signal": signal}
        asked = Asked(
            self._caller, self._folder, "workspace_signal_process", arguments, request,
            thread=thread,
        )  # fmt: skip
        return {**await self._bench.output(asked), "process_id": process}

    async def _part(
        self, thread: str, name: str, offset: int, wait: float = 0, limit: int = HEAD
    ) -> _Part:
        try:
            given = await self._look(
                thread, _OUTPUT, process_id=name, offset=offset, limit=limit, wait_timeout=wait
            )
        except ToolProblem as problem:
            raise Missing(problem.what) from problem
        return msgspec.convert(given, _Part)

    async def _look(self, thread: str, tool: str, **arguments: Any) -> Any:
        asked = Asked(self._caller, self._folder, tool, arguments, reads=True, thread=thread)
        return await self._bench.output(asked)

    async def _apart(self, process: str) -> tuple[str, str]:
        """The thread of a process, and its name there."""
        root = await self._bench.folder(self._folder, self._caller)
        thread, _, name = process.partition(".")
        if thread not in self._bench.threads(root) or not NAME.fullmatch(name):
            raise Missing(f"There is no process “{process}” in {root}.")
        return thread, name


def _cut(text: str) -> tuple[str, bool]:
    """A part of an output with long lines cut, and whether there were any."""
    excerpt = Excerpt()
    excerpt.add(text.encode())
    return excerpt.text(), excerpt.truncated
