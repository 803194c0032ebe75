"""Plans for undoing changes of files: what the log shows, compared with what is there now.

Nothing is changed here; a plan is carried out by the open thread.
"""

from collections.abc import Collection, Mapping, Sequence
from contextlib import closing
from pathlib import Path, PurePosixPath
from secrets import token_hex

import msgspec

from steersman.operations.journal import undoing
from steersman.operations.journal.changeset import same
from steersman.operations.journal.choosing import means, still_there, undone
from steersman.operations.journal.folders import Tree
from steersman.operations.journal.journal import Journal
from steersman.operations.journal.keeping import copy, keeping
from steersman.operations.journal.looking import Special, is_special
from steersman.operations.journal.objects import Objects
from steersman.operations.journal.recovery import under_way
from steersman.operations.running.contents import of_git
from steersman.operations.running.git_index import entries_of, may_be_index, same_index
from steersman.operations.running.git_needs import needed
from steersman.operations.running.precious import Keeping
from steersman.records.change import ABSENT, Change, FileState, Seen
from steersman.records.counting import counted
from steersman.records.errors import ToolProblem, UsageProblem
from steersman.records.git_names import inner
from steersman.records.hooks import about
from steersman.records.message import MASK, Checkpoint, Rewind, Steer, TurnStart
from steersman.records.names import shown
from steersman.records.undo import OpenUndo, Part, UndoPlan
from steersman.store.contract import Store, find_thread
from steersman.store.log import read_messages
from steersman.threads.beyond_undo import KINDS, what_stands
from steersman.threads.new_commits import new_commits
from steersman.threads.open_undo import left_open

_NAMED = 10
_STAYS = "git: {objects} stay, because a branch, a tag or a commit of yours uses them\n"

# What is found out of files and kept contents; everything else only of the log.
FOUND = (
    "never_happened", "under_way", "plan_undo", "made", "made_in_all", "rest", "plan_rewind",
    "rewind", "plan_redo", "redoable", "rewound", "conflicts", "copy_others", "stands", "since",
    "turn_of", "made_again", "seen", "diffs", "commits", "names", "describe",
)  # fmt: skip


