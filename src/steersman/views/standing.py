"""What stands of a thread's last changes, and what of it is still to be reviewed."""

import asyncio
import os
from collections.abc import Collection, Sequence
from contextlib import suppress

from steersman.host import Host
from steersman.records.errors import NothingToUndo
from steersman.records.message import Checkpoint, TurnEnd
from steersman.records.names import on_disk
from steersman.views.blocks import Block, Remark, Work
from steersman.views.changeset import Changeset, changeset
from steersman.views.committed import commits, without_committed
from steersman.views.review import afterwards
from steersman.views.seat import Seat
from steersman.views.story import Story

Stamps = tuple[tuple[str, int, int, int], ...]


class Standing:
    """The changes of the last turn that made any, less what was undone or committed since.

    What the user's own commands change is not among them. `heard` and `git_moved` take in what
    happens, and say whether to `look` again.
    """

    def __init__(self, seat: Seat) -> None:
        self._seat = seat
        self._kept: set[tuple[str, int]] = set()  # threads and turns
        self._of = ""  # the thread of all below
        self._found: Changeset | None = None
        self._changed = self._ended = 0  # the last turn that changed a file, and that ended
        self._committed = -1  # up to which turn something was committed since
        self._watched: set[str] = set()  # paths of the turn that is looked at
        self._stamps: Stamps = ()
        self.vanished = False  # nothing is left, though nothing was undone or committed

    @property
    def changes(self) -> Changeset | None:
        """What stands."""
        return self._found if self._of == self._seat.id else None

    @property
    def title(self) -> str:
        """Whose changes they are."""
        found = self.changes
        return title_of(found) if found else "changes"

    def to_review(self, story: Story) -> Changeset | None:
        """What is to be reviewed now; to begin another turn is to keep it."""
        found = self.changes
        if found is None or story.working or not afterwards(self._seat.settings.approvals):
            return None
        kept = (self._seat.id, found.turn) in self._kept
        return None if kept or found.turn != story.turn else found

    def keep(self, found: Changeset) -> None:
        """It was reviewed, and stays."""
        self._kept.add((self._seat.id, found.turn))

    def heard(self, changed: Sequence[Block]) -> bool:
        """Something was changed, undone, redone or committed, or a turn ended."""
        if self._of != self._seat.id:
            self._of, self._found = self._seat.id, None
            self._changed = self._ended = 0
            self._committed = -1
        news = False
        for one in changed:
            body = one.body if isinstance(one, Remark) else None
            if isinstance(body, TurnEnd):
                self._ended = one.turn
            if made := commits(one):
                self._committed = self._ended
            effect = isinstance(one, Work) and bool(one.diffs) and one.state != "running"
            if effect:
                self._changed = max(self._changed, one.turn)
            news = news or made or effect or isinstance(body, TurnEnd | Checkpoint)
        return news

    def git_moved(self, story: Story) -> bool:
        """Another program committed, or went to another commit. In a turn that is its own doing."""
        if not story.working:
            self._committed = story.turn
        return not story.working

    async def look(self) -> None:
        """Find out what stands."""
        thread, before = self._of, self._found
        if not thread or thread != self._seat.id:
            return
        found, host = None, self._seat.host
        stamps = await asyncio.to_thread(self._now)
        for turn in sorted({self._ended, self._changed}, reverse=True):
            if turn and found is None:
                found = await asyncio.to_thread(changeset, host, thread, turn)
        vanished = found is None and await asyncio.to_thread(_noted, host, thread, self._changed)
        if found is not None and found.turn <= self._committed:
            found = await without_committed(self._seat, found)
        if thread == self._of:
            self._found, self.vanished = found, vanished
            if found is not None:
                other = before is None or before.turn != found.turn
                self._watched = (set() if other else self._watched) | {
                    *found.paths[: len(found.own)], *found.moved.values()
                }  # fmt: skip
            self._stamps = stamps  # of before the look: what is written meanwhile is seen next

    async def touched(self) -> bool:
        """Whether a file of those changes is another than at the last look: anyone may edit it."""
        if not self._watched or self._of != self._seat.id:
            return False
        return self._stamps != await asyncio.to_thread(self._now)

    def _now(self) -> Stamps:
        """What the files are like; nothing while they are being changed, so that they differ."""
        if self._seat.host.way_back.under_way(self._of):
            return ()
        return _stamps(self._seat.folder, self._watched)


def _stamps(folder: str, paths: Collection[str]) -> Stamps:
    """What shows that a file was written, for each of some paths; nothing for one that is gone."""
    found = []
    for path in sorted(paths):
        with suppress(OSError):
            now = os.lstat(os.path.join(folder, on_disk(path)))
            found.append((path, now.st_mtime_ns, now.st_ctime_ns, now.st_size))
    return tuple(found)


def _noted(host: Host, thread: str, turn: int) -> bool:
    """Whether the log has changes of a turn that were not undone."""
    with suppress(NothingToUndo):
        return bool(turn and host.way_back.made(thread, turn=turn).changes)
    return False


def title_of(found: Changeset) -> str:
    """Whose changes a changeset has."""
    return f"changes of turn {found.turn}" if found.turn else "changes"
