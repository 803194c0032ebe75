"""Which language servers there are: the table that comes with us, and what a person configured."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any, Literal

import msgspec

from steersman.operations.code.lsp.programs import Installable
from steersman.records import validation
from steersman.records.errors import UsageProblem

_TABLE = Path(__file__).with_name("servers.toml")


class LanguageServer(Installable, frozen=True, kw_only=True):
    """A language server; `servers.toml` shows what the fields mean.

    One that a person configured runs confined unless `runs_code` says that it only reads.
    `patience` is how many seconds it may take to start; after `idle` seconds without use it is
    stopped.
    """

    languages: Mapping[str, tuple[str, ...]]
    roots: tuple[str, ...] = ()
    options: Mapping[str, Any] = {}
    settings: Mapping[str, Any] = {}
    opens: Literal["", "projects", "files"] = ""
    indexes: bool = False
    enabled: bool = True
    patience: float = 20.0
    idle: float = 600.0

    def language(self, path: str) -> str:
        """What the protocol calls the language of a file; empty when it is none of this server."""
        name = os.path.basename(path)
        for language, ends in self.languages.items():
            for end in ends:
                if name == end or (end.startswith(".") and name.endswith(end)):
                    return language
        return ""

    def marks(self, name: str) -> bool:
        """Whether a file of that name marks the folder of a project."""
        return any(fnmatchcase(name, mark) for mark in self.roots)

    def watches(self, name: str) -> bool:
        """Whether the server wants to hear when a file of that name changes."""
        return bool(self.language(name)) or self.marks(name)


@cache
def known() -> tuple[LanguageServer, ...]:
    """The servers of the table, in its order."""
    return read(tomllib.loads(_TABLE.read_text("utf-8")))


def read(table: Mapping[str, Mapping[str, Any]]) -> tuple[LanguageServer, ...]:
    """Servers from a table by their names."""
    return tuple(
        msgspec.convert({"name": name, **entry}, LanguageServer) for name, entry in table.items()
    )


def configured(table: Mapping[str, Mapping[str, Any]]) -> tuple[LanguageServer, ...]:
    """The servers a person named before those of the table; one of the same name replaces it.

    An entry of the table may be changed in part: what is not said stays. Raises `UsageProblem`
    where an entry is wrong.
    """
    usual = {server.name: server for server in known()}
    own = []
    for name, entry in table.items():
        before = msgspec.to_builtins(usual[name]) if name in usual else {}
        if "command" in entry:  # another program: what is known of the usual one says nothing of it
            before["runs_code"] = True
        try:
            own.append(msgspec.convert({**before, **entry, "name": name}, LanguageServer))
        except msgspec.ValidationError as error:
            raise UsageProblem(
                f"The language server “{name}” in the settings is not valid.",
                validation.sentence(error),
                "It needs command and languages; docs/code-intelligence.md has an example.",
            ) from error
    mine = {server.name for server in own}
    rest = [server for server in known() if server.name not in mine]
    return tuple(server for server in (*own, *rest) if server.enabled)


def project(server: LanguageServer, path: str, root: str) -> str:
    """The folder a server is started in for a path: the outermost one with a mark of a project.

    The outermost, because what is looked for may be used in a neighbouring package.
    """
    folder = path if os.path.isdir(path) else os.path.dirname(path)
    best = root
    while _inside(folder, root):
        if _marked(server, folder):
            best = folder
        folder = os.path.dirname(folder)
    return root if _marked(server, root) else best


def _marked(server: LanguageServer, folder: str) -> bool:
    try:
        return any(server.marks(name) for name in os.listdir(folder))
    except OSError:
        return False


def _inside(path: str, folder: str) -> bool:
    return path.startswith(folder.rstrip("/") + "/")
