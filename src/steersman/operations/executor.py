"""The only place where a tool is run, and it always asks the gate first."""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import Any, Protocol

import msgspec
from msgspec import Struct

from steersman.operations.changes import accepted
from steersman.operations.journal.journal import Journal
from steersman.operations.matching import counted
from steersman.operations.tool import (
    Answered,
    Arguments,
    Bench,
    Family,
    Malformed,
    Plan,
    Tool,
    changing,
)
from steersman.operations.workspace import Look, Workspace
from steersman.records.action import Action, ChangeMany, Delete, Origin, Verdict, Write
from steersman.records.dialogue import Call, ToolSpec
from steersman.records.errors import BudgetSpent, Halted, NeedsAnswer, SteersmanError, ToolProblem
from steersman.records.hunks import misfit
from steersman.records.message import (
    Body,
    DiffReady,
    Message,
    ToolCall,
    ToolProgress,
    ToolResult,
    ToolStatus,
    WholeResult,
)
from steersman.records.profile import PLAIN, Profile
from steersman.store.log import Draft, Lane
from steersman.systems import Edited, Governance, Note, Permit

AnyTool = Tool[Any]
STOPPING = (NeedsAnswer, Halted, BudgetSpent)  # what ends the turn and not only the call


class Refused(ToolProblem):
    """The gate said no; the reason, and what to do instead, go to whoever asked."""


class Ready(Struct, frozen=True):
    """A plan that may be performed, and where; `left_out` is what the person did not accept."""

    plan: Plan[Any]
    workspace: Workspace
    profile: Profile
    left_out: str = ""


class Outcome(Struct, frozen=True):
    """What came of a call: its result, the diffs it made, and what must stop the turn.

    `whole` is the answer of an MCP server as it was sent, for the caller and not for the log.
    """

    result: ToolResult
    diffs: tuple[Body, ...] = ()
    stop: BaseException | None = None
    whole: Mapping[str, Any] | None = None


class Reserve(Protocol):
    """Tools that join the others while a thread is open."""

    def joined(self) -> Sequence[AnyTool]:
        """Those that have joined, in the order they did."""
        ...

    async def fetch(self, name: str) -> AnyTool | None:
        """The tool of a name that has not joined, if there is one."""
        ...


class NoReserve:
    """No other tools than those that were there from the start."""

    def joined(self) -> Sequence[AnyTool]:
        """None."""
        return ()

    async def fetch(self, name: str) -> AnyTool | None:
        """None."""
        return None


def _nothing_forbidden(_: str) -> Verdict | None:
    return None


