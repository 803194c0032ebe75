"""The text of a definition, with its decorators, annotations and modifiers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steersman.operations.code.records import Symbol
from steersman.operations.code.trees.languages import BY_NAME
from steersman.operations.code.trees.uses import File

if TYPE_CHECKING:
    from tree_sitter import Node

# What belongs to a definition and is around it in the tree.
_AROUND = frozenset(
    {"decorated_definition", "export_statement", "template_declaration", "lexical_declaration",
     "variable_declaration", "const_declaration", "var_declaration", "type_declaration",
     "expression_statement", "ambient_declaration", "field_declaration", "declaration_command"}
)  # fmt: skip


def body(file: File, symbol: Symbol) -> str:
    """The lines of a definition."""
    node = _definition(file, symbol)
    if node is None:
        lines = file.source.split(b"\n")[symbol.line - 1 : symbol.end_line]
        return b"\n".join(lines).decode("utf-8", "replace")
    above = node.parent
    while above is not None and above.type in _AROUND and _belongs(above, node):
        node, above = above, above.parent
    start, end = node.start_byte, node.end_byte
    begin = file.source.rfind(b"\n", 0, start) + 1
    if not file.source[begin:start].strip():
        start = begin
    return file.source[start:end].decode("utf-8", "replace").replace("\r\n", "\n").rstrip()


def _definition(file: File, symbol: Symbol) -> Node | None:
    """The node whose definition it is: the outermost that gives the name and ends where it does."""
    from steersman.operations.code.trees.grammar import grammar
    from steersman.operations.code.trees.names import names

    rules = grammar(BY_NAME[file.language])
    lines = file.source.split(b"\n", symbol.line)
    if symbol.line > len(lines):
        return None
    line = lines[symbol.line - 1]
    lead = len(line.decode("utf-8", "replace")[: symbol.column - 1].encode("utf-8", "replace"))
    at = sum(len(one) + 1 for one in lines[: symbol.line - 1]) + lead
    here = file.root.descendant_for_byte_range(at, at + 1)
    while here is not None:
        meaning = rules.meanings.get(here.kind_id)
        if meaning is not None and meaning.kind is not None:
            given = names(here, meaning.where)
            if any(name.node.start_byte == at for name in given):
                return here
        here = here.parent
    return None


def _belongs(around: Node, node: Node) -> bool:
    """Whether it is around this definition alone, and not around several."""
    return around.type != "const_declaration" or around.named_child_count == 1
