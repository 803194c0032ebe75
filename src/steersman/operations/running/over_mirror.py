"""One command in the background: over a copy that follows the workspace, and is followed."""

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress

from msgspec.structs import replace

from steersman.operations.journal.changeset import Changeset
from steersman.operations.journal.commit import Conflict
from steersman.operations.journal.journal import Journal
from steersman.operations.running.afterwards import with_obstacles
from steersman.operations.running.command_run import Effects, OverView, names_of
from steersman.operations.running.mirrored import Mirrored
from steersman.operations.tool import Bench
from steersman.records.change import Change
from steersman.records.errors import SteersmanError, ToolProblem
from steersman.records.git_places import GitPlaces
from steersman.records.message import Error
from steersman.records.names import shown
from steersman.records.profile import Profile
from steersman.records.protection import git_bookkeeping, protected_name
from steersman.store.log import unbroken

PAUSE = 1.0  # seconds after which a command in the background sees what changed
LEISURE = 20  # so many times as long as a look took is the pause after it, if that is longer
TRIES = 3  # a person may save a file just when it is to be changed


class OverMirror(OverView):
    """A command that goes on. What it does is settled at milestones, and in the end.

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
        notes: dict[str, None] = {}
        problem: SteersmanError | None = None
        for _ in range(TRIES):
            await unbroken(asyncio.to_thread(self._mirror.refresh))
            found = await unbroken(
                asyncio.to_thread(self._mirror.changes_so_far, self._journal.objects, whole=whole)
            )
            mine, contested = _uncontested(found, self._journal)
            notes |= dict.fromkeys([*found.notes, *contested])
            try:
                made, problem = await self._make_what_can_be(mine, bench, whole=whole)
            except Conflict:
                continue  # what was made so before is not found again
            except SteersmanError as failed:
                problem = failed
                break
            if problem is None:
                return Effects(names_of(made), list(notes))
            break
        if notes:  # also where a part was refused, another was made
            await bench.lane.append(Error("; ".join(notes)), corr=bench.call)
        raise problem or ToolProblem(
            "What a command in the background did is not in the workspace yet.",
            "Files that it changed are changed by others all the time.",
        )

    async def _make_what_can_be(
        self, found: Changeset, bench: Bench, *, whole: bool
    ) -> tuple[list[Change], SteersmanError | None]:
        """What was made so, and why the rest was not: long work is not lost for one bad file.

        What was refused is not asked about again.
        """
        parts = await asyncio.to_thread(_parts, found, self._journal.root)
        made: list[Change] = []
        problem: SteersmanError | None = None
        waiting = {change.path for change in found.changes}
        try:
            for part in parts if whole else parts[:-1]:
                if not part.changes and not part.remove:
                    continue
                try:
                    await self.judge(part, bench)
                except SteersmanError as refused:
                    problem = problem or refused
                else:
                    await self.make(part, bench)
                    made += part.changes
                waiting -= {change.path for change in part.changes}
        finally:
            await unbroken(asyncio.to_thread(self._mirror.accept, made, waiting))
        return made, problem

    async def discard(self) -> None:
        """Stop following, then forget what is left."""
        if self._following is not None:
            self._following.cancel()
            await asyncio.wait({self._following})
        async with self._order:
            self._over = True
            await super().discard()


def _parts(found: Changeset, root: str) -> tuple[Changeset, Changeset, Changeset]:
    """What is new, what changes what was there, and what is protected.

    Each is judged by itself. What is new in the place of something else goes with its change.
    """
    places = GitPlaces(root)

    def is_guarded(path: str) -> bool:
        return bool(protected_name(path, places, root))

    named = [change for change in found.changes if is_guarded(change.path)]
    guarded = with_obstacles(named, found.changes)
    kept = {change.path for change in guarded}
    plain = [change for change in found.changes if change.path not in kept]
    there = {change.path for change in plain if change.before.kind != "absent"}

    def is_new(path: str) -> bool:
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


def _uncontested(found: Changeset, journal: Journal) -> tuple[Changeset, list[str]]:
    """The changes that nobody else made meanwhile, and what became of the others."""
    contested = set(found.meanwhile)
    notes = [_contested(change, journal) for change in found.changes if change.path in contested]
    return replace(
        found,
        changes=[change for change in found.changes if change.path not in contested],
        remove=[path for path in found.remove if path not in contested],
    ), list(filter(None, notes))


def _contested(change: Change, journal: Journal) -> str:
    """Where to find what a command made of a path that others changed too."""
    told, kept = f"{shown(change.path)} was changed by others meanwhile and stays as it is", ""
    if change.after.digest:
        kept = f"; the command's is kept as {change.after.digest}"
    if not git_bookkeeping(change.path):
        return told + kept
    if "refs/" not in change.path or "logs/" in change.path or not change.after.digest:
        return ""
    with journal.objects.open(change.after.digest) as file:
        return f"{told}; the command's commit is {file.read(80).decode(errors='replace').strip()}"