class Toolbox:
    """Runs calls of a set of tools in one workspace, through one gate.

    A tool that is forbidden now is not offered, and refused if it does nothing a gate could judge.
    """

    def __init__(
        self,
        tools: Sequence[AnyTool],
        workspace: Workspace,
        journal: Journal,
        gate: Governance,
        reserve: Reserve | None = None,
        forbids: Callable[[str], Verdict | None] = _nothing_forbidden,
    ) -> None:
        self._forbids = forbids
        self._tools = {tool.name: tool for tool in tools}
        self._reserve = reserve or NoReserve()
        self._workspace = workspace
        self._journal = journal
        self._gate = gate
        self._slots = {family: asyncio.Semaphore(family.limit) for family in Family}
        self._specs: tuple[ToolSpec, ...] | None = None
        self._offered: tuple[ToolSpec, ...] = ()

    def specs(self) -> tuple[ToolSpec, ...]:
        """The tools as a model sees them, in a stable order; what joined them is at the end."""
        joined = [tool for tool in self._reserve.joined() if tool.name not in self._tools]
        if joined or self._specs is None:
            self._tools |= {tool.name: tool for tool in joined}
            self._specs = tuple(tool.spec() for tool in self._tools.values())
            self._offered = ()
        offered = tuple(spec for spec in self._specs if self._forbids(spec.name) is None)
        if len(offered) != len(self._offered) or offered != self._offered:
            self._offered = offered
        return self._offered  # the same object as long as nothing changes

    def announce(self, call: Call, lane: Lane) -> Draft:
        """The `tool_call` message for a call."""
        body = ToolCall(call.name, call.arguments, call.malformed)
        return self._place(call, lane).draft(body, call.id)

    async def execute(self, calls: Sequence[Call], lane: Lane, note: Note) -> list[Message]:
        """Carry out announced calls; every one of them ends with a `tool_result`.

        Neighbouring calls run together where their family allows it; the others keep their order.
        Calls are known by their ids alone, so an earlier process may have announced them.
        """
        results: dict[str, Message] = {}
        answered: set[str] = set()

        async def carry_out(call: Call) -> None:
            outcome = await self._outcome(call, lane, note)
            place = self._place(call, lane)
            answered.add(call.id)  # what the log has begun to write is written, cancelled or not
            written = await place.append(*outcome.diffs, outcome.result, corr=call.id)
            results[call.id] = _with_whole(written[-1], outcome.whole)
            if outcome.stop is not None:
                raise outcome.stop

        try:
            for together, group in groupby(calls, key=self._runs_together):
                if together:
                    await _all(carry_out(call) for call in group)
                else:
                    for call in group:
                        await carry_out(call)
        finally:
            for call in calls:
                if call.id not in answered:
                    unrun = ToolResult(call.name, "cancelled", message="not run: the turn ended")
                    await self._place(call, lane).append(unrun, corr=call.id)
        return [results[call.id] for call in calls]

    def _runs_together(self, call: Call) -> bool:
        tool = self._tools.get(call.name)
        return tool is None or tool.family.limit > 1

    def _place(self, call: Call, lane: Lane) -> Lane:
        return lane.at("operations", call.name if call.name in self._tools else "unknown")

    async def _outcome(self, call: Call, lane: Lane, note: Note) -> Outcome:
        """What came of a call, whatever went wrong."""
        started = time.monotonic()
        stop: BaseException | None = None
        try:
            outcome = await self._carry_out(call, self._place(call, lane))
        except asyncio.CancelledError as cancelled:
            stop = cancelled
            result = ToolResult(call.name, "cancelled", message="cancelled while it ran")
            outcome = Outcome(result)
        except SteersmanError as error:
            stop = error if isinstance(error, STOPPING) else None
            outcome = Outcome(_failed(call, error))
        except OSError as error:
            message = f"{call.name} cannot do that: {error.strerror or error}."
            outcome = Outcome(ToolResult(call.name, "error", message=message))
        except Exception as error:
            # A defect of one tool must not end the turn; the model and the person are told.
            message = f"{call.name} failed: {type(error).__name__}: {error}"
            outcome = Outcome(ToolResult(call.name, "error", message=message))
        spent = round(1000 * (time.monotonic() - started))
        said = "\n".join(filter(None, (outcome.result.note, note(call))))
        result = msgspec.structs.replace(outcome.result, ms=spent, note=said)
        return msgspec.structs.replace(outcome, result=result, stop=stop)

    async def _carry_out(self, call: Call, lane: Lane) -> Outcome:
        await self._gate.admit(call.id, call.name, (), lane)  # it counts, whatever it is
        tool = self._tools.get(call.name) or await self._reserve.fetch(call.name)
        if tool is None:
            raise Malformed(
                f"There is no tool “{call.name}”.",
                f"The tools are: {', '.join(self._tools)}.",
                "Use one of them.",
            )
        args = tool.parse(call)
        async with self._slots[tool.family]:
            ready = await self._ready(tool, args, call, lane)
            output = await self._perform(ready, tool, call, lane)
        diffs = tuple(_diff(write, ready.workspace) for write in ready.workspace.written)
        whole = None
        if isinstance(output, Answered):
            if output.failed is not None:
                return Outcome(_failed(call, output.failed), whole=output.whole)
            output, whole = output.output, output.whole
        said = _as_json(msgspec.to_builtins(output))
        return Outcome(
            ToolResult(call.name, "ok", output=said, note=ready.left_out), diffs, whole=whole
        )

    async def _perform(self, ready: Ready, tool: AnyTool, call: Call, lane: Lane) -> Any:
        showing = Showing(lane, call.id)
        bench = Bench(
            workspace=ready.workspace,
            journal=self._journal,
            lane=lane,
            call=call.id,
            progress=showing.show,
            admit=lambda actions: self._also(actions, tool, call, lane, ready.workspace),
            record=lambda actions: self._past(actions, tool, call, lane),
            profile=ready.profile,
        )
        try:
            return await tool.perform(ready.plan, bench)
        finally:
            showing.finish()

    async def _ready(
        self, tool: AnyTool, args: Arguments, call: Call, lane: Lane, *, edited: bool = False
    ) -> Ready:
        """The plan of a call, with permission for exactly what it will do.

        The person may have changed the arguments; what they made of them is planned and judged
        like any other.
        """
        planning = self._workspace.planning(lambda looks: self._look(looks, tool, call, lane))
        plan = await tool.plan(args, planning)
        asked = [stamped(action, "tool") for action in plan.actions]
        if not asked and (forbidden := self._forbids(tool.name)) is not None:
            raise _refused(forbidden)
        leave = await self._leave(asked, tool, call, lane, edited=edited)
        if not isinstance(leave, Edited):
            workspace = self._workspace.granted(leave.actions, leave.secret)
            return Ready(plan, workspace, leave.profile)
        if leave.arguments is None:
            return await self._partly(plan, leave, tool, call, lane)
        changed = msgspec.structs.replace(call, arguments=leave.arguments, malformed=None)
        return await self._ready(tool, tool.parse(changed), changed, lane, edited=True)

    async def _partly(
        self, plan: Plan[Any], edited: Edited, tool: AnyTool, call: Call, lane: Lane
    ) -> Ready:
        """The plan with only the accepted hunks, judged once more."""
        hunks = edited.hunks or ()
        wanted = [action for action in plan.actions if _path(action) in edited.asked]
        why = misfit(wanted, hunks) if plan.changes else "This call cannot be accepted in part."
        if why:
            raise Refused(why, "Nothing was done.")
        kept, left_out = await asyncio.to_thread(accepted, plan.changes, edited.asked, hunks)
        if not kept:
            raise Refused("Denied: the user accepted none of the changes.", "Rule: person.")
        partly = changing(plan.args, kept)
        asked = [stamped(action, "tool") for action in partly.actions]
        leave = await self._leave(asked, tool, call, lane, edited=True)
        assert not isinstance(leave, Edited)  # nobody is asked again
        workspace = self._workspace.granted(leave.actions, leave.secret)
        return Ready(partly, workspace, leave.profile, left_out)

    async def _look(self, looks: Sequence[Look], tool: AnyTool, call: Call, lane: Lane) -> Permit:
        """Put what a plan must look at before the gate."""
        leave = await self._leave(looks, tool, call, lane)
        if isinstance(leave, Edited):
            raise Refused("Only what is about to be done can be changed.")
        return leave

    async def _also(
        self,
        actions: Sequence[Action],
        tool: AnyTool,
        call: Call,
        lane: Lane,
        workspace: Workspace,
    ) -> Permit:
        """Put what a call turned out to do before the gate.

        It is a command's effect only where a command was let through; a tool cannot say so itself.
        """
        origin: Origin = "command" if workspace.may_execute else "tool"
        leave = await self._leave([stamped(a, origin) for a in actions], tool, call, lane)
        if isinstance(leave, Edited):
            raise Refused("What a command did can be allowed or not, and not be changed.")
        return leave

    async def _past(self, actions: Sequence[Action], tool: AnyTool, call: Call, lane: Lane) -> None:
        """Tell the gate what a command did that was let run on the folder itself."""
        await self._leave([stamped(action, "past") for action in actions], tool, call, lane)

    async def _leave(
        self,
        actions: Sequence[Action],
        tool: AnyTool,
        call: Call,
        lane: Lane,
        *,
        edited: bool = False,
    ) -> Permit | Edited:
        if not actions:
            return NONE
        answer = await self._gate.admit(call.id, tool.name, actions, lane, edited=edited)
        if isinstance(answer, Verdict):
            raise _refused(answer)
        return answer


