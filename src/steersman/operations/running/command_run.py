"""One command where it runs: started there, its effects read, judged, and made so or recorded."""

import asyncio
import os
import stat
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, nullcontext
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from steersman.operations.journal.changeset import Changeset, same, tamed
from steersman.operations.journal.commit import Conflict
from steersman.operations.journal.folders import Tree, set_mode_at
from steersman.operations.journal.journal import Journal
from steersman.operations.journal.past import LoggedPast
from steersman.operations.journal.snapshot import Snapshot
from steersman.operations.running.alone import Hold
from steersman.operations.running.confine import Sandbox
from steersman.operations.running.copied import Copied
from steersman.operations.running.effects import actions_for
from steersman.operations.running.guardian import NO_VIEW, View
from steersman.operations.running.losses import Past
from steersman.operations.running.overlay import Transaction, to_be_read
from steersman.operations.running.programs import found
from steersman.operations.running.reporting import Told, names_of, tell, telling
from steersman.operations.running.scratch import Scratch
from steersman.operations.tool import Bench
from steersman.records.action import Action, Network
from steersman.records.addresses import canonical_host
from steersman.records.change import Change
from steersman.records.errors import SteersmanError
from steersman.records.message import Audit, Checkpoint
from steersman.records.profile import Profile
from steersman.store.log import unbroken

if TYPE_CHECKING:
    from steersman.operations.running.door import Door
    from steersman.operations.running.given import Given
    from steersman.operations.running.proxy import Ask, Deny, Local


UNANSWERED = "it ended before you answered"
SERVED = "it may have reached servers that run in the background"


class Effects(Struct, frozen=True):
    """What a command did to the workspace, in a few words and as messages."""

    words: list[str] = []
    notes: list[str] = []


def without_powers(root: str, found: Changeset) -> Changeset:
    """The changes, and the disk, without modes that may not be taken over."""
    changes, notes = [], list(found.notes)
    with closing(Tree(root)) as tree:
        for change in found.changes:
            tame, told = tamed(change.path, change.before, change.after)
            if tame != change.after and tame.kind == "folder":
                tree.modes[change.path] = tame.mode
            elif tame != change.after:
                with tree.place(change.path) as (folder, name):
                    set_mode_at(folder, name, tame.mode)
            notes += told
            if not same(change.before, tame):
                changes.append(Change(change.path, change.before, tame))
        tree.settle()
    return msgspec.structs.replace(found, changes=changes, notes=notes)


