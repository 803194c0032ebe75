"""What an open thread is fitted out with: gate, tools and agent, put together from one setup."""

import asyncio
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from steersman.governance.approvals import Desk
from steersman.governance.budgets import Budget
from steersman.governance.confinement import Confinement
from steersman.governance.gate import Gate
from steersman.governance.policy import Book, Circumstances, Containment
from steersman.governance.remembering import Memory
from steersman.intelligence import earlier
from steersman.operations.executor import Toolbox
from steersman.operations.journal.journal import Journal
from steersman.operations.journal.objects import Objects
from steersman.operations.running.command_run import CommandRun
from steersman.operations.running.command_runs import CommandRuns
from steersman.operations.running.companions import Companions
from steersman.operations.running.guardian import Guardian
from steersman.operations.running.processes import Processes
from steersman.operations.tool import Tool
from steersman.operations.tools import standard_tools
from steersman.operations.tools.read_earlier import ReadEarlier
from steersman.operations.tools.read_skill import ReadSkill
from steersman.operations.workspace import Workspace
from steersman.records.dialogue import ToolSpec
from steersman.records.mcp_tools import Wishes
from steersman.records.message import Audit
from steersman.records.profile import Profile
from steersman.records.settings import Settings
from steersman.store.log import Lane, ThreadLog
from steersman.systems import Coordination
from steersman.threads.capsule import Capsule
from steersman.threads.external_tools import ExternalTools
from steersman.threads.server_requests import Requests
from steersman.threads.thinking import Briefing, Mind


class Setup(Struct, frozen=True):
    """How a thread is opened. `attended`: somebody can answer. `yes`: every answer is allow.

    `environ` is what commands get of the `surroundings`; `private` are the host's own folders,
    which they do not see. `trusted`: what the folder brings may be used.
    """

    settings: Settings
    workspace: Workspace
    environ: Mapping[str, str]
    objects: Objects
    state: str
    home: str
    private: tuple[str, ...]
    cache: str
    rules: Book
    memory: Memory
    surroundings: Mapping[str, str]
    trusted: bool
    audits: tuple[Audit, ...] = ()
    attended: bool = False
    yes: bool = False
    client: Wishes | None = None


class ThreadSystems:
    """The five systems of a thread; without a mind there is no agent, only tools."""

    def __init__(
        self, log: ThreadLog, setup: Setup, mind: Mind | None, coordination: Coordination
    ) -> None:
        root = setup.workspace.root
        self._plan = os.path.join(root, ".steersman", "plans", f"{log.thread}.md")
        self.desk = Desk(attended=setup.attended, yes=setup.yes)
        self.journal = Journal(root, setup.objects)
        self._guardian = Guardian()
        self.processes = Processes(Path(setup.state, "output", log.thread), self._guardian)
        self.runs = CommandRuns(self.journal, setup.state)
        self.budget = Budget(setup.settings.budget.run, setup.settings.budget.thread)
        self.gate = self._gate(setup)
        self.briefing = self._brief(setup, log) if mind is not None else None
        self.companions = Companions(self._guardian, root, self._beside)
        self.external = self._reach(setup, log, mind)
        self.toolbox = Toolbox(
            self._tools(setup), setup.workspace, self.journal, self.gate, self.external
        )
        self.capsule: Capsule | None = None
        if mind is not None and self.briefing is not None:
            self.capsule = Capsule(
                identity=self.briefing,
                governance=self.gate,
                coordination=coordination,
                intelligence=mind.loop,
                operations=self.toolbox,
                compactor=mind.compactor,
                estimate=mind.estimate,
            )

    def _gate(self, setup: Setup) -> Gate:
        settings = setup.settings
        where = Circumstances(
            workspace=setup.workspace.root,
            mode=settings.mode,
            trust=settings.trust,
            approvals=settings.approvals,
            home=setup.home,
            plan=self._plan,
            bare=settings.sandbox == "none",
            rules=setup.rules,
            answers=setup.memory.book(),
        )
        confinement = Confinement(
            setup.environ,
            home=setup.home,
            state=setup.private,
            cache=setup.cache,
            domains=settings.domains,
        )
        return Gate(
            where,
            self.desk,
            memory=setup.memory,
            confinement=confinement,
            contain=self._containment,
            budget=self.budget,
        )

    async def close(self) -> None:
        """End every program, and wait until what they did is settled."""
        await self.external.close()
        await self.companions.close()
        await self.processes.close()
        await self.runs.close()
        await asyncio.to_thread(self._guardian.close)

    async def _beside(self, environ: Mapping[str, str]) -> CommandRun:
        """Where a program of the host's own runs that only looks."""
        profile = await asyncio.to_thread(self.gate.beside)
        return await self.runs.beside(msgspec.structs.replace(profile, environ=environ))

    def _reach(self, setup: Setup, log: ThreadLog, mind: Mind | None) -> ExternalTools:
        root = setup.workspace.root
        lane = Lane(log, "steersman/operations/mcp", 0)
        aside = mind.aside if mind is not None else None
        requests = Requests(self.gate, lane, root, aside, setup.client)
        return ExternalTools(
            setup.settings,
            setup.surroundings,
            setup.environ,
            setup.state,
            self.companions,
            requests.wishes,
            root=root,
            trusted=setup.trusted,
        )

    async def _containment(self) -> tuple[Containment, str]:
        found = await self.runs.containment()
        return found.level, found.reason

    def _brief(self, setup: Setup, log: ThreadLog) -> Briefing:
        return Briefing(
            setup.settings.mode,
            setup.workspace.root,
            setup.workspace.shown(self._plan),
            environ=setup.surroundings,
            secret_files=self.gate.secret_files,
            store=log.store,
            trusted=setup.trusted,
        )

    def _tools(self, setup: Setup) -> list[Tool[Any]]:
        tools = standard_tools(setup.environ, self.processes, self.runs)
        tools.append(ReadEarlier(earlier.text_of, earlier.search))
        if self.briefing is not None and self.briefing.has_skills:
            tools.append(ReadSkill(self.briefing.load))
        return [*tools, *self.external.tools()]


def offered(
    workspace: Workspace, surroundings: Mapping[str, str], state: str, *, trusted: bool
) -> tuple[ToolSpec, ...]:
    """The tools there are in a folder, with nothing started and no thread open."""
    root, guardian = workspace.root, Guardian()
    journal = Journal(root, Objects(Path(state, "objects")))
    runs = CommandRuns(journal, state)
    companions = Companions(guardian, root, lambda environ: runs.beside(Profile(files="read")))
    reach = ExternalTools(
        Settings(), surroundings, {}, state, companions, lambda _: Wishes(),
        root=root, trusted=trusted,
    )  # fmt: skip
    tools = standard_tools({}, Processes(Path(state, "output"), guardian), runs)
    return tuple(tool.spec() for tool in (*tools, *reach.tools()))
