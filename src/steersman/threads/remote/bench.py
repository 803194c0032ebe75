"""One thread at work beside its code: its tools, and what the host's gate asks of the disk."""

import asyncio
from collections.abc import Sequence

import msgspec
from msgspec import Struct

from steersman.governance.confinement import Confinement
from steersman.governance.ground import Ground
from steersman.governance.naming import paths_in
from steersman.governance.policy import Blank, Circumstances
from steersman.governance.secret_finder import Finder
from steersman.identity.instructions import Instructions, render
from steersman.operations.executor import AnyTool, Outcome
from steersman.records.dialogue import Call
from steersman.records.errors import SteersmanError
from steersman.records.judgement import Judgement
from steersman.records.message import Message
from steersman.records.profile import Profile
from steersman.records.protection import protected
from steersman.records.secret_files import SecretFiles
from steersman.store.log import Lane, ThreadLog
from steersman.store.redactor import Redactor
from steersman.threads.remote.far_gate import FarGate
from steersman.threads.remote.far_log import FarLog
from steersman.threads.remote.words import (
    Confine,
    Containment,
    Do,
    Done,
    Grounding,
    Guarded,
    Names,
    Offered,
    Opened,
    Problem,
    Seen,
    problem_of,
    spoken,
)
from steersman.threads.systems import Setup, ThreadSystems, confinement_of

MOST_KEPT = 64  # outcomes that a host has not heard of
STOPPED = "Stopped"


class Opening(Struct, frozen=True):
    """What a call of `open` says, as a setup for this machine, and what masks its secrets."""

    setup: Setup
    redactor: Redactor
    masks: tuple[str, ...] = ()


class Nobody:
    """No one speaks into a turn here."""

    async def deliver(self, lane: Lane) -> list[Message]:
        """Nothing."""
        return []


class AgentSystems(ThreadSystems):
    """The tools of a thread whose gate, log and model are at a host."""

    confinement: Confinement

    def _gate(self, log: ThreadLog, setup: Setup, secret_files: SecretFiles) -> FarGate:
        assert isinstance(log, FarLog)
        self.confinement = confinement_of(setup)
        where = Circumstances(
            workspace=setup.workspace.root, home=setup.home, secret_files=secret_files
        )
        return FarGate(where, self.finder, self.confinement, log.line, log)

    @property
    def finder(self) -> Finder:
        """What finds secret files here."""
        return self._workspace.finder


class Bench:
    """One thread at work here. Lines come and go; calls that were begun are finished."""

    def __init__(self, systems: AgentSystems, log: FarLog, opening: Opening) -> None:
        self.systems = systems
        self.log = log
        self._opening = opening
        self._offered = 0
        self._instructions: Instructions | None = None
        self.kept: dict[str, Done] = {}  # by calls, until the host has said that it has them

    @property
    def gate(self) -> FarGate:
        """The way to the host's gate."""
        assert isinstance(self.systems.gate, FarGate)
        return self.systems.gate

    async def opened(self) -> Opened:
        """What a host must know of what is here."""
        secret_files = await self.gate.secret_files()
        setup = self._opening.setup
        root, environ = setup.workspace.root, setup.surroundings

        def read() -> str:
            self._instructions = Instructions(root, environ, secret_files)
            found = self._instructions.beginning()
            return render([one for one in found if one.source != "user"])

        text = await asyncio.to_thread(read)
        external = self.systems.external.audits()
        return Opened(
            self.tools(), text, secret_files.lines, tuple(map(spoken, external)),
            self._opening.masks,
        )  # fmt: skip

    def tools(self) -> tuple[Offered, ...]:
        """The tools there are now."""
        self.systems.toolbox.specs()  # those that have joined are among them now
        found = tuple(map(_offered, self.systems.toolbox.tools))
        self._offered = len(found)
        return found

    async def do(self, asked: Do) -> Done:
        """Carry out a call; the host gets what came of it, now or when it asks."""
        call = asked.call
        if call.id in self.kept:
            return self.kept[call.id]
        self.systems.meant(call.name)  # what only ports call is loaded when one does
        self.log.reached(asked.head)
        if asked.withheld is not None:
            self.gate.kept_back[call.name] = asked.withheld
        lane = Lane(self.log, asked.path, asked.turn)
        try:
            outcome = await self.systems.toolbox.outcome(call, lane, self._remark)
        finally:
            self.gate.kept_back.pop(call.name, None)
        done = await asyncio.to_thread(self._said, outcome)
        if len(self.systems.toolbox.tools) != self._offered:
            done = msgspec.structs.replace(done, tools=self.tools())
        while len(self.kept) >= MOST_KEPT:
            self.kept.pop(next(iter(self.kept)))
        self.kept[call.id] = done
        return done

    def _remark(self, call: Call) -> str:
        """Instruction files of the folders that a call touches, each once."""
        from steersman.threads.thinking import touched

        if self._instructions is None:
            return ""
        return render([f for path in touched(call) for f in self._instructions.nested(path)])

    def _said(self, outcome: Outcome) -> Done:
        mask = self._opening.redactor
        mask.refresh()
        result, *diffs = (spoken(mask.body(one)[0]) for one in (outcome.result, *outcome.diffs))
        return Done(result, tuple(diffs), _stopping(outcome.stop), outcome.whole)

    # What the host's gate asks of the disk

    async def look(self, deep: bool) -> Seen:
        """Which files are secret."""
        secret_files, hidden = await self.systems.finder.look(deep=deep)
        return Seen(secret_files.lines, hidden)

    async def contain(self) -> tuple[Containment, str]:
        """How well commands can be confined here."""
        found = await self.systems.runs.containment()
        return found.level, found.reason

    async def profile(self, asked: Confine) -> Profile:
        """How far a command is confined here."""
        where = Circumstances(
            workspace=self.root, mode=asked.mode, trust=asked.trust,
            containment=asked.containment, answers=_Answers(asked.paths, asked.hosts),
        )  # fmt: skip
        return await asyncio.to_thread(
            self.systems.confinement.profile, asked.action, where, asked.judgement, asked.hidden
        )

    @property
    def root(self) -> str:
        """The folder."""
        return self._opening.setup.workspace.root

    async def grounded(self, asked: Grounding) -> Judgement:
        """What really lies at the paths of a command."""
        secret_files = SecretFiles(self.root, asked.secret)
        ground = Ground(asked.place, secret_files, shared=asked.shared)
        return await asyncio.to_thread(ground.under, asked.judgement, outside=asked.outside)

    async def named(self, asked: Names) -> list[str]:
        """Which files arguments name."""
        return await asyncio.to_thread(
            lambda: list(paths_in(asked.arguments, asked.workspace, asked.home))
        )

    async def protected(self, asked: Guarded) -> str:
        """Whether a file needs approval in any case."""
        return await asyncio.to_thread(protected, asked.action, asked.workspace)


class _Answers(Blank):
    """What earlier answers open to commands; the host has the answers."""

    def __init__(self, paths: Sequence[str], hosts: Sequence[str]) -> None:
        self._opened = tuple(paths), tuple(hosts)

    def opened(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Paths and hosts."""
        return self._opened


def _offered(tool: AnyTool) -> Offered:
    return Offered(tool.spec(), tool.family.name, tool.offered, tool.always())


def _stopping(stop: BaseException | None) -> Problem | None:
    if stop is None:
        return None
    if isinstance(stop, SteersmanError):
        return problem_of(stop)
    return Problem(STOPPED, "It was stopped.")
