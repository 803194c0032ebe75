"""The words of files on disk, beside the index: one row a file, and a few things worth keeping.

A file of its own, because it may be thrown away by itself; a damaged or older one begins again.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from steersman.operations.code.index.store import Entry
from steersman.records.errors import StorageProblem
from steersman.records.private_files import make_private

SCHEMA = 1
PATIENCE = 30
BATCH = 200

_TABLES = """
CREATE TABLE texts (
    path BLOB PRIMARY KEY, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL,
    inode INTEGER NOT NULL, words BLOB NOT NULL
);
CREATE TABLE kept (name TEXT PRIMARY KEY, key TEXT NOT NULL, value BLOB NOT NULL);
"""


class Texts:
    """The words of the files of one workspace, by path relative to it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.RLock()
        self._connection = _opened(path)

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            self._connection.close()

    def emptied(self, error: sqlite3.DatabaseError) -> Texts:
        """Begin with an empty file in the place of a damaged one."""
        self.close()
        if not _damaged(error):
            raise _problem(self.path, error) from error
        _remove(self.path)
        return Texts(self.path)

    def follow(
        self, files: Mapping[str, Entry], words: Callable[[str], bytes], stop: Callable[[], bool]
    ) -> int:
        """Bring the words up to what the index knows of files; how many were read again."""
        with self._lock:
            rows = self._connection.execute("SELECT path, size, mtime_ns, inode FROM texts")
            known = {os.fsdecode(row[0]): row[1:] for row in rows.fetchall()}
        gone = [path for path in known if path not in files]
        stale = [
            entry
            for path, entry in files.items()
            if known.get(path) != (entry.size, entry.mtime_ns, entry.inode)
        ]
        self._write((), gone)
        for start in range(0, len(stale), BATCH):
            if stop():
                return start
            some = stale[start : start + BATCH]
            self._write([(entry, words(entry.path)) for entry in some], ())
        return len(stale)

    def words(self) -> dict[str, bytes]:
        """The words of every file."""
        with self._lock:
            rows = self._connection.execute("SELECT path, words FROM texts").fetchall()
        return {os.fsdecode(path): words for path, words in rows}

    def kept(self, name: str, key: str) -> bytes | None:
        """Something that was kept under a name, if it was made for the same key."""
        with self._lock:
            found = self._connection.execute(
                "SELECT value FROM kept WHERE name = ? AND key = ?", (name, key)
            ).fetchone()
        return None if found is None else bytes(found[0])

    def keep(self, name: str, key: str, value: bytes) -> None:
        """Keep something under a name, in the place of what was there."""
        with self._lock, suppress(sqlite3.OperationalError), self._connection:
            self._connection.execute(
                "INSERT OR REPLACE INTO kept VALUES (?, ?, ?)", (name, key, value)
            )

    def _write(self, rows: Iterable[tuple[Entry, bytes]], gone: Iterable[str]) -> None:
        new = [(os.fsencode(e.path), e.size, e.mtime_ns, e.inode, words) for e, words in rows]
        old = [(os.fsencode(path),) for path in gone]
        if not new and not old:
            return
        with self._lock, self._connection:
            self._connection.executemany("DELETE FROM texts WHERE path = ?", old)
            self._connection.executemany("INSERT OR REPLACE INTO texts VALUES (?,?,?,?,?)", new)


def _opened(path: Path) -> sqlite3.Connection:
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        try:
            return _connected(path)
        except sqlite3.DatabaseError as error:
            if not _damaged(error):
                raise
            _remove(path)
            return _connected(path)
    except (OSError, sqlite3.Error) as error:
        raise _problem(path, error) from error


def _damaged(error: sqlite3.DatabaseError) -> bool:
    """Whether the file itself is at fault: the kinds below have other reasons."""
    return type(error) is sqlite3.DatabaseError


def _remove(path: Path) -> None:
    for end in ("", "-wal", "-shm"):
        path.with_name(path.name + end).unlink(missing_ok=True)


def _problem(path: Path, error: Exception) -> StorageProblem:
    return StorageProblem(
        "The index of words cannot be stored.",
        f"{path}: {error}",
        "Free some disk space, and make sure the folder is writable.",
    )


def _connected(path: Path) -> sqlite3.Connection:
    make_private(path)
    connection = sqlite3.connect(path, timeout=PATIENCE, check_same_thread=False)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = OFF")  # it can be made again
        if _version(connection) != SCHEMA:
            with connection:
                connection.execute("BEGIN IMMEDIATE")
                if _version(connection) != SCHEMA:  # nobody else was faster
                    for name in ("texts", "kept"):
                        connection.execute(f"DROP TABLE IF EXISTS {name}")
                    for statement in _TABLES.split(";\n"):
                        connection.execute(statement)
                    connection.execute(f"PRAGMA user_version = {SCHEMA}")
    except BaseException:
        connection.close()
        raise
    return connection


def _version(connection: sqlite3.Connection) -> int:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return int(version)