class WayBack:
    """Finds out what an undo, a redo or a rewind of a thread would do."""

    def __init__(self, store: Store, home: Path) -> None:
        self._store = store
        self._home = home

    def left_open(self, thread_id: str) -> OpenUndo | None:
        """The last undo or redo, if nobody heard yet what became of it."""
        return left_open(self._store, thread_id)

    def never_happened(self, thread_id: str, seq: int) -> bool:
        """Whether a change was reverted, or not begun."""
        return seq in undoing.void(self._entries(thread_id)[0])

    def under_way(self, thread_id: str) -> bool:
        """Whether files of a thread are being changed now."""
        return under_way(self.objects, thread_id)

    def plan_undo(
        self,
        thread_id: str,
        *,
        turn: int | None = None,
        to: int | None = None,
        parts: Sequence[Part] = (),
    ) -> UndoPlan:
        """What undoing the last turn would do, or a certain turn, or all after a message.

        With `parts` only those of a turn are undone, and the rest of it stays: of the last turn
        that changed one of them, if none is named. Where neither is named, and a redo overwrote
        someone's work just before, that redo is undone.
        """
        entries, turns = self._entries(thread_id)
        alike = self._alike(thread_id)
        if to is not None:
            if parts:
                raise UsageProblem("Parts can only be chosen of one turn.")
            whole = undoing.plan_undo(entries, undoing.since(entries, to), alike)
            return self._ready(thread_id, whole, entries)
        redo = undoing.plan_before_redo(entries, alike) if turn is None and not parts else None
        if redo is not None:
            return self._ready(thread_id, redo, entries)
        whole = _of_turn(entries, turns, turn, parts, alike)
        if not parts:
            return self._ready(thread_id, whole, entries)
        plan = self._needed(thread_id, whole)
        already = {change.path for change in whole.changes} - {one.path for one in plan.changes}
        return _exact(self._partly(thread_id, entries, plan, parts, already), entries)

    def made(self, thread_id: str, *, turn: int | None = None) -> UndoPlan:
        """The same for a turn as only the log has it: whatever became of the files since."""
        return _of_turn(*self._entries(thread_id), turn)

    def made_in_all(self, thread_id: str) -> UndoPlan:
        """The same for all turns of a thread."""
        entries, _ = self._entries(thread_id)
        return undoing.plan_undo(entries, undoing.since(entries, 0))

    def _partly(
        self,
        thread_id: str,
        entries: Sequence[undoing.Entry],
        plan: UndoPlan,
        parts: Sequence[Part],
        already: Collection[str],
    ) -> UndoPlan:
        """A plan cut down to some parts; the plan itself where those are all there is to undo."""
        done = undoing.inverse(plan.changes)
        own = tuple(undone(self._journal(thread_id), done, parts, already))
        if set(own) == set(plan.changes):
            return self._keeping(thread_id, entries, plan)
        cut = self._keeping(thread_id, entries, msgspec.structs.replace(plan, changes=own))
        paths = {change.path for change in cut.changes}
        about = tuple(
            entry.seq for entry in entries
            if entry.seq in plan.undoes and not entry.partial
            and not paths.isdisjoint(change.path for change in entry.changes)
        )  # fmt: skip
        return msgspec.structs.replace(
            cut,
            undoes=about,
            gaps=tuple(path for path in cut.gaps if path in paths),
            kept=plan.kept if any(map(inner, paths)) else 0,
            parts=tuple(parts),
            own=tuple(one for one in cut.own if one.path in paths),
        )

    def rest(self, thread_id: str, plan: UndoPlan, left: Collection[str]) -> UndoPlan | None:
        """An undo without some of its paths, which stay as they are; None when nothing is left."""
        entries, _ = self._entries(thread_id)
        own = {change.path: change for change in plan.own}
        whole = tuple(own.get(change.path, change) for change in plan.changes)
        git = any(map(inner, left))  # which is undone as a whole
        paths = [
            one.path for one in whole if one.path not in left and not (git and inner(one.path))
        ]
        if not paths or plan.cause == "redo":
            return None
        first = msgspec.structs.replace(plan, changes=whole, own=(), others=())
        return self._partly(thread_id, entries, first, [*map(Part, paths)], ())

    def _keeping(
        self, thread_id: str, entries: Sequence[undoing.Entry], plan: UndoPlan
    ) -> UndoPlan:
        """A plan that keeps what someone else changed in the same files, where that fits."""
        taken = set(self.conflicts(thread_id, plan))
        foreign = [one for one in plan.changes if one.path in taken and not inner(one.path)]
        if not foreign:
            return plan
        journal = self._journal(thread_id)
        steps = undoing.steps(entries, plan)
        squashed = {path: undoing.squash(found) for path, found in steps.items()}
        # Of what is cut to hunks, the steps are not known: it is one.
        known = {one.path: steps[one.path] for one in plan.changes
                 if squashed.get(one.path) == [one]}  # fmt: skip
        present = self._present(thread_id, foreign, journal.objects)
        return keeping(journal, plan, known, present)

    def plan_rewind(self, thread_id: str, to: int) -> UndoPlan | None:
        """What undoing all after a message would do; None when nothing changed since."""
        entries, _ = self._entries(thread_id)
        wanted = undoing.since(entries, to)
        if not wanted:
            return None
        whole = undoing.plan_undo(entries, wanted, self._alike(thread_id))
        return self._ready(thread_id, whole, entries)

    def rewind(self, thread_id: str, at: int, *, undone: bool) -> tuple[Rewind, tuple[Change, ...]]:
        """What the thread that continues after a rewind notes, and the changes that stay.

        `undone`: what the rewind was to undo is undone, perhaps without what someone else changed.
        """
        left = self.plan_rewind(thread_id, at)
        stays = undoing.inverse(left.changes) if left is not None else ()
        return Rewind(thread_id, at, self.redoable(thread_id) if undone else 0), tuple(stays)

    def plan_redo(self, thread_id: str) -> UndoPlan:
        """What undoing the last undo would do."""
        entries, _ = self._entries(thread_id)
        return self._ready(thread_id, undoing.plan_redo(entries), entries)

    def redoable(self, thread_id: str) -> int:
        """The checkpoint of the undo that a redo would reverse; 0 for none."""
        return max((0, *undoing.standing(self._entries(thread_id)[0]).undos[-1:]))

    def rewound(self, thread_id: str) -> Rewind | None:
        """The rewind that a redo would reverse: the last step there; nothing was said since."""
        last, found = 0, None
        for message in read_messages(self._store, thread_id, kinds={"rewind", "turn_start"}):
            match message.body:
                case Rewind() as rewind:
                    last, found = message.seq, rewind
                case TurnStart():
                    found = None
        if found is None:
            return None
        stand = undoing.standing(self._entries(thread_id)[0])
        return None if max((0, *stand.effects, *stand.undos)) > last else found

    def plan_return(self, rewind: Rewind) -> UndoPlan | None:
        """What reversing a rewind would do to files, in the thread that it left; None: nothing."""
        if not rewind.undo:
            return None
        if self.redoable(rewind.source) != rewind.undo:
            raise ToolProblem(
                "The rewind cannot be reversed.",
                f"Something else was done in thread {rewind.source} since.",
                f"Continue in thread {rewind.source}.",
            )
        return self.plan_redo(rewind.source)

    def _ready(self, thread_id: str, plan: UndoPlan, entries: Sequence[undoing.Entry]) -> UndoPlan:
        """A plan of all there is to do, as it can be carried out now."""
        needed_now = self._needed(thread_id, plan)
        return _exact(self._keeping(thread_id, entries, needed_now), entries)

    def _needed(self, thread_id: str, plan: UndoPlan) -> UndoPlan:
        """A plan without what is already so: a change may never have been made, or be undone."""
        present = self._present(thread_id, plan.changes)
        left = [self._from(thread_id, c, present[c.path]) for c in plan.changes
                if not same(present[c.path], c.after)]  # fmt: skip
        kept = needed(self._journal(thread_id), left)
        stay = {*kept, *self._others(thread_id, left)}
        folders = {above.as_posix() for path in stay for above in PurePosixPath(path).parents}
        stay |= {c.path for c in left if c.after.kind == "absent" and c.path in folders}
        changes = tuple(c for c in left if c.path not in stay)
        return msgspec.structs.replace(plan, changes=changes, kept=len(kept))

    def _from(self, thread_id: str, change: Change, present: FileState) -> Change:
        """A change from what there is, where that says the same: `git status` wrote an index."""
        path, before = change.path, change.before
        if same(present, before) or not may_be_index(path):
            return change
        journal = self._journal(thread_id)
        now = self._present(thread_id, [change], journal.objects)[path]
        return Change(path, now, change.after) if same_index(journal, path, now, before) else change

    def _alike(self, thread_id: str) -> undoing.Alike:
        """Whether two states of a path say the same."""
        journal = self._journal(thread_id)
        return lambda path, one, other: same(one, other) or same_index(journal, path, one, other)

    def _others(self, thread_id: str, changes: Sequence[Change]) -> set[str]:
        """What is in folders that would go, and is someone else's: it stays, and they with it."""
        going = {change.path: change for change in changes if change.after.kind == "absent"}
        folders = [path for path, change in going.items() if change.before.kind == "folder"]
        with closing(Tree(find_thread(self._store, thread_id).workspace)) as tree:
            try:
                inside = {f"{folder}/{name}" for folder in folders if tree.is_folder(folder)
                          for name in tree.names(folder)}  # fmt: skip
            finally:
                tree.settle()
        others = inside - set(going)
        return others - self._left(thread_id, others) if others else others

    def _left(self, thread_id: str, paths: Collection[str]) -> set[str]:
        """Those of paths where a command of the thread left a pipe or the like: an undo removes
        it."""
        left = undoing.specials(self._entries(thread_id)[0]).intersection(paths)
        with closing(Tree(find_thread(self._store, thread_id).workspace)) as tree:
            try:
                return {path for path in left if is_special(tree.stat(path))}
            finally:
                tree.settle()

    def _present(
        self, thread_id: str, changes: Sequence[Change], keep: Objects | None = None
    ) -> dict[str, FileState]:
        """What is at the paths of changes; a path below a link is not there, wherever it leads."""
        found: dict[str, FileState] = {}
        with closing(Tree(find_thread(self._store, thread_id).workspace)) as tree:
            try:
                for one in changes:
                    try:
                        found[one.path] = tree.examine(one.path, keep).state
                    except Special:
                        if not self._left(thread_id, [one.path]):
                            raise
                        found[one.path] = ABSENT
            finally:
                tree.settle()
        return found

    def conflicts(self, thread_id: str, plan: UndoPlan) -> tuple[str, ...]:
        """Paths that someone else changed since, so that the plan would lose their work."""
        present = self._present(thread_id, plan.changes)
        return tuple(sorted({*undoing.conflicts(present, plan), *plan.gaps}))

    def copy_others(self, thread_id: str, plan: UndoPlan, taken: Collection[str]) -> str:
        """Keep a copy of files that a plan overwrites; gives the folder, "" for none."""
        last = {one.path: one for one in plan.others if one.path in taken}
        folder = self._home / "overwritten" / f"{thread_id}-{token_hex(3)}"
        return str(folder) if copy(self._journal(thread_id), [*last.values()], folder) else ""

    def stands(self, thread_id: str, plan: UndoPlan) -> str:
        """What an undo cannot change, in a sentence: what was pushed, or done elsewhere."""
        if plan.cause == "redo" or not plan.undoes:
            return ""
        messages = read_messages(self._store, thread_id, kinds=KINDS)
        return what_stands(messages, plan.undoes, self._journal(thread_id))

    def since(self, thread_id: str, done: Sequence[Change]) -> dict[str, tuple[int, ...]]:
        """Paths that are not any more as changes left them, with the hunks that are still there.

        None are, where a path is as it was before the change. While files are being changed, that
        is not looked at: the log is ahead of them.
        """
        if self.under_way(thread_id):
            return {}
        journal, found = self._journal(thread_id), dict[str, tuple[int, ...]]()
        present = self._present(thread_id, done)
        with closing(Tree(journal.root)) as tree:
            for one in done:
                now = present[one.path]
                if same(now, one.before):
                    found[one.path] = ()
                elif not same(now, one.after):
                    found[one.path] = still_there(journal, one, tree.content(one.path))
        return found

    def turn_of(self, thread_id: str, plan: UndoPlan) -> int:
        """The turn whose changes a plan undoes, by the first of them."""
        _, turns = self._entries(thread_id)
        return turns.get(plan.undoes[0], 0) if plan.undoes else 0

    def made_again(self, thread_id: str, changes: Sequence[Change]) -> dict[str, str]:
        """Paths that programs make again, and the folder each is in that is all like that."""
        entries, _ = self._entries(thread_id)
        every = [change for entry in entries for change in entry.changes]
        keeping = Keeping(find_thread(self._store, thread_id).workspace, every)
        return {
            one.path: keeping.folder_made(one.path)
            for one in changes
            if not of_git(one.path) and not keeping.keeps(one.path)
        }

    def seen(self, thread_id: str, changes: Sequence[Change]) -> list[Seen]:
        """Changes as people look at them: a file that was moved is one."""
        return self._journal(thread_id).seen(changes)

    def diffs(self, thread_id: str, changes: Sequence[Seen]) -> list[str]:
        """Each change as people read it."""
        if not changes:
            return []
        journal, names = self._journal(thread_id), self.names(thread_id)
        return [journal.diff_of(change, names) for change in changes]

    def commits(self, thread_id: str, changes: Sequence[Change]) -> list[str]:
        """The subjects of the commits that changes make, or undo, the oldest first."""
        journal = self._journal(thread_id)
        found = new_commits(changes, journal) or new_commits(undoing.inverse(changes), journal)
        return [one.subject for one in found]

    def names(self, thread_id: str) -> dict[str, str]:
        """How paths are shown that hold a secret."""
        journal, names = self._journal(thread_id), dict[str, str]()
        for message in read_messages(self._store, thread_id, kinds={"checkpoint"}):
            if isinstance(message.body, Checkpoint):
                names |= journal.masked(message.body)
        return names

    def describe(self, thread_id: str, plan: UndoPlan) -> list[str]:
        """A plan's changes as people read them."""
        lines = self.diffs(thread_id, self.seen(thread_id, plan.changes))
        if plan.kept:
            lines.append(_STAYS.format(objects=counted(plan.kept, "object")))
        return lines

    def _entries(self, thread_id: str) -> tuple[list[undoing.Entry], dict[int, int]]:
        """What was changed, and in which turns, as these came.

        What hooks change for a message that waits belongs to the turn that gets it.
        """
        messages = list(read_messages(self._store, thread_id, kinds={"checkpoint", "steer"}))
        got = {m.corr: m for m in messages
               if isinstance(m.body, Steer) and m.body.state == "delivered"}  # fmt: skip
        points = [m for m in messages if m.kind == "checkpoint"]
        places = {m.seq: got.get(about(m.corr or ""), m) for m in points}
        in_order = sorted(places, key=lambda seq: places[seq].seq)
        entries = entries_of(self._journal(thread_id), points)
        return entries, {seq: places[seq].turn for seq in in_order}

    def _journal(self, thread_id: str) -> Journal:
        return Journal(find_thread(self._store, thread_id).workspace, self.objects)

    @property
    def objects(self) -> Objects:
        """The contents that are kept, by their digests."""
        return Objects(self._home / "objects", self._store if self._store.shared else None)


