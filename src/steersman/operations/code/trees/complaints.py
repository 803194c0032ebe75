"""What does not parse, as diagnostics: for files that no other checker looks at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steersman.operations.code.records import Diagnostic
from steersman.operations.code.trees.names import text
from steersman.operations.code.trees.uses import File

if TYPE_CHECKING:
    from tree_sitter import Node

SOURCE = "tree-sitter"
MOST = 50


def complaints(file: File) -> list[Diagnostic]:
    """The places that do not fit the grammar, in order."""
    found: list[Diagnostic] = []
    waiting = [file.root] if file.root.has_error else []
    while waiting and len(found) < MOST:
        node = waiting.pop()
        if node.is_missing:
            found.append(_said(file, node, f"{_quoted(node.type)} is missing"))
        elif node.is_error:
            found.append(_said(file, node, f"this does not parse: {_quoted(text(node))}"))
        else:
            waiting += [child for child in reversed(node.children) if _is_wrong(child)]
    return found


def _is_wrong(node: Node) -> bool:
    return node.has_error or node.is_missing


def _said(file: File, node: Node, message: str) -> Diagnostic:
    row, column = node.start_point
    begin = node.start_byte - column
    lead = file.source[begin : node.start_byte].decode("utf-8", "replace")
    return Diagnostic(
        file.path,
        row + 1,
        len(lead) + 1,
        "error",
        message,
        code="syntax",
        source=SOURCE,
        end_line=node.end_point[0] + 1,
    )


def _quoted(said: str) -> str:
    line = " ".join(said.split())
    return f"`{line if len(line) <= 60 else line[:59] + '…'}`"
