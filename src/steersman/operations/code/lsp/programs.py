"""Where the program of a server or a checker is: on the machine, beside us, or in the project."""

from __future__ import annotations

import os
import platform
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct

from steersman.operations.code.backend import Unable
from steersman.operations.running.companions import Companion, Companions
from steersman.operations.running.programs import found
from steersman.operations.running.started import started
from steersman.records.errors import ToolProblem
from steersman.records.plain_files import read_plain

_LARGEST_PACKAGE = 1 << 20
_MACHINES = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "armv7l": "arm"}
# Where projects keep programs of their own.
_OWN = ("node_modules/.bin", ".venv/bin", "venv/bin", "vendor/bin")


class Installable(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A program that may be there.

    `package`, with `at_least`, is the npm package it comes with, and `native` the program inside
    that can be started without node. `beside` lets it be found beside our own interpreter, where
    an extra of ours puts it. `local`: a program of the project is used too, after the machine's or
    before it. `runs_code` when it runs code of the project: then it is only run confined. `environ`
    is added to its environment, `inside` only where it is confined and has a /tmp of its own.
    """

    name: str
    command: Annotated[tuple[str, ...], Meta(min_length=1)]
    package: str = ""
    at_least: int = 0
    native: str = ""
    beside: bool = False
    local: Literal["", "after", "first"] = ""
    runs_code: bool = False
    environ: Mapping[str, str] = {}
    inside: Mapping[str, str] = {}


class Program(Struct, frozen=True):
    """What is started; `of_workspace` when it belongs to the project, and is only run confined."""

    argv: tuple[str, ...]
    of_workspace: bool = False


def located(
    wanted: Installable, root: str, environ: Mapping[str, str], project: str = ""
) -> Program | None:
    """The program to start, if it is here. One in the workspace is never taken for one of the
    machine, whatever the PATH says."""
    name, *arguments = wanted.command
    texts = (*arguments, *wanted.environ.values())
    for place, own in _places(wanted, name, root, environ, project):
        if program := _of_version(wanted, place):
            return Program((program, *arguments), own or _runs_workspace(texts, root))
    return None


def _runs_workspace(texts: Sequence[str], root: str) -> bool:
    """Whether a program of the machine is started with a script or a module of the workspace."""
    named = [
        text
        for last, text in pairwise(("", *texts))
        if "/" in text or os.path.splitext(text)[1] or last == "-m"
    ]
    return bool(started(named, root, root))


def _places(
    wanted: Installable, name: str, root: str, environ: Mapping[str, str], project: str
) -> Iterator[tuple[str, bool]]:
    if os.path.isabs(name):
        if os.access(name, os.X_OK):
            yield name, _inside(os.path.realpath(name), root) or _inside(name, root)
        return
    folders = dict.fromkeys((project or root, root)) if wanted.local else ()
    own = [os.path.join(folder, place, name) for folder in folders for place in _OWN]
    local = [(place, True) for place in own if os.access(place, os.X_OK)]
    if wanted.local == "first":
        yield from local
    beside = {"PATH": os.path.dirname(sys.executable)}
    for path in (beside, environ) if wanted.beside else (environ,):
        if place := found(name, path, root):
            yield place, False
    if wanted.local == "after":
        yield from local


def _of_version(wanted: Installable, program: str) -> str:
    """The program to start, when it is of a version that will do."""
    if not wanted.package:
        return program
    folder = os.path.dirname(os.path.realpath(program))
    while os.path.basename(folder) != wanted.package:
        folder, below = os.path.dirname(folder), folder
        if folder == below:
            return "" if wanted.at_least else program
    if _version(folder) < wanted.at_least:
        return ""
    return _native(wanted, folder) or program


def _native(wanted: Installable, package: str) -> str:
    machine = platform.machine().lower()
    name = wanted.native.format(system=sys.platform, machine=_MACHINES.get(machine, machine))
    program = os.path.join(os.path.dirname(package), name)
    return program if name and os.access(program, os.X_OK) else ""


def _version(folder: str) -> int:
    """The first number of a package's version; 0 when it cannot be known."""
    try:
        package = read_plain(os.path.join(folder, "package.json"), _LARGEST_PACKAGE)
        told = msgspec.json.decode(package)
    except (OSError, msgspec.DecodeError):
        return 0
    version = told.get("version") if isinstance(told, dict) else None
    number = re.match(r"\d+", version) if isinstance(version, str) else None
    return int(number[0]) if number else 0


def _inside(path: str, folder: str) -> bool:
    return path.startswith(folder.rstrip("/") + "/")


# What such a program may know of the machine; keys and tokens are none of its business.
_ENVIRONMENT = frozenset(
    {"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR", "VIRTUAL_ENV",
     "CONDA_PREFIX", "PYENV_ROOT", "GOPATH", "GOROOT", "GOBIN", "GOMODCACHE", "CARGO_HOME",
     "RUSTUP_HOME", "RUSTUP_TOOLCHAIN", "JAVA_HOME", "DOTNET_ROOT", "NODE_PATH", "NVM_DIR",
     "GEM_HOME", "GEM_PATH", "NIX_PROFILES", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"}
)  # fmt: skip


def environment(
    wanted: Installable, environ: Mapping[str, str], *, confined: bool
) -> dict[str, str]:
    """The environment of a program: what it needs of the machine's, and its own."""
    given = {
        name: text
        for name, text in environ.items()
        if name in _ENVIRONMENT or name.startswith("LC_")
    }
    return {**given, **wanted.environ, **(wanted.inside if confined else {})}


async def start(
    wanted: Installable,
    program: Program,
    argv: Sequence[str],
    folder: str,
    companions: Companions,
    environ: Mapping[str, str],
) -> Companion:
    """Start a program confined; one that only reads also where nothing can be confined."""
    try:
        given = environment(wanted, environ, confined=True)
        return await companions.start(argv, folder, given, confined=True)
    except ToolProblem as problem:
        if wanted.runs_code or program.of_workspace:
            raise Unable(
                f"{wanted.name} could not be started.",
                f"It runs code of the project, so only confined: {problem.what}",
            ) from problem
    try:
        given = environment(wanted, environ, confined=False)
        return await companions.start(argv, folder, given, confined=False)
    except (ToolProblem, OSError) as error:
        raise Unable(f"{wanted.name} could not be started.", str(error)) from error
