"""What an open thread is fitted out with: gate, tools and agent, put together from one setup."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from steersman.coordination.recovery import Resumption
from steersman.governance.approvals import Desk
from steersman.governance.budgets import Budget
from steersman.governance.confinement import Confinement
from steersman.governance.gate import Gate
from steersman.governance.leaks import Leaks
from steersman.governance.modes import runs_commands
from steersman.governance.policy import Book, Circumstances, Containment
from steersman.governance.remembering import Memory
from steersman.governance.secret_finder import unreadable
from steersman.identity.mcp_servers import Configured
from steersman.identity.mcp_servers import find as find_servers
from steersman.intelligence import earlier
from steersman.operations.executor import Toolbox
from steersman.operations.journal.journal import Journal
from steersman.operations.journal.objects import Objects
from steersman.operations.running.command_runs import CommandRuns
from steersman.operations.running.companions import Companions
from steersman.operations.running.guardian import Limits
from steersman.operations.running.processes import Processes
from steersman.operations.tool import Tool
from steersman.operations.tools import standard_tools
from steersman.operations.tools.ask_user import AskUser
from steersman.operations.tools.read_earlier import ReadEarlier
from steersman.operations.tools.read_skill import ReadSkill
from steersman.operations.tools.status import Situation
from steersman.operations.tools.web_search import web_search
from steersman.operations.workspace import Workspace
from steersman.records.configure import Configure
from steersman.records.mcp_tools import Wishes
from steersman.records.message import Audit
from steersman.records.secret_files import SecretFiles
from steersman.records.settings import Settings
from steersman.records.tool_names import ALSO, HOST, MCP_CALL, offers, servers_in
from steersman.records.undo import UndoPlan
from steersman.store.log import Lane, ThreadLog
from steersman.systems import Coordination
from steersman.threads import recalling
from steersman.threads.capsule import Capsule
from steersman.threads.external_tools import ExternalTools
from steersman.threads.offering import find_tools
from steersman.threads.planned import Planned
from steersman.threads.resources import HostResources, Terms, WorkspaceResources
from steersman.threads.server_requests import Requests
from steersman.threads.thinking import Briefing, Mind

if TYPE_CHECKING:
    from steersman.identity.extensions import Found as FoundTools
    from steersman.identity.hooks import Configured as ConfiguredHooks
    from steersman.threads.extensions import Extensions, Known
    from steersman.threads.hook_files import HookFiles
    from steersman.threads.hooks import Hooks


class Setup(Struct, frozen=True):
    """How a thread is opened. `attended`: someone can answer. `yes`: every answer is allow.
    `questions`: someone answers what the agent asks.

    `environ` is what commands get of the `surroundings`; `private` are the host's own folders,
    which they do not see. `trusted`: its configuration may be used. `resources` are what the
    threads of the host share. `resolved` names the added folders of settings by where they are,
    and raises what is wrong with one. `configure` gives what changes the user's settings.
    `reach` leads to the agent of a workspace on another machine.
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
    exceptions: tuple[str, ...]
    resources: HostResources
    resolved: Callable[[Settings], Settings]
    audits: tuple[Audit, ...] = ()
    attended: bool = False
    questions: bool = True
    yes: bool = False
    client: Wishes | None = None
    think: Callable[[Settings, str], Mind] | None = None
    keep: Callable[[Any], None] | None = None
    configure: Callable[[], Configure] | None = None
    reach: object = None

    @property
    def terms(self) -> Terms:
        """On what terms the workspace is used."""
        return Terms(
            self.workspace.root,
            self.environ,
            unreadable(self.rules),
            self.exceptions,
            self.trusted,
            self.settings.language_servers,
        )


class Found(Struct, frozen=True):
    """What was read from files before a thread's systems are put together."""

    configured: Configured
    secret_files: SecretFiles
    briefing: Briefing | None
    hooks: "tuple[ConfiguredHooks, HookFiles] | None" = None
    tools: "FoundTools | None" = None
    known: "Known" = ()


