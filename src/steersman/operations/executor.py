"""The only place where a tool is run, and it always asks the gate first."""

import asyncio
import time
from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any, Protocol

import msgspec
from msgspec import Struct

from steersman.operations.journal.journal import Journal
from steersman.operations.matching import counted
from steersman.operations.tool import Arguments, Bench, Family, Malformed, Tool
from steersman.operations.workspace import Workspace
from steersman.records.action import Action, ChangeMany, Delete, Origin, Verdict, Write
from steersman.records.dialogue import Call, ToolSpec
from steersman.records.errors import BudgetSpent, Halted, NeedsAnswer, SteersmanError, ToolProblem
from steersman.records.message import (
    Body,
    DiffReady,
    Message,
    ToolCall,
    ToolProgress,
    ToolResult,
    ToolStatus,
)
from steersman.records.profile import PLAIN, Profile
from steersman.store.log import Draft, Lane
from steersman.systems import Edited, Governance, Note, Permit

AnyTool = Tool[Any]
STOPPING = (NeedsAnswer, Halted, BudgetSpent)  # what ends the turn and not only the call


class Refused(ToolProblem):
    """The gate said no; the reason, and what to do instead, go to whoever asked."""


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
        """
        results: dict[str, Message] = {}
        answered: set[str] = set()

        async def carry_out(call: Call) -> None:
            body, diffs, stop = await self._outcome(call, lane, note)
            place = self._place(call, lane)
            answered.add(call.id)  # what the log has begun to write is written, cancelled or not
            results[call.id] = (await place.append(*diffs, body, corr=call.id))[-1]
            if stop is not None:
                raise stop

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

    async def _outcome(
        self, call: Call, lane: Lane, note: Note
    ) -> tuple[ToolResult, list[Body], BaseException | None]:
        """What came of a call: its result, the diffs it made, and what must stop the turn."""
        started = time.monotonic()
        diffs: list[Body] = []
        stop: BaseException | None = None
        try:
            output, diffs = await self._perform(call, self._place(call, lane))
            result = ToolResult(call.name, "ok", output=output)
        except asyncio.CancelledError as cancelled:
            stop = cancelled
            result = ToolResult(call.name, "cancelled", message="cancelled while it ran")
        except SteersmanError as error:
            stop = error if isinstance(error, STOPPING) else None
            result = ToolResult(call.name, _status(error), message=str(error))
        except OSError as error:
            message = f"{call.name} cannot do that: {error.strerror or error}."
            result = ToolResult(call.name, "error", message=message)
        except Exception as error:
            # A defect of one tool must not end the turn; the model and the person are told.
            message = f"{call.name} failed: {type(error).__name__}: {error}"
            result = ToolResult(call.name, "error", message=message)
        spent = round(1000 * (time.monotonic() - started))
        return msgspec.structs.replace(result, ms=spent, note=note(call)), diffs, stop

    async def _perform(self, call: Call, lane: Lane) -> tuple[Any, list[Body]]:
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
            args, workspace, profile = await self._admit(tool, args, call, lane)
            showing = Showing(lane, call.id)
            bench = Bench(
                workspace=workspace,
                journal=self._journal,
                lane=lane,
                call=call.id,
                progress=showing.show,
                admit=lambda actions: self._also(actions, tool, call, lane, workspace),
                record=lambda actions: self._past(actions, tool, call, lane),
                profile=profile,
            )
            try:
                output = await tool.run(args, bench)
            finally:
                showing.finish()
        said = _as_json(msgspec.to_builtins(output))
        return said, [_diff(write, workspace) for write in workspace.written]

    async def _admit(
        self, tool: AnyTool, args: Arguments, call: Call, lane: Lane, *, edited: bool = False
    ) -> tuple[Arguments, Workspace, Profile]:
        """The workspace with leave for exactly what the call will do.

        The person may have changed the arguments; what they made of them is judged like any other.
        """
        looked = await self._leave(tool.looks(args, self._workspace), tool, call, lane)
        if isinstance(looked, Edited):
            raise Refused("Only what is about to be done can be changed.")
        wanted = tool.actions(args, self._workspace.granted(looked.actions, looked.secret))
        asked = [stamped(action, "tool") for action in wanted]
        if not asked and (forbidden := self._forbids(tool.name)) is not None:
            raise _refused(forbidden)
        leave = await self._leave(asked, tool, call, lane, edited=edited)
        if isinstance(leave, Edited):
            changed = msgspec.structs.replace(call, arguments=leave.arguments, malformed=None)
            return await self._admit(tool, tool.parse(changed), changed, lane, edited=True)
        granted = self._workspace.granted((*looked.actions, *leave.actions), leave.secret)
        return args, granted, leave.profile

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


def _status(error: SteersmanError) -> ToolStatus:
    if isinstance(error, Malformed):
        return "malformed"
    return "denied" if isinstance(error, (Refused, *STOPPING)) else "error"


def _diff(write: Write | Delete, workspace: Workspace) -> DiffReady:
    return DiffReady(workspace.shown(write.path), write.diff, *counted(write.diff))
