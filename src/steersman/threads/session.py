"""An open thread, in one process at a time; its turns are in `turning.py`.

What is asked of it, by this process or through the inbox, goes through `take`.
"""

import asyncio
from functools import singledispatchmethod
from typing import Any

import msgspec

from steersman import __version__
from steersman.coordination.floor import FloorState, Move
from steersman.coordination.recovery import Resumption
from steersman.identity.settings import with_values
from steersman.intelligence.loop import error_body
from steersman.records.dialogue import Call
from steersman.records.errors import (
    Exit,
    LeaseLost,
    NeedsAnswer,
    SteersmanError,
    UsageProblem,
)
from steersman.records.inbox import (
    LATER,
    Aside,
    Asked,
    CallTool,
    Cancel,
    Compact,
    Rewound,
    Set,
    Undo,
    UndoTold,
    Unreadable,
)
from steersman.records.message import (
    Checkpoint,
    Error,
    Message,
    SessionEnd,
    SessionStart,
    SettingsChanged,
    UndoEnd,
)
from steersman.records.outcomes import STATUS
from steersman.records.settings import Settings
from steersman.records.undo import UndoPlan
from steersman.store.cause import NO_CAUSE, Cause
from steersman.store.log import Lane
from steersman.threads import recalling
from steersman.threads.capsule import last_words
from steersman.threads.systems import ThreadSystems
from steersman.threads.thinking import Mind
from steersman.threads.turning import ROOT, Turning


