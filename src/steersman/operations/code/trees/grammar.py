"""A grammar made ready: its parser, and what its kinds of nodes mean for an outline.

What they mean is reported by a file per language in `grammars/`.
"""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import import_module
from importlib.resources import files
from threading import local
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from steersman.operations.code.trees import languages
from steersman.operations.code.trees.languages import Language
from steersman.operations.code.trees.reading import Unreadable

if TYPE_CHECKING:
    from tree_sitter import Language as Syntax
    from tree_sitter import Tree

# Languages whose nodes are those of another.
_SAME_NODES = {"tsx": "typescript"}


class Table(Struct, frozen=True, forbid_unknown_fields=True):
    """A file of `grammars/`, which explain themselves."""

    define: dict[str, str]
    enter: tuple[str, ...] = ()
    outside: tuple[str, ...] = ()
    refine: dict[str, dict[str, str]] = {}
    members: dict[str, str] = {}
    receiver: dict[str, str] = {}
    needs_body: tuple[str, ...] = ()
    constructors: tuple[str, ...] = ()
    constructors_named_after_class: bool = False
    only_constants: bool = False


class Meaning(Struct, frozen=True):
    """What a node means: a definition of a kind, or (`kind` None) a place to look for some.

    `where` shows where its name is, as in `grammars/`. `outside` means: not in functions.
    """

    kind: str | None = None
    where: str = "name"
    outside: bool = False
    refine: dict[str, str] = {}
    members: str = ""
    receiver: str = ""
    needs_body: bool = False


class Grammar(Struct, frozen=True):
    """What it takes to read a language; `meanings` are by number of the kind of node."""

    language: Language
    syntax: Syntax
    meanings: dict[int, Meaning]
    table: Table
    parsers: local

    def parse(self, source: bytes) -> Tree:
        """The tree of a source; a parser is not shared between threads."""
        parser = getattr(self.parsers, "parser", None)
        if parser is None:
            from tree_sitter import Parser

            parser = self.parsers.parser = Parser(self.syntax)
        return parser.parse(source)


@cache
def table(name: str) -> Table:
    """What nodes mean in a language."""
    file = files("steersman.operations.code.trees") / "grammars" / f"{name}.toml"
    return msgspec.convert(tomllib.loads(file.read_text("utf-8")), Table)


@cache
def grammar(language: Language) -> Grammar:
    """The grammar of a language; raises `Unreadable` where it is not installed."""
    from tree_sitter import Language as Syntax

    package, _, function = language.grammar.partition(":")
    try:
        module = import_module(f"tree_sitter_{package}")
        syntax = Syntax(getattr(module, function or "language")())
    except (ImportError, AttributeError, ValueError) as error:
        # ValueError: a wheel for another version of the library.
        raise Unreadable(f"Files in {language.name}: {languages.missing(language)}.") from error
    known = table(_SAME_NODES.get(language.name, language.name))
    return Grammar(language, syntax, _meanings(known, syntax), known, local())


def _meanings(known: Table, syntax: Syntax) -> dict[int, Meaning]:
    found: dict[str, Meaning] = {"ERROR": Meaning()}
    for name in known.enter:
        found[name] = Meaning(members=known.members.get(name, ""))
    for name in known.outside:
        found[name] = Meaning(outside=True)
    for name, said in known.define.items():
        kind, _, where = said.partition(":")
        found[name] = Meaning(
            kind,
            where or "name",
            False,
            known.refine.get(name, {}),
            "",
            known.receiver.get(name, ""),
            name in known.needs_body,
        )
    numbered = {syntax.id_for_node_kind(name, True): meaning for name, meaning in found.items()}
    return {number: meaning for number, meaning in numbered.items() if number is not None}
