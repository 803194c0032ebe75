"""Tools that run beside the code on another machine, as the thread at the host has them.

Calls are begun, ordered and logged here as all calls are; what they do is done by the agent.
"""

import asyncio
import time
from collections.abc import Iterable
from types import NoneType
from typing import Any

import msgspec

from steersman.operations.executor import Outcome, Toolbox
from steersman.operations.tool import Arguments, Bench, Family, Plan, Tool
from steersman.operations.workspace import PlanningWorkspace
from steersman.records.action import Action
from steersman.records.dialogue import Call, ToolSpec
from steersman.records.errors import BudgetSpent, SteersmanError
from steersman.records.message import DiffReady, ToolResult
from steersman.store.log import Lane
from steersman.systems import Note
from steersman.threads.remote.frames import Garbled
from steersman.threads.remote.line import Line, Stopped, error_of
from steersman.threads.remote.words import (
    NO_SENSE,
    Do,
    Done,
    Offered,
    Problem,
    heard,
    understood,
)

CUT = "the line to the workspace was cut; outcome unknown"
UNKNOWN = "interrupted: what became of it is not known yet"
PATIENCE = 3.0  # seconds that a call which was stopped waits for a line that is cut

# What an agent may end a turn with; nothing that would be taken for a fault of a model.
_STOPS = frozenset({
    "BudgetSpent", "Denied", "Halted", "LeaseLost", "NeedsAnswer", "StorageProblem", "ToolProblem",
    "UsageProblem",
})  # fmt: skip


class FarTool(Tool[Arguments]):
    """A tool at the agent: what a model sees of it."""

    Args = Arguments

    def __init__(self, offered: Offered) -> None:
        self.name = offered.spec.name
        self._spec = offered.spec
        self._always = offered.always
        if offered.family not in Family.__members__:
            raise Garbled(NO_SENSE, f"No tool is of the family “{offered.family}”.")
        self.family = Family[offered.family]
        self.offered = offered.offered

    def spec(self) -> ToolSpec:
        """The tool as a model sees it."""
        return self._spec

    def always(self) -> Action | None:
        """What every call of it does, where that is known before."""
        return self._always

    async def plan(self, args: Arguments, workspace: PlanningWorkspace) -> Plan[Arguments]:
        """Plans are made where the files are."""
        raise SteersmanError(f"{self.name} is a tool of another machine.")

    async def perform(self, plan: Plan[Arguments], bench: Bench) -> Any:
        """So is what they do."""
        raise SteersmanError(f"{self.name} is a tool of another machine.")


class FarToolbox(Toolbox):
    """Runs what is the host's own here, and everything else at the agent."""

    line: Line

    def use(self, line: Line, offered: Iterable[Offered]) -> None:
        """Have the tools of an agent."""
        self.line = line
        own = {one.name for one in self.tools if not isinstance(one, FarTool)}
        self.add(FarTool(one) for one in offered if one.spec.name not in own)

    async def outcome(self, call: Call, lane: Lane, note: Note) -> Outcome:
        """What came of a call, whatever went wrong; nothing of it is in the log yet."""
        tool = self._tools.get(call.name)
        if tool is not None and not isinstance(tool, FarTool):
            return await super().outcome(call, lane, note)
        started = time.monotonic()
        try:
            await self._gate.admit(call.id, call.name, (), self._place(call, lane))  # it counts
            outcome = await self._there(call, lane)
        except BudgetSpent as limit:
            outcome = Outcome(ToolResult(call.name, "denied", message=str(limit)), stop=limit)
        spent = round(1000 * (time.monotonic() - started))
        said = "\n".join(filter(None, (outcome.result.note, note(call))))
        result = msgspec.structs.replace(outcome.result, ms=spent, note=said)
        return msgspec.structs.replace(outcome, result=result)

    async def _there(self, call: Call, lane: Lane) -> Outcome:
        withheld = self._withheld().get(call.name)
        asked = await self.line.send("do", Do(call, lane.path, lane.turn, lane.log.head, withheld))
        stop: BaseException | None = None
        while True:
            try:
                async with asyncio.timeout(PATIENCE if stop else None):
                    said = await asyncio.shield(asked.answer)
                break
            except TimeoutError:
                if not self.line.connected:  # the agent keeps what came of it
                    return Outcome(ToolResult(call.name, "interrupted", message=UNKNOWN), stop=stop)
            except asyncio.CancelledError as cancelled:
                if stop is None:
                    self.line.stop(asked)
                stop = cancelled  # what it had shown comes with the answer
            except Stopped:
                result = ToolResult(call.name, "cancelled", message="stopped while it ran")
                return Outcome(result, stop=stop)
            except SteersmanError as problem:
                result = ToolResult(call.name, "interrupted", message=f"{CUT}: {problem.what}")
                return Outcome(result, stop=stop or problem)
        try:
            done = understood(said, Done)
            outcome = outcome_of(done, stop)
            if done.tools:
                self.use(self.line, done.tools)
        except Garbled as problem:
            self.line.end(problem)
            result = ToolResult(call.name, "interrupted", message=f"{CUT}: {problem.what}")
            return Outcome(result, stop=stop or problem)
        return outcome

    async def _foresee(self, call: Call, lane: Lane, before: asyncio.Task[None] | None) -> None:
        if not isinstance(self._tools[call.name], FarTool):
            return await super()._foresee(call, lane, before)
        if before is not None:
            await before
        try:
            await self.line.ask("foresee", Do(call, lane.path, lane.turn, lane.log.head), NoneType)
        except SteersmanError:
            return None  # what is wrong shows when its turn comes
        return None

    def _written(self, call: Call, outcome: Outcome) -> None:
        """The agent need not keep what is in the log; of what it has not said, nothing is."""
        if outcome.result.status != "interrupted":
            self.line.tell("heard", call.id)


def outcome_of(done: Done, stop: BaseException | None = None) -> Outcome:
    """What an agent says of a call, as the log gets it."""
    result, *diffs = map(heard, (done.result, *done.diffs))
    if not isinstance(result, ToolResult) or not all(isinstance(one, DiffReady) for one in diffs):
        raise Garbled(NO_SENSE, "It is not what comes of a call.")
    if stop is None and done.stop is not None:
        stop = _problem(done.stop)
    return Outcome(result, tuple(diffs), stop, done.whole)


def _problem(said: Problem) -> BaseException:
    if said.kind == "Stopped":
        return asyncio.CancelledError()
    kind = said.kind if said.kind in _STOPS else ""
    return error_of(kind, said.what, said.why, said.try_this)
