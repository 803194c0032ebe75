"""One command in the background: over a copy that follows the workspace, and is followed."""

import asyncio
import time
from collections.abc import Callable, Collection
from contextlib import closing, suppress

from msgspec import Struct
from msgspec.structs import replace

from steersman.operations.journal.changeset import Changeset
from steersman.operations.journal.commit import Conflict
from steersman.operations.journal.folders import Tree, parent
from steersman.operations.journal.journal import Journal
from steersman.operations.journal.undoing import with_obstacles
from steersman.operations.running.command_run import Effects, OverView
from steersman.operations.running.copied import Copied
from steersman.operations.running.fitting import unfit
from steersman.operations.running.mirrored import Mirrored
from steersman.operations.running.overlay import Transaction
from steersman.operations.running.reporting import names_of
from steersman.operations.running.repositories import is_state, repository_of
from steersman.operations.tool import Bench
from steersman.records.change import Change
from steersman.records.errors import SteersmanError, ToolProblem
from steersman.records.git_places import GitPlaces
from steersman.records.message import Error
from steersman.records.names import shown
from steersman.records.profile import Profile
from steersman.records.protection import protected_name
from steersman.store.log import unbroken

PAUSE = 1.0  # seconds after which a command in the background sees what changed
LEISURE = 20  # so many times as long as a look took is the pause after it, if that is longer
TRIES = 5  # a person may save a file just when it is to be changed

NAMED = 8  # files of one folder that are named when they are not taken over


class OverMirror(OverView):
    """A command that continues. What it does is settled at milestones, and in the end.

    Until the end nobody is asked about protected files, and folders that tools fill wait too.
    """

    def __init__(
        self,
        journal: Journal,
        mirror: Mirrored,
        profile: Profile,
        sweep: Callable[[Callable[[], None]], None],
    ) -> None:
        super().__init__(journal, mirror, profile, sweep)
        self._mirror = mirror
        self._order = asyncio.Lock()
        self._following: asyncio.Task[None] | None = None
        self._over = False

    async def open(self, bench: Bench) -> None:
        """Also begin to bring over what changes in the workspace."""
        await super().open(bench)
        self._following = asyncio.create_task(self._follow(), name="mirror")

    async def _give(self, room: Transaction | Copied) -> None:
        """Nothing: what continues writes its files where others see them."""

    async def _follow(self) -> None:
        pause = PAUSE
        while True:
            await asyncio.sleep(pause)
            began = time.monotonic()
            async with self._order:
                with suppress(ToolProblem):  # the workspace is gone, or grew too large
                    await unbroken(asyncio.to_thread(self._mirror.refresh))
            pause = max(PAUSE, LEISURE * (time.monotonic() - began))

    async def milestone(self, bench: Bench) -> Effects | None:
        """Settle what the command has done so far."""
        async with self._order:
            return None if self._over else await self._settle(bench, whole=False)

    async def settle(self, bench: Bench) -> Effects:
        """Settle what the command has done since that happened last."""
        async with self._order:
            self._over = True  # what is missing in the copy from now on was not deleted
            return await self._settle(bench, whole=True)

    async def _settle(self, bench: Bench, *, whole: bool) -> Effects:
        outcome = Outcome()
        avoided: set[str] = set()
        problem: SteersmanError | None = None
        for _ in range(TRIES):
            await unbroken(asyncio.to_thread(self._mirror.refresh))
            found = await unbroken(
                asyncio.to_thread(self._mirror.changes_so_far, self._journal.objects, whole=whole)
            )
            mine, contested = _uncontested(found, avoided)
            outcome.note(*found.notes, *contested)
            try:
                problem = await self._make_what_can_be(mine, bench, outcome, whole=whole)
            except Conflict as conflict:
                avoided.update(conflict.paths)
                continue  # what was made so before is not found again
            except SteersmanError as failed:
                problem = failed
                break
            if problem is None:
                words = await asyncio.to_thread(names_of, self._journal, outcome.made)
                return Effects(words, list(outcome.notes))
            break
        if outcome.notes:  # also where a part was refused, another was made
            await bench.lane.append(Error("; ".join(outcome.notes)), corr=bench.call)
        raise problem or ToolProblem(
            "What a command in the background did is not in the workspace yet.",
            "Other programs keep changing the same files.",
        )

    async def _make_what_can_be(
        self, found: Changeset, bench: Bench, outcome: "Outcome", *, whole: bool
    ) -> SteersmanError | None:
        """Why something was not made so: long work is not lost for one bad file.

        What was refused is not asked about again; what does not fit any more is noted.
        """
        parts = await asyncio.to_thread(_parts, found, self._journal.root)
        problem: SteersmanError | None = None
        waiting = {change.path for change in found.changes}
        try:
            for part in parts if whole else parts[:-1]:
                fit, notes = await asyncio.to_thread(_fitting, part, self._journal.root)
                outcome.note(*notes)
                if fit.changes or fit.remove:
                    try:
                        await self.judge(fit, bench)
                    except SteersmanError as refused:
                        problem = problem or refused
                    else:
                        if await asyncio.to_thread(self._has_moved, fit):
                            raise Conflict(())
                        await self.make(fit, bench)
                        outcome.made += fit.changes
                waiting -= {change.path for change in part.changes}
        finally:
            await unbroken(asyncio.to_thread(self._mirror.accept, outcome.made, waiting))
        return problem

    def _has_moved(self, part: Changeset) -> bool:
        """Whether others made changes unfit while these were judged."""
        fit, _ = _fitting(part, self._journal.root)
        return fit != part or bool(self._mirror.disputed(part.changes))

    async def discard(self) -> None:
        """Stop following, then forget what is left."""
        if self._following is not None:
            self._following.cancel()
            await asyncio.wait({self._following})
        async with self._order:
            self._over = True
            await super().discard()


