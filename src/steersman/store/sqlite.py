"""The default store: one SQLite file in the data folder, by the standard library alone."""

import os
import sqlite3
import time
from collections.abc import Callable, Collection, Hashable
from contextlib import AbstractAsyncContextManager, suppress
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from secrets import token_hex
from typing import TypeVar

import msgspec

from steersman.records.errors import StorageProblem
from steersman.records.thread import Process
from steersman.store.contract import News
from steersman.store.living import Living
from steersman.store.migrations import LATEST
from steersman.store.sql import Database, Work
from steersman.store.sql_store import SqlStore
from steersman.store.sqlite_file import SqliteFile
from steersman.store.sqlite_news import Signals, listen

T = TypeVar("T")
_LAST = 2**62
_COLUMNS = ("time", "turn", "kind", "path", "corr", "body", "hash")


class SqliteStore(SqlStore):
    """All in `steersman.db`; the processes of one machine meet in it."""

    shared = False
    among = "IN (SELECT value FROM json_each(?))"
    held = " AND EXISTS (SELECT 1 FROM leases WHERE name = ? AND fence = ?)"
    placing = ""
    raw = "seq, " + ", ".join(f"CAST({column} AS BLOB)" for column in _COLUMNS)

    def __init__(self, home: Path) -> None:
        self._file = SqliteFile(home)
        self.where = str(self._file.path)
        self.process = Process(token_hex(8), os.uname().nodename, os.getpid())
        self._leases: dict[str, int] = {}
        self._place = ""
        self._living = Living(home / "locks")
        self._news = home / "news"
        self._signals = Signals(self._news, self.process.id)
        self._listeners = count()

    @property
    def unwritable(self) -> StorageProblem | None:
        """Why it can only be read, if so."""
        return self._file.unwritable

    def show(self, thread_id: str, pieces: bytes) -> None:
        """Give live pieces to whoever listens now, in other processes; nothing is kept."""
        self._signals.shown(thread_id, pieces)

    def listened(self) -> bool:
        """Whether another process has a socket in the folder."""
        return self._signals.heard()

    def news(self) -> AbstractAsyncContextManager[News]:
        """Listen to what other processes write."""
        name = f"{self.process.id}-{next(self._listeners)}"
        return listen(self._news, name, self._file.changes)

    def mark(self) -> Hashable | None:
        """What differs after anything was written; SQLite knows without reading the disk."""
        return self._file.mark()

    def forget_blobs(self, digests: Collection[str]) -> int:
        """Remove blobs; what they took is free in the database, and none of it is in the log."""
        size = super().forget_blobs(digests)
        if size:
            self._file.shrink()
        return size

    def close(self) -> None:
        """Give all leases back and let go of the database."""
        if self._leases:
            self._leases.clear()
            with suppress(StorageProblem, sqlite3.ProgrammingError):
                self._write(self._say_goodbye, sync=False)
        self._living.close(self.process.id)
        self._signals.close()
        self._file.close()

    def _read(self, work: Work[T]) -> T:
        return self._file.read(work)

    def _write(
        self,
        work: Work[T],
        *,
        sync: bool = True,
        thread: str = "",
        known: Callable[[Database], T | None] = lambda db: None,
    ) -> T:
        done = self._file.write(work, sync=sync)
        if thread:
            self._signals.stored(thread)
        return done

    def _values(self, values: Collection[str]) -> str:
        return msgspec.json.encode(list(values)).decode()

    def _clock(self, db: Database) -> float:
        # The same for all processes since the machine started; a suspended machine does not age.
        return time.monotonic()

    def _wall(self, db: Database) -> datetime:
        return datetime.now(UTC)

    def _live(self) -> None:
        try:
            self._living.hold(self.process.id)
        except OSError as error:
            raise self._file.problem(error) from error

    def _exclude(self, db: Database, name: str) -> None:
        """A transaction that writes excludes all others anyway."""

    def _insert_lease(self, db: Database, name: str, ttl: float) -> int:
        db.execute(
            "INSERT INTO leases (name, process, ttl) VALUES (?, ?, ?)", (name, self.process.id, ttl)
        )
        return int(db.execute("SELECT last_insert_rowid()").fetchone()[0])

    def _settled(self, db: Database) -> tuple[int, bool]:
        return _LAST, False  # whoever writes is alone

    def _beats(self, process: str, place: str) -> bool:
        return self._living.alive(process)

    def _about(self, db: Database) -> tuple[str, str, int, int]:
        size = sum(
            os.path.getsize(path)
            for path in (self.where, f"{self.where}-wal")
            if os.path.exists(path)
        )
        return "sqlite", f"SQLite {sqlite3.sqlite_version}", LATEST, size
