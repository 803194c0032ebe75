"""Inline Python, rewritten so that patterns can read it: names, loops and texts are worked out.

`import os as o; h = o.environ['HOME']; [o.remove(p) for p in glob(h + '/*')]` becomes
`os.remove('/home/dev/*')`. What it would do is judged elsewhere.
"""

import ast
import copy
import re
from typing import Any

from steersman.governance.guard.code_calls import (
    NOTHING,
    Dotted,
    Folder,
    Nothing,
    Value,
    items_of,
)
from steersman.governance.guard.code_values import Evaluator, TooMuchError, narrow, rounds

_MOST_ROUNDS = 16
_MOST_NODES = 4000
_MOST_DEPTH = 3
_MOST_ITEMS = 40
_ESCAPED_MARK = re.compile(r"\\u[eE]0[01][0-9a-fA-F]|\\U0000[eE]0[01][0-9a-fA-F]")
_PRINTED_MARK = re.compile(r"\\\\|\\u(e0[01][0-9a-f])")
# Methods of a path, as the function that does the same.
_AS_FUNCTION = {
    "unlink": "os.remove",
    "rmdir": "os.rmdir",
    "rename": "os.rename",
    "replace": "os.replace",
    "chmod": "os.chmod",
    "read_text": "open",
    "read_bytes": "open",
    "open": "open",
    "write_text": "open",
    "write_bytes": "open",
    "touch": "open",
    "symlink_to": "os.symlink",
    "hardlink_to": "os.symlink",
    "mkdir": "os.mkdir",
}
_CHANGES = ("reverse", "append", "extend", "insert", "sort", "pop", "remove", "clear")
# What pytest gives a test by the name of its argument.
_FIXTURES = {"tmp_path": Folder("/tmp/made"), "tmpdir": Folder("/tmp/made")}
_MODES = {"write_text": "w", "write_bytes": "wb", "touch": "a"}


def rewritten(code: str, home: str, cwd: str) -> str | None:
    """The code with everything worked out that its text shows; None when it is not Python."""
    try:
        tree = ast.parse(_ESCAPED_MARK.sub("?", code))
    except (SyntaxError, ValueError):
        return None
    except (RecursionError, MemoryError):
        raise TooMuchError from None
    reader = _Reader(Evaluator(home, cwd))
    made = reader.block(tree.body) + reader.rest()
    text = ast.unparse(ast.fix_missing_locations(ast.Module(made, [])))
    return _PRINTED_MARK.sub(lambda found: chr(int(found[1], 16)) if found[1] else found[0], text)


