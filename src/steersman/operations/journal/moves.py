"""Files that were moved: a deletion and a creation of the same or nearly the same content.

Nothing says so but the contents: a command may have moved a file in any way. Pure.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from posixpath import basename

from steersman.records.change import Change, FileState, Seen
from steersman.records.git_names import inner

Content = Callable[[FileState], bytes | None]

ENOUGH = 0.5  # of the lines of the larger one, by their length, as git has it
COMPARED = 50  # files on each side; of more, only the same content is found
LARGEST = 400_000  # bytes of a file that is compared
TOGETHER = 1_000_000  # of all on one side
_PIECE = re.compile(rb"[^\n]{1,63}\n|[^\n]{1,64}|\n")


def seen(changes: Sequence[Change], content: Content) -> list[Seen]:
    """Changes as people look at them: of a file that was moved, one, where its new name is."""
    origins = moves(changes, content)
    moved = set(origins.values())
    olds = {change.path: change for change in changes if change.path in moved}
    found = []
    for change in changes:
        if change.path in origins:
            old = olds[origins[change.path]]
            found.append(Seen(Change(change.path, old.before, change.after), old.path))
        elif change.path not in olds:
            found.append(Seen(change))
    return found


def moves(changes: Sequence[Change], content: Content) -> dict[str, str]:
    """Where files were moved from, by where they are now. What git notes for itself is not moved.

    The same content counts first, and then the same name.
    """
    own = [change for change in changes if not inner(change.path)]
    gone = [one for one in own if _holds(one.before) and one.after.kind == "absent"]
    come = [one for one in own if one.before.kind == "absent" and _holds(one.after)]
    found = _same(gone, come)
    moved = set(found.values())
    gone = [one for one in gone if one.path not in moved]
    come = [one for one in come if one.path not in found]
    if gone and come and _few(one.before for one in gone) and _few(one.after for one in come):
        found |= _similar(gone, come, content)
    return found


def _holds(state: FileState) -> bool:
    return state.kind in ("file", "link")


def _few(states: Iterable[FileState]) -> bool:
    """Whether files can be compared with each other in no time."""
    sizes = [state.size for state in states if state.size <= LARGEST]
    return len(sizes) <= COMPARED and sum(sizes) <= TOGETHER


def _same(gone: Sequence[Change], come: Sequence[Change]) -> dict[str, str]:
    """Moves of the same content."""
    held: dict[tuple[str, str], list[str]] = defaultdict(list)
    for one in gone:
        held[_key(one.before)].append(one.path)
    found: dict[str, str] = {}
    for same_name in (True, False):
        for one in come:
            olds = held.get(_key(one.after), []) if one.path not in found else []
            fits = [old for old in olds if not same_name or basename(old) == basename(one.path)]
            if fits:
                found[one.path] = fits[0]
                olds.remove(fits[0])
    return found


def _key(state: FileState) -> tuple[str, str]:
    """What tells one content from another."""
    return state.kind, state.digest or state.target


def _similar(gone: Sequence[Change], come: Sequence[Change], content: Content) -> dict[str, str]:
    """Moves of files that were changed as well, those most alike first."""
    olds = {one.path: _lines(one.before, content) for one in gone}
    news = {one.path: _lines(one.after, content) for one in come}
    sizes = {path: _size(lines) for side in (olds, news) for path, lines in side.items()}
    pairs = [
        (alike, basename(old) == basename(new), old, new)
        for old, before in olds.items()
        for new, after in news.items()
        if (alike := _likeness(before, after, sizes[old], sizes[new])) >= ENOUGH
    ]
    found: dict[str, str] = {}
    taken: set[str] = set()
    for _, _, old, new in sorted(pairs, key=lambda pair: (-pair[0], not pair[1], *pair[2:])):
        if new not in found and old not in taken:
            found[new] = old
            taken.add(old)
    return found


def _lines(state: FileState, content: Content) -> Counter[bytes]:
    """The lines of a text and how often each is there; none of what is not compared.

    Like git: a long line is several, and how lines end does not matter.
    """
    if state.kind != "file" or state.size > LARGEST:
        return Counter()
    data = content(state) or b""
    return Counter() if b"\0" in data else Counter(_PIECE.findall(data.replace(b"\r\n", b"\n")))


def _likeness(one: Counter[bytes], other: Counter[bytes], *sizes: int) -> float:
    """How much of the larger of two texts, of these sizes, the other has as well."""
    if min(sizes) < ENOUGH * max(sizes) or not all(sizes):
        return 0.0
    return _size(one & other) / max(sizes)


def _size(lines: Counter[bytes]) -> int:
    return sum(len(line) * count for line, count in lines.items())
