"""Instruction files: `AGENTS.md` and `CLAUDE.md`, or of the name that the user gives them.

They are text for a model, and a model has no authority: whatever they say, the gate decides. A file
of the folder that leads out of it by a link is not read, nor is one that is secret.
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Literal

from msgspec import Struct

from steersman.identity.places import (
    INSTRUCTIONS_FILE,
    file_name,
    identity,
    places,
    read_text,
)
from steersman.identity.settings import config_file
from steersman.records.counting import counted
from steersman.records.patterns import pattern
from steersman.records.protection import inside
from steersman.records.secret_files import PLAIN_SIGHT, SecretFiles

NAMES = ("AGENTS.md", "CLAUDE.md")
MOST_FILE, MOST_ALL, MOST_FILES = 24_000, 48_000, 40  # bytes, bytes, files
DEEPEST = 5  # how far files that name files are followed
_IMPORT = pattern(r"(?:^|(?<=\s))@([^\s`,;:!?'\"()<>]+)")
_CODE = pattern(r"^(```|~~~).*?^\1|`[^`\n]*`", re.MULTILINE | re.DOTALL)

Source = Literal["user", "configured", "folder"]


class InstructionFile(Struct, frozen=True):
    """One file as the model gets it: `name` is how people call it; `shown` of `size` bytes."""

    name: str
    text: str
    size: int
    shown: int
    source: Source = "folder"
    path: str = ""


class Candidate(Struct, frozen=True):
    """A file to look for; `within` is the folder that it must really be in, if any."""

    path: str
    source: Source
    within: str = ""


def top_of(workspace: str, ceilings: str = "") -> str:
    """The root of the repository that a workspace is in, or the workspace itself.

    The folders in `ceilings`, and those above them, are not looked at, as git does it.
    """
    ends = {os.path.realpath(folder) for folder in ceilings.split(os.pathsep) if folder}
    folder = workspace
    while not os.path.lexists(os.path.join(folder, ".git")):
        parent = os.path.dirname(folder)
        if parent == folder or parent in ends:
            return workspace
        folder = parent
    return folder


def between(top: str, folder: str) -> list[str]:
    """The folders from `top` down to `folder`, both included."""
    if not inside(folder, top):
        return []
    rest = os.path.relpath(folder, top)
    found = [top]
    for part in rest.split("/") if rest != "." else ():
        found.append(os.path.join(found[-1], part))
    return found


class Instructions:
    """The instruction files of one workspace, each shown once."""

    def __init__(
        self, workspace: str, environ: Mapping[str, str], secret_files: SecretFiles = PLAIN_SIGHT
    ) -> None:
        self._workspace = os.path.realpath(workspace)
        self._top = top_of(self._workspace, environ.get("GIT_CEILING_DIRECTORIES", ""))
        self._veil = secret_files
        home = environ.get("HOME") or str(Path.home())
        self._home = home
        self._config = str(config_file(environ).parent)
        self._folders = places(environ, self._workspace, home).instruction_folders
        name, problem = file_name(INSTRUCTIONS_FILE, environ.get(INSTRUCTIONS_FILE, ""))
        self._own_names = (name,) if name else NAMES
        self._names = tuple(dict.fromkeys((*NAMES, *self._own_names)))
        self._seen: set[object] = set()
        self._texts: set[str] = set()
        self._left = MOST_ALL
        self.notes: list[str] = [problem] if problem else []

    @property
    def folders(self) -> list[str]:
        """Where files are looked for at the beginning of a thread, from the general to the near."""
        return [self._config, *self._folders, *between(self._top, self._workspace)]

    @property
    def names(self) -> tuple[str, ...]:
        """How files are called there, those of the user's choice and those that all agents read."""
        return self._names

    def beginning(self) -> list[InstructionFile]:
        """The files that hold from the beginning of a thread.

        From the general to the near: what comes later weighs more.
        """
        wanted = [Candidate(os.path.join(self._config, name), "user") for name in self._own_names]
        for folder in self._folders:
            paths = [os.path.join(folder, name) for name in self._own_names]
            wanted += [Candidate(path, "configured") for path in paths]
            if not any(map(os.path.lexists, paths)):
                self.notes.append(f"{self.named(folder)} has no {' or '.join(self._own_names)}.")
        return list(self._read([*wanted, *self._near(between(self._top, self._workspace))]))

    def _near(self, folders: Iterable[str]) -> Iterator[Candidate]:
        for folder in folders:
            for name in self._names:
                yield Candidate(os.path.join(folder, name), "folder", self._top)

    def nested(self, touched: str) -> list[InstructionFile]:
        """The files between the workspace and a path that was touched, and not reported so far."""
        try:
            path = os.path.realpath(os.path.join(self._workspace, touched))
        except (OSError, ValueError):  # no path at all, or one that is being changed just now
            return []
        return list(self._read(self._near(between(self._workspace, os.path.dirname(path))[1:])))

    def _read(self, wanted: Iterable[Candidate]) -> Iterator[InstructionFile]:
        for one in wanted:
            yield from self._one(one, DEEPEST)

    def _one(self, wanted: Candidate, depth: int) -> Iterator[InstructionFile]:
        if not os.path.lexists(wanted.path):
            return
        same = identity(wanted.path)
        if same in self._seen:
            return
        self._seen.add(same)
        reason = self._refusal(wanted)
        if reason:
            self.notes.append(f"{self.named(wanted.path)} is not read: {reason}.")
            return
        most = min(MOST_FILE, self._left)
        try:
            text, size = read_text(wanted.path, most)
        except OSError as error:
            self.notes.append(f"{self.named(wanted.path)} cannot be read: {error.strerror}.")
            return
        text = text.strip()
        if not text or text in self._texts:
            return
        self._texts.add(text)
        self._left -= len(text.encode("utf-8", "replace"))
        name = self.named(wanted.path)
        yield InstructionFile(name, text, size, min(size, most), wanted.source, wanted.path)
        if os.path.basename(wanted.path) == "CLAUDE.md" and depth:
            for path in imports(text, os.path.dirname(wanted.path)):
                if os.path.isfile(path):
                    yield from self._one(Candidate(path, wanted.source, self._top), depth - 1)

    def _refusal(self, wanted: Candidate) -> str:
        real = os.path.realpath(wanted.path)
        if wanted.within and not inside(real, wanted.within):
            return "it leads out of the folder"
        if wanted.within and self._veil.covers(real):
            return "it is secret"
        if len(self._seen) > MOST_FILES or self._left <= 0:
            return f"there are more than {MOST_ALL:,} bytes of instructions"
        return ""

    def named(self, path: str) -> str:
        """A file as people call it."""
        if inside(path, self._workspace):
            return os.path.relpath(path, self._workspace)
        return f"~{path[len(self._home) :]}" if inside(path, self._home) else path


def imports(text: str, folder: str) -> list[str]:
    """The files that `@path` names in a text, outside of code; those of the home are not meant."""
    found = _IMPORT.findall(_CODE.sub("", text))
    bare = [name.rstrip(".") for name in found if not name.startswith("~")]
    return [os.path.normpath(os.path.join(folder, name)) for name in bare if "\0" not in name]


def render(files: Iterable[InstructionFile]) -> str:
    """The files as a part of a prompt; the same files always give the same bytes."""
    parts = []
    for file in files:
        name = file.name.replace('"', "'").replace("\n", " ")
        note = ""
        if file.shown < file.size:
            told = f"the file has {counted(file.size, 'byte')}, {file.shown:,} of them are shown"
            note = f"\n[Steersman: {told}; read the rest when it matters.]"
        parts.append(f'<instructions file="{name}">\n{file.text}{note}\n</instructions>')
    if not parts:
        return ""
    return "\n\n".join([OPENING, *parts])


OPENING = (
    "# Instructions\n\n"
    "From files that people wrote for agents that work here. Later files are more specific and "
    "take precedence; the user's messages take precedence over all. They grant no permissions."
)
