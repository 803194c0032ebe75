"""Where a name is in a tree, and how: as an attribute, bound, imported, in which functions.

Comments and strings are not among them: only tokens that are names count.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import Struct

from steersman.operations.code.trees.names import text

if TYPE_CHECKING:
    from tree_sitter import Node

_NAMES = frozenset({"name", "constant", "variable_name", "namespace_identifier", "statement_label"})
_FUNCTIONS = frozenset(
    {"function_definition", "function_declaration", "function_expression", "arrow_function",
     "generator_function", "generator_function_declaration", "method_definition",
     "method_declaration", "function_item", "closure_expression", "lambda", "lambda_expression",
     "lambda_literal", "func_literal", "constructor_declaration", "local_function_statement",
     "method", "singleton_method", "anonymous_function", "init_declaration",
     "secondary_constructor", "list_comprehension", "set_comprehension", "dictionary_comprehension",
     "generator_expression"}
)  # fmt: skip
# A name that follows its owner: `owner.name`, `Owner::name`.
_OWNED = frozenset(
    {"attribute", "member_expression", "selector_expression", "field_expression",
     "scoped_identifier", "scoped_type_identifier", "method_invocation", "field_access",
     "qualified_identifier", "member_access_expression", "member_call_expression",
     "scoped_call_expression", "class_constant_access_expression", "call", "scope_resolution",
     "navigation_expression", "navigation_suffix", "qualified_type", "nested_type_identifier",
     "scoped_property_access_expression", "nullsafe_member_call_expression", "method_reference",
     "conditional_access_expression", "member_binding_expression", "qualified_name"}
)  # fmt: skip
# What gives a name a value of its own, and the field in which that name is.
_BINDS = {
    "assignment": "left", "named_expression": "name", "for_statement": "left",
    "for_in_clause": "left", "for_in_statement": "left", "variable_declarator": "name",
    "short_var_declaration": "left", "range_clause": "left", "let_declaration": "pattern",
    "let_condition": "pattern", "for_expression": "pattern", "init_declarator": "declarator",
    "declaration": "declarator", "enhanced_for_statement": "name", "catch_clause": "parameter",
    "var_spec": "name", "property_declaration": "name", "assignment_expression": "left",
    "variable_assignment": "name", "foreach_statement": "left", "for_range_loop": "declarator",
}  # fmt: skip
_THROUGH = frozenset(
    {"pattern_list", "tuple_pattern", "list_pattern", "object_pattern", "array_pattern",
     "pair_pattern", "assignment_pattern", "object_assignment_pattern", "rest_pattern",
     "expression_list", "left_assignment_list", "pointer_declarator", "reference_declarator",
     "array_declarator", "variable_declaration", "variable_name", "pattern", "as_pattern_target",
     "tuple_struct_pattern", "list_splat_pattern", "dictionary_splat_pattern", "mut_pattern",
     "ref_pattern", "captured_pattern", "typed_pattern", "init_declarator",
     "multi_variable_declaration"}
)  # fmt: skip
_NOT_BOUND = ("type", "value", "default_value", "return_type", "default", "constraint")
_LABELS = {
    "keyword_argument": "name", "pair": "key", "field_initializer": "field", "name_colon": "name",
    "keyed_element": "", "value_argument": "", "value_argument_label": "", "argument": "name",
    "labeled_tuple_type_element": "name", "jsx_attribute": "",
}  # fmt: skip
_NONLOCAL = frozenset({"global_statement", "nonlocal_statement", "global_declaration"})
_HIGHEST = 6


class NamePlace(Struct, frozen=True):
    """One place of a name; `functions` are the starts of those around it, innermost first."""

    start: int
    row: int
    column: int
    owner: str | None = None
    bound: bool = False
    imported: str | None = None
    label: bool = False
    nonlocal_: bool = False
    functions: tuple[int, ...] = ()


def places(root: Node, source: bytes, name: str) -> list[NamePlace]:
    """All places of a name in a file, in order."""
    word = re.escape(name.encode("utf-8", "replace"))
    found = []
    for match in re.finditer(rb"(?<![\w\x80-\xff])" + word + rb"(?![\w\x80-\xff])", source):
        node = leaf(root, match.start(), match.end())
        if node is not None:
            found.append(_place(node))
    return found


def leaf(root: Node, start: int, end: int) -> Node | None:
    """The token that is exactly there, if it is a name."""
    node = root.descendant_for_byte_range(start, end)
    if node is None or node.child_count or (node.start_byte, node.end_byte) != (start, end):
        return None
    if "identifier" in node.type or node.type in _NAMES:
        return node
    above = node.parent.type if node.type == "word" and node.parent is not None else ""
    return node if above in ("command_name", "function_definition") else None


def _place(node: Node) -> NamePlace:
    row, column = node.start_point
    imported, nonlocal_, functions = None, False, []
    here = node.parent
    height = 0
    while here is not None:
        kind = here.type
        if kind in _FUNCTIONS:
            functions.append(here.start_byte)
        elif height < _HIGHEST:
            if kind in _NONLOCAL:
                nonlocal_ = True
            elif _is_import(kind):  # the outermost says where from
                imported = text(here)
        height += 1
        here = here.parent
    return NamePlace(
        node.start_byte,
        row,
        column,
        _owner(node),
        imported is None and _is_bound(node),
        imported,
        _is_label(node),
        nonlocal_,
        tuple(functions),
    )


def _is_import(kind: str) -> bool:
    return kind.startswith(("import_", "use_", "namespace_use")) or kind in (
        "import", "using_directive", "future_import_statement", "preproc_include",
    )  # fmt: skip


def _owner(node: Node) -> str | None:
    """What is before the dot; None for a name by itself."""
    above = node.parent
    if above is not None and above.type == "navigation_suffix":
        above = above.parent
    if above is None or above.type not in _OWNED or above.start_byte == node.start_byte:
        return None
    # In `receiver.call(name)` the name is an argument, which has a node of its own around it.
    first = above.child(0)
    return text(first)[:100] if first is not None else ""


def _is_bound(node: Node) -> bool:
    child, above = node, node.parent
    for _ in range(_HIGHEST):
        if above is None:
            return False
        kind = above.type
        field = _BINDS.get(kind)
        if field is not None and _holds(above, field, node):
            return True
        if "parameter" in kind:
            return not any(_holds(above, other, node) for other in _NOT_BOUND) and (
                kind == "parameters" or "identifier" in child.type or child.type in _THROUGH
                or child.type in _NAMES or "parameter" in child.type
            )  # fmt: skip
        if kind not in _THROUGH:
            return False
        child, above = above, above.parent
    return False


def _holds(node: Node, field: str, inner: Node) -> bool:
    return any(
        child.start_byte <= inner.start_byte and inner.end_byte <= child.end_byte
        for child in node.children_by_field_name(field)
    )


def _is_label(node: Node) -> bool:
    """Whether it names an argument or a key, and so is no use of what has the same name."""
    above = node.parent
    if above is None or above.type not in _LABELS:
        return False
    field = _LABELS[above.type]
    if field:
        return _holds(above, field, node)
    first = above.child(0)
    return first is not None and first.start_byte == node.start_byte and above.child_count > 1
