"""Some of what was done, chosen to be undone while the rest stays: by path, and by hunk of a file.

Nothing here changes a file; contents that lie between two others are kept for whoever does.
"""

from collections.abc import Collection, Iterable, Sequence

from msgspec.structs import replace

from steersman.operations.journal.journal import Journal
from steersman.operations.journal.moves import moves
from steersman.operations.journal.undoing import with_obstacles
from steersman.operations.matching import has_edit, merged, with_hunks
from steersman.records.change import Change, FileState
from steersman.records.errors import ToolProblem
from steersman.records.git_names import repository
from steersman.records.hunks import parts_of
from steersman.records.names import shown
from steersman.records.undo import Part

_NAMED = 10


def undone(
    journal: Journal,
    done: Sequence[Change],
    parts: Sequence[Part],
    already: Collection[str] = (),
) -> list[Change]:
    """The changes that undo some parts of what was done.

    What is chosen and `already` as it was before needs nothing. What belongs to a chosen path goes
    with it: a folder that must come back first, a new folder that nothing is left in, the old name
    of a file that was moved. What git notes for itself is one thing.
    """
    wanted: dict[str, set[int] | None] = {}  # None: all of it
    for part in parts:
        for path in _named(part, done, already):
            known = wanted.get(path, set())
            wanted[path] = {*known, *part.hunks} if part.hunks and known is not None else None
    if not wanted and parts:
        _named(parts[0], done, ())  # says that nothing is to be done there
    back = {one.path: _back(journal, one, wanted[one.path]) for one in done if one.path in wanted}
    whole = [change for change in done if back.get(change.path) == change.reversed()]
    whole += _moved(journal, done, whole)
    paths = {change.path for change in with_obstacles(whole, done)}
    paths |= _emptied(done, paths)
    return [change.reversed() if change.path in paths else back[change.path]
            for change in done if change.path in paths or change.path in back]  # fmt: skip


def means(part: Part, paths: Iterable[str]) -> list[str]:
    """Those of the paths that a part means; none where it means something else."""
    path = part.path.rstrip("/")
    ledger = repository(path)
    return [
        other for other in paths
        if other == path or other.startswith(f"{path}/")
        or (ledger and repository(other) == ledger)
    ]  # fmt: skip


def _named(part: Part, done: Sequence[Change], already: Collection[str]) -> list[str]:
    """The paths that a part means."""
    path = part.path.rstrip("/")
    found = means(part, [change.path for change in done])
    if not found and means(part, already):
        return []
    if not found:
        own = [shown(change.path) for change in done if not repository(change.path)]
        own += ["what git keeps for itself"] if len(own) < len(done) else []
        more = f" and {len(own) - _NAMED} more" if len(own) > _NAMED else ""
        raise ToolProblem(
            f"Nothing to undo in {shown(path)}.",
            f"Changed were: {', '.join(own[:_NAMED])}{more}.",
        )
    if part.hunks and found != [path]:
        raise ToolProblem(f"{shown(path)} has no hunks.", "It is not one file.")
    return found


def _back(journal: Journal, change: Change, hunks: set[int] | None) -> Change:
    """The change that undoes some hunks of another, or all of it where none are named."""
    if not hunks:
        return change.reversed()
    parts = parts_of(journal.diff(change))
    if wrong := sorted(number for number in hunks if not 1 <= number <= parts):
        raise ToolProblem(
            f"{shown(change.path)} has no hunk {wrong[0]}.",
            f"It has {parts} hunk{'s' * (parts != 1)}.",
        )
    kept = set(range(1, parts + 1)) - hunks
    if not kept:
        return change.reversed()
    before, after = journal.content(change.before), journal.content(change.after)
    content = with_hunks(before, after, kept)
    assert content is not None  # there are several hunks, so both contents are there
    digest, size = journal.objects.put_bytes(content)
    return Change(change.path, change.after, replace(change.after, digest=digest, size=size))


def onto(journal: Journal, change: Change, present: FileState) -> Change:
    """A change of some lines, made to what a file holds now: what someone else changed stays.

    The change itself where theirs is of the same lines, or no text.
    """
    before, after = change.before, change.after
    if {before.kind, after.kind, present.kind} != {"file"}:
        return change
    contents = [journal.content(state) for state in (before, after, present)]
    base, mine, theirs = contents
    if base is None or mine is None or theirs is None:
        return change
    content = merged(base, mine, theirs)
    others = present.mode not in (before.mode, after.mode)
    if content is None or (others and before.mode != after.mode):
        return change
    mode = present.mode if before.mode == after.mode else after.mode
    digest, size = journal.objects.put_bytes(content)
    return Change(change.path, present, FileState("file", mode, digest, size))


def still_there(journal: Journal, change: Change, present: bytes | None) -> tuple[int, ...]:
    """Those hunks of a change that a file still has, though someone else edited it since."""
    parts = range(1, parts_of(journal.diff(change)) + 1)
    before, after = journal.content(change.before), journal.content(change.after)
    if before is None or after is None or present is None:
        return tuple(parts)
    backs = [(one, with_hunks(before, after, {*parts} - {one})) for one in parts]
    return tuple(one for one, back in backs if back is None or not has_edit(after, back, present))


def _moved(journal: Journal, done: Sequence[Change], whole: Sequence[Change]) -> list[Change]:
    """Deletions of files that were moved to what goes, or whose content would be nowhere then."""
    chosen = {change.path for change in whole}
    going = {change.after.digest for change in whole if change.after.kind == "file"}
    going -= {one.after.digest for one in done if one.path not in chosen} | {""}
    olds = {old for new, old in moves(done, journal.content).items() if new in chosen}
    return [change for change in done if change.path not in chosen
            and change.after.kind == "absent"
            and (change.path in olds or change.before.digest in going)]  # fmt: skip


def _emptied(done: Sequence[Change], undone: set[str]) -> set[str]:
    """New folders of which everything that was made in them is undone."""
    new = [one.path for one in done if one.before.kind == "absent" and one.after.kind == "folder"]
    found: set[str] = set()
    for folder in sorted(new, key=len, reverse=True):
        below = {change.path for change in done if change.path.startswith(f"{folder}/")}
        if below and below <= undone | found:
            found.add(folder)
    return found
