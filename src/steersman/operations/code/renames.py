"""Whether a rename changed names and nothing else, and files that kept their line endings. Pure.

Serena counts columns in characters where its language servers count UTF-16 units. In a line with a
character beyond the first 65,536 it puts the new name into the wrong place and says it succeeded.
"""

import re
from collections import Counter

_TOKEN = re.compile(r"\w+|[^\w\s]")
_BOM = b"\xef\xbb\xbf"


def damaged(before: bytes, after: bytes, old: str, new: str) -> int:
    """The first line, from 1, that a rename damaged; 0 when it did not.

    A rename may add to a line (`{ old }` becomes `{ old: new }`) but takes nothing from it except
    the old name, and adds no lines.
    """
    was, now = _lines(before), _lines(after)
    if len(was) != len(now):
        return next((n for n, (a, b) in enumerate(zip(was, now, strict=False), 1) if a != b), 1)
    for number, (a, b) in enumerate(zip(was, now, strict=True), 1):
        if a == b:
            continue
        lost = Counter(_TOKEN.findall(a))
        lost.subtract(Counter(_TOKEN.findall(b)))
        if any(count > 0 for token, count in lost.items() if token != old):
            return number
        if new not in _TOKEN.findall(b):
            return number
    return 0


def as_it_was(before: bytes | None, after: bytes | None) -> bytes | None:
    """New content with the line endings and the mark at the beginning that a file had."""
    if before is None or after is None:
        return after
    if b"\r\n" in before and b"\r\n" not in after:
        after = after.replace(b"\n", b"\r\n")
    if before.startswith(_BOM) and not after.startswith(_BOM):
        after = _BOM + after
    return after


def _lines(content: bytes) -> list[str]:
    return content.decode("utf-8", "replace").split("\n")
