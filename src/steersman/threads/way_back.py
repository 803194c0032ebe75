"""Plans for undoing changes of files: what the log shows, compared with what is there now.

Nothing is changed here; a plan is carried out by the open thread.
"""

from contextlib import closing
from pathlib import Path, PurePosixPath

import msgspec

from steersman.operations.journal import undoing
from steersman.operations.journal.changeset import same
from steersman.operations.journal.folders import Tree
from steersman.operations.journal.journal import Journal
from steersman.operations.journal.objects import Objects
from steersman.operations.running.git_needs import needed
from steersman.records.change import FileState
from steersman.records.counting import counted
from steersman.records.undo import UndoPlan
from steersman.store.contract import Store, find_thread
from steersman.store.log import read_messages

_STAYS = "git: {objects} stay, because a branch, a tag or a commit of yours uses them\n"


class WayBack:
    """Finds out what an undo, a redo or a rewind of a thread would do."""

    def __init__(self, store: Store, home: Path) -> None:
        self._store = store
        self._home = home

    def plan_undo(
        self, thread_id: str, *, turn: int | None = None, to: int | None = None
    ) -> UndoPlan:
        """What undoing the last turn would do, or a certain turn, or all after a message."""
        entries, turns = self._entries(thread_id)
        if to is not None:
            return self._needed(thread_id, undoing.plan_undo(entries, undoing.since(entries, to)))
        effects = undoing.standing(entries).effects
        if turn is None and effects:
            turn = turns[effects[-1]]
        wanted = [seq for seq in effects if turns[seq] == turn]
        # Calls outside a turn have nothing in common: only the last of them is meant.
        plan = undoing.plan_undo(entries, wanted if turn else wanted[-1:])
        return self._needed(thread_id, plan)

    def plan_rewind(self, thread_id: str, to: int) -> UndoPlan | None:
        """What undoing all after a message would do; None when nothing changed since."""
        entries, _ = self._entries(thread_id)
        wanted = undoing.since(entries, to)
        if not wanted:
            return None
        return self._needed(thread_id, undoing.plan_undo(entries, wanted))

    def plan_redo(self, thread_id: str) -> UndoPlan:
        """What undoing the last undo would do."""
        return self._needed(thread_id, undoing.plan_redo(self._entries(thread_id)[0]))

    def _needed(self, thread_id: str, plan: UndoPlan) -> UndoPlan:
        """A plan without what is already so: a change may never have been made, or be undone."""
        present = self._present(thread_id, plan)
        left = [c for c in plan.changes if not same(present[c.path], c.after)]
        kept = needed(self._journal(thread_id), left)
        folders = {above.as_posix() for path in kept for above in PurePosixPath(path).parents}
        changes = tuple(c for c in left if c.path not in kept and c.path not in folders)
        return msgspec.structs.replace(plan, changes=changes, kept=len(kept))

    def _present(self, thread_id: str, plan: UndoPlan) -> dict[str, FileState]:
        """What is at the paths of a plan; a path below a link is not there, wherever it leads."""
        with closing(Tree(find_thread(self._store, thread_id).workspace)) as tree:
            try:
                return {change.path: tree.examine(change.path).state for change in plan.changes}
            finally:
                tree.settle()

    def conflicts(self, thread_id: str, plan: UndoPlan) -> tuple[str, ...]:
        """Paths that someone else changed since, so that the plan would lose their work."""
        present = self._present(thread_id, plan)
        return tuple(sorted({*undoing.conflicts(present, plan), *plan.gaps}))

    def describe(self, thread_id: str, plan: UndoPlan) -> list[str]:
        """A plan's changes as people read them."""
        journal = self._journal(thread_id)
        lines = [journal.diff(change) for change in plan.changes]
        if plan.kept:
            lines.append(_STAYS.format(objects=counted(plan.kept, "object")))
        return lines

    def _entries(self, thread_id: str) -> tuple[list[undoing.Entry], dict[int, int]]:
        messages = list(read_messages(self._store, thread_id, kinds={"checkpoint"}))
        entries = self._journal(thread_id).entries(messages)
        return entries, {m.seq: m.turn for m in messages}

    def _journal(self, thread_id: str) -> Journal:
        return Journal(find_thread(self._store, thread_id).workspace, self._objects)

    @property
    def _objects(self) -> Objects:
        return Objects(self._home / "objects", self._store if self._store.shared else None)
