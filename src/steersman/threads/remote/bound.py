"""An agent for whoever holds a token: every call passes a gate here as well, by the settings of
this machine. What they allow is in `bounds.py`; the host's gate decides within that."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from steersman.governance.cases import Case
from steersman.governance.gate import Gate, Permit
from steersman.governance.policy import Circumstances
from steersman.governance.secret_finder import Finder
from steersman.operations.journal.journal import Journal
from steersman.records.action import Action, Execute, Network, Verdict
from steersman.records.change import Change
from steersman.records.errors import Denied
from steersman.records.message import Checkpoint
from steersman.records.profile import PLAIN, Profile
from steersman.records.protection import inside
from steersman.records.secret_files import PLAIN_SIGHT, SecretFiles
from steersman.records.settings import Settings
from steersman.records.thread import Activity
from steersman.records.undo import UndoPlan
from steersman.store.log import Lane, ThreadLog
from steersman.systems import Edited
from steersman.threads.remote.agent import Agent, Prepare, Serving
from steersman.threads.remote.bench import AgentSystems, Bench
from steersman.threads.remote.bounds import (
    NEVER,
    as_judged,
    check_paths,
    check_thread,
    closed,
    open_changes,
    profile_within,
    refused,
    settings_within,
)
from steersman.threads.remote.far_gate import FarGate
from steersman.threads.remote.far_log import FarLog
from steersman.threads.remote.line import Line
from steersman.threads.remote.words import Confine, Grounding, Guarded, Names, Open, Reverse, Way
from steersman.threads.systems import Setup, ThreadSystems, confinement_of


class BoundGate(FarGate):
    """Judges by the settings of this machine first, then asks the host."""

    async def admit(
        self,
        call: str,
        tool: str,
        actions: Sequence[Action],
        lane: Lane,
        *,
        edited: bool = False,
        whole: bool = False,
    ) -> Permit | Edited | Verdict:
        """What both say: the host's permission holds as far as this machine's settings do."""
        cases, hidden = await self._judged_here(tool, actions, lane)
        for case in cases:
            if (no := refused(case.action, case.verdict)) is not None:
                return no
        said = await super().admit(call, tool, actions, lane, edited=edited, whole=whole)
        if not isinstance(said, Permit):
            return said
        profile = await self._within(said.profile, cases, hidden)
        if not profile.sandbox:
            return Verdict("deny", NEVER, "no sandbox works on the machine of the workspace")
        return Permit(said.actions, profile, self.where.secret_files.lines)

    async def glance(
        self, call: str, tool: str, actions: Sequence[Action], lane: Lane
    ) -> Permit | None:
        """Permission to look at what a plan needs, where both allow it."""
        cases, _ = await self._judged_here(tool, actions, lane)
        if any(case.verdict.decision != "allow" for case in cases):
            return None
        said = await super().glance(call, tool, actions, lane)
        return said and replace(said, secret=self.where.secret_files.lines)

    async def _judged_here(
        self, tool: str, actions: Sequence[Action], lane: Lane
    ) -> tuple[list[Case], tuple[str, ...]]:
        """What this machine's settings say to actions, and which files are hidden from them."""
        judged = [as_judged(one) for one in actions]
        await self._get_ready(judged, lane)
        hidden = await self._refresh(judged)
        return await self._decide(judged, tool, self.where), hidden

    async def _within(
        self, said: Profile, cases: Sequence[Case], hidden: tuple[str, ...]
    ) -> Profile:
        assert self._confinement is not None
        for case in cases:
            match case.action:
                case Execute() as action:
                    mode = "plan" if said.files == "read" else self.where.mode
                    where = replace(self.where, mode=mode)
                    made = self._confinement.profile
                    own = await asyncio.to_thread(made, action, where, case.judgement, hidden)
                    return profile_within(own, said)
                case Network(host=host, port=port) as action if action.near:
                    return Profile(files="read", nearby=(f"{host}:{port}",))  # a rule here named it
        return PLAIN