class Outcome(Struct):
    """What was made so of a command's work, and what there is to say of the rest."""

    made: list[Change] = []
    notes: dict[str, None] = {}

    def note(self, *notes: str) -> None:
        """Say something, once."""
        self.notes |= dict.fromkeys(notes)


def _parts(found: Changeset, root: str) -> tuple[Changeset, Changeset, Changeset]:
    """What is new, what changes what was there, and what is protected.

    Each is judged by itself. What is new in the place of something else goes with its change, and
    the state of a repository stays together.
    """
    places = GitPlaces(root)

    def is_guarded(path: str) -> bool:
        name = places.as_git(path)
        head = name.endswith("/HEAD") and repository_of(name) is not None
        return not head and bool(protected_name(path, places, root))

    named = [change for change in found.changes if is_guarded(change.path)]
    guarded = with_obstacles(named, found.changes)
    kept = {change.path for change in guarded}
    plain = [change for change in found.changes if change.path not in kept]
    there = {change.path for change in plain if change.before.kind != "absent"}

    def is_new(path: str) -> bool:
        name = places.as_git(path)
        repository = repository_of(name)
        if repository is not None and is_state(name, repository):
            return False
        while path:
            if path in there:
                return False
            path = path.rpartition("/")[0]
        return True

    new = [change for change in plain if is_new(change.path)]
    other = [change for change in plain if not is_new(change.path)]
    specials = [path for path in found.remove if not is_guarded(path)]
    return (
        replace(found, changes=new, remove=[]),
        replace(found, changes=other, remove=specials),
        replace(found, changes=guarded, remove=[*filter(is_guarded, found.remove)]),
    )


def _uncontested(found: Changeset, avoided: Collection[str]) -> tuple[Changeset, list[str]]:
    """The changes that nobody else made meanwhile, and what became of the others."""
    contested = {*found.meanwhile, *avoided}
    notes = [
        f"{shown(change.path)} was changed by others and stays as it is{_kept(change)}"
        for change in found.changes
        if change.path in contested
    ]
    return _without(found, contested), notes


def _fitting(part: Changeset, root: str) -> tuple[Changeset, list[str]]:
    """The changes that can be made in the workspace as it is, and what became of the others."""
    with closing(Tree(root)) as tree:
        try:
            used, homeless = unfit(tree, part.changes, part.remove)
        finally:
            tree.settle()
    notes = [
        f"{shown(change.path)} contains something of others and stays{_kept(change)}"
        for change in used
    ]
    for folder in sorted({parent(change.path) for change in homeless}):
        inner = [change for change in homeless if parent(change.path) == folder]
        names = ", ".join(f"{shown(one.path)}{_kept(one)}" for one in inner[:NAMED])
        more = f" and {len(inner) - NAMED} more" if len(inner) > NAMED else ""
        notes.append(f"{shown(folder)} is no longer a folder, so this is not kept: {names}{more}")
    return _without(part, {change.path for change in (*used, *homeless)}), notes


def _without(found: Changeset, paths: Collection[str]) -> Changeset:
    return replace(
        found,
        changes=[change for change in found.changes if change.path not in paths],
        remove=[path for path in found.remove if path not in paths],
    )


def _kept(change: Change) -> str:
    """Where to find what a command made of a path."""
    digest = change.after.digest
    return f"; the command's is kept as {digest}" if digest else ""
