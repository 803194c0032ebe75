"""The one shape of answers about code. Lines and columns begin at 1; paths are relative to the
workspace, with slashes."""

from typing import Literal

from msgspec import Struct

Severity = Literal["error", "warning", "info", "hint"]
Agreement = Literal["same", "differs", "unchecked"]


class Symbol(Struct, frozen=True, omit_defaults=True):
    """A definition. `name_path` leads to it through what it is defined in: `Client/send`.

    `kind` is a word in lower case: class, function, method, variable, constant, interface, enum,
    struct, trait, module, property, field, constructor, type, macro, heading, key.
    """

    name: str
    name_path: str
    kind: str
    path: str
    line: int
    end_line: int
    column: int = 1
    signature: str = ""
    body: str = ""
    children: tuple["Symbol", ...] = ()


class Reference(Struct, frozen=True, omit_defaults=True):
    """A place where a symbol is used; `inside` is the name path of what it is used in."""

    path: str
    line: int
    column: int
    text: str
    inside: str = ""


class Diagnostic(Struct, frozen=True, omit_defaults=True):
    """What a checker says about a place."""

    path: str
    line: int
    column: int
    severity: Severity
    message: str
    code: str = ""
    source: str = ""
    end_line: int = 0


class Overview(Struct, frozen=True, omit_defaults=True):
    """The symbols of one file."""

    backend: str
    path: str
    symbols: tuple[Symbol, ...]
    total: int
    note: str = ""


class Symbols(Struct, frozen=True, omit_defaults=True):
    """Definitions that were asked for."""

    backend: str
    symbols: tuple[Symbol, ...]
    total: int
    more: str = ""
    note: str = ""


class References(Struct, frozen=True, omit_defaults=True):
    """Uses of a symbol. `agreement` shows whether a search of the text found the same files;
    `text_only` are places that only the text search found."""

    backend: str
    symbol: str
    references: tuple[Reference, ...]
    total: int
    files: int
    agreement: Agreement = "unchecked"
    text_only: tuple[Reference, ...] = ()
    more: str = ""
    note: str = ""


class Diagnostics(Struct, frozen=True, omit_defaults=True):
    """What checkers say about files."""

    backend: str
    diagnostics: tuple[Diagnostic, ...]
    total: int
    more: str = ""
    note: str = ""