class BoundSystems(AgentSystems):
    """The tools of a thread, with a gate of this machine before that of the host."""

    def _gate(self, log: ThreadLog, setup: Setup, secret_files: SecretFiles) -> FarGate:
        assert isinstance(log, FarLog)
        self._log = log
        made = ThreadSystems._gate(self, log, setup, secret_files)
        assert isinstance(made, FarGate)
        return made

    def _made_gate(self, setup: Setup, where: Circumstances) -> Gate:
        self.confinement = confinement_of(setup)
        log = self._log
        return BoundGate(where, self.finder, self.confinement, log.line, log, self._containment)


class BoundAgent(Agent):
    """Works in one folder for the holder of a token; `own` reads the settings of this machine,
    `also` which files its rules keep from being read."""

    systems = BoundSystems

    def __init__(
        self,
        root: str,
        home: str,
        state: Path,
        prepare: Prepare,
        own: Callable[[], Settings],
        also: Callable[[], tuple[str, ...]],
    ) -> None:
        super().__init__(root, home, state, prepare)
        self.root = root
        self._own = own
        self._also = also
        self._journal = Journal(root, self.objects)
        self._hides: tuple[str, ...] = ()
        self._finder = Finder(root)
        self._secret = PLAIN_SIGHT

    def begin(self, name: str) -> Line:
        """The agent's end of a new line."""
        return BoundServing(name, self).line

    def within(self, settings: Settings) -> Settings:
        """The settings that a thread gets which asks for some."""
        return settings_within(self._own(), settings)

    async def open(self, serving: Serving, asked: Open) -> Bench:
        """Take a thread up, and leave those whose lines are over: nobody else would end them."""
        await self.leave_gone()
        return await super().open(serving, asked)

    async def look(self) -> None:
        """Find out which files are secret now."""

        def find() -> SecretFiles:
            if (also := self._also()) != self._hides:
                self._hides, self._finder = also, Finder(self.root, also)
            return self._finder.find()[0]  # what secret links lead to is known after a deep look

        self._secret = await asyncio.to_thread(find)

    def allowed(self, said: Any) -> Any:
        """What a host says of files, as far as they are its own; not on the event loop."""
        check_paths(said)
        match said:
            case Checkpoint():
                every = self._journal.all_of(said)  # of a manifest that a host may have made
                check_paths(every)
                kept, own = map(self._open, every)
                if (kept, own) == every:
                    return said
                return replace(said, changes=kept, own=own, count=0, manifest="")
            case UndoPlan():
                for change in (*said.changes, *said.own, *said.others):
                    if why := closed(change, self.root, self._secret):
                        raise Denied(
                            "This cannot be undone over HTTPS.", f"{change.path}: {why}.",
                            "Undo it on the machine of the workspace.",
                        )  # fmt: skip
            case [Change(), *_]:
                return self._open(said)
        return said

    def _open(self, changes: Sequence[Change]) -> tuple[Change, ...]:
        return open_changes(changes, self.root, self._secret)


class BoundServing(Serving):
    """One line of such an agent."""

    async def check(self, method: str, asked: object) -> None:
        """Refuse a request that is about more than the folder and the thread of this line."""
        agent = self._agent
        assert isinstance(agent, BoundAgent)
        root = agent.root
        match asked:
            case Open(thread=thread):
                check_thread(thread)
                await agent.look()
            case Way(given=given, named=named):
                check_thread(given[0] if given else named.get("thread_id"))
                await agent.look()
            case Reverse(plan=plan):
                await agent.look()
                await asyncio.to_thread(agent.allowed, plan)
            case Activity():
                await agent.look()
            case Confine(action=action) if not inside(action.cwd, root):
                raise Denied("This is no folder of the workspace.")
            case Names(workspace=place) | Guarded(workspace=place) if place != root:
                raise Denied("This is another workspace.")
            case Grounding(place=place) if place.workspace != root:
                raise Denied("This is another workspace.")
