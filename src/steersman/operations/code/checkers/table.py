"""Which checkers there are, and which of them a file or folder is for."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping, Sequence
from configparser import ConfigParser
from configparser import Error as NotIni
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct

from steersman.operations.code.checkers.parsers import PARSERS, Parser, by_lines
from steersman.operations.code.lsp.positions import Encoding
from steersman.operations.code.lsp.programs import Installable, Program, located
from steersman.records.plain_files import read_plain

_TABLE = Path(__file__).with_name("checkers.toml")
_LARGEST = 1 << 20


class Checker(Installable, frozen=True):
    """A program that says what is wrong; `checkers.toml` shows what the fields mean."""

    ends: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()
    always: bool = False
    group: str = ""
    takes: Literal["paths", "files", "file", "project"] = "paths"
    reads: str = ""
    lines: str = ""
    columns: Encoding = "utf-32"
    merged: bool = False
    patience: float = 60.0

    def knows(self, name: str) -> bool:
        """Whether it checks files of that name."""
        return name.endswith(self.ends)

    def parser(self) -> Parser:
        """What reads its output."""
        return by_lines(self.lines) if self.lines else PARSERS[self.reads]


class Job(Struct, frozen=True):
    """A checker at work: what is started, in which folder, for which paths."""

    checker: Checker
    program: Program
    folder: str
    paths: tuple[str, ...]


@cache
def known() -> tuple[Checker, ...]:
    """The checkers of the table, in its order."""
    table = tomllib.loads(_TABLE.read_text("utf-8"))
    return tuple(msgspec.convert({"name": n, **entry}, Checker) for n, entry in table.items())


def chosen(
    paths: Sequence[str],
    root: str,
    environ: Mapping[str, str],
    has: Mapping[str, frozenset[str]],
    checkers: Sequence[Checker] = (),
) -> list[Job]:
    """What is to be run for paths; `has` shows the ends of names of files in each of them."""
    wanted: dict[tuple[str, str], list[tuple[Job, str]]] = {}
    for path in paths:
        taken: set[str] = set()
        for checker in _preferred(path, root, checkers or known()):
            if checker.group in taken or not _concerns(checker, has[path]):
                continue
            folder = marked(checker, path, root) or root
            program = located(checker, root, environ, folder)
            if program is not None:
                taken.add(checker.group)
                job = Job(checker, program, folder, ())
                wanted.setdefault((checker.name, folder), []).append((job, path))
    return [
        msgspec.structs.replace(jobs[0][0], paths=tuple(path for _, path in jobs))
        for jobs in wanted.values()
    ]


def _preferred(path: str, root: str, checkers: Sequence[Checker]) -> list[Checker]:
    """Those the project has marks of, then those that run always."""
    asked = [checker for checker in checkers if marked(checker, path, root)]
    return asked + [checker for checker in checkers if checker.always and checker not in asked]


def _concerns(checker: Checker, ends: frozenset[str]) -> bool:
    return not ends.isdisjoint(checker.ends)


def marked(checker: Checker, path: str, root: str) -> str:
    """The outermost folder of the workspace around a path with a mark of a checker."""
    folder = path if os.path.isdir(path) else os.path.dirname(path)
    best = ""
    while folder == root or folder.startswith(root.rstrip("/") + "/"):
        if any(_has_mark(folder, mark) for mark in checker.marks):
            best = folder
        if folder == root:
            break
        folder = os.path.dirname(folder)
    return best


def _has_mark(folder: str, mark: str) -> bool:
    name, _, table = mark.partition("#")
    path = os.path.join(folder, name)
    if not os.path.isfile(path):
        return False
    return not table or _has_table(path, table)


def _has_table(path: str, table: str) -> bool:
    """Whether a file of settings has a part of that name."""
    try:
        found = os.stat(path)
    except OSError:
        return False
    settings: Any = _settings(path, found.st_mtime_ns, found.st_size)
    if path.endswith((".ini", ".cfg")):
        return table in settings
    for part in table.split("."):
        settings = settings.get(part) if isinstance(settings, dict) else None
    return settings is not None


@lru_cache(maxsize=64)
def _settings(path: str, changed: int, size: int) -> Any:
    """What a file of settings holds, as it was at some time; nothing when it cannot be read."""
    try:
        text = read_plain(path, _LARGEST).decode("utf-8", "replace")
        if path.endswith((".ini", ".cfg")):
            reading = ConfigParser(interpolation=None, strict=False)
            reading.read_string(text)
            return frozenset(reading.sections())
        return tomllib.loads(text) if path.endswith(".toml") else msgspec.json.decode(text)
    except (OSError, ValueError, NotIni, RecursionError):
        return frozenset()
