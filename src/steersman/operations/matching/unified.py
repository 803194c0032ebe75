"""Ordinary unified diffs, git's among them, read into neutral file patches."""

import re
from collections.abc import Sequence

from msgspec import Struct

from steersman.operations.matching.patches import (
    AddFile,
    DeleteFile,
    FilePatch,
    Hunk,
    HunkHeader,
    NewlineAtEnd,
    UpdateFile,
    malformed,
    read_hunk_header,
    sides,
)

_NULL = "/dev/null"
_GIT = "diff --git "
_GIT_PATHS = re.compile(r'("?)a/(.+?)\1 ("?)b/(.+?)\3')
_SECTION = (_GIT, "Index: ", "From ", "-- ")
_EXTENDED = (
    "old mode ",
    "new mode ",
    "deleted file mode ",
    "new file mode ",
    "rename from ",
    "rename to ",
    "similarity index ",
    "dissimilarity index ",
    "index ",
    "====",
)
_BINARY = ("GIT binary patch", "Binary files ", "copy from ", "copy to ")
_ESCAPE = re.compile(r"\\([0-3][0-7]{2}|.)")
_ESCAPES = {"n": b"\n", "t": b"\t", "r": b"\r"}


class _Section(Struct, frozen=True):
    """One file of a diff: its header lines by kind, and its hunks."""

    number: int
    old: str | None
    new: str | None
    moved: tuple[str, str] | None
    created: bool
    removed: bool
    hunks: list[Hunk]


def read_unified(lines: list[str]) -> list[FilePatch]:
    """Read a diff of one or more files; text before the first file is passed over."""
    patches: list[FilePatch] = []
    at = _first_file(lines)
    while at < len(lines):
        section, at = _section(lines, at)
        patches.append(_file_patch(section))
        while at < len(lines) and not _starts_file(lines, at):
            at = _skip(lines, at)
    if not patches:
        raise malformed(1, "no file header ('--- a/…' and '+++ b/…') found")
    return patches


def _first_file(lines: Sequence[str]) -> int:
    return next((at for at in range(len(lines)) if _starts_file(lines, at)), len(lines))


def _starts_file(lines: Sequence[str], at: int) -> bool:
    if lines[at].startswith(_GIT):
        return True
    return lines[at].startswith("--- ") and at + 1 < len(lines) and lines[at + 1].startswith("+++ ")


def _skip(lines: Sequence[str], at: int) -> int:
    """Pass over what may be between two files: spacing, a signature, another mail's head."""
    line = lines[at]
    if line.startswith(("-- ", "From ")) or line.rstrip() == "--":
        return at + 1 + _first_file(lines[at + 1 :])
    if line.strip() and not line.startswith(("Index: ", "====")):
        raise malformed(at + 1, f"{line[:60]!r} is neither part of a hunk nor a file header")
    return at + 1


def _section(lines: list[str], start: int) -> tuple[_Section, int]:
    at = start
    heads: dict[str, str] = {}
    if lines[at].startswith(_GIT):
        heads[_GIT] = lines[at][len(_GIT) :]
        at += 1
    while at < len(lines) and lines[at].startswith((*_EXTENDED, *_BINARY)):
        if lines[at].startswith(_BINARY):
            raise malformed(at + 1, "binary files and copies cannot be patched")
        key = next(head for head in _EXTENDED if lines[at].startswith(head))
        heads[key] = lines[at][len(key) :]
        at += 1
    old = new = None
    if at + 1 < len(lines) and _starts_file(lines, at) and not lines[at].startswith(_GIT):
        old, new = _names(lines[at][4:], lines[at + 1][4:])
        at += 2
    elif _GIT in heads:
        old, new = _git_names(heads[_GIT], start + 1)
    hunks: list[Hunk] = []
    while at < len(lines) and lines[at].startswith("@@"):
        hunk, at = _hunk(lines, at)
        hunks.append(hunk)
    moved = None
    if "rename from " in heads and "rename to " in heads:
        moved = _unquoted(heads["rename from "]), _unquoted(heads["rename to "])
    created = "new file mode " in heads or old == _NULL
    removed = "deleted file mode " in heads or new == _NULL
    return _Section(start + 1, old, new, moved, created, removed, hunks), at


def _file_patch(section: _Section) -> FilePatch:
    old, new, hunks = section.old, section.new, section.hunks
    if old is None or new is None:
        raise malformed(section.number, "the file has no name")
    if section.created:
        return AddFile(new, _new_content(section))
    if section.removed:
        return DeleteFile(old)
    if section.moved:
        return UpdateFile(section.moved[0], hunks, section.moved[1])
    if old not in (new, f"{new}.orig"):
        raise malformed(
            section.number,
            f"the names {old!r} and {new!r} differ; a rename needs 'rename from' and 'rename to'",
        )
    if not hunks:
        raise malformed(section.number, f"the diff of {new!r} has no hunk")
    return UpdateFile(new, hunks)


