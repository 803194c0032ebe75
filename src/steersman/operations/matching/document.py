"""A file's text ready to be searched: by character with line ends folded, or by whole lines.

What is found is decided elsewhere; here are only offsets, keys and fast lookups.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import accumulate, islice

from msgspec import Struct

from steersman.operations.matching.encoding import Encoding
from steersman.operations.matching.folding import BYTE_TIERS, LINE_TIERS, Tier, line_keys
from steersman.operations.matching.indentation import FileUnit, detect_unit
from steersman.operations.matching.lines import Lines, split_lines, to_lf

MANY = 50

_LARGEST_ALPHABET = 1_000_000


class Change(Struct, frozen=True):
    """Characters `start` to `stop` of the file's text become `new`."""

    start: int
    stop: int
    new: str


class Document:
    """The text of one file at one moment; derived forms are worked out when first asked for."""

    def __init__(self, text: str, encoding: Encoding) -> None:
        self.text = text
        self.is_bytes = encoding == "bytes"
        self.tiers = BYTE_TIERS if self.is_bytes else LINE_TIERS
        self.widest = self.tiers[-1]
        self._keys: dict[str, list[str]] = {}
        self._found: dict[tuple[object, ...], list[int]] = {}

    @cached_property
    def lf(self) -> str:
        """The text with LF for every line end."""
        return to_lf(self.text)

    @cached_property
    def lines(self) -> Lines:
        """The text as lines."""
        return split_lines(self.text)

    @cached_property
    def starts(self) -> list[int]:
        """Where each line starts in the text, and at last the text's length."""
        return list(accumulate(map(len, self.lines.raw()), initial=0))

    @cached_property
    def unit(self) -> FileUnit:
        """What one level of indentation looks like in this file."""
        return detect_unit(self.lines.bodies)

    @cached_property
    def has_one_ending(self) -> bool:
        """Whether every line ends alike, so that no line has to be asked for its own ending."""
        crlf = self.text.count("\r\n")
        return not crlf or crlf == self.text.count("\n")

    def ending_near(self, line: int) -> str:
        """The ending of a line, or of the nearest line before it that has one."""
        endings = self.lines.endings
        for at in (line, line - 1, 0):
            if 0 <= at < len(endings) and endings[at]:
                return endings[at]
        return ""

    def offset(self, position: int) -> int:
        """Where a position in `lf` lies in the text."""
        if len(self.lf) == len(self.text):
            return position
        line = bisect_right(self._lf_starts, position) - 1
        return self.starts[line] + position - self._lf_starts[line]

    def line_at(self, position: int) -> int:
        """The index of the line that holds a position in `lf`."""
        return self.lf.count("\n", 0, position)

    def keys(self, tier: Tier) -> list[str]:
        """One comparison key for each line."""
        if tier.name not in self._keys:
            self._keys[tier.name] = line_keys(self.lines.bodies, tier)
        return self._keys[tier.name]

    def find_block(
        self, block: Sequence[str], tier: Tier, start: int = 0, stop: int | None = None
    ) -> list[int]:
        """The first lines of the places that equal a block of lines, at most `MANY`."""
        near = self._candidates(block, start, stop)
        if len(near) < MANY:
            return [place for place in near if self.has_block(block, tier, place)]
        wanted = line_keys(block, tier)
        return list(islice(_occurrences(self.keys(tier)[start:stop], wanted, start), MANY))

    def find_blocks_apart(self, block: Sequence[str], tier: Tier) -> list[int]:
        """All places that equal a block of lines, left to right and not overlapping."""
        if not self._candidates(block, 0, None):
            return []
        wanted = line_keys(block, tier)
        return list(_occurrences(self.keys(tier), wanted, step=len(block)))

    def has_block(self, block: Sequence[str], tier: Tier, line: int) -> bool:
        """Whether a block of lines is at one line."""
        own = self.lines.bodies[line : line + len(block)] if line >= 0 else []
        return line_keys(own, tier) == line_keys(block, tier)

    def _candidates(self, block: Sequence[str], start: int, stop: int | None) -> list[int]:
        """Places that match in the widest tier; where there are none, no other tier has any."""
        key = (start, stop, *block)
        if key not in self._found:
            wanted = line_keys(block, self.widest)
            places = _occurrences(self.keys(self.widest)[start:stop], wanted, start)
            self._found[key] = list(islice(places, MANY))
        return self._found[key]

    @cached_property
    def _lf_starts(self) -> list[int]:
        sizes = (
            len(body) + bool(ending)
            for body, ending in zip(self.lines.bodies, self.lines.endings, strict=True)
        )
        return list(accumulate(sizes, initial=0))


def _occurrences(
    keys: Sequence[str], wanted: Sequence[str], start: int = 0, step: int = 1
) -> Iterator[int]:
    """Where `wanted` occurs: lines become characters, so that the search is a string search."""
    alphabet = {key: chr(at) for at, key in enumerate(dict.fromkeys(wanted), start=1)}
    if not wanted or len(alphabet) > _LARGEST_ALPHABET or not alphabet.keys() <= set(keys):
        return
    hay = "".join([alphabet.get(key, "\0") for key in keys])
    needle = "".join([alphabet[key] for key in wanted])
    at = hay.find(needle)
    while at >= 0:
        yield start + at
        at = hay.find(needle, at + step)
