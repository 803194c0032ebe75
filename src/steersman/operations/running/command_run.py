"""One command where it runs: started there, its effects read, judged, and made so or recorded."""

import asyncio
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from steersman.operations.journal.changeset import Changeset, same, without_power
from steersman.operations.journal.commit import Conflict
from steersman.operations.journal.folders import Tree, set_mode_at
from steersman.operations.journal.journal import Journal
from steersman.operations.journal.snapshot import Snapshot
from steersman.operations.matching import counted
from steersman.operations.running.afterwards import settled
from steersman.operations.running.confine import Sandbox, Workspace
from steersman.operations.running.copied import Copied
from steersman.operations.running.effects import actions_for, verb
from steersman.operations.running.masks import Protection, above, hidden, stubs
from steersman.operations.running.overlay import Transaction
from steersman.operations.running.programs import found
from steersman.operations.running.scratch import Scratch
from steersman.operations.tool import Bench
from steersman.records.action import Network
from steersman.records.addresses import canonical_host
from steersman.records.change import Change
from steersman.records.errors import SteersmanError
from steersman.records.message import Audit, Body, Checkpoint, DiffReady
from steersman.records.names import shown
from steersman.records.profile import Profile
from steersman.records.protection import git_bookkeeping

if TYPE_CHECKING:
    from steersman.operations.running.door import Door

SHOWN_DIFFS = 20
SHOWN_NAMES = 40


class Effects(Struct, frozen=True):
    """What a command did to the workspace, in a few words and as messages."""

    words: list[str] = []
    notes: list[str] = []


class Before:
    """The workspace before a command, without what only holds the place of missing files."""

    def __init__(self, snapshot: Snapshot, root: str, scratch: str) -> None:
        self._snapshot = snapshot
        self._root = root
        self._scratch = scratch
        self._stubs = stubs(scratch)

    def changes(self) -> Changeset:
        """What is different now."""
        found = self._snapshot.changes_since()
        held = self._stubs | stubs(self._scratch)
        real = [
            change
            for change in found.changes
            if os.path.join(self._root, change.path) not in held
            or "absent" not in (change.before.kind, change.after.kind)
        ]
        return msgspec.structs.replace(found, changes=real)


def without_powers(root: str, found: Changeset) -> Changeset:
    """The changes, and the disk, without files that have come to run as their owner."""
    changes, notes = [], list(found.notes)
    with closing(Tree(root)) as tree:
        for change in found.changes:
            tame = without_power(change.before, change.after)
            if tame != change.after:
                with tree.place(change.path) as (folder, name):
                    set_mode_at(folder, name, tame.mode)
                notes.append(f"Not taken over: that {shown(change.path)} runs as its owner.")
            if not same(change.before, tame):
                changes.append(Change(change.path, change.before, tame))
    return msgspec.structs.replace(found, changes=changes, notes=notes)


class CommandRun(ABC):
    """Where one command runs, from before its start until its effects are settled."""

    def __init__(self, journal: Journal, profile: Profile) -> None:
        self._journal = journal
        self._profile = profile
        self._door: Door | None = None
        self._telling: list[asyncio.Future[object]] = []
        self._command = ""
        self.refused: list[str] = []  # hosts that the command wanted to reach and could not

    async def open(self, bench: Bench) -> None:
        """Open the door to the network, if the command may have one."""
        if self._profile.network == "door":
            from steersman.operations.running.door import Door

            async def ask(host: str, port: int) -> str:
                try:
                    await bench.admit([Network(host, port)])
                except SteersmanError as problem:
                    return problem.what
                return ""

            def denied(host: str, port: int, why: str) -> None:
                self.refused.append(f"{host}:{port}")
                told = Audit("network", f"{host}:{port} was not reached: {why}")
                self._telling.append(asyncio.ensure_future(bench.lane.append(told)))

            def nearby(host: str, port: int) -> bool:
                return f"{canonical_host(host)}:{port}" in self._profile.nearby

            self._door = Door(ask, denied, local=nearby)
            await self._door.open()
            environ = {**self._profile.environ, **self._door.environ}
            self._profile = msgspec.structs.replace(self._profile, environ=environ)

    @property
    def inherit(self) -> tuple[int, ...]:
        """Descriptors the command must be started with."""
        return self._door.descriptors if self._door else ()

    @property
    def environ(self) -> Mapping[str, str]:
        """The environment to start it with; what is confined brings its own."""
        return {}

    def argv(self, command: Sequence[str], cwd: str) -> list[str]:
        """The command line to start."""
        self._command = command[-1]
        return self._confined(self._door.wrap(command) if self._door else command, cwd)

    @abstractmethod
    def _confined(self, command: Sequence[str], cwd: str) -> list[str]:
        """The command line that confines a command."""

    def stumbled(self, exit_code: int, output: str) -> bool:
        """Whether it could not give the command what it needs; nothing has happened then."""
        return False

    @abstractmethod
    async def settle(self, bench: Bench) -> Effects:
        """Put what the command did before the gate, and make it so where it is not yet."""

    async def discard(self) -> None:
        """Forget what is left."""
        if self._door:
            await self._door.close()
            await asyncio.gather(*self._telling)