class CommandRun(ABC):
    """Where one command runs, from before its start until its effects are settled."""

    def __init__(self, journal: Journal, profile: Profile) -> None:
        self._journal = journal
        self._profile = profile
        self._door: Door | None = None
        self._room: Transaction | Copied | Scratch | None = None
        self._telling: list[asyncio.Future[object]] = []
        self._command = ""
        self.refused: list[str] = []  # hosts that the command wanted to reach and could not
        self._denied: dict[str, str] = {}  # those that the gate denied, and its words
        self.spaces: tuple[int, ...] = ()  # namespaces that it must be started in
        self._served: Callable[[], bool] | None = None  # whether others may have, there
        self._were: dict[str, int | None] = {}  # when what was given had last changed

    @property
    def granted(self) -> tuple[str, ...]:
        """Files outside the workspace that it changes where they are; they must be there."""
        return self._profile.granted

    @property
    def unjudged(self) -> bool:
        """Whether what the command does happens at once, and was not judged yet."""
        return False

    @property
    def alone(self) -> bool:
        """Whether nobody else may work on the folder meanwhile."""
        return False

    def join(self, spaces: tuple[int, ...], served: Callable[[], bool] | None = None) -> None:
        """Have the command share a network with others, if there is one; some may be servers."""
        if spaces and self._profile.network != "host":
            self.spaces, self._served = spaces, served
            self._profile = msgspec.structs.replace(self._profile, shared=True)

    async def open(self, bench: Bench) -> None:
        """Open the door to the network, if the command may have one."""
        if self._profile.network == "door":
            together, one_by_one = self._together, asyncio.Lock()

            async def ask(host: str, port: int) -> str:
                wanted = together(host, port)
                if f"{canonical_host(host)}:{port}" in self._profile.reaches:
                    return ""
                try:
                    async with one_by_one if wanted.registries else nullcontext():
                        await bench.admit([wanted])
                except SteersmanError as problem:
                    why = " ".join(filter(None, (problem.what, problem.try_this)))
                    self._denied[f"{host}:{port}"] = why.removeprefix("Denied: ")
                    return problem.what
                return ""

            def denied(host: str, port: int, why: str) -> None:
                self._refuse(f"{host}:{port}", why, bench)

            def nearby(host: str, port: int) -> bool:
                return f"{canonical_host(host)}:{port}" in self._profile.nearby

            await self._open(ask, denied, nearby, self._profile.nearby)

    def _refuse(self, place: str, why: str, bench: Bench) -> None:
        self.refused.append(place)
        told = Audit("network", f"{place} was not reached: {why}")
        self._telling.append(asyncio.ensure_future(bench.lane.append(told)))

    def give_up(self, bench: Bench) -> None:
        """Say which hosts nobody has answered about: the command has ended, and is not run again.

        A question that someone could see does not vanish silently.
        """
        for host, port in self._door.proxy.asked if self._door else ():
            self._denied[f"{host}:{port}"] = UNANSWERED
            self._refuse(f"{host}:{port}", UNANSWERED, bench)

    @property
    def denials(self) -> list[str]:
        """What was said to each host that the gate denied, or nobody answered about."""
        return [f"{place} was not reached: {why}" for place, why in self._denied.items()]

    @property
    def only_denied(self) -> bool:
        """Whether each host that was not reached is one of those."""
        return bool(self._denied) and self._denied.keys() >= set(self.refused)

    @property
    def asking(self) -> bool:
        """Whether someone is being asked about a host that the command wants to reach."""
        return self._door is not None and bool(self._door.proxy.asked)

    async def answered(self) -> None:
        """Wait until nobody is."""
        if self._door is not None:
            await self._door.proxy.answered()

    async def too_late(self) -> list[str]:
        """The hosts that were allowed after the command had given up; waits for the answers."""
        return await self._door.proxy.missed() if self._door is not None else []

    @property
    def reached(self) -> str:
        """Whom the command may have reached, in words: what it did there would be done twice."""
        if self._door is not None and self._door.used:
            return "it has reached other hosts"
        if self._profile.sockets:
            return "it may have reached other programs"
        if self._profile.network == "host":
            return "it may have reached other hosts"
        served = self._served is not None and self._served()
        return SERVED if served else ""

    async def remains(self, bench: Bench) -> str:
        """What of a command's effects cannot be thrown away, in words; nothing if all can."""
        if self.reached:
            return self.reached
        changed = any(when is None or _changed(one) != when for one, when in self._were.items())
        return "it may have changed files outside the workspace" if changed else ""

    def dropped(self) -> Sequence[str]:
        """What it wrote beside the files that it was given, which is not kept."""
        return ()

    def _together(self, host: str, port: int) -> Network:
        """A host as it is asked about: one of an installation with all others of it."""
        named = self._profile.registries
        return Network(host, port, named if f"{canonical_host(host)}:{port}" in named else ())

    async def lead_to(self, hosts: Sequence[str]) -> None:
        """Open a door that leads to these hosts, as `host:port`, and asks nobody about others."""

        def named(host: str, port: int) -> bool:
            return f"{canonical_host(host)}:{port}" in hosts

        async def ask(host: str, port: int) -> str:
            return "" if named(host, port) else f"{host}:{port} is not among its hosts."

        await self._open(ask, None, named, hosts)

    async def _open(
        self, ask: "Ask", denied: "Deny | None", local: "Local", near: Sequence[str]
    ) -> None:
        from steersman.operations.running.door import Door
        from steersman.operations.running.forwarding import forwards

        self._door = Door(ask, denied, local=local, forwards=forwards(near))
        await self._door.open()
        environ = {**self._profile.environ, **self._door.environ}
        self._profile = msgspec.structs.replace(self._profile, environ=environ)

    @property
    def inherit(self) -> tuple[int, ...]:
        """Descriptors the command must be started with, once its line is known."""
        door = self._door.descriptors if self._door else ()
        return (*door, *self._room.descriptors) if self._room is not None else door

    @property
    def view(self) -> View:
        """What its guard must mount before it is started."""
        return self._room.view if isinstance(self._room, Transaction) else NO_VIEW

    @property
    def environ(self) -> Mapping[str, str]:
        """The environment to start it with; what is confined brings its own."""
        return {}

    def argv(self, command: Sequence[str], cwd: str) -> list[str]:
        """The command line to start."""
        self._command = command[-1]
        self._were = {one: _changed(one) for one in self.granted}
        return self._confined(self._door.wrap(command) if self._door else command, cwd)

    @abstractmethod
    def _confined(self, command: Sequence[str], cwd: str) -> list[str]:
        """The command line that confines a command."""

    def unmade(self, unseen: int) -> bool:
        """Whether the command was never started; to be asked if its sandbox ended by itself."""
        return False

    def stumbled(self, exit_code: int, output: str) -> bool:
        """Whether it could not give the command what it needs."""
        return False

    @property
    def contained(self) -> bool:
        """Whether it is certain that nobody outside noticed the command: then it can be repeated.

        What it wrote into the folders that are for caches does not count.
        """
        profile = self._profile
        apart = profile.sandbox and profile.network != "host" and not profile.shared
        opened = profile.granted or profile.sockets or (self._door and self._door.used)
        return apart and not opened

    async def milestone(self, bench: Bench) -> Effects | None:
        """Settle what a command that continues has done so far, where that can be."""
        return None

    @abstractmethod
    async def settle(self, bench: Bench) -> Effects:
        """Put what the command did before the gate, and make it so where it is not yet."""

    async def discard(self) -> None:
        """Forget what is left."""
        if self._door:
            await self._door.close()
            await asyncio.gather(*self._telling)


