"""Unified diffs for people and models to read, and to apply again."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from msgspec import Struct

from steersman.operations.matching.alignment import gaps_between, shared_runs
from steersman.operations.matching.encoding import BOM, Text, decode
from steersman.records.patterns import pattern

CONTEXT = 3  # lines around what differs
APART = 4  # unchanged lines between two places of which one can be accepted without the other
_CONTROL = pattern(r"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")

_MISSING_END = "\\ No newline at end of file\n"
_ESCAPED = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"})


class Region(Struct, frozen=True):
    """Lines `left` become lines `right`; both are half-open ranges."""

    left: tuple[int, int]
    right: tuple[int, int]


def unified_diff(path: str, before: bytes | None, after: bytes | None, moved_from: str = "") -> str:
    """What changed in a file; None stands for a file that is not there.

    Of one that was only moved there is nothing but its names.
    """
    old, new = _name("a", moved_from or path, before), _name("b", path, after)
    if before == after:
        return f"--- {old}\n+++ {new}\n" if moved_from else ""
    texts = texts_of(before, after)
    if texts is None:
        return f"Binary files {old} and {new} differ\n"
    header = f"--- {old}\n+++ {new}\n"
    return header + "".join(_hunks(split(texts[0]), split(texts[1])))


def moved_diff(gone: str, come: str) -> str:
    """The diff of a file that is moved, from those of its old name, which goes, and its new one.

    Empty where they do not have it all: it is no text, or too large.
    """
    olds, news = gone.split("\n", 2), come.split("\n", 2)
    if not (olds[0].startswith("--- ") and news[0].startswith("--- ")):
        return ""
    header = f"{olds[0]}\n{news[1]}\n"
    return header + "".join(_hunks(_content(olds[2], "-"), _content(news[2], "+")))


def _content(hunk: str, mark: str) -> list[str]:
    """All lines of a file that a diff adds or removes as a whole."""
    lines: list[str] = []
    for line in split(hunk):
        if line.startswith(mark):
            lines.append(line[1:])
        elif line.startswith("\\") and lines:
            lines[-1] = lines[-1].removesuffix("\n")
    return lines


def hunk_text(before: str, after: str, above: int) -> str:
    """The changed lines of a part of a file that has so many lines above it."""
    return "".join(_hunks(split(before), split(after), above))


def _name(side: str, path: str, content: bytes | None) -> str:
    if content is None:
        return "/dev/null"
    name = f"{side}/{path}"
    quoted = name.translate(_ESCAPED)
    return name if quoted == name else f'"{quoted}"'


def texts_of(before: bytes | None, after: bytes | None) -> tuple[str, str] | None:
    """Both contents as a diff compares them; None when one is not text."""
    old, new = decode(before or b""), decode(after or b"")
    if not isinstance(old, Text) or not isinstance(new, Text) or _binary(old) or _binary(new):
        return None
    mark_changes = (old.encoding == "utf-8-sig") != (new.encoding == "utf-8-sig")
    if mark_changes and before is not None and after is not None:
        return _with_mark(old), _with_mark(new)
    return old.text, new.text


def _binary(text: Text) -> bool:
    """Bytes that any letter can be read into, but nobody wrote: objects of git, pictures."""
    return not text.encoding.startswith("utf") and _CONTROL.search(text.text) is not None


def _with_mark(text: Text) -> str:
    return BOM + text.text if text.encoding == "utf-8-sig" else text.text


def split(text: str) -> list[str]:
    """The lines of a text with their ends, which only the last may lack."""
    lines = text.split("\n")
    last = lines.pop()
    lines = [line + "\n" for line in lines]
    return [*lines, last] if last else lines


def _hunks(left: Sequence[str], right: Sequence[str], above: int = 0) -> Iterator[str]:
    groups = list(grouped(left, right))
    # What lies between two hunks is shown once: half of it with each, where it is little.
    between = [(one[-1].left[1] + two[0].left[0]) // 2 for one, two in pairwise(groups)]
    for group, first, last in zip(groups, [0, *between], [*between, len(left)], strict=False):
        start = max(group[0].left[0] - CONTEXT, first)
        stop = min(group[-1].left[1] + CONTEXT, last)
        yield from _hunk(left, right, group, (start, stop), above)


def grouped(left: Sequence[str], right: Sequence[str]) -> Iterator[list[Region]]:
    """What differs, those regions together that one hunk shows."""
    runs = shared_runs(left, right)
    return _grouped(
        Region((at.start, at.stop), (other.start, other.stop))
        for at, other in gaps_between(runs, len(left), len(right))
    )


def _grouped(regions: Iterator[Region]) -> Iterator[list[Region]]:
    group: list[Region] = []
    for region in regions:
        if group and region.left[0] - group[-1].left[1] >= APART:
            yield group
            group = []
        group.append(region)
    if group:
        yield group


def _hunk(
    left: Sequence[str],
    right: Sequence[str],
    regions: list[Region],
    lines: tuple[int, int],
    above: int,
) -> Iterator[str]:
    start, stop = lines
    shift = regions[0].right[0] - regions[0].left[0]
    end = stop + regions[-1].right[1] - regions[-1].left[1]
    old = _range(above + start, above + stop)
    new = _range(above + start + shift, above + end)
    yield f"@@ -{old} +{new} @@\n"
    at = start
    for region in regions:
        yield from _marked(" ", left[at : region.left[0]])
        yield from _marked("-", left[slice(*region.left)])
        yield from _marked("+", right[slice(*region.right)])
        at = region.left[1]
    yield from _marked(" ", left[at:stop])


def _range(start: int, stop: int) -> str:
    size = stop - start
    return f"{start + 1}" if size == 1 else f"{start + bool(size)},{size}"


def _marked(mark: str, lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        yield mark + line if line.endswith("\n") else f"{mark}{line}\n{_MISSING_END}"


def counted(diff: str) -> tuple[int, int]:
    """Lines that a diff adds and removes."""
    lines = diff.split("\n")[2:]  # without the two lines that name the file
    added = sum(line.startswith("+") for line in lines)
    removed = sum(line.startswith("-") for line in lines)
    return added, removed
