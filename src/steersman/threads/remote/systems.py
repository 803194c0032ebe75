"""A thread at the host whose workspace is on another machine: gate, log and model are here."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from itertools import islice
from types import NoneType
from typing import Any

from steersman.coordination.recovery import Resumption
from steersman.governance.gate import Gate
from steersman.governance.policy import Circumstances
from steersman.governance.secret_finder import unreadable
from steersman.governance.secrets import can_be_masked
from steersman.identity.mcp_servers import Configured
from steersman.operations.tool import Tool
from steersman.records.message import Audit
from steersman.records.secret_files import SecretFiles
from steersman.records.settings import Settings
from steersman.records.tool_names import offers
from steersman.records.undo import UndoPlan
from steersman.store.log import Lane, ThreadLog
from steersman.systems import Coordination
from steersman.threads import recalling
from steersman.threads.remote.answering import FarDesk, Reach
from steersman.threads.remote.frames import Garbled
from steersman.threads.remote.operations import FarToolbox, outcome_of
from steersman.threads.remote.place import Place
from steersman.threads.remote.words import (
    NO_SENSE,
    Done,
    Open,
    Opened,
    Reverse,
    heard,
)
from steersman.threads.systems import Found, Setup, ThreadSystems, briefing_of
from steersman.threads.thinking import Mind

SENT = (
    "mode", "trust", "approvals", "sandbox", "safer", "guard", "tools", "add_dir", "domains",
    "environment", "sockets", "language_servers", "code_backends", "max_output", "max_processes",
    "max_file", "nice", "command_wait",
)  # fmt: skip
MOST_MASKS = 1000
LEAST_MASK, LONGEST_MASK = 8, 4096


class FarSystems(ThreadSystems):
    """The five systems of a thread whose operations are at an agent."""

    toolbox: FarToolbox
    _reach: Reach
    _place: Place

    @classmethod
    async def open(
        cls,
        log: ThreadLog,
        setup: Setup,
        mind: Mind | None,
        coordination: Coordination,
        switch: Callable[[str], Awaitable[None]],
    ) -> "FarSystems":
        """Put a thread's systems together, with an agent that is reached already."""
        assert isinstance(setup.reach, Reach)
        line = setup.reach.line
        asked = Open(log.thread, log.head, sent(setup.settings), unreadable(setup.rules))
        opened = await line.ask("open", asked, Opened)
        log.redactor.learn(masks_of(opened.masks))
        secret_files = SecretFiles(setup.workspace.root, opened.secret)
        briefing = None
        if mind is not None:
            briefing = await asyncio.to_thread(
                briefing_of, log, setup, secret_files, opened.instructions
            )
        found = Found(Configured(()), secret_files, briefing)
        workspace = setup.resources.enter(setup.terms)
        try:
            made = cls(log, setup, mind, coordination, switch, workspace, found)
        except BaseException:
            await setup.resources.leave(workspace)
            raise
        made._reach.desk = FarDesk(log, made.gate, made._place, setup.reach.address)
        made._configure = None  # the agent has all tools that ports call
        made.toolbox.use(line, opened.tools)
        made.told = tuple(one for one in map(heard, opened.audits) if isinstance(one, Audit))
        if setup.settings.hooks:
            what = "Your hooks are not run: the workspace is on another machine."
            made.told += (Audit("settings", what),)
        return made

    def _made_gate(self, setup: Setup, where: Circumstances) -> Gate:
        assert isinstance(setup.reach, Reach)
        self._reach = setup.reach
        self._place = Place(setup.reach.line, setup.workspace.root)
        self._place.take(where.secret_files.lines)
        return Gate(
            where, self.desk, memory=setup.memory, confinement=self._place,
            contain=self._place.contain, budget=self.budget, finder=self._place,
            there=self._place,
        )  # fmt: skip

    def _boxed(self, setup: Setup) -> FarToolbox:
        return FarToolbox(
            self._tools(setup), setup.workspace, self.journal, self.gate, None, self.gate.withheld
        )

    def _tools(self, setup: Setup) -> list[Tool[Any]]:
        """Those that need nothing of the workspace; the others are the agent's."""
        found = self._thread_tools(setup)
        return [tool for tool in found if offers(setup.settings.tools, tool.name)]

    async def recover(self, log: ThreadLog, waits: str | None) -> Resumption | None:
        """Close what a session that was cut off left open; what the agent finished is known."""
        if self._reach.line.over is not None:
            return None  # whoever takes the thread up next does this
        open_calls = await asyncio.to_thread(recalling.open_calls, log)
        if open_calls:
            asked = [one.corr for one in open_calls]
            known = await self._reach.line.ask("results", asked, list[Done | None])
            if len(known) != len(open_calls):
                raise Garbled(NO_SENSE, "It is not about the calls that were asked about.")
            for call, done in zip(open_calls, known, strict=True):
                if done is not None:
                    outcome = outcome_of(done)
                    lane = Lane(log, call.path, call.turn)
                    await lane.append(*outcome.diffs, outcome.result, corr=call.corr)
                    self._reach.line.tell("heard", call.corr)
        await self._reach.line.ask("recover", log.activity, NoneType)
        return await recalling.close(log, waits)

    async def reverse(self, plan: UndoPlan, force: bool, lane: Lane) -> int:
        """Change files there as a plan says."""
        asked = Reverse(plan, force, lane.path, lane.turn, lane.log.head)
        return await self._reach.line.ask("reverse", asked, int)

    async def tidy(self, lane: Lane) -> list[str]:
        """Have undone what a dead process left half done there."""
        return await self._reach.line.ask("tidy", (lane.path, lane.turn), list[str])

    async def warm_up(self) -> None:
        """Nothing: the agent makes ready what it needs."""

    async def apply(self, settings: Settings, mind: Mind | None = None) -> None:
        """Work by other settings from the next model call on, here and there."""
        await super().apply(settings, mind)
        await self._reach.line.ask("apply", sent(settings), NoneType)

    async def close(self) -> None:
        """Leave the agent, then let go of what is here."""
        try:
            await self._reach.close()
        finally:
            await super().close()


def sent(settings: Settings) -> Settings:
    """Settings as an agent gets them: those that its tools work by, and nothing else."""
    return Settings(**{name: getattr(settings, name) for name in SENT})


def masks_of(said: Iterable[str]) -> list[str]:
    """What an agent says is secret, as far as it can be: no words that the log needs."""
    found = (one for one in said if LEAST_MASK <= len(one) <= LONGEST_MASK and can_be_masked(one))
    return list(islice(found, MOST_MASKS))