class OverView(CommandRun):
    """One command over a view of the workspace, and of the folders of files that it was given."""

    _given: "Given | None" = None

    def __init__(
        self,
        journal: Journal,
        transaction: Transaction | Copied,
        profile: Profile,
        sweep: Callable[[Callable[[], None]], None],
    ) -> None:
        super().__init__(journal, profile)
        self._transaction = self._room = transaction
        self._sweep = sweep

    async def open(self, bench: Bench) -> None:
        """Also lay a view over the folders of files that it was given."""
        if self._profile.given:
            await self._give(self._transaction)
        await super().open(bench)

    def dropped(self) -> Sequence[str]:
        """What it wrote beside the files that it was given, which is not kept."""
        return self._given.dropped() if self._given is not None else ()

    async def _give(self, room: Transaction | Copied) -> None:
        from steersman.operations.running.given import Given

        given = await asyncio.to_thread(Given, room.bubblewrap, self._profile.given)
        self._given, room.beside = given, given.mounts
        left = (one for one in self._profile.granted if one not in given.covered)
        self._profile = msgspec.structs.replace(self._profile, granted=tuple(left))

    def _confined(self, command: Sequence[str], cwd: str) -> list[str]:
        if isinstance(self._transaction, Transaction):
            return self._transaction.guarded(command, cwd, self._profile)
        return self._transaction.argv(command, cwd, self._profile)

    def unmade(self, unseen: int) -> bool:
        """Whether the view could not be mounted; nothing has happened then."""
        return self._transaction.unmade(unseen)

    def stumbled(self, exit_code: int, output: str) -> bool:
        """Whether the view could not give the command what it needs."""
        return self._transaction.stumbled(exit_code, output)

    async def settle(self, bench: Bench) -> Effects:
        """Put what the command did before the gate, and make it so."""
        past = LoggedPast(self._journal, bench.lane)
        found, actions, told = await asyncio.to_thread(self._look, past)
        if found.meanwhile:
            raise Conflict(found.meanwhile)
        words: list[str] = []
        if found.changes or found.remove:
            await bench.admit(actions)
            await self._commit(found, bench)
            words = told.show(bench)
        notes = found.notes
        if self._given is not None:
            take_over = asyncio.to_thread(self._given.take_over, self._journal.objects)
            notes = [*notes, *await unbroken(take_over)]
        return Effects(words, notes)

    def _look(self, past: Past) -> tuple[Changeset, list[Action], Told]:
        """What the command did, as the gate is asked about it, and as it is shown afterwards."""
        found = self._transaction.changes(self._journal.objects)
        if found.meanwhile or not (found.changes or found.remove):
            return found, [], Told()
        return found, self._actions(found, past), telling(self._journal, found.changes)

    def _actions(self, found: Changeset, past: Past) -> list[Action]:
        return actions_for(self._journal, found.changes, self._command, past, remove=found.remove)

    async def judge(self, found: Changeset, bench: Bench) -> None:
        """Put changes before the gate; raises when it says no."""
        past = LoggedPast(self._journal, bench.lane)
        await bench.admit(await asyncio.to_thread(self._actions, found, past))

    async def make(self, found: Changeset, bench: Bench) -> None:
        """Make changes so, with their checkpoint in the log, and show them."""
        await self._commit(found, bench)
        await tell(self._journal, found.changes, bench)

    async def _commit(self, found: Changeset, bench: Bench) -> None:
        body = Checkpoint("effect", tuple(found.changes), count=len(found.changes))
        await self._journal.make(
            body, bench.lane, bench.call, times=found.times, remove=found.remove
        )

    async def discard(self) -> None:
        """Forget what is left of the view; nobody waits while the disk does."""
        await super().discard()
        self._sweep(self._transaction.discard)
        if self._given is not None:
            self._sweep(self._given.discard)