class Session(Turning):
    """One process's work on one thread."""

    async def begin(self, *, resume: bool = True) -> Resumption | None:
        """Take up the thread where it was left.

        The answer is a turn that waited for an answer when its process died, and is to continue;
        without `resume` such a turn is closed like any other that was cut off.
        """
        systems: type[ThreadSystems] = ThreadSystems
        if self.setup.reach is not None:
            from steersman.threads.remote.systems import FarSystems as systems
        self._systems = await systems.open(
            self.log, self.setup, self._mind, self._inputs, self._switch
        )
        try:
            return await self._begin(resume=resume)
        except BaseException:
            await self._systems.close()
            raise

    async def _begin(self, *, resume: bool) -> Resumption | None:
        waits = ROOT if resume and self._mind else None
        kept = await self._systems.recover(self.log, waits)
        self._turn = await recalling.last_turn(self.log)
        if self._systems.capsule is not None:
            await recalling.conversation(self.log, self._context)
            self._watching.enter_context(self.log.watched_by(self._context.observe))
            if self._systems.external.gateway is not None:
                calls = await recalling.messages(self.log, {"tool_call"})
                self._systems.external.recall(calls)
        if self._systems.budget.counts_thread:
            spent = await recalling.messages(self.log, {"usage", "tool_call", "agent_spawn"})
            self._systems.budget.recall(spent)
        for watcher in (self._systems.budget.observe, self._systems.gate.observe):
            self._watching.enter_context(self.log.watched_by(watcher))
        self._inputs.observe(await recalling.messages(self.log, {"steer"}))
        await self._inputs.requeue(self._lane("coordination"))
        start = SessionStart(
            version=__version__,
            workspace=self.setup.workspace.root,
            model=self.model,
            mode=self.settings.mode,
            trust=self.settings.trust,
            approvals=self.settings.approvals,
            add_dir=self.settings.add_dir,
        )
        audits = [*self.setup.audits, *self._systems.told, *self._systems.external.audits()]
        if (own := self._systems.extensions) is not None:
            audits += own.audits
        if (hooks := self._systems.hooks) is not None:
            audits += hooks.audits
            self._watching.enter_context(self.log.watched_by(hooks.observe))
        await self._lane().append(start, *audits)
        lane = self._lane("operations")
        for told in await self._systems.tidy(lane):
            await lane.append(Error(told))
        return kept

    # What is asked of it

    @singledispatchmethod
    async def take(self, asked: Asked, cause: Cause = NO_CAUSE) -> Any:
        """Do what is asked, or raise why not; the log says both what was done and for whom.

        What takes long is begun for a request and done for this process: see `_begun`; where the
        answer is a task, the request is settled when that ends.
        """
        raise UsageProblem(
            "This version of Steersman does not understand the request.",
            asked.why if isinstance(asked, Unreadable) else "",
            "Update the program that runs the thread.",
        )

    take.register(Turning._send)
    take.register(Turning._steer)
    take.register(Turning._hasten)
    take.register(Turning._withdraw)
    take.register(Turning._answer)
    take.register(Turning._go_on)
    take.register(Turning._cancel)

    # Besides turns

    def leave(self) -> None:
        """There is no one left to ask."""
        self._systems.desk.leave()

    @take.register
    async def _call(self, asked: CallTool, cause: Cause = NO_CAUSE) -> Message | None:
        """Carry out one tool call a person asked for, through the same gate."""
        name = self._systems.meant(asked.tool)
        lane = self._lane()
        call = Call(asked.id, name, asked.arguments, typed=asked.own and asked.typed)
        if asked.own:
            line = asked.arguments.get("command", "") if asked.typed else ""
            cwd = asked.arguments.get("cwd", ".")
            self._systems.gate.mark_own(call.id, str(line), str(cwd))
        announced = self._systems.toolbox.announce(call, lane)
        await self.log.append(*cause.taken(lane), announced, settled=cause.settled(call.id))
        task = self._alongside(self._carry_out(call, lane))
        if cause.request is not None:
            return None
        try:
            return await task
        except asyncio.CancelledError:
            task.cancel()
            await asyncio.wait({task})
            raise

    async def _carry_out(self, call: Call, lane: Lane) -> Message:
        return (await self._systems.toolbox.execute([call], lane, lambda _: ""))[0]

    @take.register
    async def _undo(self, asked: Undo, cause: Cause = NO_CAUSE) -> int:
        """Undo or redo changes of files, through the same gate and into the same log.

        The answer is its place there. It is open until whoever asked says what they heard of it.
        """
        lane = self._lane("operations", asked.plan.cause)
        thread = await asyncio.to_thread(self.log.store.thread, self.log.thread)
        if thread is not None and thread.imported and not asked.imported:
            raise NeedsAnswer(
                f"The {asked.plan.cause} of an imported thread needs your approval.",
                "What it says about files may never have happened here.",
                f"steer {asked.plan.cause} {thread.id}",
            )
        await self._ended()
        self._floor.move(Move.UNDO)
        await self._accept(cause, lane)
        seq: int = await self._begun(self._reverse(asked.plan, asked.force, lane), cause)
        return seq

    async def _accept(self, cause: Cause, lane: Lane) -> None:
        """Say that a move has begun; what cannot be said has not."""
        try:
            await self.log.append(*cause.taken(lane), settled=cause.settled(LATER))
        except BaseException:
            self._floor.move(Move.END)
            raise

    async def _reverse(self, plan: UndoPlan, force: bool, lane: Lane) -> int:
        try:
            return await self._systems.reverse(plan, force, lane)
        finally:
            self._floor.move(Move.END)

    @take.register
    async def _undo_told(self, asked: UndoTold, cause: Cause = NO_CAUSE) -> None:
        """Note that an undo is over."""
        lane = self._lane("operations")
        said = lane.draft(UndoEnd(asked.checkpoint))
        await self.log.append(*cause.taken(lane), said, settled=cause.settled())

    @take.register
    async def _rewound(self, asked: Rewound, cause: Cause = NO_CAUSE) -> None:
        """Note where the thread comes from; changes that stay can be undone here, too."""
        lane, corr = self._lane("coordination"), f"rewind_{self.log.head}"
        said = [lane.draft(asked.rewind, corr=corr)]
        if asked.stays:
            body = Checkpoint("effect", asked.stays)
            said.insert(0, await self._systems.journal.draft(body, lane, corr))
        await self.log.append(*cause.taken(lane), *said, settled=cause.settled())

    @take.register
    async def _compact(self, asked: Compact, cause: Cause = NO_CAUSE) -> bool:
        """Show the model a digest of what is older, or undo that; False when nothing changes."""
        if self._systems.capsule is None or self._mind is None:
            raise UsageProblem("This thread was opened without a model.")
        await self._ended()
        self._floor.move(Move.COMPACT)  # nothing else is said meanwhile
        await self._accept(cause, self._lane("intelligence"))
        changed: bool = await self._begun(self._fit(undo=asked.undo), cause)
        return changed

    async def _fit(self, *, undo: bool) -> bool:
        assert self._systems.capsule is not None
        assert self._mind is not None
        lane = self._lane("intelligence")
        try:
            if undo:
                return await self._mind.compactor.undo(self._context, lane)
            return await self._mind.compactor.fit(
                self._context,
                lane,
                system=self._systems.capsule.identity.instructions(),
                tools=self._systems.toolbox.specs(),
                cause="user",
            )
        finally:
            self._floor.move(Move.END)

    @take.register
    async def _ask_aside(self, asked: Aside, cause: Cause = NO_CAUSE) -> str:
        """An answer of the model that is no part of the conversation; it is paid for like one."""
        if self._mind is None:
            raise UsageProblem("This thread was opened without a model.")
        self._systems.gate.check_budget()
        lane = self._lane("intelligence")
        await self.log.append(*cause.taken(lane), settled=cause.settled(LATER))
        answer: str = await self._begun(self._mind.aside(asked.system, asked.text, lane), cause)
        return answer

    @take.register
    async def _set(self, asked: Set, cause: Cause = NO_CAUSE) -> None:
        """Change settings from the next model call on; what runs continues."""
        values = asked.values
        named = {name: value for name, value in values.items() if name != "title"}
        changed = with_values(self.settings, named)
        if "add_dir" in values:
            changed = await asyncio.to_thread(self.setup.resolved, changed)
            values = {**values, "add_dir": changed.add_dir}
        mind = self._mind
        again = "model" in values or "effort" in values
        if again and mind is not None and self.setup.think is not None:
            mind = await asyncio.to_thread(self.setup.think, changed, self.title)
        told: dict[str, Any] = {name: value for name, value in values.items() if value != ""}
        said = SettingsChanged(**told)
        if "model" in values and mind is not None:
            said = msgspec.structs.replace(said, model=mind.driver.model)
        lane = self._lane("coordination")
        await self.log.append(*cause.taken(lane), lane.draft(said), settled=cause.settled())
        self.title = str(values.get("title", self.title))
        await self._apply(changed, mind)
        if self.setup.keep is not None:
            await asyncio.to_thread(self.setup.keep, self)

    async def _switch(self, mode: str) -> None:
        await self._set(Set({"mode": mode}))

    async def _apply(self, settings: Settings, mind: Mind | None) -> None:
        await self._systems.apply(settings, mind)
        former, self._mind, self.settings = self._mind, mind, settings
        if former is not None and former is not mind:
            await former.close()

    def last_words(self) -> str:
        """What the model said last."""
        return last_words(self._context)

    # The end

    async def close(self, exit_code: Exit, reason: str = "") -> None:
        """Leave the thread; a running turn is cancelled first, and what is queued stays so."""
        self._closing = True
        if self.busy:
            await self._cancel(Cancel(), NO_CAUSE)
        await self._floor.leaves(FloorState.UNDOING, FloorState.COMPACTING)
        torn = self.state is FloorState.TORN
        self._floor.move(Move.CLOSE)
        self.leave()  # what a command did that has ended may be asked about still
        await self._let_go()
        if torn:
            await self._systems.recover(self.log, None)
        else:
            await self._lane().append(SessionEnd(STATUS[exit_code], int(exit_code), reason))

    async def abandon(self, lost: LeaseLost | None = None) -> None:
        """Stop everything silently: another process has the thread, or may have it.

        Whoever waits here learns that it was `lost`.
        """
        self._lost = lost
        for task in (*self._tasks, *filter(None, [self._running])):
            task.cancel()
            await asyncio.wait({task})
            if not task.cancelled():
                task.exception()
        self._running = None
        await self._let_go()

    async def _let_go(self) -> None:
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        await self._systems.close()
        if self._mind is not None:
            await self._mind.close()
        self._watching.close()

    async def report(self, problem: SteersmanError) -> None:
        """Write a problem into the log."""
        await self._lane().append(error_body(problem))