def _refused(verdict: Verdict) -> Refused:
    reason = f"Denied: {verdict.reason.rstrip('.')}."
    return Refused(reason, f"Rule: {verdict.rule}.", verdict.instead)


class Nothing(Struct, frozen=True):
    """Leave for nothing, which needs nobody's."""

    actions: tuple[Action, ...] = ()
    profile: Profile = PLAIN
    secret: str = ""


NONE = Nothing()


class Showing:
    """What a running tool shows, piece by piece, never a part of a secret."""

    def __init__(self, lane: Lane, call: str) -> None:
        self._lane = lane
        self._call = call
        self._words = lane.log.redactor.stream()

    def show(self, text: str) -> None:
        """Broadcast a piece."""
        self._send(self._words.feed(text))

    def finish(self) -> None:
        """Broadcast what was held back."""
        self._send(self._words.flush())

    def _send(self, text: str) -> None:
        if text:
            self._lane.broadcast(ToolProgress(text), corr=self._call)


async def _all(running: Any) -> None:
    """Run coroutines together; the first that stops the turn stops the others."""
    try:
        async with asyncio.TaskGroup() as group:
            for coroutine in running:
                group.create_task(coroutine)
    except BaseExceptionGroup as several:
        # One problem is told, in one sentence; the others are mostly the same.
        raise _first(several) from None


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    error = group.exceptions[0]
    return _first(error) if isinstance(error, BaseExceptionGroup) else error


def stamped(action: Action, origin: Origin) -> Action:
    """An action as the effect of whoever really causes it."""
    if isinstance(action, Write | Delete | ChangeMany):
        return msgspec.structs.replace(action, origin=origin)
    return action


def _as_json(value: Any) -> Any:
    """An answer as it will be read from the log: a tuple is a list there."""
    if isinstance(value, dict):
        return {name: _as_json(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_as_json(inner) for inner in value]
    return value


def _with_whole(message: Message, whole: Mapping[str, Any] | None) -> Message:
    """The logged result as the caller gets it."""
    if not whole or not isinstance(message.body, ToolResult):
        return message
    body = WholeResult(**msgspec.structs.asdict(message.body), whole=whole)
    return msgspec.structs.replace(message, body=body)


def _path(action: Action) -> str:
    return action.path if isinstance(action, Write | Delete) else ""


def _failed(call: Call, error: SteersmanError) -> ToolResult:
    return ToolResult(call.name, _status(error), message=str(error))


def _status(error: SteersmanError) -> ToolStatus:
    if isinstance(error, Malformed):
        return "malformed"
    return "denied" if isinstance(error, (Refused, *STOPPING)) else "error"


def _diff(write: Write | Delete, workspace: Workspace) -> DiffReady:
    return DiffReady(workspace.shown(write.path), write.diff, *counted(write.diff))