class Directly(CommandRun):
    """One command on the workspace itself; without a snapshot it can only read it."""

    def __init__(self, journal: Journal, profile: Profile, before: Snapshot | None) -> None:
        super().__init__(journal, profile)
        self._before = before
        self._settling: asyncio.Future[Effects] | None = None

    @property
    def unjudged(self) -> bool:
        """It does, where the command may write."""
        return self._before is not None and not (self._settling and self._settling.done())

    @property
    def judged(self) -> bool:
        """Whether nothing went wrong with that."""
        settling = self._settling
        return bool(settling and settling.done() and not settling.exception())

    async def settle(self, bench: Bench) -> Effects:
        """Record what the command did; it has happened, so the gate is informed, not asked.

        What people are asked about is undone on a no; of a command that was let out, that is
        protected files. Once begun this continues, even if nobody waits for it any more; to call
        it again is to wait.
        """
        if self._before is None:
            return Effects()
        if self._settling is None:
            self._settling = asyncio.ensure_future(self._settle(self._before, bench))
        return await asyncio.shield(self._settling)

    async def remains(self, bench: Bench) -> str:
        """Also what it did to the workspace: that has happened, and is recorded."""
        if known := await super().remains(bench):
            return known
        return "it has changed files" if (await self.settle(bench)).words else ""

    async def _settle(self, before: Snapshot, bench: Bench) -> Effects:
        from steersman.operations.running.afterwards import settled
        from steersman.operations.running.specials import with_specials, without_specials

        found = await asyncio.to_thread(before.changes_since)
        if self._profile.sandbox:
            found = await asyncio.to_thread(without_powers, self._journal.root, found)
        known = without_specials if self._profile.sandbox else with_specials
        found = await asyncio.to_thread(known, self._journal.root, found)
        past = LoggedPast(self._journal, bench.lane)
        changes, remove = found.changes, found.remove
        if changes or remove:
            actions = await asyncio.to_thread(
                actions_for, self._journal, changes, self._command, past, remove=remove
            )
            await bench.record(actions)
        if changes:
            special = tuple(found.special)
            body = Checkpoint("effect", tuple(changes), count=len(changes), special=special)
            await self._journal.record(body, bench.lane, bench.call)
            await tell(self._journal, changes, bench)
        if not (self._profile.sandbox or self._profile.guarded) or not (changes or remove):
            return Effects(await asyncio.to_thread(names_of, self._journal, changes), found.notes)
        few = not self._profile.sandbox
        stand, notes = await settled(self._journal, found, bench, past, only_protected=few)
        words = await asyncio.to_thread(names_of, self._journal, stand)
        return Effects(words, [*found.notes, *notes])