class OverView(CommandRun):
    """One command over a view of the workspace."""

    def __init__(
        self,
        journal: Journal,
        transaction: Transaction | Copied,
        profile: Profile,
        sweep: Callable[[Callable[[], None]], None],
    ) -> None:
        super().__init__(journal, profile)
        self._transaction = transaction
        self._sweep = sweep

    def _confined(self, command: Sequence[str], cwd: str) -> list[str]:
        return self._transaction.argv(command, cwd, self._profile, self.inherit)

    def stumbled(self, exit_code: int, output: str) -> bool:
        """Whether the view could not give the command what it needs; nothing has happened then."""
        return self._transaction.stumbled(exit_code, output)

    async def settle(self, bench: Bench) -> Effects:
        """Put what the command did before the gate, and make it so."""
        found = await asyncio.to_thread(self._transaction.changes, self._journal.objects)
        if found.meanwhile:
            raise Conflict(found.meanwhile)
        if found.changes or found.remove:
            actions = await asyncio.to_thread(
                actions_for, self._journal, found.changes, self._command
            )
            await bench.admit(actions)
            body = Checkpoint("effect", tuple(found.changes), count=len(found.changes))
            await self._journal.make(
                body, bench.lane, bench.call, times=found.times, remove=found.remove
            )
            await tell(self._journal, found.changes, bench)
        return Effects(names_of(found.changes), found.notes)

    async def discard(self) -> None:
        """Forget what is left of the view; nobody waits while the disk does."""
        await super().discard()
        self._sweep(self._transaction.discard)


class Directly(CommandRun):
    """One command on the workspace itself; without a snapshot it can only read it."""

    def __init__(self, journal: Journal, profile: Profile, before: Before | None) -> None:
        super().__init__(journal, profile)
        self._before = before

    async def settle(self, bench: Bench) -> Effects:
        """Record what the command did; it has happened, so the gate is told, not asked.

        Of a command that was not let out, what people are asked about is taken back on a no.
        """
        if self._before is None:
            return Effects()
        found = await asyncio.to_thread(self._before.changes)
        if self._profile.sandbox:
            found = await asyncio.to_thread(without_powers, self._journal.root, found)
        if found.changes:
            actions = await asyncio.to_thread(
                actions_for, self._journal, found.changes, self._command
            )
            await bench.record(actions)
            body = Checkpoint("effect", tuple(found.changes), count=len(found.changes))
            await self._journal.record(body, bench.lane, bench.call)
            await tell(self._journal, found.changes, bench)
        if not found.changes or not self._profile.sandbox:
            return Effects(names_of(found.changes), found.notes)
        held = self._held()
        stand, notes = await settled(self._journal, found.changes, bench, held)
        return Effects(names_of(stand), [*found.notes, *notes])

    def _held(self) -> Sequence[str]:
        """Paths that the command could not have changed."""
        return ()


class Outside(Directly):
    """One command that was let out of the sandbox."""

    @property
    def environ(self) -> Mapping[str, str]:
        """The whole environment it was given."""
        return self._profile.environ

    def _confined(self, command: Sequence[str], cwd: str) -> list[str]:
        """The command as it is; the shell that reads it is not one of the workspace."""
        shell = found(command[0], self._profile.environ, self._journal.root)
        return [shell or command[0], *command[1:]]


class Confined(Directly):
    """One command in a sandbox with the workspace in it as it is, or to be read only."""

    def __init__(
        self,
        journal: Journal,
        profile: Profile,
        before: Before | None,
        sandbox: Sandbox,
        scratch: Scratch,
        protection: Protection | None,
    ) -> None:
        super().__init__(journal, profile, before)
        self._sandbox = sandbox
        self._scratch = scratch
        self._protection = protection

    def _confined(self, command: Sequence[str], cwd: str) -> list[str]:
        root = self._journal.root
        if self._protection is None:
            mounted = Workspace(root, ("--ro-bind", root, root))
        else:
            held = [*self._protection.paths, *hidden(self._profile.hidden)]
            pins = [word for path in above(held, root) for word in ("--bind", path, path)]
            mounted = Workspace(root, ("--bind", root, root), [*pins, *self._protection.words()])
        return self._sandbox.argv(command, cwd, self._profile, mounted, self._scratch, self.inherit)

    async def settle(self, bench: Bench) -> Effects:
        """Record what the command did, without what held the place of missing files."""
        if self._protection:
            self._protection.remove()
        return await super().settle(bench)

    def _held(self) -> Sequence[str]:
        return self._protection.paths if self._protection else ()

    async def discard(self) -> None:
        """Take the stubs away."""
        await super().discard()
        if self._protection:
            self._protection.remove()
        self._scratch.discard()


class Landlocked(Directly):
    """One command in the weaker sandbox."""

    def __init__(
        self, journal: Journal, profile: Profile, before: Before | None, scratch: Scratch
    ) -> None:
        super().__init__(journal, profile, before)
        self._scratch = scratch

    def _confined(self, command: Sequence[str], cwd: str) -> list[str]:
        from steersman.operations.running import landlock

        return landlock.argv(command, self._profile, self._journal.root, self._scratch)

    async def discard(self) -> None:
        """Remove its temporary folder."""
        await super().discard()
        self._scratch.discard()


async def tell(journal: Journal, changes: Sequence[Change], bench: Bench) -> None:
    """Show the diffs of the first files."""
    texts = [
        change
        for change in changes
        if "file" in (change.before.kind, change.after.kind) and not git_bookkeeping(change.path)
    ]
    diffs = [(change.path, journal.diff(change)) for change in texts[:SHOWN_DIFFS]]
    bodies: list[Body] = [DiffReady(shown(path), diff, *counted(diff)) for path, diff in diffs]
    if bodies:
        await bench.lane.append(*bodies, corr=bench.call)


def names_of(changes: Sequence[Change]) -> list[str]:
    """Changes as a short list of words."""
    listed = [f"{verb(change)} {shown(change.path)}" for change in changes[:SHOWN_NAMES]]
    more = len(changes) - SHOWN_NAMES
    return [*listed, f"and {more} more"] if more > 0 else listed
