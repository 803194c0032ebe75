"""Where a command runs: over a copy-on-write view of the workspace, or on the workspace itself.

Either way what it created, changed and deleted is known when it ends, passes the gate, and can be
undone. Over a view nothing has happened until then; directly it has, and is recorded.
"""

import asyncio
import os
from collections.abc import Awaitable, Sequence

from msgspec import Struct

from steersman.action import Action, ChangeMany
from steersman.change import Change
from steersman.errors import SteersmanError
from steersman.message import Body, Checkpoint, DiffReady, Error
from steersman.operations.journal.commit import Conflict, recover
from steersman.operations.journal.journal import INLINE, Journal
from steersman.operations.journal.snapshot import Snapshot
from steersman.operations.matching import counted
from steersman.operations.running.bubblewrap import Unavailable
from steersman.operations.running.overlay import (
    NoOverlay,
    Overlay,
    Transaction,
    available,
    stumbled,
    sweep,
)
from steersman.operations.tool import Bench

SHELL = ("bash", "--norc", "--noprofile", "-c")
SHOWN_DIFFS = 20
SHOWN_NAMES = 40


class Effects(Struct, frozen=True):
    """What a command did to the workspace, in a few words and as messages."""

    words: list[str] = []
    notes: list[str] = []


class Grounds:
    """Chooses where commands of one workspace run, and sees to those that outlast their call."""

    def __init__(self, journal: Journal, state: str) -> None:
        self._journal = journal
        self._unsettled: set[asyncio.Task[None]] = set()
        self._scratch = os.path.join(state, "scratch")
        self._index = os.path.join(state, "index")
        self._overlay: Overlay | Unavailable | None = None

    async def tidy(self) -> list[str]:
        """Take back what a dead process left half done; the answer says what was found."""
        return await asyncio.to_thread(self._tidy)

    def _tidy(self) -> list[str]:
        sweep(self._scratch)
        return recover(self._journal.objects)

    async def overlay(self) -> Overlay | Unavailable:
        """The means for transactions, or why there are none; found out once."""
        if self._overlay is None:
            self._overlay = await asyncio.to_thread(available, self._journal.root, self._scratch)
        return self._overlay

    async def over_view(self) -> "OverView | str":
        """A run over a view of the workspace, or why that cannot be."""
        found = await self.overlay()
        if isinstance(found, Unavailable):
            return found.reason
        try:
            return OverView(self._journal, found.begin(self._journal.root, self._scratch))
        except NoOverlay as problem:
            return problem.what

    async def directly(self) -> "Directly":
        """A run on the workspace itself, which is looked at before and after."""
        os.makedirs(self._index, mode=0o700, exist_ok=True)
        name = self._journal.root.strip("/").replace("/", "-")[-100:] or "root"
        snapshot = await asyncio.to_thread(
            Snapshot.take, self._journal.root, self._journal.objects,
            os.path.join(self._index, name),
        )  # fmt: skip
        return Directly(self._journal, snapshot)

    def settle_later(self, ended: Awaitable[object], ground: "Ground", bench: Bench) -> None:
        """Settle a command that goes on in the background once it has ended."""
        task = asyncio.create_task(_settle_later(ended, ground, bench))
        self._unsettled.add(task)
        task.add_done_callback(self._unsettled.discard)

    async def close(self) -> None:
        """Wait until everything that ended is settled; all commands must have ended before."""
        if self._unsettled:
            await asyncio.wait(self._unsettled)


async def _settle_later(ended: Awaitable[object], ground: "Ground", bench: Bench) -> None:
    try:
        await ended
        await ground.settle(bench)
    except SteersmanError as problem:
        await bench.lane.append(Error(problem.what, problem.why, problem.try_this), corr=bench.call)
    finally:
        ground.discard()


class OverView:
    """One command over a view of the workspace."""

    def __init__(self, journal: Journal, transaction: Transaction) -> None:
        self._journal = journal
        self._transaction = transaction

    def argv(self, command: Sequence[str], cwd: str) -> list[str]:
        """The command line to start; it opens the status file itself, wherever it is started."""
        (status,) = self._transaction.descriptors
        place = os.readlink(f"/proc/self/fd/{status}")
        opening = f'exec {status}>>"$0"; exec "$@"'
        return [*SHELL, opening, place, *self._transaction.argv(command, cwd)]

    def must_run_directly(self, exit_code: int, output: str) -> bool:
        """Whether the view could not give the command what it needs; nothing has happened then."""
        return stumbled(exit_code, output) or (exit_code != 0 and not self._transaction.ran())

    async def settle(self, bench: Bench) -> Effects:
        """Put what the command did before the gate, and make it so."""
        found = await asyncio.to_thread(self._transaction.changes, self._journal.objects)
        if found.meanwhile:
            raise Conflict(found.meanwhile)
        if found.changes or found.remove:
            await bench.admit(actions_for(self._journal, found.changes))
            body = Checkpoint("effect", tuple(found.changes), count=len(found.changes))
            await self._journal.make(
                body, bench.lane, bench.call, times=found.times, remove=found.remove
            )
            await tell(self._journal, found.changes, bench)
        return Effects(names_of(found.changes), found.notes)

    def discard(self) -> None:
        """Forget what is left of the view."""
        self._transaction.discard()


class Directly:
    """One command on the workspace itself."""

    def __init__(self, journal: Journal, snapshot: Snapshot) -> None:
        self._journal = journal
        self._snapshot = snapshot

    def argv(self, command: Sequence[str], cwd: str) -> list[str]:
        """The command line to start."""
        return list(command)

    def must_run_directly(self, exit_code: int, output: str) -> bool:
        """It did."""
        return False

    async def settle(self, bench: Bench) -> Effects:
        """Record what the command did; it has happened, so the gate is told, not asked."""
        found = await asyncio.to_thread(self._snapshot.changes_since)
        if found.changes:
            await bench.admit(actions_for(self._journal, found.changes))
            body = Checkpoint("effect", tuple(found.changes), count=len(found.changes))
            await self._journal.record(body, bench.lane, bench.call)
            await tell(self._journal, found.changes, bench)
        return Effects(names_of(found.changes), found.notes)

    def discard(self) -> None:
        """Nothing is left."""


Ground = OverView | Directly


def actions_for(journal: Journal, changes: Sequence[Change]) -> list[Action]:
    """What the gate must say to a command's effects; very many are judged as one."""
    if len(changes) <= INLINE:
        return journal.actions(changes, "command")
    kinds = [_verb(change) for change in changes]
    return [
        ChangeMany(
            path=journal.root,
            created=kinds.count("created"),
            changed=kinds.count("changed"),
            deleted=kinds.count("deleted"),
            origin="command",
        )
    ]


async def tell(journal: Journal, changes: Sequence[Change], bench: Bench) -> None:
    """Show the diffs of the first files."""
    texts = [change for change in changes if "file" in (change.before.kind, change.after.kind)]
    diffs = [(change.path, journal.diff(change)) for change in texts[:SHOWN_DIFFS]]
    bodies: list[Body] = [DiffReady(path, diff, *counted(diff)) for path, diff in diffs]
    if bodies:
        await bench.lane.append(*bodies, corr=bench.call)


def names_of(changes: Sequence[Change]) -> list[str]:
    """Changes as a short list of words."""
    listed = [f"{_verb(change)} {change.path}" for change in changes[:SHOWN_NAMES]]
    more = len(changes) - SHOWN_NAMES
    return [*listed, f"and {more} more"] if more > 0 else listed


def _verb(change: Change) -> str:
    if change.before.kind == "absent":
        return "created"
    return "deleted" if change.after.kind == "absent" else "changed"