class Outside(Directly):
    """One command that was let out of the sandbox; none that must be alone runs beside it."""

    def __init__(self, journal: Journal, profile: Profile, before: Snapshot, hold: Hold) -> None:
        super().__init__(journal, profile, before)
        self._hold = hold

    @property
    def environ(self) -> Mapping[str, str]:
        """The whole environment it was given."""
        return self._profile.environ

    def _confined(self, command: Sequence[str], cwd: str) -> list[str]:
        """The command as it is; the shell that reads it is not one of the workspace."""
        shell = found(command[0], self._profile.environ, self._journal.root)
        return [shell or command[0], *command[1:]]

    async def discard(self) -> None:
        """Let commands begin that must be alone."""
        try:
            await super().discard()
        finally:
            self._hold.release()


class Looking(Directly):
    """One command in a sandbox with the workspace in it to be read only.

    `live` when it must see what others change meanwhile.
    """

    def __init__(
        self,
        journal: Journal,
        profile: Profile,
        sandbox: Sandbox,
        scratch: Scratch,
        *,
        live: bool = False,
    ) -> None:
        super().__init__(journal, profile, None)
        self._sandbox = sandbox
        self._scratch = self._room = scratch
        self._live = live

    def _confined(self, command: Sequence[str], cwd: str) -> list[str]:
        root = self._journal.root
        mounted = to_be_read(root, self._profile, self._sandbox, self._scratch, live=self._live)
        return self._sandbox.argv(command, cwd, self._profile, mounted, self._scratch)

    async def discard(self) -> None:
        """Remove its temporary folder."""
        await super().discard()
        await asyncio.to_thread(self._scratch.discard)


class Landlocked(Directly):
    """One command in the weaker sandbox; what may write has the workspace for itself."""

    def __init__(
        self,
        journal: Journal,
        profile: Profile,
        before: Snapshot | None,
        scratch: Scratch,
        hold: Hold | None = None,
    ) -> None:
        super().__init__(journal, profile, before)
        self._scratch = scratch
        self._hold = hold

    @property
    def alone(self) -> bool:
        """It is, where it may write."""
        return self._hold is not None

    def _confined(self, command: Sequence[str], cwd: str) -> list[str]:
        from steersman.operations.running import landlock

        return landlock.argv(command, self._profile, self._journal.root, self._scratch)

    async def discard(self) -> None:
        """Remove its temporary folder; the next command may begin."""
        try:
            await super().discard()
            await asyncio.to_thread(self._scratch.discard)
        finally:
            if self._hold:
                if self.judged:
                    self._hold.forget()
                self._hold.release()


def _changed(path: str) -> int | None:
    """When a file has changed last, 0 if it is not there; nobody knows of a folder."""
    try:
        about = os.lstat(path)
    except OSError:
        return 0
    return None if stat.S_ISDIR(about.st_mode) else about.st_ctime_ns
