"""Programs in terminals, for whoever shows them: started, listed, attached to and ended.

Each is a process of a thread of calls (`THREAD.p1`), started by a tool through the gate.
"""

from typing import TYPE_CHECKING, Any

from msgspec import Struct

from steersman.host.background import Background
from steersman.host.desk import Desk
from steersman.host.tokens import Holder
from steersman.host.workbench import Asked
from steersman.operations.running.terminal import Cells as Cells
from steersman.operations.running.terminal import Size as Size
from steersman.operations.running.terminal import Terminal
from steersman.records.errors import Denied, Missing, ToolProblem

if TYPE_CHECKING:
    from steersman.operations.running.processes import Running

SHOWN = 200


class TerminalFacts(Struct, frozen=True):
    """A program in a terminal; it has no `exit_code` while it runs."""

    id: str
    workspace: str
    command: str
    columns: int
    rows: int
    state: str
    exit_code: int | None
    seconds: float
    bytes: int


class Screen:
    """A terminal that someone is attached to."""

    def __init__(self, running: "Running", terminal: Terminal) -> None:
        self._running = running
        self.terminal = terminal

    async def end(self) -> tuple[str, int | None]:
        """How the program ended, once nothing is left of it."""
        await self._running.wait()
        return str(self._running.state), self._running.state.exit_code


class Terminals:
    """The terminals of one server, for one caller."""

    def __init__(self, desk: Desk, caller: Holder) -> None:
        self._desk = desk
        self._caller = caller

    async def start(self, folder: str, arguments: dict[str, Any], request: str) -> TerminalFacts:
        """Run a program in a terminal; its answer is the same for a request sent twice."""
        asked = Asked(self._caller, folder, "open_terminal", arguments, request)
        thread, given = await self._desk.bench.answer(asked)
        found = self._running(thread, given["process_id"])
        return _listed(thread, await self._desk.bench.folder(folder, self._caller), found)

    def listed(self) -> list[TerminalFacts]:
        """Those that run and those that ended last, in all folders of the caller's."""
        bench = self._desk.bench
        return [
            _listed(thread, folder, running)
            for folder in bench.folders(self._caller)
            for thread in bench.threads(folder)
            for running in self._all(thread).values()
        ]

    async def end(self, name: str, request: str = "") -> None:
        """End a program and all it started; one that has ended is left as it is."""
        folder, running = await self._find(name)
        if running.state.exit_code is not None:
            return
        try:
            await Background(self._desk.bench, folder, self._caller).signal(name, "KILL", request)
        except ToolProblem:
            if running.state.exit_code is None:
                raise

    async def attach(self, name: str) -> Screen:
        """What someone needs who looks at a terminal and types into it."""
        if not self._caller.may("work"):
            raise Denied("This token may not do that: it lacks the right “work”.")
        _, running = await self._find(name)
        assert running.terminal is not None, "only those with a terminal are found"
        return Screen(running, running.terminal)

    async def _find(self, name: str) -> "tuple[str, Running]":
        """A terminal by its name, and its folder; none of another folder's than the token's."""
        for folder in self._desk.bench.folders(self._caller):
            thread, _, process = name.partition(".")
            if thread in self._desk.bench.threads(folder) and process in self._all(thread):
                return folder, self._running(thread, process)
        raise Missing(f"There is no terminal “{name}”.")

    def _all(self, thread: str) -> "dict[str, Running]":
        session = self._desk.host.session(thread)
        return session.terminals if session is not None else {}

    def _running(self, thread: str, process: str) -> "Running":
        try:
            return self._all(thread)[process]
        except KeyError:
            raise Missing(f"There is no terminal “{thread}.{process}” any more.") from None


def _listed(thread: str, folder: str, running: "Running") -> TerminalFacts:
    assert running.terminal is not None, "only those with a terminal are listed"
    size, command = running.terminal.size, running.command
    return TerminalFacts(
        id=f"{thread}.{running.id}",
        workspace=folder,
        command=command if len(command) <= SHOWN else f"{command[:SHOWN]}…",
        columns=size.columns,
        rows=size.rows,
        state=str(running.state),
        exit_code=running.state.exit_code,
        seconds=round(running.seconds, 1),
        bytes=running.terminal.end,
    )
