"""The index, the words and the history of one workspace, brought up to date and laid out.

Everything here blocks: a process of its own does it for a first build, a thread for a few files.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from steersman.operations.code.index import build, fulltext, recency
from steersman.operations.code.index.excerpts import Span
from steersman.operations.code.index.graph import Graph, connect
from steersman.operations.code.index.ranking import Picture
from steersman.operations.code.index.store import Entry, Index, place
from steersman.operations.code.index.texts import Texts
from steersman.records.code_index import IndexState

# Of the graph as it is kept; another one is made again.
FORMAT = 1
Progress = Callable[[int, int], None]
Stop = Callable[[], bool]


def never() -> bool:
    """Nobody asks to stop."""
    return False


def silent(done: int, whole: int) -> None:
    """Nobody wants to know."""


class Records:
    """The files on disk that hold what is known of one workspace."""

    def __init__(self, root: str, home: Path) -> None:
        self.root = root
        self.path = place(home, root)
        self.index = Index.open(self.path)
        self.texts = Texts(self.path.with_suffix(".words.db"))

    def close(self) -> None:
        """Let go of them."""
        self.index.close()
        self.texts.close()

    def stale(self, files: Sequence[str]) -> int:
        """How many files are new, changed or gone."""
        known = self.index.files()
        return sum(_differs(self.root, path, known) for path in files) + len(
            known.keys() - set(files)
        )

    def update(
        self, files: Sequence[str], progress: Progress = silent, should_stop: Stop = never
    ) -> build.Report:
        """Make all of it like these files are."""
        report = build.update(
            self.root, self.index, files, progress=progress, should_stop=should_stop
        )
        self.follow(should_stop)
        return report

    def follow(self, should_stop: Stop = never) -> None:
        """Bring the words up to what the index knows."""
        entries = {path: entry for path, entry in self.index.files().items() if entry.size >= 0}
        for _ in range(2):
            try:
                self.texts.follow(entries, self._words, should_stop)
            except sqlite3.DatabaseError as error:
                self.texts = self.texts.emptied(error)
            else:
                return

    def touches(self, environ: Mapping[str, str]) -> dict[str, recency.Touch]:
        """What git saw change lately; asked again when another commit is checked out."""
        head = recency.head(self.root, environ)
        if not head:
            return {}
        kept = self.texts.kept("history", head)
        if kept is not None:
            with suppress(msgspec.DecodeError):
                return msgspec.msgpack.decode(kept, type=dict[str, recency.Touch])
        found = recency.history(self.root, environ)
        self.texts.keep("history", head, msgspec.msgpack.encode(found))
        return found

    def picture(self, touches: Mapping[str, recency.Touch] | None = None) -> Picture:
        """All of it, laid out for ranking."""
        generation = str(self.index.generation)
        words = self.texts.words()
        paths = sorted(words)
        numbers = {path: number for number, path in enumerate(paths)}
        defines = {
            name: [numbers[path] for path in defined if path in numbers]
            for name, defined in self.index.definitions().items()
        }
        key = f"{FORMAT} {generation} {len(paths)}"
        kept = self.texts.kept("graph", key)
        if kept is not None:
            graph = Graph.unpacked(kept)
        else:
            graph = connect(
                len(paths),
                {name: there for name, there in defines.items() if there},
                (
                    (numbers[path], names, counts)
                    for path, names, counts in self.index.references()
                    if path in numbers
                ),
            )
            self.texts.keep("graph", key, graph.packed())
        return Picture(paths, [words[path] for path in paths], defines, graph, touches)

    def spans(self, path: str) -> list[Span]:
        """The places of the definitions of a file."""
        found = self.index.symbols(path)
        return [Span(one.name_path, one.kind, one.line, one.end_line) for one in found]

    def state(self) -> IndexState:
        """What it holds, in figures."""
        files = self.index.files()
        languages: dict[str, int] = {}
        for entry in files.values():
            if entry.language:
                languages[entry.language] = languages.get(entry.language, 0) + 1
        sizes = [_size(path) for path in (self.path, self.texts.path)]
        return IndexState(
            self.root,
            str(self.path),
            len(files),
            sum(len(outline) for _, outline in self.index.outlines()),
            dict(sorted(languages.items(), key=lambda one: (-one[1], one[0]))),
            sum(sizes),
            _changed(self.path),
        )

    def _words(self, path: str) -> bytes:
        try:
            content = _content(os.path.join(self.root, path))
        except OSError:
            return b""
        return b"" if b"\0" in content[:8192] else fulltext.summary(content)


def _differs(root: str, path: str, known: Mapping[str, Entry]) -> bool:
    entry = known.get(path)
    try:
        now = os.stat(os.path.join(root, path), follow_symlinks=False)
    except OSError:
        return entry is None or entry.size != -1
    return entry is None or not entry.describes(now)


def _content(path: str) -> bytes:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(descriptor, "rb") as file:
        return file.read(fulltext.LARGEST)


def _size(path: Path) -> int:
    whole = 0
    for name in (path, path.with_name(path.name + "-wal")):
        with suppress(OSError):
            whole += name.stat().st_size
    return whole


def _changed(path: Path) -> float:
    moments = [0.0]
    for name in (path, path.with_name(path.name + "-wal")):
        with suppress(OSError):
            moments.append(name.stat().st_mtime)
    return max(moments)
