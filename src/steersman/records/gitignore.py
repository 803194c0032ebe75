"""The language of `.gitignore` files, matched as ripgrep matches it. Pure: no disk is looked at."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from steersman.records.errors import ToolProblem

LONGEST = 8192  # bytes of a line: the longest path there is, with every letter escaped
MOST_CHOICES = 256
MOST_LETTERS = 1 << 16  # of all choices of a line together
_BRACES = re.compile(rb"([{},])")


class Rule(Struct, frozen=True):
    """One line of a `.gitignore`."""

    pattern: re.Pattern[bytes]
    keeps: bool
    folders_only: bool


class Line(Struct, frozen=True):
    """One line of a `.gitignore` that is not compiled yet; `glob` is for a whole relative path."""

    glob: bytes
    keeps: bool
    folders_only: bool


class Rules(Struct, frozen=True):
    """The rules of one file, in order; the last that matches decides."""

    rules: tuple[Rule, ...]

    def verdict(self, path: bytes, folder: bool) -> bool | None:
        """True for left out, False for kept in spite of an earlier rule, None for neither."""
        for rule in reversed(self.rules):
            if (folder or not rule.folders_only) and rule.pattern.fullmatch(path):
                return not rule.keeps
        return None


NONE = Rules(())


def parse(text: bytes) -> Rules:
    """The rules of a `.gitignore`; a line that cannot be understood is passed over."""
    lines = text.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    return Rules(tuple(rule for line in lines if (rule := _rule(line.removesuffix(b"\r")))))


class Globs:
    """Globs that choose files: the last that matches decides; a leading `!` leaves out.

    If any chooses, what none of them names is left out. The syntax is that of `.gitignore`.
    """

    def __init__(self, globs: Sequence[str]) -> None:
        self._rules = Rules(tuple(_glob(text) for text in globs))

    def take(self, path: bytes) -> bool:
        """Whether a file is chosen."""
        parts = path.split(b"/")
        folders = (b"/".join(parts[:depth]) for depth in range(1, len(parts)))
        if any(self._rules.verdict(folder, True) is False for folder in folders):
            return False
        verdict = self._rules.verdict(path, False)
        return all(rule.keeps for rule in self._rules.rules) if verdict is None else verdict


def _glob(text: str) -> Rule:
    rule = None if "\0" in text else _rule(text.encode("utf-8", "replace"))
    if rule is None:
        raise ToolProblem(
            f"The glob {text!r} is not valid.",
            try_this="Write it as in .gitignore: *.py, src/**/*.ts, {a,b}/*.md, or !tests/ .",
        )
    return rule


def compiled(glob: bytes) -> re.Pattern[bytes] | None:
    """The pattern of a glob; None where it cannot be understood."""
    try:
        return re.compile(_regex(glob), re.DOTALL)
    except re.error:
        return None


def choices(glob: bytes) -> list[bytes]:
    """The globs that `{a,b}` stands for; none where it cannot be understood."""
    try:
        return _choices(glob) if b"{" in glob else [glob]
    except re.error:
        return []


def _rule(text: bytes) -> Rule | None:
    line = read_line(text)
    pattern = line and compiled(line.glob)
    return Rule(pattern, line.keeps, line.folders_only) if line and pattern else None


def read_line(line: bytes) -> Line | None:
    """What a line says; None for one that says nothing."""
    if line.startswith(b"#") or len(line) > LONGEST:
        return None
    keeps = line.startswith(b"!")
    body = _without_trailing_blanks(line[1:] if keeps else line)
    if body.startswith((b"\\#", b"\\!")):
        body = body[1:]
    folders_only = body.endswith(b"/")
    body = body.removesuffix(b"/")
    if not body:
        return None
    anchored = b"/" in body
    body = body.removeprefix(b"/")
    if not anchored:
        body = b"**/" + body
    if body.endswith(b"/**"):
        body += b"/*"
    return Line(body, keeps, folders_only)


def _without_trailing_blanks(line: bytes) -> bytes:
    bare = line.rstrip(b" \t")
    return bare + b" " if bare.endswith(b"\\") and len(line) > len(bare) else bare


def _regex(pattern: bytes) -> bytes:
    """A regular expression for a whole relative path."""
    return b"|".join(_path(choice) for choice in _choices(pattern))


def _choices(pattern: bytes) -> list[bytes]:
    """The patterns that `{a,b}` stands for."""
    most = min(MOST_CHOICES, MOST_LETTERS // (len(pattern) + 1))
    opened: list[list[bytes]] = [[b""]]
    closed: list[list[bytes]] = [[]]
    plain = b"\\" not in pattern and b"[" not in pattern
    for token in _BRACES.split(pattern) if plain else _tokens(pattern):
        if token == b"{":
            opened.append([b""])
            closed.append([])
        elif token == b"," and len(opened) > 1:
            closed[-1] += opened[-1]
            opened[-1] = [b""]
        elif token == b"}" and len(opened) > 1:
            group = closed.pop() + opened.pop()
            if len(group) * len(opened[-1]) > most:
                raise re.error("too many choices")
            opened[-1] = [before + choice for before in opened[-1] for choice in group]
        else:
            opened[-1] = [before + token for before in opened[-1]]
    if len(opened) > 1:
        raise re.error("a brace is not closed")
    return opened[0]


def _path(pattern: bytes) -> bytes:
    """A whole path. `**/` takes as few folders as it can and keeps to that: what follows it has a
    fixed number of names, and the next `**/` can take what is left. So no path takes long."""
    *folders, last = pattern.split(b"/")
    runs = [b""]
    for part in folders:
        if part == b"**":
            runs.append(b"")
        else:
            runs[-1] += _name(part) + b"/"
    head, *rest = runs
    middle = b"".join(b"(?>(?:[^/]++/)*?" + run + b")" for run in rest[:-1] if run)
    end = b".*" if last == b"**" else _name(last)
    return head + middle + (b"(?:[^/]++/)*" + rest[-1] if rest else b"") + end


def _name(part: bytes) -> bytes:
    """One name of a path; stars never give back what they took, so no name takes long to match."""
    head, *rest = [b"".join(run) for run in _runs(part)]
    middle = b"".join(b"(?>[^/]*?" + run + b")" for run in rest[:-1] if run)
    return head + middle + (b"[^/]*" + rest[-1] if rest else b"")


def _runs(part: bytes) -> list[list[bytes]]:
    """The pieces between stars, each token as a regular expression."""
    runs: list[list[bytes]] = [[]]
    for token in _tokens(part):
        if token == b"*":
            runs.append([])
        elif token == b"?":
            runs[-1].append(b"[^/]")
        elif len(token) > 2 and token.startswith(b"["):
            runs[-1].append(_class(token))
        else:
            runs[-1].append(re.escape(token[-1:]))
    return runs


def _tokens(pattern: bytes) -> list[bytes]:
    """A pattern as single characters, escaped characters and character classes."""
    found: list[bytes] = []
    at = 0
    while at < len(pattern):
        end = at + 1
        if pattern[at : at + 1] == b"\\":
            end = at + 2
            if end > len(pattern):
                raise re.error("a backslash at the end")
        elif pattern[at : at + 1] == b"[":
            start = at + 2 + (pattern[at + 1 : at + 2] in (b"!", b"^"))
            end = pattern.find(b"]", start) + 1
            if not end:
                raise re.error("a bracket is not closed")
        found.append(pattern[at:end])
        at = end
    return found


def _class(token: bytes) -> bytes:
    inner = token[1:-1]
    negated = inner[:1] in (b"!", b"^")
    members = inner[1:] if negated else inner
    escaped = re.sub(rb"[\\\[\]^&~|]", rb"\\\g<0>", members)
    return b"(?!/)[" + (b"^" if negated else b"") + escaped + b"]"
