"""The only place where a tool is run, and it always asks the gate first."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from itertools import filterfalse, groupby
from typing import Any, Protocol

import msgspec
from msgspec import Struct

from steersman.operations.admission import Admission, Ready, Refused, refused, stamped
from steersman.operations.changes import diffs_of
from steersman.operations.journal.journal import Journal
from steersman.operations.tool import Answered, Bench, Family, Malformed, Tool
from steersman.operations.workspace import Look, Workspace
from steersman.records.action import Verdict
from steersman.records.dialogue import Call, ToolSpec
from steersman.records.errors import BudgetSpent, Halted, NeedsAnswer, SteersmanError
from steersman.records.message import (
    MASK,
    Body,
    Message,
    ToolCall,
    ToolProgress,
    ToolResult,
    ToolStatus,
    WholeResult,
)
from steersman.store.log import Draft, Lane
from steersman.systems import CallHooks, Governance, Hooked, Note, Permit

AnyTool = Tool[Any]
MASKED = (
    "interrupted: it had not begun, and its arguments held a secret, which the log does not keep; "
    "make the call again"
)
TAIL = 4000  # characters kept of what a call had shown when it was stopped
STOPPING = (NeedsAnswer, Halted, BudgetSpent)  # what ends the turn and not only the call


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


_NOTHING_WITHHELD: Mapping[str, Verdict] = {}


class Toolbox:
    """Runs calls of a set of tools in one workspace, through one gate.

    A tool that is withheld now is not offered, and refused if it does nothing a gate could judge.
    `milestone` is called before each call: what continues beside it is settled so far.
    """

    def __init__(
        self,
        tools: Sequence[AnyTool],
        workspace: Workspace,
        journal: Journal,
        gate: Governance,
        reserve: Reserve | None = None,
        withheld: Callable[[], Mapping[str, Verdict]] = lambda: _NOTHING_WITHHELD,
        milestone: Callable[[], Awaitable[None]] | None = None,
        hooks: CallHooks | None = None,
    ) -> None:
        self._hooks = hooks
        self._withheld = withheld
        self._milestone = milestone
        self._tools = {tool.name: tool for tool in tools}
        self._reserve = reserve or NoReserve()
        self._workspace = workspace
        self._journal = journal
        self._gate = gate
        self._slots = {family: asyncio.Semaphore(family.limit) for family in Family}
        self._shown: dict[str, str] = {}  # by calls that are ending
        self._offered: tuple[ToolSpec, ...] = ()
        self._offered_without: Mapping[str, Verdict] | None = None

    def specs(self) -> tuple[ToolSpec, ...]:
        """The tools as a model sees them, in a stable order; what joined them is at the end."""
        joined = [tool for tool in self._reserve.joined() if tool.name not in self._tools]
        without = self._withheld()
        if joined or without is not self._offered_without:
            self._tools |= {tool.name: tool for tool in joined}
            tools = [tool for name, tool in self._tools.items() if name not in without]
            tools = [one for one in tools if one.offered and not self._forbidden(one)]
            self._offered, self._offered_without = tuple(tool.spec() for tool in tools), without
        return self._offered  # the same object as long as nothing changes

    @property
    def tools(self) -> Collection[AnyTool]:
        """The tools there are, offered or not."""
        return self._tools.values()

    def add(self, tools: Iterable[AnyTool]) -> None:
        """Have further tools, from the next call on."""
        self._tools |= {tool.name: tool for tool in tools}
        self._offered_without = None

    def _forbidden(self, tool: AnyTool) -> bool:
        action = tool.always()
        return action is not None and self._gate.forbids(action)

    def announce(self, call: Call, lane: Lane) -> Draft:
        """The `tool_call` message for a call."""
        body = ToolCall(call.name, call.arguments, call.malformed, call.typed)
        return self._place(call, lane).draft(body, call.id)

    async def execute(self, calls: Sequence[Call], lane: Lane, note: Note) -> list[Message]:
        """Carry out announced calls; every one of them ends with a `tool_result`.

        Neighbouring calls run together where their family allows it; the others keep their order.
        Calls are known by their ids alone, so an earlier process may have announced them.
        """
        results: dict[str, Message] = {}
        answered: set[str] = set()
        ahead = self._ahead(calls, lane)

        async def carry_out(call: Call) -> None:
            if call.id in ahead:
                await ahead[call.id]
            outcome = await self.outcome(call, lane, note)
            place = self._place(call, lane)
            answered.add(call.id)  # what the log has begun to write is written, cancelled or not
            written = await place.append(*outcome.diffs, outcome.result, corr=call.id)
            self._written(call, outcome)
            results[call.id] = _with_whole(written[-1], outcome.whole)
            self._gate.over(call.id)
            if outcome.stop is not None:
                raise outcome.stop

        try:
            for together, group in groupby(calls, key=self._runs_together):
                if together:
                    await _all(partial(carry_out, call) for call in group)
                else:
                    for call in group:
                        await carry_out(call)
        finally:
            for task in ahead.values():
                task.cancel()
            await asyncio.gather(*ahead.values(), return_exceptions=True)
            for call in calls:
                self._gate.over(call.id)
                if call.id not in answered:
                    unrun = ToolResult(call.name, "cancelled", message="not run: the turn ended")
                    await self._place(call, lane).append(unrun, corr=call.id)
        return [results[call.id] for call in calls]

    def _written(self, call: Call, outcome: Outcome) -> None:
        """What came of a call is in the log; nothing follows from that here."""

    async def resume(self, announced: Sequence[Message], lane: Lane, note: Note) -> list[Message]:
        """Carry out calls that an earlier process announced and did not begin, by their ids.

        `announced` are their `tool_call` messages. A call whose arguments the log does not have
        in full is not carried out; its result says so.
        """
        calls = [called(message) for message in announced]
        results: dict[str | None, Message] = {}
        for call in filter(_is_masked, calls):
            lost = ToolResult(call.name, "interrupted", message=MASKED)
            (results[call.id],) = await self._place(call, lane).append(lost, corr=call.id)
        for message in await self.execute(list(filterfalse(_is_masked, calls)), lane, note):
            results[message.corr] = message
        return [results[call.id] for call in calls]

    def _ahead(self, calls: Sequence[Call], lane: Lane) -> dict[str, asyncio.Task[None]]:
        """Ask about the edits of an answer all at once, in their order.

        An edit that has become another one by its turn is asked about again. What a command does
        may depend on those before it, whatever its words are, so it is asked about in its turn; and
        so is everything where hooks may change it.
        """
        tasks: dict[str, asyncio.Task[None]] = {}
        before: asyncio.Task[None] | None = None
        early = len(calls) > 1 and self._gate.asks_early and self._hooks is None
        for call in calls if early else ():
            tool = self._tools.get(call.name)
            if tool is not None and tool.family is Family.EDIT:
                before = asyncio.create_task(self._foresee(call, lane, before))
                tasks[call.id] = before
        return tasks

    async def foresee(self, call: Call, lane: Lane) -> None:
        """Ask about a call before its turn has come, if it is one of those."""
        if call.name in self._tools:
            await self._foresee(call, lane, None)

    async def _foresee(self, call: Call, lane: Lane, before: asyncio.Task[None] | None) -> None:
        """Ask about a call that others go before, so that people are asked once about all.

        What it does may depend on those: then its own turn tells, and nothing is asked now.
        """
        tool = self._tools[call.name]

        async def look(looks: Sequence[Look]) -> Permit:
            permit = await self._gate.glance(call.id, tool.name, looks, self._place(call, lane))
            if permit is None:
                raise Refused("It can only be looked at when its turn has come.")
            return permit

        try:
            if before is not None:
                await before
            plan = await tool.plan(tool.parse(call), self._workspace.planning(look))
            actions = [stamped(action, "tool") for action in plan.actions]
            await self._gate.foresee(call.id, call.name, actions, self._place(call, lane))
        except (SteersmanError, OSError):
            return  # what is wrong with it shows when its turn comes

    def _runs_together(self, call: Call) -> bool:
        tool = self._tools.get(call.name)
        return tool is None or tool.family.limit > 1

    def _place(self, call: Call, lane: Lane) -> Lane:
        return lane.at("operations", call.name if call.name in self._tools else "unknown")

    async def outcome(self, call: Call, lane: Lane, note: Note) -> Outcome:
        """What came of a call, whatever went wrong; nothing of it is in the log yet."""
        started = time.monotonic()
        stop: BaseException | None = None
        try:
            outcome = await self._hooked(call, lane)
        except asyncio.CancelledError as cancelled:
            stop = cancelled
            shown = self._shown.get(call.id, "")
            outcome = Outcome(
                ToolResult(
                    call.name,
                    "cancelled",
                    output={"output": shown} if shown else None,
                    message="stopped while it ran",
                )
            )
        except SteersmanError as error:
            stop = error if isinstance(error, STOPPING) else None
            outcome = Outcome(_failed(call, error))
        except OSError as error:
            message = f"{call.name} cannot do that: {error.strerror or error}."
            outcome = Outcome(ToolResult(call.name, "error", message=message))
        except Exception as error:
            # A defect of one tool must not end the turn; the model and the user are reported.
            message = f"{call.name} failed: {type(error).__name__}: {error}"
            outcome = Outcome(ToolResult(call.name, "error", message=message))
        self._shown.pop(call.id, None)
        spent = round(1000 * (time.monotonic() - started))
        said = "\n".join(filter(None, (outcome.result.note, note(call))))
        result = msgspec.structs.replace(outcome.result, ms=spent, note=said)
        return msgspec.structs.replace(outcome, result=result, stop=stop or outcome.stop)

    async def _hooked(self, call: Call, lane: Lane) -> Outcome:
        """Carry a call out, with what people have run before and after it."""
        place = self._place(call, lane)
        if self._hooks is None or call.malformed is not None:
            return await self._carry_out(call, place)
        before = await self._hooks.before(call, lane)
        if before.stop:
            raise _stopped(before)
        if before.refuse:
            raise Refused(f"Denied by a hook: {before.refuse}", before.told)
        if before.ask:
            self._gate.hold(call.id, before.ask)
        outcome = await self._carry_out(before.call, place)
        told, stop = "", outcome.stop
        if outcome.result.status == "ok":
            try:
                after = await self._hooks.after(before.call, outcome.result, lane)
                told, stop = after.told, _stopped(after) if after.stop else stop
            except (asyncio.CancelledError, *STOPPING) as stopping:
                stop = stopping  # what the call did is done, and its result says so
            except Exception as error:
                told = f"The hooks after it failed: {error}"
        said = "\n".join(filter(None, (outcome.result.note, before.told, told)))
        result = msgspec.structs.replace(outcome.result, note=said)
        return msgspec.structs.replace(outcome, result=result, stop=stop)

    async def _carry_out(self, call: Call, lane: Lane) -> Outcome:
        await self._gate.admit(call.id, call.name, (), lane)  # it counts, whatever it is
        tool = self._tools.get(call.name) or await self._reserve.fetch(call.name)
        if tool is None:
            raise Malformed(
                f"There is no tool “{call.name}”.",
                f"The tools are: {', '.join(spec.name for spec in self.specs())}.",
                "Use one of them.",
            )
        args = tool.parse(call)
        if self._milestone is not None:
            await self._milestone()
        # What a person types runs at once, beside what runs or waits for an answer.
        async with nullcontext() if call.typed else self._slots[tool.family]:
            admission = Admission(self._gate, self._workspace, tool, call, lane)
            ready = await admission.ready(args)
            if not ready.plan.actions and (verdict := self._withheld().get(tool.name)) is not None:
                raise refused(verdict)
            output = await self._perform(ready, admission, tool)
        stop = admission.unanswered  # also where the call ended well without it
        diffs = tuple(diffs_of(ready.workspace.written, ready.workspace))
        whole = None
        if isinstance(output, Answered):
            if output.failed is not None:
                return Outcome(_failed(call, output.failed), whole=output.whole, stop=stop)
            output, whole = output.output, output.whole
        said = _as_json(msgspec.to_builtins(output))
        result = ToolResult(call.name, "ok", output=said, note=ready.left_out)
        return Outcome(result, diffs, whole=whole, stop=stop)

    async def _perform(self, ready: Ready, admission: Admission, tool: AnyTool) -> Any:
        showing = Showing(admission.lane, admission.call.id)
        bench = Bench(
            workspace=ready.workspace,
            journal=self._journal,
            lane=admission.lane,
            call=admission.call.id,
            progress=showing.show,
            admit=lambda actions: admission.also(actions, ready.workspace),
            record=admission.past,
            profile=ready.profile,
            typed=admission.call.typed,
        )
        try:
            return await tool.perform(ready.plan, bench)
        finally:
            showing.finish()
            self._shown[admission.call.id] = showing.tail


class Showing:
    """What a running tool shows, piece by piece, never a part of a secret."""

    def __init__(self, lane: Lane, call: str) -> None:
        self._lane = lane
        self._call = call
        self._words = lane.log.redactor.stream()
        self.tail = ""  # the end of what was shown

    def show(self, text: str) -> None:
        """Broadcast a piece."""
        self._send(self._words.feed(text))

    def finish(self) -> None:
        """Broadcast what was held back."""
        self._send(self._words.flush())

    def _send(self, text: str) -> None:
        if text:
            self.tail = (self.tail + text)[-TAIL:]
            self._lane.broadcast(ToolProgress(text), corr=self._call)


async def _all(works: Iterable[Callable[[], Awaitable[None]]]) -> None:
    """Do several things together; the first that stops the turn stops the others.

    A budget that is spent stops what would begin now. What began within it finishes.
    """
    spent: list[BudgetSpent] = []

    async def finish(work: Callable[[], Awaitable[None]]) -> None:
        try:
            await work()
        except BudgetSpent as problem:
            spent.append(problem)

    try:
        async with asyncio.TaskGroup() as group:
            for work in works:
                group.create_task(finish(work))
    except BaseExceptionGroup as several:
        # One problem is reported, in one sentence; the others are mostly the same.
        raise _first(several) from None
    if spent:
        raise spent[0]


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    error = group.exceptions[0]
    return _first(error) if isinstance(error, BaseExceptionGroup) else error


def _as_json(value: Any) -> Any:
    """An answer as it will be read from the log: a tuple is a list there."""
    if isinstance(value, dict):
        return {name: _as_json(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_as_json(inner) for inner in value]
    return value


def called(message: Message) -> Call:
    """The call that a `tool_call` message announced."""
    body = message.body
    assert isinstance(body, ToolCall)
    return Call(message.corr or "", body.tool, body.arguments, body.malformed, body.typed)


def _is_masked(call: Call) -> bool:
    return MASK in msgspec.json.encode(call).decode()


def _with_whole(message: Message, whole: Mapping[str, Any] | None) -> Message:
    """The logged result as the caller gets it."""
    if not whole or not isinstance(message.body, ToolResult):
        return message
    body = WholeResult(**msgspec.structs.asdict(message.body), whole=whole)
    return msgspec.structs.replace(message, body=body)


def _stopped(hooked: Hooked) -> Halted:
    return Halted(f"A hook stopped the turn: {hooked.stop.rstrip('.')}.", hooked.told)


def _failed(call: Call, error: SteersmanError) -> ToolResult:
    return ToolResult(call.name, _status(error), message=str(error))


def _status(error: SteersmanError) -> ToolStatus:
    if isinstance(error, Malformed):
        return "malformed"
    return "denied" if isinstance(error, (Refused, *STOPPING)) else "error"
