"""What an expression of inline Python would be, as far as its text shows. Nothing is run."""

import ast
import posixpath
from collections.abc import Callable, Iterator
from typing import Any

from steersman.governance.guard.code_calls import (
    FUNCTIONS,
    METHODS,
    MOST,
    NOTHING,
    WIDE,
    Dotted,
    Folder,
    Nothing,
    Value,
    items_of,
    text_of,
)
from steersman.governance.guard.marks import UNSET, globbed

_LONGEST = 20_000
_MOST_STEPS = 40_000


class TooMuchError(Exception):
    """The code is too long to be followed."""


class Evaluator:
    """Works out expressions with the names known so far."""

    def __init__(self, home: str, cwd: str) -> None:
        self.home = home
        self.cwd = cwd
        self.names: dict[str, Value] = {}
        self.steps = 0

    def value(self, node: ast.AST) -> Value:
        """What an expression is; `NOTHING` where it cannot be known."""
        self.steps += 1
        if self.steps > _MOST_STEPS:
            raise TooMuchError
        work = _KINDS.get(type(node))
        try:
            made = work(self, node) if work is not None else NOTHING
        except (ArithmeticError, LookupError, TypeError, ValueError, AttributeError):
            return NOTHING
        if isinstance(made, (str, bytes, list)) and len(made) > _LONGEST:
            return NOTHING
        return made

    def text(self, node: ast.AST) -> str:
        """An expression as a piece of text, with a mark for what is not known."""
        return text_of(self.value(node))

    def bind(self, target: ast.AST, value: Value) -> None:
        """Give names to a value."""
        if isinstance(target, ast.Name):
            self.names[target.id] = value
        elif isinstance(target, (ast.Tuple, ast.List)):
            parts = value if isinstance(value, (list, tuple)) else ()
            for at, part in enumerate(target.elts):
                self.bind(part, parts[at] if at < len(parts) else NOTHING)
        elif isinstance(target, ast.Starred):
            self.bind(target.value, NOTHING)

    def dotted(self, node: ast.AST) -> str:
        """The full name of what is called: `os.remove`, or `.unlink` of some object."""
        known = self.value(node)
        if isinstance(known, Dotted):
            return known
        if isinstance(node, ast.Name):
            return node.id
        return "." + node.attr if isinstance(node, ast.Attribute) else ""


_BUILTIN = frozenset(("chr", "ord", "int", "str", "bytes", "bytearray", "__import__", "builtins"))


def _name(at: Evaluator, node: ast.Name) -> Value:
    return at.names.get(node.id, Dotted(node.id) if node.id in _BUILTIN else NOTHING)


def _attribute(at: Evaluator, node: ast.Attribute) -> Value:
    whole = at.value(node.value)
    if isinstance(whole, Dotted):
        full = f"{whole}.{node.attr}"
        return {"os.sep": "/", "os.path.sep": "/"}.get(full, Dotted(full))
    if isinstance(whole, str) and node.attr in ("path", "parent", "name", "stem"):
        if node.attr == "path":
            return whole
        return Folder(posixpath.dirname(whole)) if node.attr == "parent" else whole.split("/")[-1]
    return NOTHING


def _binary(at: Evaluator, node: ast.BinOp) -> Value:
    left, right = at.value(node.left), at.value(node.right)
    if isinstance(node.op, ast.Div) and isinstance(left, Folder):
        return Folder(posixpath.join(left, text_of(right)))
    if isinstance(node.op, ast.Add):
        if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
            return [*left, *right]
        if isinstance(left, bytes) and isinstance(right, bytes):
            return left + right
        if isinstance(left, str) or isinstance(right, str):
            return text_of(left) + text_of(right)
    if isinstance(node.op, ast.Mod) and isinstance(left, str):
        parts = right if isinstance(right, tuple) else (right,)
        if WIDE.search(left):
            return NOTHING
        return left % tuple(part if isinstance(part, int) else text_of(part) for part in parts)
    if isinstance(node.op, ast.Mult) and isinstance(right, int) and 0 <= right < 100:
        return left * right if isinstance(left, (str, list)) else _number(node.op, left, right)
    return _number(node.op, left, right)


_SUMS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.FloorDiv: lambda a, b: a // b,
    ast.Mod: lambda a, b: a % b,
    ast.BitXor: lambda a, b: a ^ b,
    ast.BitAnd: lambda a, b: a & b,
    ast.BitOr: lambda a, b: a | b,
}


def _number(op: ast.operator, left: Value, right: Value) -> Value:
    work = _SUMS.get(type(op))
    if work is None or not isinstance(left, int) or not isinstance(right, int):
        return NOTHING
    return work(left, right) if max(abs(left), abs(right)) < 1 << 32 else NOTHING


