"""What an undo or a whole thread changes, as people look at it: files first, git in a line."""

import asyncio
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Literal

import msgspec

from steersman.host import Host, ThreadHandle
from steersman.records.change import Change, Seen
from steersman.records.counting import counted
from steersman.records.errors import ThreadBusy
from steersman.records.git_names import inner
from steersman.records.names import shown
from steersman.records.undo import Choice as Choice
from steersman.records.undo import UndoPlan
from steersman.views import git_notes
from steersman.views.arranging import arranged, ignored_words, rank
from steersman.views.hunks import read_diff
from steersman.views.text import flat

STAYS = "Later changes that stay:"
LOST = "Later changes to the same lines, which would be overwritten:"
LOG = "logs/HEAD"  # where git notes every commit


class CutOff(msgspec.Struct, frozen=True):
    """What became of an undo or redo that was cut off, in words; `seq` is its place in the log."""

    seq: int
    words: str


async def cut_off(host: Host, thread: str, command: str) -> CutOff | None:
    """Settle an undo or redo that was cut off: whoever asks for another may mean that one.

    `command` is how a person writes commands: `steer ` or `/`.
    """
    way = host.way_back
    last = await asyncio.to_thread(way.left_open, thread)
    busy = await host.tidy(thread)
    alive = bool(busy) or host.session(thread) is not None
    changing = bool(busy) and await asyncio.to_thread(way.under_way, thread)
    if changing or (alive and last is not None and last.working):
        raise ThreadBusy(
            f"Another process is changing files of thread {thread}, perhaps to undo them.",
            busy,
            "Run it again when that has ended.",
        )
    if last is None:
        return None
    cause = last.cause
    if await asyncio.to_thread(way.never_happened, thread, last.seq):
        became, beyond = "reverted", "the turn"
    else:
        became, beyond = "finished", "the turn before" if cause == "undo" else "the next turn"
    return CutOff(
        last.seq,
        f"The {cause} that was cut off was {became}: {counted(last.changes, 'change')} in thread "
        f"{thread}. Run `{command}{cause}` again to {cause} {beyond}.",
    )


class Prospect(msgspec.Struct, frozen=True):
    """What a plan would do, in `words` and as `diffs`, and what becomes of others' later changes.

    At the paths `taken`, `names` for people, they would lose the diffs `lost`; `rest` is the plan
    without these, if there is one. For each file where theirs `stays` there is a line. `stands` is
    a sentence about what no undo changes.
    """

    plan: UndoPlan
    words: str
    diffs: list[str]
    taken: tuple[str, ...]
    names: list[str]
    lost: list[str]
    stays: list[str]
    stands: str
    rest: UndoPlan | None
    imported: bool


class Done(msgspec.Struct, frozen=True):
    """A plan that was carried out, in `words`; `notes` say what it overwrote and what stands.

    `seq` is its place in the log, for `undo_told`.
    """

    plan: UndoPlan
    seq: int
    words: str
    notes: list[str]
    overwrote: bool


def prospect(host: Host, thread: str, plan: UndoPlan) -> Prospect:
    """All that people are shown of a plan before they decide."""
    way = host.way_back
    taken = way.conflicts(thread, plan)
    names = way.names(thread) if taken or plan.others else {}
    rest = way.rest(thread, plan, taken) if taken else None
    others = [*zip(plan.others, way.diffs(thread, [*map(Seen, plan.others)]), strict=True)]
    return Prospect(
        plan,
        *_told(host, thread, plan),
        taken,
        [names.get(path, path) for path in taken],
        [diff for one, diff in others if one.path in taken],
        _lines(
            (names.get(one.path, one.path), diff) for one, diff in others if one.path not in taken
        ),
        way.stands(thread, plan),
        None if rest is None or way.conflicts(thread, rest) else rest,
        host.find(thread).imported,
    )


def question(found: Prospect) -> str:
    """Whether to carry a plan out."""
    return f"{found.plan.cause.capitalize()} {found.words}?"


async def carry_out(host: Host, handle: ThreadHandle, found: Prospect, choice: Choice) -> Done:
    """Do what a person chose, who saw all of it: also of an imported thread."""
    plan, taken, words = found.plan, found.taken, found.words
    if choice == "rest" and found.rest is not None:
        plan, taken = found.rest, ()
        words, _ = await asyncio.to_thread(_told, host, handle.id, plan)
    copies = await asyncio.to_thread(host.way_back.copy_others, handle.id, plan, taken)
    seq = await handle.undo(plan, force=bool(taken), imported=True)
    did = "Undone" if plan.cause == "undo" else "Redone"
    copied = f"A copy of what it overwrote is in {copies}." if copies else ""
    return Done(plan, seq, f"{did}: {words}", [*filter(None, (copied, found.stands))], bool(taken))


def described(host: Host, thread: str, plan: UndoPlan) -> list[str]:
    """The diffs of a plan; an ignored folder and what git notes for itself are lines at the end."""
    return _told(host, thread, plan)[1]


def _told(host: Host, thread: str, plan: UndoPlan) -> tuple[str, list[str]]:
    """How much a plan changes, in words, and its diffs, both with a person's files first."""
    subjects = host.way_back.commits(thread, plan.changes)
    noted = git_line(host, thread, plan.changes, subjects)
    own = [one for one in plan.changes if not inner(one.path)]
    found = arranged(host, thread, own, lambda path: 3 if git_notes.in_git(path) else rank(path))
    wanted = msgspec.structs.replace(plan, changes=tuple(found.shown))
    lines = [
        f"{shown(folder)}: {ignored_words(folder, count)}\n"
        for folder, count in found.ignored.items()
    ]
    lines += [f"{noted}\n"] if noted else []
    lines += [f"{becomes(plan.cause, len(subjects), own)}\n"] if subjects else []
    kept = [one.path for one in found.shown]
    kept += [one.path for one in plan.changes if inner(one.path)]
    made = git_notes.named_commits(subjects) if subjects else ""
    words = git_notes.undo_words(kept, ignored=sum(found.ignored.values()), made=made)
    return words, [*host.way_back.describe(thread, wanted), *lines]


def _lines(diffs: Iterable[tuple[str, str]]) -> list[str]:
    """How many lines diffs add and remove, a line for each name of a file."""
    added, removed = Counter[str](), Counter[str]()
    for path, diff in diffs:
        name = flat(shown(path))
        counts = read_diff(diff, name).counts
        added[name] += counts[0]
        removed[name] += counts[1]
    return [f"{name}: +{added[name]} −{removed[name]}" for name in added]


def becomes(cause: Literal["undo", "redo"], commits: int, files: Sequence[Change]) -> str:
    """What becomes of git's history and of the files when commits are undone, or made again."""
    them = "commit" if commits == 1 else "commits"
    if cause == "redo":
        also = "The files above change again, too." if files else "Your files stay as they are."
        return f"Git's history has the {them} again. {also}"
    also = (
        "The files above go back, too."
        if files
        else "Your files stay as they are; what was committed is uncommitted again."
    )
    return f"Git's history goes back to before the {them}. {also}"


def git_line(
    host: Host, thread: str, changes: Sequence[Change], subjects: Sequence[str] | None = None
) -> str:
    """What changes, or their undoing, do to what git notes for itself; commits by their names."""
    log = [Seen(one) for one in changes if inner(one.path) == LOG]
    made = git_notes.commits("".join(host.way_back.diffs(thread, log)))
    if subjects is None:
        subjects = host.way_back.commits(thread, changes)
    return git_notes.line((one.path for one in changes), made, subjects)
