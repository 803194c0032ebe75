"""The store on a Postgres server: the processes of many machines meet in it."""

import os
from base64 import b64encode
from collections.abc import Callable, Collection
from contextlib import AbstractAsyncContextManager, suppress
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_hex
from typing import TypeVar

from steersman.records.errors import StorageProblem
from steersman.records.thread import Process
from steersman.store.contract import News
from steersman.store.living import Living
from steersman.store.migrations import LATEST, newer, statements
from steersman.store.packets import cut
from steersman.store.postgres_line import SCHEMA, Backend, Line, checked
from steersman.store.postgres_news import LIVE, STORED, listen
from steersman.store.postgres_problems import masked
from steersman.store.sql import Database, Work
from steersman.store.sql_store import SqlStore

T = TypeVar("T")
PATIENCE = 30.0  # seconds that a lost connection may take to come back
_MOST = 5_700  # bytes of live pieces in one notification, which holds less than 8,000 in base64
_MIGRATING = 7_827_364_019
_PLACING = 782_736_402
_NAMES = 2**31 - 1  # how a lock can be named
_TEXTS = ("time", "turn", "kind", "path", "corr")


class PostgresStore(SqlStore):
    """All in the schema `steersman` of one database; the locks of this machine in `home`."""

    shared = True
    among = "= ANY(?)"
    # The lease's row stays locked to the end: who takes over waits, or was there first.
    held = " AND EXISTS (SELECT 1 FROM leases WHERE name = ? AND fence = ? FOR SHARE)"
    # Positions are given before their transactions end, in any order. Who gives some says so first:
    # by a lock that all may share, named after a position that was given before.
    placing = (
        f" RETURNING pg_advisory_xact_lock_shared({_PLACING}, "
        f"(SELECT (last_value - 1) & {_NAMES} FROM messages_position_seq)::int)"
    )
    raw = "seq, " + ", ".join(f"convert_to({name}::text, 'UTF8')" for name in _TEXTS)
    raw += ", body, hash"

    def __init__(self, url: str, home: Path, patience: float = PATIENCE) -> None:
        self._url = checked(url)
        self.where = masked(url)
        self.process = Process(token_hex(8), os.uname().nodename, os.getpid())
        self.unwritable: StorageProblem | None = None  # why it can only be read
        self._leases: dict[str, int] = {}
        self._living = Living(home / "locks")
        self._place = ""
        with suppress(OSError):
            self._place = self._living.place()
        self._writing = Line(url, patience)
        self._reading = Line(url, patience)
        try:
            self._open()
            self._channel = self._writing.run(self._name_channel)
        except BaseException:
            self._writing.close()
            self._reading.close()
            raise

    def show(self, thread_id: str, pieces: bytes) -> None:
        """Give live pieces to whoever listens now, in other processes; nothing is kept."""
        head = f"{LIVE} {self.process.id} "
        packets = [head + b64encode(packet).decode() for packet in cut(thread_id, pieces, _MOST)]

        def send(db: Backend) -> None:
            db.sync(False)
            db.execute(
                f"SELECT pg_notify('{self._channel}', part) FROM unnest(?::text[]) AS part",
                (packets,),
            )

        self._writing.attempt(send)

    def listened(self) -> bool:
        """It may be so: only the server knows."""
        return True

    def news(self) -> AbstractAsyncContextManager[News]:
        """Listen to what other processes write."""
        return listen(self._url, self._channel, self.process.id)

    def close(self) -> None:
        """Give all leases back and let go of the database."""
        if self._leases:
            self._leases.clear()

            def leave(db: Backend) -> None:
                db.sync(False)
                db.transact(self._say_goodbye)

            self._writing.attempt(leave)
        self._living.close(self.process.id)
        self._writing.close()
        self._reading.close()

    def _read(self, work: Work[T]) -> T:
        return self._reading.run(work)

    def _write(
        self,
        work: Work[T],
        *,
        sync: bool = True,
        thread: str = "",
        known: Callable[[Database], T | None] = lambda db: None,
    ) -> T:
        if self.unwritable is not None:
            raise self.unwritable

        def told(db: Backend) -> T:
            result = work(db)
            if thread:
                note = f"{STORED} {self.process.id} {thread}"
                db.execute(f"SELECT pg_notify('{self._channel}', ?)", (note,))
            return result

        def do(db: Backend) -> T:
            db.sync(sync)
            return db.transact(told)

        return self._writing.run(do, known)

    def _values(self, values: Collection[str]) -> list[str]:
        return list(values)

    def _clock(self, db: Database) -> float:
        found = db.execute("SELECT extract(epoch FROM clock_timestamp())::float8").fetchone()
        return float(found[0])

    def _wall(self, db: Database) -> datetime:
        return datetime.fromtimestamp(self._clock(db), UTC)

    def _live(self) -> None:
        if self._place:
            try:
                self._living.hold(self.process.id)
            except OSError as error:
                raise StorageProblem(
                    "The data folder cannot be used.",
                    f"{type(error).__name__}: {error}.",
                    "Make it writable, or set STEERSMAN_HOME to a folder that is.",
                ) from error

    def _exclude(self, db: Database, name: str) -> None:
        db.execute("SELECT pg_advisory_xact_lock(hashtextextended(?, 0))", (f"steersman {name}",))

    def _insert_lease(self, db: Database, name: str, ttl: float) -> int:
        found = db.execute(
            "INSERT INTO leases (name, process, ttl) VALUES (?, ?, ?) RETURNING fence",
            (name, self.process.id, ttl),
        ).fetchone()
        return int(found[0])

    def _settled(self, db: Database) -> tuple[int, bool]:
        # In this order: what is given later is above the last one, what was given before is locked.
        (last,) = db.execute("SELECT last_value FROM messages_position_seq").fetchone()
        named = db.execute(
            "SELECT objid::int8 FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2 "
            "AND classid = ? AND database = "
            "(SELECT oid FROM pg_database WHERE datname = current_database())",
            (_PLACING,),
        ).fetchall()
        behind = [(last - name) & _NAMES for (name,) in named]
        farthest = max((one for one in behind if one <= _NAMES // 2), default=0)
        return last - farthest, farthest > 0

    def _beats(self, process: str, place: str) -> bool:
        # Of a process of this machine the system knows; of any other only what it said last.
        return not place or place != self._place or self._living.alive(process)

    def _about(self, db: Database) -> tuple[str, str, int, int]:
        (engine,) = db.execute("SELECT current_setting('server_version')").fetchone()
        (size,) = db.execute(
            "SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::int8 FROM pg_class c "
            "WHERE c.relkind = 'r' AND c.relnamespace = to_regnamespace(?)",
            (SCHEMA,),
        ).fetchone()
        return "postgres", f"PostgreSQL {engine}", LATEST, size

    def _open(self) -> None:
        """Bring the database up to date; where that cannot be, it is read as it is."""
        version = self._writing.run(self._version)
        self.unwritable = newer(version, self.where, "set STEERSMAN_STORE to another database")
        if version >= LATEST:
            return
        try:
            self._writing.run(self._migrate)
        except StorageProblem as problem:
            if not version:
                raise
            from steersman.store.postgres_copy import copied, outdated

            self._reading.prepare = lambda db: copied(db, version)
            try:
                self._reading.run(self._version)
            except StorageProblem:
                raise problem from None
            self.unwritable = outdated(self.where, version, problem)

    def _migrate(self, db: Backend) -> None:
        """Bring the database to `LATEST`, all or nothing, one process at a time."""

        def steps(db: Backend) -> None:
            db.execute("SELECT pg_advisory_xact_lock(?)", (_MIGRATING,))
            version = self._version(db)
            if version >= LATEST:
                return  # another process was first
            if not version:
                db.execute(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
                db.execute("CREATE TABLE IF NOT EXISTS schema_version (version INTEGER NOT NULL)")
                db.execute("INSERT INTO schema_version VALUES (0)")
            for step in range(version + 1, LATEST + 1):
                for statement in statements("postgres", step):
                    db.execute(statement)
            db.execute("UPDATE schema_version SET version = ?", (LATEST,))

        db.transact(steps)

    def _name_channel(self, db: Backend) -> str:
        """The channel of this store. Whoever may connect may listen and notify, but must know it.

        So its name is a secret in a table that only those see who may use the store. Where nothing
        can be written and there is none, nobody is heard.
        """
        made = f"steersman_{token_hex(16)}"
        if self.unwritable is None:
            put = "INSERT INTO settings VALUES ('store', 'channel', ?) ON CONFLICT DO NOTHING"
            db.execute(put, (made,))
        found = db.execute(
            "SELECT value FROM settings WHERE scope = 'store' AND name = 'channel'"
        ).fetchone()
        return str(found[0]) if found else made

    def _version(self, db: Backend) -> int:
        # Asked of the catalogue itself: a name that was not found before may be remembered so.
        there = db.execute(
            "SELECT 1 FROM pg_tables WHERE schemaname = ? AND tablename = 'schema_version'",
            (SCHEMA,),
        ).fetchone()
        if there is None:
            return 0
        found = db.execute("SELECT version FROM schema_version").fetchone()
        return int(found[0]) if found else 0
