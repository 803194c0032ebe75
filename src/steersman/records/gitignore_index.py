"""Very many lines of a `.gitignore`, looked up by the last part of a path.

A table of some hundred lines would take long to compile, and longer to try on every file. Here a
line is compiled when a path comes by that ends as the line does. The case of letters is ignored.
"""

import re
from functools import lru_cache

from steersman.records.gitignore import Line, choices, compiled, read_line

_SPECIAL = re.compile(rb"\[[!^]?.[^\]]*+\]?|\\.|[*?]", re.DOTALL)
_compiled = lru_cache(maxsize=4096)(compiled)  # of strangers too, so not all for ever


class Index:
    """Lines in order; the last that matches decides."""

    def __init__(self, text: str) -> None:
        lines = text.encode("utf-8", "surrogateescape").lower().removeprefix(b"\xef\xbb\xbf")
        read = (read_line(line.removesuffix(b"\r")) for line in lines.split(b"\n"))
        self._lines: tuple[Line, ...] = tuple(filter(None, read))
        self._names: dict[bytes, list[int]] = {}
        self._heads: dict[bytes, list[int]] = {}
        self._tails: dict[bytes, list[int]] = {}
        self._middles: dict[bytes, list[int]] = {}
        for number, line in enumerate(self._lines):
            for glob in choices(line.glob):
                self._enter(glob.rpartition(b"/")[2], number)
        self._any_head = tuple(self._heads)
        self._any_tail = tuple(self._tails)

    def _enter(self, last: bytes, number: int) -> None:
        head, *rest = _SPECIAL.split(last)
        if not rest:
            self._names.setdefault(head, []).append(number)
        elif head:
            self._heads.setdefault(head, []).append(number)
        elif rest[-1]:
            self._tails.setdefault(rest[-1], []).append(number)
        else:
            self._middles.setdefault(max(rest, key=len), []).append(number)

    def verdict(self, path: bytes, folder: bool) -> bool | None:
        """True for named, False for an exception, None for neither. The path is in lower case."""
        for number in self._worth_trying(path.rpartition(b"/")[2]):
            line = self._lines[number]
            if folder or not line.folders_only:
                pattern = _compiled(line.glob)
                if pattern is not None and pattern.fullmatch(path):
                    return not line.keeps
        return None

    def _worth_trying(self, last: bytes) -> list[int]:
        """The numbers of lines that may match a path with this last part, the last line first."""
        numbers = list(self._names.get(last, ()))
        if last.startswith(self._any_head):
            for head, those in self._heads.items():
                numbers += those if last.startswith(head) else ()
        if last.endswith(self._any_tail):
            for tail, those in self._tails.items():
                numbers += those if last.endswith(tail) else ()
        for middle, those in self._middles.items():
            numbers += those if middle in last else ()
        return sorted(set(numbers), reverse=True)


indexed = lru_cache(maxsize=32)(Index)