def _new_content(section: _Section) -> str:
    if any(hunk.search for hunk in section.hunks):
        raise malformed(section.number, "a new file cannot have lines that were there before")
    lines = [line for hunk in section.hunks for line in hunk.replace]
    ended = not section.hunks or section.hunks[-1].newline_at_end != "remove"
    return "\n".join(lines) + ("\n" if lines and ended else "")


def _names(old: str, new: str) -> tuple[str, str]:
    """Both names without time stamps, and without git's one-letter folders where both have them."""
    left, right = _unquoted(old), _unquoted(new)
    if (left == _NULL or left.startswith("a/")) and (right == _NULL or right.startswith("b/")):
        return left.removeprefix("a/"), right.removeprefix("b/")
    return left, right


def _git_names(names: str, number: int) -> tuple[str, str]:
    match = _GIT_PATHS.fullmatch(names.rstrip())
    if not match:
        raise malformed(number, "the names after 'diff --git' cannot be separated")
    half = (len(names.rstrip()) - 1) // 2
    first, second = names[:half], names.rstrip()[half + 1 :]
    if first[2:] == second[2:]:
        return first[2:], second[2:]
    return match[2], match[4]


def _unquoted(name: str) -> str:
    name = name.split("\t")[0].rstrip()
    if len(name) < 2 or name[0] != '"' or name[-1] != '"':
        return name
    encoded = _ESCAPE.sub(_unescape, name[1:-1].encode("utf-8").decode("latin-1"))
    return encoded.encode("latin-1").decode("utf-8", "replace")


def _unescape(match: re.Match[str]) -> str:
    code = match[1]
    if len(code) > 1:
        return chr(int(code, 8))
    return _ESCAPES.get(code, code.encode("latin-1")).decode("latin-1")


def _hunk(lines: list[str], at: int) -> tuple[Hunk, int]:
    header = read_hunk_header(lines[at])
    stop = _counted(lines, at + 1, header)
    if stop is None:
        stop = _uncounted(lines, at + 1)
    body = lines[at + 1 : stop]
    search, replace = sides([line for line in body if not line.startswith("\\")])
    if not search and not replace:
        raise malformed(at + 1, "the hunk has no lines")
    newline, at_end = _newline_at_end(body)
    anchors = [header.context] if header.context else []
    return Hunk(search, replace, anchors, at_end, header.line, newline), stop


def _counted(lines: list[str], at: int, header: HunkHeader) -> int | None:
    """The end of a hunk by its header's counts, or None when they do not fit what follows."""
    if header.old_count is None or header.new_count is None:
        return None
    old, new = header.old_count, header.new_count
    while (old > 0 or new > 0) and at < len(lines):
        mark = lines[at][:1] or " "
        if mark not in " +-\\":
            return None
        old -= mark in " -"
        new -= mark in " +"
        at += 1
    if at < len(lines) and lines[at].startswith("\\"):
        at += 1
    if old or new:
        return None
    rest = next((line for line in lines[at:] if line.strip()), "@@")
    ends = rest.startswith(("@@", "--- ", *_SECTION, "====")) or rest.rstrip() == "--"
    return at if ends else None


def _uncounted(lines: list[str], start: int) -> int:
    """The end of a hunk whose counts are wrong or missing: the next header that is surely one."""
    for at in range(start, len(lines)):
        line = lines[at]
        if line.startswith(("@@", _GIT, "Index: ")):
            return at
        if _starts_file(lines, at):
            if at + 2 < len(lines) and lines[at + 2].startswith("@@"):
                return at
            raise malformed(at + 1, "with the hunk's wrong line counts this may be a file header")
        if line[:1] not in ("", " ", "+", "-", "\\"):
            raise malformed(at + 1, "a line of a hunk must start with ' ', '+' or '-'")
    return len(lines)


def _newline_at_end(body: Sequence[str]) -> tuple[NewlineAtEnd, bool]:
    """What `\\ No newline at end of file` says, and whether it says that the hunk is at the end."""
    marks = {body[at - 1][:1] or " " for at, line in enumerate(body) if at and line[:1] == "\\"}
    before, after = bool(marks & {" ", "-"}), bool(marks & {" ", "+"})
    if before == after:
        return "keep", before
    return ("add" if before else "remove"), True