class ThreadSystems:
    """The five systems of a thread; without a mind there is no agent, only tools.

    The thread owns its journal, processes and command runs, budget, gate, desk, and the MCP servers
    that keep something of it; what it shares is in `threads/resources.py`.
    """

    def __init__(
        self,
        log: ThreadLog,
        setup: Setup,
        mind: Mind | None,
        coordination: Coordination,
        switch: Callable[[str], Awaitable[None]],
        workspace: WorkspaceResources,
        found: Found,
    ) -> None:
        root = setup.workspace.root
        self.settings = setup.settings
        self._mind = mind
        self._environ = setup.environ
        self._configure = setup.configure
        self._shared = setup.resources
        self._workspace = workspace
        self.told: tuple[Audit, ...] = ()
        self.desk = Desk(attended=setup.attended, yes=setup.yes, questions=setup.questions)
        self.journal = Journal(root, setup.objects)
        guardian = setup.resources.guardian
        self.processes = Processes(
            Path(setup.state, "output", log.thread),
            guardian,
            max_output=setup.settings.max_output,
            patience=setup.settings.command_wait,
            limits=Limits(
                setup.settings.max_processes, setup.settings.max_file, setup.settings.nice
            ),
        )
        self.runs = CommandRuns(self.journal, setup.state, workspace.probe)
        self.budget = Budget(setup.settings.budget.run, setup.settings.budget.thread)
        self.gate = self._gate(log, setup, found.secret_files)
        self.briefing = found.briefing
        self.companions = Companions(guardian, root, workspace.beside)
        aside = mind.aside if mind is not None else None
        lane = Lane(log, "steersman/operations/mcp", 0)
        requests = Requests(self.gate, lane, root, aside, setup.client)
        self.external = ExternalTools(
            workspace, self.companions, found.configured, requests.wishes,
            setup.settings.code_backends,
        )  # fmt: skip
        self.hooks: Hooks | None = None
        if found.hooks is not None:
            from steersman.threads import hooks

            self.hooks = hooks.Hooks(*found.hooks, log, self, setup)
            if mind is not None:
                mind.compactor.before = self.hooks.compacting
        self.extensions: Extensions | None = None
        if found.tools is not None:
            from steersman.threads import extensions

            self.extensions = extensions.Extensions(
                found.tools, found.known, log.thread, self, setup
            )
            self.gate.runs = tuple((one.name, one.writes) for one in self.extensions.tools)
        self.toolbox = self._boxed(setup)
        plan = os.path.relpath(plan_file(root, log.thread), root)
        self._planned = Planned(plan, self.desk, switch)
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
                finished=self._continues,
            )

    def _boxed(self, setup: Setup) -> Toolbox:
        return Toolbox(
            self._tools(setup), setup.workspace, self.journal, self.gate,
            self.external if offers(setup.settings.tools, MCP_CALL) else None,
            self.gate.withheld, self.runs.milestone, self.hooks,
        )  # fmt: skip

    async def _continues(self, lane: Lane) -> bool:
        """Whether a turn continues where the model is done: with a plan, or because of a hook."""
        if await self._planned.ask(self.settings.mode, lane):
            return True
        return self.hooks is not None and await self.hooks.stop(lane)

    @classmethod
    async def open(
        cls,
        log: ThreadLog,
        setup: Setup,
        mind: Mind | None,
        coordination: Coordination,
        switch: Callable[[str], Awaitable[None]],
    ) -> "ThreadSystems":
        """Put a thread's systems together; whatever is read from disk is read in other threads.

        `switch` turns the thread to another mode.
        """
        workspace = setup.resources.enter(setup.terms)
        try:
            if mind is not None and not mind.scripted and runs_commands(setup.settings.mode):
                workspace.probe.begin()  # it is other programs that take their time
            secret_files, _ = await workspace.finder.look(deep=False)
            found = await asyncio.to_thread(_read, log, setup, secret_files, mind is not None)
            if found.tools is not None:
                from steersman.threads.extensions import learned

                guardian = setup.resources.guardian
                known = await learned(found.tools.files, workspace, guardian)
                found = replace(found, known=known)
            return cls(log, setup, mind, coordination, switch, workspace, found)
        except BaseException:
            await setup.resources.leave(workspace)
            raise

    async def apply(self, settings: Settings, mind: Mind | None = None) -> None:
        """Work by another mode, trust, approvals level or model from the next model call on.

        Everything that runs continues. A new `mind` takes the place of the one there is; domains,
        environment and language servers stay as they were when the thread was opened.
        """
        self.settings = settings
        self.gate.apply(
            settings.mode,
            settings.trust,
            settings.approvals,
            bare=settings.sandbox == "none",
            readable=settings.add_dir,
        )
        if self.briefing is not None:
            self.briefing.turn_to(settings)
        if mind is not None and self._mind is not None:
            await self._mind.become(mind)

    async def warm_up(self) -> None:
        """While a model far away begins to think, make ready what its first command will need."""
        if not runs_commands(self.settings.mode):
            return
        self.runs.prepare()
        await asyncio.to_thread(self.processes.warm)  # first: it is a program that takes its time
        secret = (await self.gate.secret_files()).lines
        await self.external.prepare(secret)

    def _gate(self, log: ThreadLog, setup: Setup, secret_files: SecretFiles) -> Gate:
        settings = setup.settings
        where = Circumstances(
            workspace=setup.workspace.root,
            mode=settings.mode,
            trust=settings.trust,
            approvals=settings.approvals,
            home=setup.home,
            plan=plan_file(setup.workspace.root, log.thread),
            bare=settings.sandbox == "none",
            safer=settings.safer == "apply",
            guard=settings.guard,
            rules=setup.rules,
            secret_files=secret_files,
            leak=Leaks(log.redactor, setup.surroundings),
            readable=settings.add_dir,
        )
        return self._made_gate(setup, where)

    def _made_gate(self, setup: Setup, where: Circumstances) -> Gate:
        return Gate(
            where,
            self.desk,
            memory=setup.memory,
            confinement=confinement_of(setup),
            contain=self._containment,
            budget=self.budget,
            finder=self._workspace.finder,
        )

    async def recover(self, log: ThreadLog, waits: str | None) -> Resumption | None:
        """Close what a session that was cut off left open; the answer is a turn that waits."""
        return await recalling.recover(log, self.journal, waits)

    async def reverse(self, plan: UndoPlan, force: bool, lane: Lane) -> int:
        """Change files as a plan says; gives the place in the log."""
        from steersman.threads.reversing import reverse

        return await reverse(self, plan, force, lane)

    async def tidy(self, lane: Lane) -> list[str]:
        """Undo what a dead process left half done; the answer says what was found."""
        return await self.runs.tidy(lane)

    async def close(self) -> None:
        """End every program that is the thread's own, and wait until what they did is settled."""
        try:
            if self.hooks is not None:
                await self.hooks.close()
            if self.extensions is not None:
                await self.extensions.close()
            await self.external.close()
            await self.companions.close()
            await self.processes.close()
            await self.runs.close()
            await self.gate.close()
        finally:
            await self._shared.leave(self._workspace)

    async def _containment(self) -> tuple[Containment, str]:
        found = await self.runs.containment()
        return found.level, found.reason

    def _situation(self) -> Situation:
        """How the thread works now, for a model that asks."""
        gateway = self.external.gateway
        servers = {one.server: one.state for one in gateway.conditions()} if gateway else {}
        return Situation(self.settings.mode, "native", servers)

    def _tools(self, setup: Setup) -> list[Tool[Any]]:
        tools = standard_tools(setup.environ, self.processes, self.runs, self._situation)
        own = self.extensions.tools if self.extensions is not None else ()
        every = [*tools, *self._thread_tools(setup), *self.external.tools(), *own]
        return [tool for tool in every if offers(setup.settings.tools, tool.name)]

    def _thread_tools(self, setup: Setup) -> list[Tool[Any]]:
        """The tools that need nothing of the workspace."""
        tools: list[Tool[Any]] = [*web_search(setup.surroundings)]
        tools.append(ReadEarlier(earlier.text_of, earlier.search))
        if self.briefing is not None:
            tools.append(AskUser(self.gate.question))
            if self.briefing.has_skills:
                tools.append(ReadSkill(self.briefing.load))
        return tools

    def meant(self, name: str) -> str:
        """The tool that a port means by a name; what only ports call is loaded when one does."""
        if name in HOST and self._configure is not None:
            from steersman.operations.tools.host_tools import host_tools

            own = host_tools(self._environ, self.processes, self.runs, self._configure)
            self.toolbox.add(own)
            self._configure = None
        return ALSO.get(name, name)


