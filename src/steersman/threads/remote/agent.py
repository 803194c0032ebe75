"""An agent's end of a line: the tools of one thread, run beside the code, for a host elsewhere.

Everything that a call does here was put to the host's gate; what a host that died did not hear of a
call is kept for the one that takes the thread up.
"""

import asyncio
import os
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Raw, Struct

from steersman.governance.confinement import Confinement
from steersman.governance.ground import Ground
from steersman.governance.naming import paths_in
from steersman.governance.policy import Circumstances
from steersman.governance.secret_finder import Finder
from steersman.identity.instructions import Instructions, render
from steersman.operations.executor import AnyTool, Outcome
from steersman.operations.journal.objects import Objects
from steersman.records.dialogue import Call
from steersman.records.errors import SteersmanError
from steersman.records.judgement import Judgement
from steersman.records.message import Message
from steersman.records.profile import Profile
from steersman.records.protection import protected
from steersman.records.secret_files import SecretFiles
from steersman.records.settings import Settings
from steersman.store.log import Lane, ThreadLog
from steersman.store.redactor import Redactor
from steersman.threads import recalling
from steersman.threads.remote.far_gate import FarGate
from steersman.threads.remote.far_log import FarLog, FarStore
from steersman.threads.remote.frames import LARGEST
from steersman.threads.remote.line import Line
from steersman.threads.remote.words import (
    Confine,
    Containment,
    Do,
    Done,
    Entered,
    Grounding,
    Guarded,
    Names,
    Offered,
    Open,
    Opened,
    Problem,
    Recover,
    Resumed,
    Reverse,
    Seen,
    Way,
    problem_of,
    spoken,
    stored,
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


class _Answers:
    """What earlier answers open to commands."""

    def __init__(self, paths: Sequence[str], hosts: Sequence[str]) -> None:
        self._opened = tuple(paths), tuple(hosts)

    def opened(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Paths and hosts."""
        return self._opened

    def verdict(self, *_: object) -> None:
        """None: the host has the answers."""

    def allows_servers(self) -> bool:
        """Nor this."""
        return False

    def names(self, *_: object) -> bool:
        """Nor this."""
        return False


Prepare = Callable[[Open], Awaitable[Opening]]


class Agent:
    """Works in one folder for whoever has a line here. `prepare` makes a setup of what is asked."""

    def __init__(self, root: str, home: str, state: Path, prepare: Prepare) -> None:
        self._entered = Entered(root, home)
        self.state = state
        self.objects = Objects(state / "objects")
        self._prepare = prepare
        self._serving: dict[str, Serving] = {}  # by threads
        self._left: dict[str, dict[str, Done]] = {}  # what hosts that are gone have not heard

    def begin(self, name: str) -> Line:
        """The agent's end of a new line."""
        return Serving(name, self).line

    def content(self, digest: str) -> bytes | None:
        """A content that was kept, unless it is too large for a line."""
        path = self.objects.path(digest)
        if not os.path.exists(path) or os.path.getsize(path) > LARGEST // 2:
            return None
        with self.objects.open(digest) as file:
            return file.read()

    def entered(self) -> Entered:
        """Where this is."""
        return self._entered

    async def open(self, serving: "Serving", asked: Open) -> Bench:
        """Take a thread up; a line that still has it is of a host that is gone."""
        former = self._serving.pop(asked.thread, None)
        if former is not None and former is not serving:
            await former.close("Another host has taken the thread up.")
        opening = await self._prepare(asked)
        log = FarLog(asked.thread, asked.head, serving.line, opening.redactor, self._entered.root)
        systems = await AgentSystems.open(log, opening.setup, None, Nobody(), _stay)
        assert isinstance(systems, AgentSystems)
        bench = Bench(systems, log, opening)
        bench.kept = self._left.pop(asked.thread, {})
        self._serving[asked.thread] = serving
        return bench

    def leave(self, thread: str, kept: dict[str, Done]) -> None:
        """A thread is not worked on any more; what was not heard of it is kept."""
        self._serving.pop(thread, None)
        if kept:
            self._left[thread] = kept

    async def close(self) -> None:
        """End everything."""
        for serving in list(self._serving.values()):
            await serving.close("The workspace agent has ended.")


async def _stay(_: str) -> None:
    """The host turns threads to other modes."""


class Serving:
    """One line of an agent, and the thread that it is for."""

    def __init__(self, name: str, agent: Agent) -> None:
        self._agent = agent
        self._bench: Bench | None = None
        self._closing = asyncio.Lock()
        self.line = Line(name, self._handle, self._hear)

    @property
    def bench(self) -> Bench:
        """The thread at work."""
        if self._bench is None:
            raise SteersmanError("No thread was opened on this line.")
        return self._bench

    async def _handle(self, method: str, body: Raw) -> Any:
        kind, do = _METHODS.get(method, (None, None))
        if do is None:
            raise SteersmanError(
                f"The workspace agent does not know “{method}”.",
                try_this="Install the same version of Steersman on both machines.",
            )
        return await do(self, msgspec.msgpack.decode(body, type=kind))

    def _hear(self, method: str, body: Raw) -> None:
        if method == "heard" and self._bench is not None:
            self._bench.kept.pop(msgspec.msgpack.decode(body, type=str), None)

    async def enter(self, _: None) -> Entered:
        """Say where this is."""
        return self._agent.entered()

    async def open(self, asked: Open) -> Opened:
        """Take a thread up."""
        self._bench = await self._agent.open(self, asked)
        return await self._bench.opened()

    async def results(self, calls: list[str]) -> list[Done | None]:
        """What came of calls that an earlier host had begun, as far as that is known."""
        return [self.bench.kept.get(call) for call in calls]

    async def foresee(self, asked: Do) -> None:
        """Have people asked about a call before its turn has come."""
        lane = Lane(self.bench.log, asked.path, asked.turn)
        await self.bench.systems.toolbox.foresee(asked.call, lane)

    async def apply(self, settings: Settings) -> None:
        """Work by other settings."""
        await self.bench.systems.apply(settings)

    async def tidy(self, lane: tuple[str, int]) -> list[str]:
        """Undo what a dead process left half done."""
        return await self.bench.systems.runs.tidy(Lane(self.bench.log, *lane))

    async def recover(self, asked: Recover) -> Resumed | None:
        """Close what a session that was cut off left open."""
        log, journal = self.bench.log, self.bench.systems.journal
        log.activity = asked.activity
        kept = await recalling.recover(log, journal, asked.root)
        if kept is None:
            return None
        calls, waiting = (tuple(map(stored, found)) for found in (kept.calls, kept.asked))
        return Resumed(kept.turn, kept.began, calls, waiting)

    async def reverse(self, asked: Reverse) -> int:
        """Carry out an undo or a redo, through the host's gate and into its log."""
        self.bench.log.reached(asked.head)
        lane = Lane(self.bench.log, asked.path, asked.turn)
        return await self.bench.systems.reverse(asked.plan, asked.force, lane)

    async def way(self, asked: Way) -> Any:
        """What an undo would do; needs no thread that is open."""
        from steersman.threads.remote.ways import answered

        store = FarStore(self.line, self._agent.entered().root)
        return await asyncio.to_thread(answered, store, self._agent.state, asked)

    async def blob(self, digest: str) -> bytes | None:
        """A content that was kept."""
        return await asyncio.to_thread(self._agent.content, digest)

    async def keep(self, content: bytes) -> str:
        """Keep a content."""
        return (await asyncio.to_thread(self._agent.objects.put_bytes, content))[0]

    async def leave(self, _: None) -> None:
        """The thread is left: end what is its own."""
        await self.close("")

    async def close(self, why: str) -> None:
        """End the line, where there is a reason to, and everything that the thread has here."""
        if why:
            await self.line.close(SteersmanError(why))
        async with self._closing:
            bench, self._bench = self._bench, None
            if bench is not None:
                await bench.systems.close()
                self._agent.leave(bench.log.thread, bench.kept)


def _of_bench(name: str) -> Callable[[Serving, Any], Coroutine[Any, Any, Any]]:
    async def do(serving: Serving, body: Any) -> Any:
        return await getattr(serving.bench, name)(body)

    return do


async def _contain(serving: Serving, _: None) -> tuple[Containment, str]:
    return await serving.bench.contain()


_METHODS: dict[str, tuple[Any, Callable[[Serving, Any], Coroutine[Any, Any, Any]]]] = {
    "enter": (None, Serving.enter),
    "open": (Open, Serving.open),
    "results": (list[str], Serving.results),
    "foresee": (Do, Serving.foresee),
    "apply": (Settings, Serving.apply),
    "tidy": (tuple[str, int], Serving.tidy),
    "leave": (None, Serving.leave),
    "recover": (Recover, Serving.recover),
    "reverse": (Reverse, Serving.reverse),
    "way": (Way, Serving.way),
    "blob": (str, Serving.blob),
    "keep": (bytes, Serving.keep),
    "contain": (None, _contain),
    "do": (Do, _of_bench("do")),
    "look": (bool, _of_bench("look")),
    "profile": (Confine, _of_bench("profile")),
    "grounded": (Grounding, _of_bench("grounded")),
    "named": (Names, _of_bench("named")),
    "protected": (Guarded, _of_bench("protected")),
}


def _offered(tool: AnyTool) -> Offered:
    return Offered(tool.spec(), tool.family.name, tool.offered, tool.always())


def _stopping(stop: BaseException | None) -> Problem | None:
    if stop is None:
        return None
    if isinstance(stop, SteersmanError):
        return problem_of(stop)
    return Problem(STOPPED, "It was stopped.")
