"""Outlines of files that are being written: what follows a mistake is read by itself.

One open bracket can make a parser take the rest of a file for one error. Where it does, the lines
are cut where something new begins at the margin, and each piece is parsed on its own.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node

MOST_PIECES = 2_000
_MARGIN = re.compile(rb"^[A-Za-z_@#$\[]", re.M)


def pieces(root: Node, source: bytes) -> list[tuple[int, int, int]]:
    """What to read again: begin and end in bytes, and the row of the begin; none if all is well."""
    found: list[tuple[int, int, int]] = []
    for error in [root] if root.is_error else [node for node in root.children if node.is_error]:
        start = source.rfind(b"\n", 0, error.start_byte) + 1
        end = error.end_byte
        cuts = [match.start() for match in _MARGIN.finditer(source, start, end)]
        if len(cuts) < 2:
            continue
        row = source.count(b"\n", 0, cuts[0])
        for here, after in zip(cuts, [*cuts[1:], end], strict=True):
            found.append((here, after, row))
            row += source.count(b"\n", here, after)
            if len(found) >= MOST_PIECES:
                return found
    return found
