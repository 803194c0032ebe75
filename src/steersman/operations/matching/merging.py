"""Two changes of one text, made apart from each other, brought together line by line."""

from collections.abc import Sequence

from steersman.operations.matching.diffs import Region, grouped, split, texts_of
from steersman.operations.matching.encoding import Text, decode, encode


def merged(base: bytes, one: bytes, other: bytes) -> bytes | None:
    """What `base` becomes by both changes; None where they overlap, or something is not text."""
    if texts_of(base, one) is None or texts_of(base, other) is None:
        return None
    found = [decode(content) for content in (base, one, other)]
    texts = [text for text in found if isinstance(text, Text)]
    if len({text.encoding for text in texts}) != 1:
        return None
    lines = _merged(*(split(text.text) for text in texts))
    return None if lines is None else encode(Text(texts[0].encoding, "".join(lines)))


def has_edit(base: bytes, one: bytes, other: bytes) -> bool:
    """Whether all that `one` changed of `base` is changed in `other`, too."""
    if other == one:
        return True
    if texts_of(base, one) is None or texts_of(base, other) is None:
        return False
    lines = [split(text.text) for text in map(decode, (base, one, other)) if isinstance(text, Text)]
    mine, theirs = ({(region.left, tuple(new[slice(*region.right)]))
                     for region in _regions(lines[0], new)} for new in lines[1:])  # fmt: skip
    return mine <= theirs


def _merged(base: list[str], one: list[str], other: list[str]) -> list[str] | None:
    mine = [(region, one) for region in _regions(base, one)]
    theirs = [(region, other) for region in _regions(base, other)]
    if any(_collide(left.left, right.left) for left, _ in mine for right, _ in theirs):
        return None
    lines: list[str] = []
    at = 0
    for region, source in sorted([*mine, *theirs], key=lambda found: found[0].left):
        lines += base[at : region.left[0]]
        lines += source[slice(*region.right)]
        at = region.left[1]
    return [*lines, *base[at:]]


def _regions(left: Sequence[str], right: Sequence[str]) -> list[Region]:
    return [region for group in grouped(left, right) for region in group]


def _collide(one: tuple[int, int], other: tuple[int, int]) -> bool:
    """Whether two changes share lines; which of two comes first must be clear, too."""
    if one[0] == one[1] or other[0] == other[1]:
        return one[0] <= other[1] and other[0] <= one[1]
    return one[0] < other[1] and other[0] < one[1]
