"""Which registries a project names for the package managers of a command line: one question.

The table `registries.toml` says what installs, and which files name hosts. A stranger may have
written those: each host is shown by its own name.
"""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from glob import escape, glob
from pathlib import Path
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from steersman.records.addresses import canonical_host, literal
from steersman.records.judgement import Fact, Judgement
from steersman.records.protection import inside

LARGEST = 8_000_000  # bytes of a file that is read
MOST = 8  # hosts that a person reads at a glance; where there are more, each is asked about
_PORTS = {"http": 80, "https": 443}
_OWN_PLACES = ([".venv", "bin"], ["venv", "bin"])
_VENVS = ("activate", "activate.fish")


class Naming(Struct, frozen=True):
    """Files that name registries, and how they do it."""

    names: tuple[str, ...]
    pattern: str


class Manager(Struct, frozen=True, forbid_unknown_fields=True):
    """A package manager. What `silent` hosts are, is in the table."""

    name: str
    programs: tuple[str, ...]
    installs: tuple[str, ...]
    bare: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()
    files: tuple[Naming, ...] = ()
    silent: tuple[str, ...] = ()


class _Table(Struct):
    manager: list[Manager]


@cache
def _text() -> str:
    return Path(__file__).with_name("registries.toml").read_text("utf-8")


@cache
def managers() -> tuple[Manager, ...]:
    """The table."""
    return tuple(msgspec.toml.decode(_text(), type=_Table).manager)


def registries(
    judgement: Judgement | None,
    cwd: str,
    workspace: str,
    environ: Mapping[str, str],
    local: frozenset[str],
) -> tuple[str, ...]:
    """The hosts, as `host:port`, named for a line that installs; `local` programs may help it.

    A line with any other part gets nothing: what that reaches would be nobody's installation.
    """
    if judgement is None or not judgement.plain or judgement.verdict == "block":
        return ()
    # Most commands install nothing, and are not kept waiting until the table is understood.
    if not any(f'"{_program(fact)}"' in _text() for fact in judgement.facts):
        return ()
    used: dict[str, Manager] = {}
    for fact in judgement.facts:
        manager = _installing(fact)
        if manager is not None:
            used[manager.name] = manager
        elif not _stays(fact, local):
            return ()
    folders = _folders(judgement.facts, cwd, workspace)
    named = {host for one in used.values() for host in _named(one, folders, workspace, environ)}
    return tuple(sorted(named)) if len(named) <= MOST else ()


def _program(fact: Fact) -> str:
    return fact.words[0].rpartition("/")[2] if fact.words else ""


def _installing(fact: Fact) -> Manager | None:
    """The manager that a command has install something, and nothing besides."""
    if not fact.known or fact.remote or not fact.words:
        return None
    name, words = fact.words[0], fact.words[1:]
    if "/" in name:  # any file can have such a name; an environment's own is meant by it
        folder, _, name = name.rpartition("/")
        if folder.split("/")[-2:] not in _OWN_PLACES:
            return None
    for manager in managers():
        if name in manager.programs:
            # A verb behind options could be the value of one of them.
            verb = words[0] if words and not words[0].startswith(("-", "+")) else ""
            installs = verb in manager.installs if words else name in manager.bare
            return manager if installs else None
    return None


def _stays(fact: Fact, local: frozenset[str]) -> bool:
    """Whether a command reaches nobody: a known program of this machine, or an environment."""
    match fact.words:
        case ["." | "source", script]:
            return script.rpartition("/")[2] in _VENVS
        case [python, "-m", "venv", *_]:
            return re.fullmatch(r"python[\d.]*", python) is not None
        case [program, *_]:
            return program in local
    return False


def _folders(facts: Sequence[Fact], cwd: str, workspace: str) -> list[str]:
    """Where files of the project may lie: the folders up to its root, and those that are named."""
    words = (word for fact in facts for word in fact.words[1:] if not word.startswith("-"))
    named = (os.path.normpath(os.path.join(cwd, word)) for word in words if "\0" not in word)
    starts = [cwd, *(path for path in named if os.path.isdir(path))]
    found: dict[str, None] = {}
    for folder in starts:
        while inside(folder, workspace):
            found[folder] = None
            if folder == workspace:
                break
            folder = os.path.dirname(folder)
    return list(found)


def _named(
    manager: Manager, folders: Sequence[str], workspace: str, environ: Mapping[str, str]
) -> Iterator[str]:
    """The hosts that a project and the user's environment name for a manager."""
    texts = [(r"(https?://[^\s,|]+)", environ.get(name, "")) for name in manager.variables]
    for naming in manager.files:
        for path in _files(naming, folders, workspace):
            texts.append((naming.pattern, _read(path)))
    for pattern, text in texts:
        for address in dict.fromkeys(re.findall(pattern, text)):
            host = _host(address)
            if host and host.rpartition(":")[0] not in manager.silent:
                yield host


def _files(naming: Naming, folders: Sequence[str], workspace: str) -> Iterator[str]:
    for folder in folders:
        for name in naming.names:
            place = os.path.join(escape(folder), name)
            for path in glob(place) if "*" in name else [os.path.join(folder, name)]:
                if inside(os.path.realpath(path), workspace):
                    yield path


def _read(path: str) -> str:
    try:
        if not os.path.isfile(path) or os.path.getsize(path) > LARGEST:
            return ""
        return Path(path).read_text("utf-8", errors="replace")
    except OSError:
        return ""


def _host(address: str) -> str:
    """The host of an address as `host:port`; nothing for one of this machine or without a name."""
    try:
        parts = urlsplit(address.replace("\\", ""))
        name, port = canonical_host(parts.hostname or ""), parts.port
    except ValueError:
        return ""
    if not name or name == "localhost" or "." not in name or literal(name) is not None:
        return ""
    return f"{name}:{port or _PORTS[parts.scheme]}"