def confinement_of(setup: Setup) -> Confinement:
    """How far commands of a thread are confined."""
    return Confinement(
        setup.environ,
        home=setup.home,
        state=setup.private,
        cache=setup.cache,
        domains=setup.settings.domains,
        sockets=setup.settings.sockets,
    )


def plan_file(root: str, thread: str) -> str:
    """The one file that a thread in plan mode may write."""
    return os.path.join(root, ".steersman", "plans", f"{thread}.md")


def briefing_of(
    log: ThreadLog, setup: Setup, secret_files: SecretFiles, brought: str | None = None
) -> Briefing:
    """What the model of a thread gets first; `brought` are instructions of another machine."""
    root = setup.workspace.root
    return Briefing(
        setup.settings,
        root,
        setup.workspace.shown(plan_file(root, log.thread)),
        environ=setup.surroundings,
        secret_files=secret_files,
        store=log.store,
        trusted=setup.trusted,
        brought=brought,
    )


def _read(log: ThreadLog, setup: Setup, secret_files: SecretFiles, thinks: bool) -> Found:
    """Instructions, skills and the configuration of servers; may take long on a slow disk."""
    root = setup.workspace.root
    briefing = briefing_of(log, setup, secret_files) if thinks else None
    configured = find_servers(root, setup.surroundings, trusted=setup.trusted)
    if names := servers_in(setup.settings.tools):
        configured = configured.only(names)
    hooks = None
    if setup.settings.hooks or (setup.trusted and os.path.isdir(os.path.join(root, ".claude"))):
        from steersman.identity.hooks import find as find_hooks
        from steersman.threads.hook_files import HookFiles

        found = find_hooks(root, setup.settings.hooks, trusted=setup.trusted)
        if found.hooks or found.problems:
            hooks = found, HookFiles(found.hooks, root, setup.environ.get("PATH", ""))
    tools = find_tools(root, setup.surroundings, trusted=setup.trusted)
    return Found(configured, secret_files, briefing, hooks, tools)
