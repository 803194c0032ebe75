"""The search in plain Python, for where there is no ripgrep; the same answers, more slowly.

Python's `re` may take for ever, so this runs as a program of its own that can be ended.
"""

from __future__ import annotations

import os
import re
import stat
from bisect import bisect_right
from collections.abc import Iterator

from msgspec import Struct

from steersman.operations.finding import patterns, showing
from steersman.operations.finding.ignoring import Judge
from steersman.operations.finding.records import Found, Hit, Names, Query, SearchPlace
from steersman.operations.finding.showing import Spot
from steersman.records.gitignore import Globs

REFUSED = 3


class Job(Struct, frozen=True):
    """What the program gets: names, unless there is something to search for."""

    place: SearchPlace
    ignored: bool = False
    query: Query | None = None


class Walk:
    """The plain files below a folder in order, without what is left out."""

    def __init__(self, place: SearchPlace, ignored: bool) -> None:
        self._judge = None if ignored else Judge(place.root, place.folder)
        self._folder = os.fsencode(place.folder)
        self.unreadable = 0

    def __iter__(self) -> Iterator[bytes]:
        waiting = [(b"", True)]
        while waiting:
            path, is_folder = waiting.pop()
            if is_folder:
                waiting += reversed(self._entries(path))
            else:
                yield path

    def _entries(self, path: bytes) -> list[tuple[bytes, bool]]:
        try:
            with os.scandir(os.path.join(self._folder, path)) as scanned:
                entries = sorted(scanned, key=lambda entry: entry.name)
        except OSError:
            self.unreadable += 1
            return []
        found = []
        for entry in entries:
            is_folder = entry.is_dir(follow_symlinks=False)
            if entry.name == b".git" or not (is_folder or entry.is_file(follow_symlinks=False)):
                continue
            name = os.path.join(path, entry.name)
            if self._judge is None or not self._judge.ignored(name, is_folder):
                found.append((name, is_folder))
        return found


def names(place: SearchPlace, ignored: bool) -> Names:
    """Every file below a folder."""
    walk = Walk(place, ignored)
    return Names(list(walk), walk.unreadable)


def search(place: SearchPlace, query: Query) -> Found:
    """Look into every file; show the first places and count the others."""
    try:
        flags = re.MULTILINE | (0 if query.case_sensitive else re.IGNORECASE)
        wanted = re.compile(patterns.for_python(query.pattern), flags)
    except re.error as error:
        raise patterns.invalid(query.pattern, error.msg, error.pos) from error
    walk = Walk(place, query.ignored)
    chosen = Globs(query.globs)
    files = [place.name] if place.is_file else (path for path in walk if chosen.take(path))
    hits: list[Hit] = []
    counts: list[tuple[bytes, int]] = []
    binary = unreadable = 0
    secret = place.secret_rules()
    for path in files:
        if secret(path):
            continue
        try:
            text = text_of(os.path.join(os.fsencode(place.folder), path))
        except OSError:
            unreadable += 1
            continue
        if text is None:
            binary += 1
            continue
        lines = _lines(text)
        spots = _over_lines(text, wanted) if query.multiline else _in_lines(lines, wanted)
        if not spots:
            continue
        counts.append((path, len(spots)))
        if len(hits) < query.most:
            hits += _shown(place.shown(path), spots, lines, query)
    fitting = showing.fitting(hits, query.most)
    return Found(fitting, counts, binary, unreadable + walk.unreadable)


def text_of(path: bytes) -> str | None:
    """The text of a plain file as ripgrep reads it; None if it is binary."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with open(os.open(path, flags), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            return None
        content = file.read()
    for mark, codec in ((b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be")):
        if content.startswith(mark):
            content = content[2:].decode(codec, "replace").encode()
    content = content.removeprefix(b"\xef\xbb\xbf")
    return None if b"\0" in content else content.decode("utf-8", "surrogateescape")


def _lines(text: str) -> list[str]:
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    return lines if text and not text.endswith("\n") else lines[:-1]


def _in_lines(lines: list[str], wanted: re.Pattern[str]) -> list[Spot]:
    return [
        Spot(number, match.start() + 1 if match[0] else 1, number)
        for number, line in enumerate(lines, 1)
        if (match := wanted.search(line))
    ]


def _over_lines(text: str, wanted: re.Pattern[str]) -> list[Spot]:
    text = text.replace("\r\n", "\n")
    starts = [0, *(newline.end() for newline in re.finditer("\n", text))]
    spots = []
    for match in wanted.finditer(text):
        if match.start() == len(text) and text.endswith("\n"):
            continue
        line = bisect_right(starts, match.start())
        end = bisect_right(starts, max(match.end() - 1, match.start()))
        spots.append(Spot(line, match.start() - starts[line - 1] + 1, end))
    return spots


def _shown(file: str, spots: list[Spot], lines: list[str], query: Query) -> list[Hit]:
    spots = spots[: query.most + query.context]
    wanted = {
        line
        for spot in spots
        for line in range(max(spot.line - query.context, 1), spot.end + query.context + 1)
        if line <= len(lines)
    }
    near = {
        line: lines[line - 1].encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        for line in wanted
    }
    return showing.hits(file, spots, near, query.context)
