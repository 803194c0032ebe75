"""Paths as rules name them: the language of `.gitignore`, absolute paths, `~`. Pure."""

import re
from collections.abc import Callable, Iterator
from typing import Literal

from msgspec import Struct

from steersman.records import gitignore
from steersman.records.protection import inside
from steersman.records.python_names import HIDES, HIDING

Touch = Literal["read", "write", "delete"]

_SPECIAL = re.compile(r"[\\*?\[\]{}]")


class Spot(Struct, frozen=True):
    """A path made ready to be compared: as a whole, and below the workspace if it is there."""

    path: str
    workspace: str
    whole: bytes
    below: bytes | None


def spot(path: str, workspace: str) -> Spot:
    """A resolved path as patterns are compared with it."""
    root = workspace.rstrip("/")
    whole = path.encode("utf-8", "surrogateescape")
    inner = path[len(root) + 1 :] if inside(path, workspace) else None
    below = None if inner is None else inner.encode("utf-8", "surrogateescape")
    return Spot(path, workspace, whole.lstrip(b"/"), below)


class PathPattern(Struct, frozen=True):
    """A compiled path pattern; `heads` are the folders below which all that it names must lie.

    `named` is True when it spells out one place and no wildcard is in it.
    """

    patterns: tuple[tuple[bool, re.Pattern[bytes]], ...]
    heads: tuple[tuple[bool, str], ...]
    named: bool

    def covers(self, spot: Spot) -> bool:
        """True when the pattern names the path or a folder above it."""
        for relative, pattern in self.patterns:
            name = spot.below if relative else spot.whole
            if name is not None and pattern.fullmatch(name):
                return True
        return False

    def holds(self, spot: Spot) -> bool:
        """True when whatever the pattern names is at the path or below it, as far as is known."""
        return any(inside(place, spot.path) for place in self._places(spot))

    def may_reach(self, spot: Spot) -> bool:
        """True unless nothing at the path or below it can be named by the pattern."""
        if self.covers(spot) or self.holds(spot):
            return True
        if not self.heads:
            return spot.below is not None or inside(spot.workspace, spot.path)
        return not self.named and any(inside(spot.path, place) for place in self._places(spot))

    def _places(self, spot: Spot) -> Iterator[str]:
        for relative, head in self.heads:
            yield f"{spot.workspace.rstrip('/')}/{head}" if relative else f"/{head}"


def path_pattern(text: str, home: str, resolve: Callable[[str], str]) -> PathPattern:
    """Compile a pattern: as in `.gitignore` below the workspace, or absolute, or from `~`.

    Raises ValueError with a sentence when it cannot be understood.
    """
    _check_path(text)
    if text in (".", "./"):
        return PathPattern(((True, re.compile(b".*", re.DOTALL)),), ((True, ""),), named=False)
    if text == f"./{HIDING}":
        hides = re.compile(HIDES.text.encode())
        return PathPattern(((True, hides),), ((True, HIDING),), named=True)
    if text[0] not in "/~":
        anchored = text.startswith("./")
        return _compiled([(True, text[1:] if anchored else text)])
    written = escaped(home.rstrip("/")) + text[1:] if text[0] == "~" else text
    forms = [(False, written)]
    head, rest = _head(written)
    # Actions name resolved paths, the guard names paths as they are written: both are meant.
    resolved = escaped(resolve(f"/{unescaped(head)}").rstrip("/")) + rest
    if resolved != written:
        forms.append((False, resolved))
    return _compiled(forms)


def _check_path(text: str) -> None:
    if not text.strip():
        raise ValueError("the path is empty")
    if "\0" in text or "\n" in text:
        raise ValueError("a path is one line")
    if text.startswith("!"):
        raise ValueError("a path cannot begin with `!`: write a rule for what you mean")
    if ".." in text.split("/"):
        raise ValueError("a path cannot go up with `..`")
    if text.startswith("~") and text != "~" and not text.startswith("~/"):
        raise ValueError("only your own home folder can be named with `~`")


def _compiled(forms: list[tuple[bool, str]]) -> PathPattern:
    patterns = []
    heads = []
    for relative, text in forms:
        if not text.strip("/"):
            patterns.append((relative, re.compile(b".*", re.DOTALL)))
            heads.append((relative, ""))
            continue
        rules = gitignore.parse(_line(text)).rules
        if len(rules) != 1:
            raise ValueError("the path is not a glob as .gitignore has them")
        below = b"(?:" + rules[0].pattern.pattern + b")(?:/.*)?"
        patterns.append((relative, re.compile(below, re.DOTALL)))
        if "/" in text.rstrip("/"):
            heads.append((relative, unescaped(_head(text)[0])))
    if any(head == "" for _, head in heads) and forms[0][0]:
        heads = []  # a pattern such as **/x/y may name anything in the workspace
    named = not any(map(_has_wildcard, (text for _, text in forms)))
    return PathPattern(tuple(patterns), tuple(heads), named)


def _line(text: str) -> bytes:
    """A line of a `.gitignore` that means the text and no comment."""
    line = text.encode("utf-8", "surrogateescape")
    return b"\\" + line if line.startswith(b"#") else line


def _head(text: str) -> tuple[str, str]:
    """The leading names without a wildcard, and the rest."""
    parts = text.strip("/").split("/")
    plain = 0
    while plain < len(parts) and not _has_wildcard(parts[plain]):
        plain += 1
    rest = "/".join(parts[plain:])
    return "/".join(parts[:plain]), f"/{rest}" if rest else ""


def _has_wildcard(text: str) -> bool:
    return any(mark in re.sub(r"\\.", "", text) for mark in "*?[{")


def escaped(text: str) -> str:
    """A path that means only itself in a pattern."""
    plain = _SPECIAL.sub(r"\\\g<0>", text)
    return f"{plain[:-1]}\\ " if plain.endswith(" ") else plain


def unescaped(text: str) -> str:
    """The path that such a pattern means."""
    return re.sub(r"\\(.)", r"\1", text)