class _Reader(ast.NodeTransformer):
    """Walks statements in order and puts what is known in the place of what is written."""

    def __init__(self, at: Evaluator) -> None:
        self.at = at
        self.functions: dict[str, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda] = {}
        self.called: set[str] = set()
        self.calling: tuple[str, ...] = ()
        self.extra: list[ast.stmt] = []
        self.count = 0

    # ---- statements

    def block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """Statements one after the other."""
        made: list[ast.stmt] = []
        for statement in body:
            self.count += 1
            if self.count > _MOST_NODES:
                raise TooMuchError
            found = self.visit(statement)
            made += found if isinstance(found, list) else [found] if found is not None else []
            made += self.extra
            self.extra = []
        return made

    def rest(self) -> list[ast.stmt]:
        """The bodies of functions nobody calls here."""
        made: list[ast.stmt] = []
        for name, function in list(self.functions.items()):
            if name not in self.called and not isinstance(function, ast.Lambda):
                for argument in function.args.args:
                    self.at.names[argument.arg] = _FIXTURES.get(argument.arg, NOTHING)
                made += self.block(function.body)
        return made

    def visit_Import(self, node: ast.Import) -> ast.stmt:
        for part in node.names:
            top = part.name if part.asname else part.name.split(".")[0]
            self.at.names[part.asname or top] = Dotted(top)
        return ast.Import([ast.alias(part.name) for part in node.names])

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.stmt:
        module = node.module or ""
        for part in node.names:
            if part.name == "*":
                self._star(module)
            else:
                self.at.names[part.asname or part.name] = Dotted(f"{module}.{part.name}")
        return ast.Import([ast.alias(module)])

    def _star(self, module: str) -> None:
        names = "remove unlink system popen rmdir walk listdir environ rename path Path rmtree run"
        for name in names.split():
            self.at.names[name] = Dotted(f"{module}.{name}")

    def visit_Assign(self, node: ast.Assign) -> ast.stmt:
        if isinstance(node.value, ast.Lambda) and isinstance(node.targets[0], ast.Name):
            self.functions[node.targets[0].id] = node.value
        value = self.at.value(node.value)
        made = ast.Assign(node.targets, self.visit(node.value))
        for target in node.targets:
            self.at.bind(target, value)
        return made

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt:
        if isinstance(node.target, ast.Name):
            whole = ast.BinOp(ast.Name(node.target.id, ast.Load()), node.op, node.value)
            self.at.names[node.target.id] = self.at.value(whole)
        return ast.AugAssign(node.target, node.op, self.visit(node.value))

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt | None:
        if node.value is None:
            return None
        return self.visit_Assign(ast.Assign([node.target], node.value))

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self.functions[node.name] = node

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self.functions[node.name] = node

    def visit_For(self, node: ast.For | ast.AsyncFor) -> list[ast.stmt]:
        items = items_of(self.at.value(node.iter))
        made: list[ast.stmt] = [ast.Expr(self.visit(node.iter))]
        for item in [NOTHING] if items is None else items[:_MOST_ROUNDS]:
            self.at.bind(node.target, item)
            made += self.block(copy.deepcopy(node.body))
        return made + self.block(node.orelse)

    visit_AsyncFor = visit_For

    def visit_While(self, node: ast.While) -> ast.stmt:
        test = self.visit(node.test)
        return ast.While(test, self.block(node.body + node.orelse) or [ast.Pass()], [])

    def visit_If(self, node: ast.If) -> list[ast.stmt]:
        test = ast.Expr(self.visit(node.test))
        before = dict(self.at.names)
        narrow(self.at, node.test)
        body = self.block(node.body)
        one, self.at.names = self.at.names, before
        other = self.block(node.orelse)
        for name, value in one.items():
            if name not in before:
                self.at.names[name] = value
            elif self.at.names.get(name) is not value and not _narrower(value, before[name]):
                self.at.names[name] = NOTHING
        return [test, *body, *other]

    def visit_With(self, node: ast.With | ast.AsyncWith) -> list[ast.stmt]:
        made: list[ast.stmt] = []
        for part in node.items:
            made.append(ast.Expr(self.visit(part.context_expr)))
            if part.optional_vars is not None:
                self.at.bind(part.optional_vars, self.at.value(part.context_expr))
        return made + self.block(node.body)

    visit_AsyncWith = visit_With

    def visit_Try(self, node: ast.Try) -> list[ast.stmt]:
        made = self.block(node.body)
        for handler in node.handlers:
            made += self.block(handler.body)
        return made + self.block(node.orelse) + self.block(node.finalbody)

    def visit_ClassDef(self, node: ast.ClassDef) -> list[ast.stmt]:
        return self.block(node.body)

    # ---- expressions

    def visit(self, node: ast.AST) -> Any:
        """A node with what is known of it put in; a text or a name becomes itself."""
        if isinstance(node, ast.expr):
            known = _written(self.at.value(node))
            if known is not None and not _acts(node):
                return known
        return super().visit(node)

    def _rounds(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> ast.expr:
        kept = dict(self.at.names)
        made: list[ast.expr] = [self.visit(part.iter) for part in node.generators[:1]]
        for at, _ in enumerate(rounds(self.at, node.generators)):
            if at >= _MOST_ROUNDS:
                break
            made += [self.visit(copy.deepcopy(test)) for g in node.generators for test in g.ifs]
            made.append(self.visit(copy.deepcopy(node.elt)))
        self.at.names = kept
        return ast.List(made, ast.Load())

    visit_ListComp = visit_SetComp = visit_GeneratorExp = _rounds

    def visit_Call(self, node: ast.Call) -> Any:
        name = self.at.dotted(node.func)
        if name in ("map", "filter") and len(node.args) == 2:
            return self._each(node.args[0], self.at.value(node.args[1]), node)
        if name in self.functions and name not in self.calling:
            self._inline(name, node)
        elif isinstance(node.func, ast.Lambda):
            self._bind(node.func.args, node)
            return self.visit(node.func.body)
        self._changed(name, node)
        path = self._path(name, node)
        if path is not None:
            return path
        made: Any = self.generic_visit(node)
        if isinstance(self.at.value(node.func), Dotted):
            made.func = ast.Name(name, ast.Load())
        return made

    def _changed(self, name: str, node: ast.Call) -> None:
        """A list that is changed in place is known only as far as the change is."""
        owner = node.func.value if isinstance(node.func, ast.Attribute) else None
        known = self.at.names.get(owner.id) if isinstance(owner, ast.Name) else None
        if isinstance(owner, ast.Name) and isinstance(known, list) and name[1:] in _CHANGES:
            given = [self.at.value(argument) for argument in node.args]
            made: Value = NOTHING
            if name == ".reverse":
                made = known[::-1]
            elif name == ".append" and given:
                made = [*known, given[0]]
            elif name == ".extend" and given:
                made = [*known, *(items_of(given[0]) or [NOTHING])]
            self.at.names[owner.id] = made

    def _path(self, name: str, node: ast.Call) -> ast.expr | None:
        """A method of a path, also one taken from its class: `Path.unlink(x)`."""
        method = name.rpartition(".")[2]
        if method not in _AS_FUNCTION or not isinstance(node.func, ast.Attribute):
            return None
        path = self.at.value(node.func.value)
        if name == f"pathlib.Path.{method}" and node.args:
            path, *node.args = self.at.text(node.args[0]), *node.args[1:]
        elif not isinstance(path, Folder):
            return None
        return self._function(_AS_FUNCTION[method], method, str(path), node)

    def _function(self, function: str, method: str, path: str, node: ast.Call) -> ast.expr:
        """`Path(x).unlink()` as `os.remove(x)`."""
        args: list[ast.expr] = [ast.Constant(str(path))]
        if method in _MODES:
            args.append(ast.Constant(_MODES[method]))
        args += [self.visit(argument) for argument in node.args]
        if method in ("symlink_to", "hardlink_to"):
            args = [*args[1:2], *args[:1]]
        return ast.Call(ast.Name(function, ast.Load()), args, [])

    def _each(self, function: ast.expr, items: Value, node: ast.Call) -> ast.expr:
        """`map(f, items)` as a call for each."""
        known = items_of(items)
        made: list[ast.expr] = [self.visit(node.args[1])]
        for item in (known or [NOTHING])[:_MOST_ROUNDS]:
            given = _written(item) or ast.Name("_", ast.Load())
            made.append(self.visit(ast.Call(copy.deepcopy(function), [given], [])))
        return ast.List(made, ast.Load())

    def _inline(self, name: str, node: ast.Call) -> None:
        """A function of this code is called: what it does, it does with these arguments."""
        function = copy.deepcopy(self.functions[name])
        self.called.add(name)
        kept, calling = dict(self.at.names), self.calling
        self.calling = (*calling, name)
        self._bind(function.args, node)
        if isinstance(function, ast.Lambda):
            self.extra.append(ast.Expr(self.visit(function.body)))
        else:
            outer, self.extra = self.extra, []
            self.extra = outer + self.block(function.body)
        self.at.names, self.calling = kept, calling

    def _bind(self, arguments: ast.arguments, node: ast.Call) -> None:
        values = [self.at.value(argument) for argument in node.args]
        named = {part.arg: self.at.value(part.value) for part in node.keywords}
        defaults = [self.at.value(part) for part in arguments.defaults]
        names = [argument.arg for argument in arguments.args]
        given = dict(zip(reversed(names), reversed(defaults), strict=False))
        given |= dict(zip(names, values, strict=False)) | {n: v for n, v in named.items() if n}
        for name in names:
            self.at.names[name] = given.get(name, NOTHING)


def _narrower(value: Value, before: Value) -> bool:
    return isinstance(value, str) and isinstance(before, str) and value.startswith(before)


def _acts(node: ast.expr) -> bool:
    """True for an expression that calls something: it is kept, with what is known inside."""
    return isinstance(node, (ast.ListComp, ast.GeneratorExp, ast.SetComp, ast.List, ast.Tuple))


def _written(value: Value, depth: int = 0) -> ast.expr | None:
    """A value as an expression; None for one that is not text, number or name, or too large."""
    if isinstance(value, Dotted):
        return ast.Name(str(value), ast.Load())
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    if isinstance(value, (str, int)):
        return ast.Constant(str(value) if isinstance(value, Folder) else value)
    if not isinstance(value, (list, tuple)) or depth >= _MOST_DEPTH or len(value) >= _MOST_ITEMS:
        return None
    if any(isinstance(part, Nothing) for part in value):
        return None
    made = [_written(part, depth + 1) for part in value]
    return ast.List([part for part in made if part is not None], ast.Load())