def _joined(at: Evaluator, node: ast.JoinedStr) -> Value:
    return "".join(
        at.text(part.value if isinstance(part, ast.FormattedValue) else part)
        for part in node.values
    )


def _subscript(at: Evaluator, node: ast.Subscript) -> Value:
    whole: Any = at.value(node.value)
    if isinstance(node.slice, ast.Slice) and items_of(whole) is not None:
        parts = (node.slice.lower, node.slice.upper, node.slice.step)
        ends = [None if part is None else at.value(part) for part in parts]
        return whole[slice(*ends)]
    key = at.value(node.slice)
    if whole == "os.environ" and isinstance(whole, Dotted):
        return at.home if key == "HOME" else UNSET
    if isinstance(whole, dict):
        return whole.get(text_of(key), NOTHING)
    return whole[key] if items_of(whole) is not None else NOTHING


def _comprehension(at: Evaluator, node: ast.ListComp | ast.GeneratorExp | ast.SetComp) -> Value:
    kept = dict(at.names)
    made: list[Value] = []
    for _ in rounds(at, node.generators):
        made.append(at.value(node.elt))
        if len(made) > MOST:
            break
    at.names = kept
    return made if made else NOTHING


def rounds(at: Evaluator, generators: list[ast.comprehension]) -> Iterator[None]:
    """Every round of a comprehension; the names are those of the round while it lasts."""
    if not generators:
        yield
        return
    first, *rest = generators
    items = items_of(at.value(first.iter))
    for item in [NOTHING] if items is None else items:
        at.bind(first.target, item)
        for test in first.ifs:
            narrow(at, test)
        yield from rounds(at, rest)


_PICKS = ("endswith", "startswith", "match", "fullmatch", "search", "fnmatch", "suffix")


def narrow(at: Evaluator, test: ast.AST) -> None:
    """A test on a name picks some of what a glob finds: it no longer means everything."""
    parts = list(ast.walk(test))
    picks = any(
        (isinstance(part, ast.Attribute) and part.attr in _PICKS)
        or (isinstance(part, ast.Compare) and isinstance(part.ops[0], (ast.Eq, ast.In)))
        for part in parts
    )
    said = any(isinstance(part, ast.Constant) and isinstance(part.value, str) for part in parts)
    if not picks or not said or any(isinstance(part, ast.Not) for part in parts):
        return
    for name in (part.id for part in parts if isinstance(part, ast.Name)):
        found = at.names.get(name)
        if isinstance(found, str) and globbed(found) and not isinstance(found, Dotted):
            at.names[name] = type(found)(found + "some")


def _call(at: Evaluator, node: ast.Call) -> Value:
    name = at.dotted(node.func)
    given = [at.value(argument) for argument in node.args]
    if name.startswith(".") and isinstance(node.func, ast.Attribute):
        owner = at.value(node.func.value)
        method = METHODS.get(name[1:])
        return method(at, owner, given) if method and not isinstance(owner, Nothing) else NOTHING
    if isinstance(at.value(node.func), Dotted) or name not in at.names:
        work = FUNCTIONS.get(name.removeprefix("builtins."))
        return work(at, given) if work is not None else NOTHING
    return NOTHING


def _constant(at: Evaluator, node: ast.Constant) -> Value:
    known = isinstance(node.value, (str, bytes, int)) and not isinstance(node.value, bool)
    return node.value if known else NOTHING


def _signed(at: Evaluator, node: ast.UnaryOp) -> Value:
    value = at.value(node.operand)
    return -value if isinstance(node.op, ast.USub) and isinstance(value, int) else NOTHING


def _table(at: Evaluator, node: ast.Dict) -> Value:
    return {
        text_of(at.value(key)): at.value(value)
        for key, value in zip(node.keys, node.values, strict=True)
        if key is not None
    }


def _chosen(at: Evaluator, node: ast.IfExp) -> Value:
    one, other = at.value(node.body), at.value(node.orelse)
    return one if isinstance(one, str) and one == other else NOTHING


_KINDS: dict[type[ast.AST], Callable[[Evaluator, Any], Value]] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.Attribute: _attribute,
    ast.BinOp: _binary,
    ast.JoinedStr: _joined,
    ast.Subscript: _subscript,
    ast.ListComp: _comprehension,
    ast.SetComp: _comprehension,
    ast.GeneratorExp: _comprehension,
    ast.Call: _call,
    ast.IfExp: _chosen,
    ast.NamedExpr: lambda at, node: at.value(node.value),
    ast.Starred: lambda at, node: at.value(node.value),
    ast.UnaryOp: _signed,
    ast.Dict: _table,
    ast.List: lambda at, node: [at.value(part) for part in node.elts],
    ast.Set: lambda at, node: [at.value(part) for part in node.elts],
    ast.Tuple: lambda at, node: tuple(at.value(part) for part in node.elts),
}
