"""Unified diffs taken apart into files and hunks to choose from, and a choice as an answer. Pure.

Lines end at LF and nowhere else, so whatever a file holds comes out as it went in.
"""

import re
from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import Literal

from msgspec import Struct, structs

from steersman.records.action import Action, Delete, Write
from steersman.records.hunks import FileHunks
from steersman.records.message import ConfirmRequest, ConfirmResponse

Kind = Literal["changed", "created", "deleted"]
Part = tuple[int, int]  # a file and a hunk of it, both counted from 0

_HEADER = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_NULL = "/dev/null"
_ESCAPE = re.compile(r"\\(.)")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}


class Hunk(Struct, frozen=True):
    """Some lines of a file and what becomes of them; `old_at` and `new_at` count from 0.

    Each of `lines` has its mark (` `, `-`, `+`) and its line end, which only the last line of a
    file may lack.
    """

    old_at: int
    new_at: int
    lines: tuple[str, ...]

    @property
    def old(self) -> list[str]:
        """The lines as they are."""
        return [line[1:] for line in self.lines if line[0] in " -"]

    @property
    def new(self) -> list[str]:
        """The lines as they would be."""
        return [line[1:] for line in self.lines if line[0] in " +"]

    @property
    def counts(self) -> tuple[int, int]:
        """Lines added and removed."""
        marks = [line[0] for line in self.lines]
        return marks.count("+"), marks.count("-")

    def header(self) -> str:
        """The line that says where it is."""
        return f"@@ -{_range(self.old_at, self.old)} +{_range(self.new_at, self.new)} @@"

    def text(self) -> str:
        """The hunk as a diff spells it."""
        body = [
            line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
            for line in self.lines
        ]
        return "".join([self.header() + "\n", *body])


class FileDiff(Struct, frozen=True):
    """One file of a change. `why_whole` says why there are no hunks to choose from."""

    name: str
    kind: Kind
    hunks: tuple[Hunk, ...] = ()
    why_whole: str = ""
    head: tuple[str, str] = ("", "")

    @property
    def parts(self) -> int:
        """How many things there are to accept: its hunks, or the file as a whole."""
        return len(self.hunks) or 1

    @property
    def counts(self) -> tuple[int, int]:
        """Lines added and removed."""
        both = [hunk.counts for hunk in self.hunks]
        return sum(added for added, _ in both), sum(removed for _, removed in both)


def files_of(actions: Sequence[Action]) -> list[FileDiff]:
    """The files that actions would change, in their order."""
    return [
        read_diff(action.diff, action.path)
        for action in actions
        if isinstance(action, Write | Delete)
    ]


@lru_cache(maxsize=64)
def read_diff(diff: str, path: str = "") -> FileDiff:
    """A unified diff of one file; `path` is its name where the diff does not tell."""
    lines = diff.split("\n")
    if len(lines) < 2 or not lines[0].startswith("--- ") or not lines[1].startswith("+++ "):
        binary = lines[0].startswith("Binary files ")
        why = "it is not text" if binary else "its diff is not shown"
        kind: Kind = (
            "deleted" if binary and lines[0].endswith(f" and {_NULL} differ") else "changed"
        )
        created = binary and lines[0].startswith(f"Binary files {_NULL} ")
        return FileDiff(path, "created" if created else kind, why_whole=why)
    old, new = _name(lines[0][4:]), _name(lines[1][4:])
    kind = "created" if old == _NULL else "deleted" if new == _NULL else "changed"
    name = (old if kind == "deleted" else new)[2:]
    head = (lines[0], lines[1])
    hunks = _hunks(lines[2:])
    if hunks is None:
        return FileDiff(name, kind, why_whole="its diff cannot be read", head=head)
    return FileDiff(name, kind, tuple(hunks), "" if hunks else "it is empty", head)


def narrowed(file: FileDiff, context: int) -> FileDiff:
    """The same change with fewer lines around it; good to look at, not to apply."""
    made: list[Hunk] = []
    for hunk in file.hunks:
        changed = [at for at, line in enumerate(hunk.lines) if line[0] != " "] or [0]
        first, stop = max(changed[0] - context, 0), changed[-1] + 1 + context
        made.append(Hunk(hunk.old_at + first, hunk.new_at + first, hunk.lines[first:stop]))
    return structs.replace(file, hunks=tuple(made))


def all_parts(files: Sequence[FileDiff]) -> frozenset[Part]:
    """Everything there is to accept."""
    return frozenset((at, part) for at, file in enumerate(files) for part in range(file.parts))


def answer(request: ConfirmRequest, accepted: Collection[Part]) -> ConfirmResponse:
    """The answer that lets through what was accepted and nothing else."""
    files = files_of(request.actions)
    if not accepted:
        return ConfirmResponse("deny")
    if frozenset(accepted) == all_parts(files):
        return ConfirmResponse("allow")
    changes = [one for one in request.actions if isinstance(one, Write | Delete)]
    named: dict[str, list[int]] = {}
    for file, hunk in sorted(accepted):
        named.setdefault(changes[file].path, []).append(hunk + 1)
    hunks = tuple(FileHunks(path, tuple(numbers)) for path, numbers in named.items())
    return ConfirmResponse("allow", hunks=hunks)


def _hunks(lines: list[str]) -> list[Hunk] | None:
    """The hunks of a diff, by the counts of their headers."""
    hunks: list[Hunk] = []
    at = 0
    while at < len(lines) and lines[at]:
        found = _HEADER.match(lines[at])
        if found is None:
            return None
        old, new = int(found[2] or 1), int(found[4] or 1)
        start = at + 1
        at, body = _body(lines, start, old, new)
        if body is None:
            return None
        old_at, new_at = int(found[1]) - bool(old), int(found[3]) - bool(new)
        hunks.append(Hunk(old_at, new_at, tuple(body)))
    return hunks


def _body(lines: list[str], at: int, old: int, new: int) -> tuple[int, list[str] | None]:
    """The marked lines of a hunk with their ends, and where the next one begins."""
    body: list[str] = []
    while at < len(lines) and (old > 0 or new > 0 or lines[at].startswith("\\")):
        line = lines[at]
        at += 1
        if line.startswith("\\") and body:
            body[-1] = body[-1].removesuffix("\n")
            continue
        if line[:1] not in (" ", "-", "+"):
            return at, None
        body.append(line + "\n")
        old -= line[0] in " -"
        new -= line[0] in " +"
    return at, None if old or new else body


def _name(name: str) -> str:
    if len(name) > 1 and name[0] == name[-1] == '"':
        return _ESCAPE.sub(lambda found: _ESCAPES.get(found[1], found[1]), name[1:-1])
    return name


def _range(start: int, lines: Sequence[str]) -> str:
    size = len(lines)
    return f"{start + 1}" if size == 1 else f"{start + bool(size)},{size}"
