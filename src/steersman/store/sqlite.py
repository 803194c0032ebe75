"""The default store: one SQLite file in the data folder, by the standard library alone."""

import fcntl
import os
import re
import sqlite3
import threading
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

from steersman.records.errors import StorageProblem, ThreadBusy
from steersman.records.thread import Thread
from steersman.store.chain import GENESIS
from steersman.store.contract import RawRow, Row, moment, stamp
from steersman.store.migrations import LATEST, migrate, refuse_newer

_THREAD = "id, title, workspace, origin, parent, parent_seq, created, updated, head, head_hash"
_ROW = "seq, time, turn, kind, path, corr, body, hash"
_RAW = "seq, " + ", ".join(
    f"CAST({c} AS BLOB)" for c in ("time", "turn", "kind", "path", "corr", "body", "hash")
)
_PAGE = 2000
_PATIENCE = 30
_FILE_NAME = re.compile(r"[0-9A-Za-z_-]{1,64}")
# SQLite's own words about a broken file need not be UTF-8.
_FAULTS = (sqlite3.Error, OSError, UnicodeDecodeError)


class SqliteStore:
    """Threads, messages, blobs and settings in `steersman.db` (write-ahead log, one file)."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.path = home / "steersman.db"
        self.read_only = False
        self._lock = threading.RLock()
        self._connection = self._open()

    def _open(self) -> sqlite3.Connection:
        try:
            self.home.mkdir(parents=True, exist_ok=True, mode=0o700)
            connection = self._connect(f"{self.path.as_uri()}?mode=rwc")
        except _FAULTS as error:
            raise self._problem(error) from error
        try:
            self._prepare(connection)
        except _FAULTS as error:
            connection.close()
            if _busy(error) or not self.path.is_file():
                raise self._problem(error) from error
            return self._open_read_only(error)
        except BaseException:
            connection.close()
            raise
        return connection

    def _open_read_only(self, cause: Exception) -> sqlite3.Connection:
        """What is there can still be read when nothing can be written."""
        try:
            connection = self._connect(f"{self.path.as_uri()}?mode=ro&immutable=1")
            version = connection.execute("PRAGMA user_version").fetchone()[0]
        except _FAULTS as error:
            raise self._problem(error) from error
        if version != LATEST or _full(cause):
            connection.close()
            raise self._problem(cause) from cause
        self.read_only = True
        return connection

    def _connect(self, uri: str) -> sqlite3.Connection:
        return sqlite3.connect(
            uri, uri=True, isolation_level=None, check_same_thread=False, timeout=_PATIENCE
        )

    def _prepare(self, connection: sqlite3.Connection) -> None:
        refuse_newer(connection, self.path)
        _use_write_ahead_log(connection)
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute("PRAGMA foreign_keys=ON")
        migrate(connection, self.path)

    def _problem(self, error: Exception) -> StorageProblem:
        if isinstance(error, StorageProblem):
            return error
        if _full(error):
            return StorageProblem(
                "There is no room left to write the log.",
                f"{self.path}: {error}.",
                "Free some disk space and go on with `steer resume`; all before this is kept.",
            )
        if isinstance(error, sqlite3.IntegrityError):
            return StorageProblem(
                "What was to be written does not fit what is stored.",
                f"{self.path}: {error}.",
                "`steer ledger verify` tells whether a thread is whole.",
            )
        if _busy(error):
            return StorageProblem(
                f"The database {self.path} is in use by another program.",
                f"It stayed locked for {_PATIENCE} seconds.",
                "Try again when that program has finished.",
            )
        return StorageProblem(
            f"The data folder {self.home} cannot be used.",
            f"{type(error).__name__}: {error}.",
            "Make it writable, or set STEERSMAN_HOME to a folder that is.",
        )

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            try:
                yield self._connection
            except _FAULTS as error:
                raise self._problem(error) from error

    @contextmanager
    def _writing(self, *, sync: bool = True) -> Iterator[sqlite3.Connection]:
        with self._lock:
            if self.read_only:
                raise self._problem(OSError("it is read-only"))
            connection = self._connection
            try:
                connection.execute(f"PRAGMA synchronous={'FULL' if sync else 'NORMAL'}")
                connection.execute("BEGIN IMMEDIATE")
                yield connection
                connection.execute("COMMIT")
            except BaseException as error:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                if isinstance(error, _FAULTS):
                    raise self._problem(error) from error
                raise

    def create_thread(self, thread: Thread) -> None:
        """Add an empty thread."""
        values = (
            thread.id, thread.title, thread.workspace, thread.origin, thread.parent,
            thread.parent_seq, stamp(thread.created), stamp(thread.updated), 0, GENESIS,
        )  # fmt: skip
        with self._writing() as db:
            db.execute(f"INSERT INTO threads ({_THREAD}) VALUES (?,?,?,?,?,?,?,?,?,?)", values)

    def thread(self, thread_id: str) -> Thread | None:
        """One thread by its whole id."""
        found = self._threads("WHERE id = ?", (thread_id,))
        return found[0] if found else None

    def matching(self, prefix: str) -> list[Thread]:
        """The threads whose id begins with `prefix`, at most a handful."""
        return self._threads(
            "WHERE substr(id, 1, ?) = ? ORDER BY updated DESC LIMIT 8", (len(prefix), prefix)
        )

    def threads(self, *, workspace: str | None = None, limit: int | None = None) -> list[Thread]:
        """Threads, the most recently used first."""
        where = "WHERE workspace = ? " if workspace is not None else ""
        values: tuple[Any, ...] = (workspace,) if workspace is not None else ()
        return self._threads(
            f"{where}ORDER BY updated DESC LIMIT ?", (*values, -1 if limit is None else limit)
        )

    def _threads(self, clause: str, values: tuple[Any, ...]) -> list[Thread]:
        with self._reading() as db:
            rows = db.execute(f"SELECT {_THREAD} FROM threads {clause}", values).fetchall()
        return [self._thread(*row) for row in rows]

    def _thread(self, *row: Any) -> Thread:
        try:
            return Thread(
                id=row[0], title=row[1], workspace=row[2], origin=row[3], parent=row[4],
                parent_seq=row[5], created=moment(row[6]), updated=moment(row[7]),
                head=row[8], head_hash=row[9],
            )  # fmt: skip
        except (TypeError, ValueError) as error:
            raise StorageProblem(
                f"The record of thread {row[0]} cannot be read.",
                f"{self.path}: {error}.",
                "It was altered from outside; mend or remove it there.",
            ) from error

    def describe(self, thread_id: str, *, title: str | None, workspace: str | None) -> None:
        """Change a thread's title or where its workspace is."""
        with self._writing() as db:
            db.execute(
                "UPDATE threads SET title = coalesce(?, title), "
                "workspace = coalesce(?, workspace) WHERE id = ?",
                (title, workspace, thread_id),
            )

    def delete_thread(self, thread_id: str) -> None:
        """Remove one thread and its messages, for ever."""
        with self._writing() as db:
            db.execute("DELETE FROM threads WHERE id = ?", (thread_id,))

    def append(self, thread_id: str, rows: Sequence[Row], *, sync: bool) -> None:
        """Add messages after the head, all or none; with `sync` they are flushed to the disk."""
        if not rows:
            return
        last = rows[-1]
        if [row.seq for row in rows] != list(range(rows[0].seq, rows[0].seq + len(rows))):
            raise StorageProblem(f"Messages for thread {thread_id} do not follow one another.")
        with self._writing(sync=sync) as db:
            db.executemany(
                f"INSERT INTO messages (thread, {_ROW}) VALUES (?,?,?,?,?,?,?,?,?)",
                [
                    (thread_id, r.seq, r.time, r.turn, r.kind, r.path, r.corr, r.body, r.hash)
                    for r in rows
                ],
            )
            moved = db.execute(
                "UPDATE threads SET head = ?, head_hash = ?, updated = ? WHERE id = ? AND head = ?",
                (last.seq, last.hash, last.time, thread_id, rows[0].seq - 1),
            )
            if moved.rowcount != 1:
                raise StorageProblem(
                    f"Thread {thread_id} changed or vanished while it was being written.",
                    "Another program wrote to it, or removed it.",
                    "`steer ledger verify` tells whether it is whole.",
                )

    def read(
        self,
        thread_id: str,
        *,
        after: int = 0,
        until: int | None = None,
        kinds: Collection[str] | None = None,
    ) -> Iterator[Row]:
        """Messages in order of `seq`."""
        wanted = f"AND kind IN ({','.join('?' * len(kinds))}) " if kinds is not None else ""
        # Named, so that the partial index of receipts is used for what it is there for.
        wanted = "AND kind = 'steer' " if kinds is not None and set(kinds) == {"steer"} else wanted
        names = tuple(kinds or ()) if "IN" in wanted else ()
        query = (
            f"SELECT {_ROW} FROM messages WHERE thread = ? AND seq > ? AND seq <= ? "
            f"{wanted}ORDER BY seq LIMIT {_PAGE}"
        )
        end = until if until is not None else 2**62
        while True:
            with self._reading() as db:
                page = db.execute(query, (thread_id, after, end, *names)).fetchall()
            for row in page:
                yield Row(*row)
            if len(page) < _PAGE:
                return
            after = page[-1][0]

    def recall(
        self, thread_id: str, kinds: Collection[str], most_bytes: int
    ) -> list[tuple[str, str, str | None, bytes]]:
        """Kind, path, corr and body of the newest messages of some kinds, in order."""
        names = tuple(kinds)
        query = (
            "SELECT kind, path, corr, body FROM messages "
            f"WHERE thread = ? AND kind IN ({','.join('?' * len(names))}) ORDER BY seq DESC"
        )
        found = []
        with self._reading() as db:
            for row in db.execute(query, (thread_id, *names)):
                most_bytes -= len(row[3])
                if most_bytes < 0:
                    break
                found.append(row)
        found.reverse()
        return found

    def read_back(self, thread_id: str) -> Iterator[Row]:
        """Messages from the newest to the oldest."""
        before, size = 2**62, 64
        while True:
            with self._reading() as db:
                page = db.execute(
                    f"SELECT {_ROW} FROM messages WHERE thread = ? AND seq < ? "
                    "ORDER BY seq DESC LIMIT ?",
                    (thread_id, before, size),
                ).fetchall()
            for row in page:
                yield Row(*row)
            if len(page) < size:
                return
            before, size = page[-1][0], _PAGE

    def read_raw(self, thread_id: str) -> Iterator[RawRow]:
        """Messages as the bytes on disk."""
        after = -(2**62)
        while True:
            with self._reading() as db:
                page = db.execute(
                    f"SELECT {_RAW} FROM messages WHERE thread = ? AND seq > ? "
                    f"ORDER BY seq LIMIT {_PAGE}",
                    (thread_id, after),
                ).fetchall()
            for row in page:
                yield RawRow(*row)
            if len(page) < _PAGE:
                return
            after = page[-1][0]

    def put_blob(self, data: bytes) -> str:
        """Keep some bytes; the answer is their SHA-256."""
        digest = sha256(data).hexdigest()
        with self._writing(sync=False) as db:
            db.execute("INSERT INTO blobs VALUES (?, ?) ON CONFLICT DO NOTHING", (digest, data))
        return digest

    def blob(self, digest: str) -> bytes | None:
        """Bytes by their digest."""
        with self._reading() as db:
            row = db.execute("SELECT data FROM blobs WHERE digest = ?", (digest,)).fetchone()
        return None if row is None else bytes(row[0])

    def setting(self, scope: str, name: str) -> str | None:
        """A remembered value."""
        with self._reading() as db:
            row = db.execute(
                "SELECT value FROM settings WHERE scope = ? AND name = ?", (scope, name)
            ).fetchone()
        return None if row is None else str(row[0])

    def remember(self, scope: str, name: str, value: str | None) -> None:
        """Keep a value, or forget it when None."""
        with self._writing() as db:
            db.execute("DELETE FROM settings WHERE scope = ? AND name = ?", (scope, name))
            if value is not None:
                db.execute("INSERT INTO settings VALUES (?, ?, ?)", (scope, name, value))

    def changes(self) -> int:
        """A number that differs after another process has written."""
        with self._reading() as db:
            return int(db.execute("PRAGMA data_version").fetchone()[0])

    @contextmanager
    def own(self, thread_id: str) -> Iterator[None]:
        """Be the only writer of a thread while inside; the system lets go even after kill -9."""
        if not _FILE_NAME.fullmatch(thread_id):
            raise StorageProblem(f"“{thread_id}” is not the id of a thread.")
        try:
            locks = self.home / "locks"
            locks.mkdir(exist_ok=True, mode=0o700)
            flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW
            descriptor = os.open(locks / thread_id, flags, 0o600)
        except OSError as error:
            raise self._problem(error) from error
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                holder = os.pread(descriptor, 32, 0).decode(errors="replace").strip()
                raise ThreadBusy(
                    f"Thread {thread_id} is open in another process (pid {holder or 'unknown'}).",
                    "Only one process may write to a thread at a time.",
                    f"Wait for it to end, or work on a copy: `steer fork {thread_id}`.",
                ) from None
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, str(os.getpid()).encode(), 0)
            yield
        finally:
            os.close(descriptor)

    def close(self) -> None:
        """Let go of the database."""
        with self._lock:
            self._connection.close()


def _use_write_ahead_log(connection: sqlite3.Connection) -> None:
    """Switch the journal; unlike all else, SQLite does not wait for other processes to do so."""
    until = time.monotonic() + _PATIENCE
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError as error:
            if not _busy(error) or time.monotonic() > until:
                raise
            time.sleep(0.01)
        else:
            return


def _busy(error: Exception) -> bool:
    code = getattr(error, "sqlite_errorcode", None) or 0
    return code & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def _full(error: Exception) -> bool:
    if isinstance(error, sqlite3.Error):
        code = getattr(error, "sqlite_errorcode", None) or 0
        return code & 0xFF in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR)
    return isinstance(error, OSError) and error.errno in (28, 27, 122)
