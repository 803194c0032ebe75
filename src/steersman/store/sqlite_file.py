"""One SQLite file: opened, migrated, read and written by several processes without harm.

SQLite before 3.51.3 can corrupt a write-ahead log when one connection checkpoints while another
writes. So SQLite never checkpoints by itself here: every write holds a lock of its own, and the
writer that finds the log large checkpoints it before letting go, and so does whoever closes the
file. The lock is used with every SQLite, since programs with different ones may share a data
folder.

The log outlives the last connection, which would otherwise delete it: to give its blocks back takes
some disks longer than all else at the end, and to write into blocks that are there is quicker.
"""

import fcntl
import os
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import TypeVar

from steersman.records.errors import StorageProblem
from steersman.records.private_files import hide, make_private
from steersman.store.migrations import LATEST, newer, statements

T = TypeVar("T")
PATIENCE = 30
LOG_SIZE = 8 << 20  # bytes of the write-ahead log above which it is cut
_LOOK_EVERY = 16  # writes
_CHECKPOINT_EVERY = 256  # writes
# SQLite's own words about a broken file need not be UTF-8.
FAULTS = (sqlite3.Error, OSError, UnicodeDecodeError)


class SqliteFile:
    """`steersman.db` in the data folder (write-ahead log), one connection."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.path = home / "steersman.db"
        self.unwritable: StorageProblem | None = None  # why it can only be read
        self.lock = threading.RLock()
        self._gate: int | None = None
        self._synced: bool | None = None
        self._written = 0
        self._log_limit = LOG_SIZE
        self.connection = self._open()
        self._cursor = self.connection.cursor()

    def read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Look something up."""
        with self.lock:
            try:
                return work(self.connection)
            except FAULTS as error:
                raise self.problem(error) from error

    def write(self, work: Callable[[sqlite3.Cursor], T], *, sync: bool) -> T:
        """Change something, all or nothing; with `sync` it is on the disk afterwards."""
        with self.lock:
            if self.unwritable is not None:
                raise self.unwritable
            connection = self.connection
            try:
                self._enter()
                if sync is not self._synced:
                    connection.execute(f"PRAGMA synchronous={'FULL' if sync else 'NORMAL'}")
                    self._synced = sync
                cursor = self._cursor
                cursor.execute("BEGIN IMMEDIATE")
                result = work(cursor)
                cursor.execute("COMMIT")
                self._written += 1
                if self._written % _LOOK_EVERY == 0:
                    self._checkpoint_if_due()
            except BaseException as error:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                if isinstance(error, FAULTS):
                    raise self.problem(error) from error
                raise
            finally:
                self._leave()
            return result

    def shrink(self) -> None:
        """Move the write-ahead log into the database and cut it, if nobody is in the way."""
        with self.lock, suppress(OSError, sqlite3.Error, StorageProblem):
            try:
                self._enter(patience=0)
                self._checkpoint("TRUNCATE")
            finally:
                self._leave()

    def changes(self) -> int | None:
        """A number that differs after another process has written; None while it is in use."""
        return None if (found := self.mark()) is None else found[0]

    def mark(self) -> tuple[int, int] | None:
        """The same, and a number that differs after this process has written."""
        if not self.lock.acquire(blocking=False):
            return None
        try:
            elsewhere = self.connection.execute("PRAGMA data_version").fetchone()[0]
            return int(elsewhere), self.connection.total_changes
        except sqlite3.Error:
            return None
        finally:
            self.lock.release()

    def close(self) -> None:
        """Let go of the file; all that was written is in the database, and the log is kept."""
        with self.lock:
            keeper = self._keeper()
            self.connection.close()
            if keeper is not None:
                keeper.close()
            if self._gate is not None:
                os.close(self._gate)
                self._gate = None

    def _enter(self, patience: float = PATIENCE) -> None:
        """Be the only one who writes or checkpoints, as `_leave` is called in any case."""
        if self._gate is None:
            flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW
            self._gate = os.open(self.home / "steersman.lock", flags, 0o600)
        pause, until = 0.0002, 0.0
        while True:
            try:
                fcntl.flock(self._gate, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                now = time.monotonic()
                until = until or now + patience
                if now > until:
                    raise self._in_use() from None
                time.sleep(pause)
                pause = min(pause * 1.5, 0.01)
            else:
                return

    def _leave(self) -> None:
        if self._gate is not None:
            fcntl.flock(self._gate, fcntl.LOCK_UN)

    def _checkpoint_if_due(self) -> None:
        """Move the write-ahead log into the database now and then, waiting for no reader.

        After that it is written from its beginning again, which is cheaper than a new one; only
        one that has grown large is cut.
        """
        with suppress(OSError, sqlite3.Error):
            size = os.stat(f"{self.path}-wal").st_size
            if size >= self._log_limit:
                busy = self._checkpoint("TRUNCATE")
                # Someone reads an older state: try again when it has grown as much once more.
                self._log_limit = size + LOG_SIZE if busy else LOG_SIZE
            elif self._written % _CHECKPOINT_EVERY == 0:
                self._checkpoint("PASSIVE")

    def _keeper(self) -> sqlite3.Connection | None:
        """A connection to be closed last, if the log is to be kept: it can only read.

        SQLite deletes the log with the last connection. This one is in the way of those that can,
        and cannot itself.
        """
        with suppress(OSError, sqlite3.Error, StorageProblem):
            if (
                self.unwritable is not None
                or not 0 < os.stat(f"{self.path}-wal").st_size < LOG_SIZE
            ):
                return None
            if self._written:
                self._rewind()
            keeper = self._connect(f"{self.path.as_uri()}?mode=ro")
            try:
                _version(keeper)
            except BaseException:
                keeper.close()
                raise
            return keeper
        return None

    def _rewind(self) -> None:
        """Move the log into the database and start it over: who opens it next reads all of it.

        A write that changes nothing starts it over. SQLite does so only once all of the log is in
        the database, and that on the disk; if someone is in the way, the log just continues.
        """
        try:
            self._enter(patience=0)  # someone who writes now will also close the file
            if not self._checkpoint("PASSIVE"):
                with self.connection:
                    self.connection.execute("BEGIN IMMEDIATE")
                    # As it is: a newer Steersman may have changed it since this file was opened.
                    self.connection.execute(f"PRAGMA user_version={_version(self.connection)}")
        finally:
            self._leave()

    def _checkpoint(self, how: str) -> bool:
        """Move the log; the answer is whether someone was in the way."""
        self.connection.execute("PRAGMA busy_timeout=0")
        try:
            return bool(self.connection.execute(f"PRAGMA wal_checkpoint({how})").fetchone()[0])
        finally:
            self.connection.execute(f"PRAGMA busy_timeout={PATIENCE * 1000}")

    def _open(self) -> sqlite3.Connection:
        try:
            self.home.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._hide()
            connection = self._connect(f"{self.path.as_uri()}?mode=rwc")
        except FAULTS as error:
            raise self.problem(error) from error
        try:
            self._prepare(connection)
        except FAULTS as error:
            with closing(connection):
                if _busy(error) or not self.path.is_file():
                    raise self.problem(error) from error
                if old := self._open_old(connection, error):
                    return old
            return self._open_read_only(error)
        except BaseException:
            connection.close()
            raise
        return connection

    def _open_old(
        self, connection: sqlite3.Connection, cause: Exception
    ) -> sqlite3.Connection | None:
        """A copy in memory of a database that cannot be brought up to date, to be read.

        Whatever step failed is tried again there, statement by statement, so that as much as
        possible has the present shape. The file stays as the last whole step left it.
        """
        try:
            version = _version(connection)
            if not 0 < version < LATEST:
                return None
            copy = self._connect("file::memory:")
            connection.backup(copy)
        except FAULTS:
            return None
        for step in range(version + 1, LATEST + 1):
            for statement in statements("sqlite", step):
                with suppress(sqlite3.Error):
                    copy.execute(statement)
        self.unwritable = StorageProblem(
            f"The database {self.path} can only be read: bringing it up to date failed.",
            f"{type(cause).__name__}: {cause}. It still has schema {version}, and nothing is lost.",
            "Fix what is wrong, then run `steer store migrate`; or set STEERSMAN_HOME to another "
            "folder.",
        )
        return copy

    def _open_read_only(self, cause: Exception) -> sqlite3.Connection:
        """What is there can still be read when nothing can be written."""
        try:
            connection = self._connect(f"{self.path.as_uri()}?mode=ro&immutable=1")
            version = connection.execute("PRAGMA user_version").fetchone()[0]
        except FAULTS as error:
            raise self.problem(error) from error
        if version != LATEST or _full(cause):
            connection.close()
            raise self.problem(cause) from cause
        self.unwritable = self.problem(OSError("it is read-only"))
        return connection

    def _connect(self, uri: str) -> sqlite3.Connection:
        return sqlite3.connect(
            uri, uri=True, isolation_level=None, check_same_thread=False, timeout=PATIENCE
        )

    def _prepare(self, connection: sqlite3.Connection) -> None:
        version = _version(connection)
        self.unwritable = newer(version, str(self.path), "set STEERSMAN_HOME to another folder")
        if self.unwritable is not None:
            connection.execute("PRAGMA query_only=ON")
            return
        _use_write_ahead_log(connection)
        connection.execute("PRAGMA wal_autocheckpoint=0")
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute("PRAGMA foreign_keys=ON")
        if version < LATEST:
            try:
                self._enter()
                self._migrate(connection)
            finally:
                self._leave()

    def _hide(self) -> None:
        """Let nobody else read the database; SQLite gives its other files the same mode."""
        with suppress(OSError):  # what is wrong with it is said when it is opened
            make_private(self.path)
            for ending in ("-wal", "-shm"):
                hide(f"{self.path}{ending}")

    def _migrate(self, connection: sqlite3.Connection) -> None:
        """Bring the database to `LATEST`, one transaction a step, keeping a copy first."""
        version = _version(connection)
        if 0 < version < LATEST:
            copy = self.path.with_name(f"{self.path.name}.v{version}.bak")
            if not copy.exists():
                make_private(copy)
                connection.execute("VACUUM INTO ?", (str(copy),))
        for step in range(version + 1, LATEST + 1):
            connection.execute("BEGIN IMMEDIATE")
            try:
                for statement in statements("sqlite", step):
                    connection.execute(statement)
                connection.execute(f"PRAGMA user_version={step}")
                connection.execute("COMMIT")
            except BaseException:
                connection.execute("ROLLBACK")
                raise

    def problem(self, error: Exception) -> StorageProblem:
        """What went wrong, as sentences."""
        if isinstance(error, StorageProblem):
            return error
        if _full(error):
            return StorageProblem(
                "There is no room left to write the log.",
                f"{self.path}: {error}.",
                "Free some disk space and continue with `steer resume`; the log so far is kept.",
            )
        if isinstance(error, sqlite3.IntegrityError):
            return StorageProblem(
                "The new data does not match what is stored.",
                f"{self.path}: {error}.",
                "`steer ledger verify` shows whether a thread is intact.",
            )
        if _busy(error):
            return self._in_use()
        return StorageProblem(
            f"The data folder {self.home} cannot be used.",
            f"{type(error).__name__}: {error}.",
            "Make it writable, or set STEERSMAN_HOME to a folder that is.",
        )

    def _in_use(self) -> StorageProblem:
        return StorageProblem(
            f"The database {self.path} is in use by another program.",
            f"It stayed locked for {PATIENCE} seconds.",
            "Try again when that program has finished.",
        )


def _use_write_ahead_log(connection: sqlite3.Connection) -> None:
    """Switch the journal; unlike all else, SQLite does not wait for other processes to do so."""
    until = time.monotonic() + PATIENCE
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError as error:
            if not _busy(error) or time.monotonic() > until:
                raise
            time.sleep(0.01)
        else:
            return


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _busy(error: Exception) -> bool:
    code = getattr(error, "sqlite_errorcode", None) or 0
    return code & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def _full(error: Exception) -> bool:
    if isinstance(error, sqlite3.Error):
        code = getattr(error, "sqlite_errorcode", None) or 0
        return code & 0xFF in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR)
    return isinstance(error, OSError) and error.errno in (28, 27, 122)
