"""The index of one workspace on disk: a SQLite file that may be thrown away at any time.

Per file one row of what it was like when it was read, one of its outline, one of its words. Words
are kept as one text per file: hundreds of thousands of rows would take longer to load than to
compute. Several processes may use the file at once; a damaged or older one begins again.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from array import array
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from steersman.operations.code.trees.definition import Definition, Tags
from steersman.records.errors import StorageProblem
from steersman.records.private_files import make_private

SCHEMA = 1
PATIENCE = 30
T = TypeVar("T")

_TABLES = """
CREATE TABLE files (
    id INTEGER PRIMARY KEY, path BLOB NOT NULL UNIQUE, language TEXT NOT NULL,
    size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, inode INTEGER NOT NULL, note TEXT NOT NULL
);
CREATE TABLE outlines (id INTEGER PRIMARY KEY, symbols BLOB NOT NULL);
CREATE TABLE words (
    id INTEGER PRIMARY KEY, defined BLOB NOT NULL, used BLOB NOT NULL, counts BLOB NOT NULL
);
CREATE TABLE facts (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO facts VALUES ('generation', 0);
"""
_MOST = 1 << 63
_OUTLINE = msgspec.msgpack.Decoder(list[Definition])
_ENCODER = msgspec.msgpack.Encoder()


class Entry(Struct, frozen=True, gc=False):
    """A file as it was when it was read; `note` says why there is nothing about it."""

    path: str
    language: str
    size: int
    mtime_ns: int
    inode: int
    note: str = ""

    def describes(self, found: os.stat_result) -> bool:
        """Whether a file is as it was."""
        return (self.size, self.mtime_ns, self.inode) == stamp(found)


def stamp(found: os.stat_result) -> tuple[int, int, int]:
    """Size, time and inode of a file, as a table holds them: a file may have any time."""
    return found.st_size, found.st_mtime_ns % _MOST, found.st_ino % _MOST


def place(home: Path, root: str) -> Path:
    """Where the index of a workspace is kept in the state folder."""
    return home / "index" / f"{sha256(os.fsencode(root)).hexdigest()[:24]}.db"


class Index:
    """Definitions and words of the files of one workspace. Paths are relative to it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.RLock()
        self._inode = 0
        self._connection = self._open()

    @classmethod
    def open(cls, path: str | Path) -> Index:
        """The index in a file; made when there is none, made again when it is not readable."""
        return cls(Path(path))

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            self._connection.close()

    # --- reading ----------------------------------------------------------------------------

    @property
    def generation(self) -> int:
        """A number that grows with every change, whoever makes it: for what is kept in memory."""
        found = self._read("SELECT value FROM facts WHERE name = 'generation'")
        return int(found[0][0]) if found else 0

    def files(self) -> dict[str, Entry]:
        """Every file that was looked at, by path."""
        rows = self._read("SELECT path, language, size, mtime_ns, inode, note FROM files")
        decode = os.fsdecode
        return {(path := decode(row[0])): Entry(path, *row[1:]) for row in rows}

    def symbols(self, path: str) -> list[Definition]:
        """The definitions of one file, in order; none for a file that is not there."""
        rows = self._read(
            "SELECT symbols FROM files JOIN outlines USING (id) WHERE path = ?", os.fsencode(path)
        )
        return self._decoded(rows[0][0]) if rows else []

    def outlines(self) -> Iterator[tuple[str, list[Definition]]]:
        """The definitions of every file that has any."""
        for path, blob in self._read("SELECT path, symbols FROM outlines JOIN files USING (id)"):
            yield os.fsdecode(path), self._decoded(blob)

    def named(self, name: str, *, substring: bool = False) -> list[tuple[str, list[Definition]]]:
        """The outlines of the files that define a name, or a name with this in it."""
        sought = name.encode("utf-8", "replace") if substring else _line(name)
        rows = self._read(
            "SELECT path, symbols FROM words JOIN files USING (id) JOIN outlines USING (id) "
            "WHERE instr(defined, ?) ORDER BY path",
            sought,
        )
        return [(os.fsdecode(path), self._decoded(blob)) for path, blob in rows]

    def using(self, name: str) -> list[str]:
        """The files in which a name is, other than where it is defined."""
        rows = self._read(
            "SELECT path FROM words JOIN files USING (id) WHERE instr(used, ?) ORDER BY path",
            _line(name),
        )
        return [os.fsdecode(row[0]) for row in rows]

    def definitions(self) -> dict[str, list[str]]:
        """Which files define a name, each once."""
        found: dict[str, list[str]] = {}
        for path, blob in self._read("SELECT path, defined FROM words JOIN files USING (id)"):
            file = os.fsdecode(path)
            for name in blob.decode("utf-8", "replace").split("\n")[1:-1]:
                if name in found:
                    found[name].append(file)
                else:
                    found[name] = [file]
        return found

    def references(self) -> Iterator[tuple[str, list[str], array[int]]]:
        """Per file the names that are in it, and how often each; its own definitions do not
        count. The counts end at 65,535."""
        for path, blob, raw in self._read(
            "SELECT path, used, counts FROM words JOIN files USING (id)"
        ):
            counts = array("H")
            counts.frombytes(raw)
            yield os.fsdecode(path), blob.decode("utf-8", "replace").split("\n")[1:-1], counts

    # --- writing ----------------------------------------------------------------------------

    def put(self, entries: Iterable[tuple[Entry, Tags]], gone: Iterable[str] = ()) -> None:
        """Take in files and forget others, all or none."""
        rows = [(entry, tags) for entry, tags in entries]
        forgotten = [os.fsencode(path) for path in gone]

        def write(connection: sqlite3.Connection) -> None:
            connection.execute("BEGIN IMMEDIATE")
            try:
                for path in (*forgotten, *(os.fsencode(entry.path) for entry, _ in rows)):
                    _forget(connection, path)
                for entry, tags in rows:
                    _insert(connection, entry, tags)
                connection.execute("UPDATE facts SET value = value + 1 WHERE name = 'generation'")
                connection.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    connection.execute("ROLLBACK")
                raise

        self._do(write)

    # --- the file ---------------------------------------------------------------------------

    def _read(self, statement: str, *values: object) -> list[Any]:
        return self._do(lambda connection: connection.execute(statement, values).fetchall())

    def _do(self, work: Callable[[sqlite3.Connection], T]) -> T:
        with self._lock:
            try:
                if _inode(self.path) != self._inode:  # another process began again
                    self._connection.close()
                    self._connection = self._open()
                return work(self._connection)
            except sqlite3.DatabaseError as error:
                if not _damaged(error):
                    raise self._problem(error) from error
                self._start_over()
                return work(self._connection)

    def _decoded(self, blob: bytes) -> list[Definition]:
        try:
            return _OUTLINE.decode(blob)
        except msgspec.DecodeError:
            with self._lock:
                self._start_over()
            return []

    def _open(self) -> sqlite3.Connection:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            connection = self._connect()
        except (sqlite3.Error, OSError) as error:
            raise self._problem(error) from error
        try:
            return self._noted(_prepared(connection))
        except sqlite3.DatabaseError as error:
            connection.close()
            if not _damaged(error):
                raise self._problem(error) from error
        except _OtherSchema:
            connection.close()
        self._remove()
        try:
            return self._noted(_prepared(self._connect()))
        except (sqlite3.Error, OSError) as error:
            raise self._problem(error) from error

    def _noted(self, connection: sqlite3.Connection) -> sqlite3.Connection:
        self._inode = _inode(self.path)
        return connection

    def _connect(self) -> sqlite3.Connection:
        make_private(self.path)
        return sqlite3.connect(
            self.path, isolation_level=None, check_same_thread=False, timeout=PATIENCE
        )

    def _start_over(self) -> None:
        """Begin with an empty file: all of it can be read from the workspace again."""
        self._connection.close()
        self._remove()
        self._connection = self._open()

    def _remove(self) -> None:
        for ending in ("", "-wal", "-shm", "-journal"):
            Path(f"{self.path}{ending}").unlink(missing_ok=True)

    def _problem(self, error: Exception) -> StorageProblem:
        return StorageProblem(
            "The index of this workspace cannot be used.",
            f"{self.path}: {error}.",
            "Free some disk space or make the folder writable; work continues without it.",
        )


class _OtherSchema(Exception):
    """The file was made by another version."""


def _prepared(connection: sqlite3.Connection) -> sqlite3.Connection:
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=OFF")  # what a crash takes is read again
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version == 0:
        connection.execute("BEGIN IMMEDIATE")
        if connection.execute("PRAGMA user_version").fetchone()[0] == 0:
            for statement in _TABLES.split(";")[:-1]:
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version={SCHEMA}")
        connection.execute("COMMIT")
    elif version != SCHEMA:
        raise _OtherSchema
    connection.execute("SELECT max(id) FROM files").fetchone()
    return connection


def _inode(path: Path) -> int:
    try:
        return os.stat(path).st_ino
    except OSError:
        return 0


def _damaged(error: sqlite3.DatabaseError) -> bool:
    """Whether the file itself is at fault, and not its disk, its owner or who holds it."""
    code = getattr(error, "sqlite_errorcode", None)
    return code is not None and code & 0xFF in (
        sqlite3.SQLITE_CORRUPT,
        sqlite3.SQLITE_NOTADB,
        sqlite3.SQLITE_ERROR,
    )


def _forget(connection: sqlite3.Connection, path: bytes) -> None:
    found = connection.execute("SELECT id FROM files WHERE path = ?", (path,)).fetchone()
    if found is not None:
        for table in ("words", "outlines", "files"):
            connection.execute(f"DELETE FROM {table} WHERE id = ?", found)


def _insert(connection: sqlite3.Connection, entry: Entry, tags: Tags) -> None:
    number = connection.execute(
        "INSERT INTO files (path, language, size, mtime_ns, inode, note) VALUES (?,?,?,?,?,?)",
        (os.fsencode(entry.path), *msgspec.structs.astuple(entry)[1:]),
    ).lastrowid
    if tags.definitions:
        outline = _ENCODER.encode(tags.definitions)
        connection.execute("INSERT INTO outlines VALUES (?, ?)", (number, outline))
    if tags.definitions or tags.references:
        names = dict.fromkeys(one.name for one in tags.definitions)
        defined = "\n".join(["", *names, ""]).encode("utf-8", "replace")
        used = b"\n".join([b"", *tags.references, b""])
        counts = array("H", [min(count, 0xFFFF) for count in tags.references.values()])
        connection.execute(
            "INSERT INTO words VALUES (?, ?, ?, ?)", (number, defined, used, counts.tobytes())
        )


def _line(name: str) -> bytes:
    return f"\n{name}\n".encode("utf-8", "replace")