def _exact(plan: UndoPlan, entries: Sequence[undoing.Entry]) -> UndoPlan:
    """A plan, unless the log has a name of it only with the mask: that is no file's name."""
    right = {one for entry in entries if entry.exact for change in entry.changes
             for one in _names(change)}  # fmt: skip
    masked = {one: change.path for change in plan.changes for one in _names(change)
              if MASK in one and one not in right}  # fmt: skip
    if not masked:
        return plan
    paths = sorted(set(masked.values()))
    more = f" and {len(paths) - _NAMED} more" if len(paths) > _NAMED else ""
    raise ToolProblem(
        f"The exact name is not known: {', '.join(map(shown, paths[:_NAMED]))}{more}.",
        "The log has it only with a secret masked, so nothing was done.",
        "Undo the other files one by one: steer undo --file PATH" if plan.cause == "undo" else "",
    )


def _names(change: Change) -> tuple[str, ...]:
    return change.path, change.before.target, change.after.target


def _of_turn(
    entries: Sequence[undoing.Entry],
    turns: Mapping[int, int],
    turn: int | None,
    parts: Sequence[Part] = (),
    alike: undoing.Alike = undoing.unchanged,
) -> UndoPlan:
    """How to undo a turn; if none is named, the last that changed something, or a part."""
    effects = undoing.standing(entries).effects
    paths = {entry.seq: [one.path for one in entry.changes] for entry in entries}
    meant = [seq for seq in effects if any(means(part, paths[seq]) for part in parts)] or effects
    if turn is None and meant:
        turn = [turns[seq] for seq in turns if seq in meant][-1]
    # Calls outside a turn have nothing in common: only the last of them is meant.
    wanted = [seq for seq in effects if turns[seq] == turn] if turn else [
        seq for seq in meant if turns[seq] == turn][-1:]  # fmt: skip
    return undoing.plan_undo(entries, wanted, alike)
