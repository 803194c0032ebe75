"""Unified diffs taken apart into files and hunks to choose from, and a choice as an answer. Pure.

Lines end at LF and nowhere else, so whatever a file holds comes out as it went in.
"""

import re
from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import Literal

from msgspec import Struct, structs

from steersman.host.diffs import moved_diff
from steersman.records.action import Action, Delete, Write
from steersman.records.hunks import FileHunks
from steersman.records.message import ConfirmRequest, ConfirmResponse

Kind = Literal["changed", "created", "deleted", "renamed"]
Part = tuple[int, int]  # a file and a hunk of it, both counted from 0

_HEADER = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_NULL = "/dev/null"
UNCHANGED = "its content is the same"
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
    """One file of a change. `why_whole` says why there are no hunks to choose from.

    `moved_from` is the old name of one that is renamed; that is accepted as a whole. `since` says
    that someone else edited it after the change; `numbers` are then those of the hunks that stay.
    """

    name: str
    kind: Kind
    hunks: tuple[Hunk, ...] = ()
    why_whole: str = ""
    head: tuple[str, str] = ("", "")
    moved_from: str = ""
    since: bool = False
    numbers: tuple[int, ...] = ()

    @property
    def remarks(self) -> tuple[str, ...]:
        """What else is to be said of it, in a word or two each."""
        kind = () if self.kind == "changed" else (self.kind,)
        return (*kind, "edited since") if self.since else kind

    def number(self, hunk: int) -> int:
        """What a hunk, counted from 0, is called."""
        return self.numbers[hunk] if self.numbers else hunk + 1

    @property
    def title(self) -> str:
        """What it is called: of a renamed file, both names."""
        return f"{self.moved_from} → {self.name}" if self.moved_from else self.name

    @property
    def whole(self) -> bool:
        """Whether it is accepted as a whole, or not at all."""
        return not self.hunks or bool(self.moved_from)

    @property
    def parts(self) -> int:
        """How many things there are to accept: its hunks, or the file as a whole."""
        return 1 if self.whole else len(self.hunks)

    @property
    def counts(self) -> tuple[int, int]:
        """Lines added and removed."""
        both = [hunk.counts for hunk in self.hunks]
        return sum(added for added, _ in both), sum(removed for _, removed in both)


def files_of(actions: Sequence[Action]) -> list[FileDiff]:
    """The files that actions would change, in their order; one that is moved is one."""
    return [_file(halves) for halves in _changes(actions)]


def diffs_of(actions: Sequence[Action]) -> dict[str, str]:
    """The diffs that actions are shown with, by path; of a file that is moved, by its new one."""
    found = {}
    for new, *olds in _changes(actions):
        found[new.path] = next((moved_diff(old.diff, new.diff) for old in olds), "") or new.diff
    return found


def _changes(actions: Sequence[Action]) -> list[tuple[Write | Delete, ...]]:
    """The actions that change files: two for a file that is moved, its new name first."""
    found = {one.path: one for one in actions if isinstance(one, Write | Delete)}
    olds = {one.path: found[one.moved_from] for one in found.values()
            if isinstance(one, Write) and one.moved_from in found}  # fmt: skip
    gone = {old.path for old in olds.values()}
    return [
        (one, olds[one.path]) if one.path in olds else (one,)
        for one in found.values()
        if one.path not in gone
    ]


def _file(halves: tuple[Write | Delete, ...]) -> FileDiff:
    new, *olds = halves
    file = read_diff(new.diff, new.path)
    if not olds:
        return file
    (old,) = olds
    diff = moved_diff(old.diff, new.diff)
    if diff:
        return read_diff(diff)
    before = read_diff(old.diff, old.path)
    why = UNCHANGED if isinstance(new, Write) and old.before == new.after else file.why_whole
    return structs.replace(file, kind="renamed", hunks=(), why_whole=why, moved_from=before.name)


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
    if kind == "changed" and old[2:] != new[2:]:
        kind = "renamed"
    name = (old if kind == "deleted" else new)[2:]
    moved_from = old[2:] if kind == "renamed" else ""
    head = (lines[0], lines[1])
    hunks = _hunks(lines[2:])
    why = "" if hunks else UNCHANGED if moved_from else "it is empty"
    why = "its diff cannot be read" if hunks is None else why
    return FileDiff(name, kind, tuple(hunks or ()), why, head, moved_from)


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
    changes = _changes(request.actions)
    named: dict[str, list[int]] = {}
    for file, hunk in sorted(accepted):
        first, *more = changes[file]
        named.setdefault(first.path, []).append(hunk + 1)
        named |= {one.path: [1] for one in more}
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
