"""Where the name of a definition is: through declarators, patterns and qualified names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from tree_sitter import Node

# Several names at once.
_PATTERNS = frozenset(
    {"pattern_list", "tuple_pattern", "list_pattern", "object_pattern", "array_pattern",
     "expression_list", "left_assignment_list", "structured_binding_declarator"}
)  # fmt: skip
# A name with what it is in: the fields of both.
_QUALIFIED = {
    "qualified_identifier": ("scope", "name"),
    "scope_resolution": ("scope", "name"),
    "member_expression": ("object", "property"),
    "scoped_type_identifier": ("", "name"),
}
# Something around a name: the field in which it continues, or else the first child that can.
_AROUND = {
    "init_declarator": "declarator", "pointer_declarator": "declarator",
    "function_declarator": "declarator", "array_declarator": "declarator",
    "variable_declarator": "name", "generic_type": "type", "template_type": "name",
    "template_function": "name", "pair_pattern": "value", "assignment_pattern": "left",
    "object_assignment_pattern": "left", "pattern": "bound_identifier", "type": "",
    "parenthesized_declarator": "", "reference_declarator": "", "attributed_declarator": "",
    "rest_pattern": "", "variable_name": "", "variable_declaration": "", "user_type": "",
    "pointer_type": "", "reference_type": "type", "parenthesized_type": "",
    "list_splat_pattern": "", "rest_assignment": "", "bitfield_clause": "", "typed_pattern": "",
}  # fmt: skip
# More than one token, and still one name.
_WHOLE = frozenset(
    {"operator_name", "destructor_name", "string", "nested_namespace_specifier", "qualified_name",
     "namespace_name", "identifier", "nested_identifier", "setter", "operator", "operator_cast",
     "private_property_identifier"}
)  # fmt: skip
_MOST_STEPS = 40


class Name(Struct, frozen=True):
    """A name: its node, what it is qualified with, and whether it is declared as a function."""

    node: Node
    qualifiers: tuple[str, ...] = ()
    callable: bool = False


def names(node: Node, where: str) -> Iterator[Name]:
    """The names that a definition gives; `where` is as in the files of `grammars/`."""
    for start in _starts(node, where):
        if start.child_count == 0:
            yield Name(start)
        else:
            yield from _unwrapped(start)


def type_name(node: Node) -> str:
    """The first name of a type in a node: of a method's receiver, for one."""
    waiting = [node]
    for _ in range(_MOST_STEPS):
        if not waiting:
            break
        here = waiting.pop()
        if here.type == "type_identifier":
            return text(here)
        waiting += reversed(here.named_children)
    return ""


def text(node: Node) -> str:
    """What a node says."""
    return (node.text or b"").decode("utf-8", "replace")


def _starts(node: Node, where: str) -> list[Node]:
    if where.endswith("*"):
        return node.children_by_field_name(where[:-1])
    if where.startswith("#"):
        found = node.named_child(int(where[1:]) - 1)
    elif where.startswith("<"):
        found = next((child for child in node.named_children if child.type == where[1:-1]), None)
    elif where.startswith("'"):
        found = next((child for child in node.children if child.type == where[1:-1]), None)
    else:
        found = node.child_by_field_name(where)
    return [] if found is None else [found]


def _unwrapped(start: Node) -> Iterator[Name]:
    """Down to the names themselves; nothing for what is not a name: `self.x`, `rows[0]`."""
    waiting: list[tuple[Node, tuple[str, ...], bool]] = [(start, (), False)]
    for _ in range(_MOST_STEPS * 10):
        if not waiting:
            break
        node, qualifiers, callable_ = waiting.pop()
        kind = node.type
        if node.child_count == 0 or kind in _WHOLE:
            yield Name(node, qualifiers, callable_)
        elif kind in _PATTERNS:
            waiting += [(child, qualifiers, False) for child in reversed(node.named_children)]
        elif kind in _QUALIFIED:
            scope, name = _QUALIFIED[kind]
            inner = node.child_by_field_name(name)
            if inner is not None:
                waiting.append((inner, (*qualifiers, *_scope(node, scope)), callable_))
        elif kind in _AROUND:
            inner = node.child_by_field_name(_AROUND[kind]) if _AROUND[kind] else None
            inner = inner or next(iter(node.named_children), None)
            if inner is not None:
                # `int (*handler)(int)` is a variable: the parentheses come before the name.
                is_function = kind == "function_declarator" and not inner.type.startswith("paren")
                waiting.append((inner, qualifiers, callable_ or is_function))


def _scope(node: Node, field: str) -> list[str]:
    found = node.child_by_field_name(field) if field else None
    if found is None:
        return []
    if found.type == "member_expression":
        parts = text(found).split(".")
    else:
        inner = found.child_by_field_name("name") if found.child_count else None
        parts = [text(inner or found)]
    return [part for part in parts if part not in ("module", "exports", "prototype", "window")]
