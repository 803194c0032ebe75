"""Threads, messages, blobs and settings in the tables of any SQL database."""

from abc import abstractmethod
from collections.abc import Collection, Hashable, Iterator, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

import msgspec

from steersman.records.errors import StorageProblem
from steersman.records.inbox import Settled
from steersman.records.thread import Activity, Lease, Thread
from steersman.store.chain import GENESIS
from steersman.store.contract import RawRow, Row, StoreStatus, moment, stamp
from steersman.store.sql import PAGE, Database
from steersman.store.sql_inbox import Inbox, all_settled
from steersman.store.sql_leases import Leases, lost
from steersman.store.sql_positions import AcrossThreads

_THREAD = "id, title, workspace, origin, parent, parent_seq, created, updated, head, head_hash"
_ROW = "seq, time, turn, kind, path, corr, body, hash"
_INSERT = f"INSERT INTO messages (thread, {_ROW}) VALUES (?,?,?,?,?,?,?,?,?)"
_MOVE = (
    "UPDATE threads SET head = ?, head_hash = ?, updated = ?, activity = coalesce(?, activity) "
    "WHERE id = ? AND head = ?"
)
_MARK = "UPDATE threads SET activity = coalesce(?, activity) WHERE id = ?"
_ALL = 2**62


class SqlStore(Leases, Inbox, AcrossThreads):
    """What every store in an SQL database does alike."""

    where: str  # the database, as a person may read it

    def create_thread(self, thread: Thread) -> None:
        """Add an empty thread."""
        values = (
            thread.id, thread.title, thread.workspace, thread.origin, thread.parent,
            thread.parent_seq, stamp(thread.created), stamp(thread.updated), 0, GENESIS,
        )  # fmt: skip
        self._write(
            lambda db: db.execute(
                f"INSERT INTO threads ({_THREAD}) VALUES (?,?,?,?,?,?,?,?,?,?)", values
            ),
            known=lambda db: (
                db.execute(f"SELECT {_THREAD} FROM threads WHERE id = ?", (thread.id,)).fetchone()
                == values
                or None
            ),
        )

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
            f"{where}ORDER BY updated DESC LIMIT ?", (*values, _ALL if limit is None else limit)
        )

    def _threads(self, clause: str, values: tuple[Any, ...]) -> list[Thread]:
        query = f"SELECT {_THREAD} FROM threads {clause}"
        rows = self._read(lambda db: db.execute(query, values).fetchall())
        return [self._thread(*row) for row in rows]

    def _thread(self, *row: Any) -> Thread:
        return Thread(
            id=row[0], title=row[1], workspace=row[2], origin=row[3], parent=row[4],
            parent_seq=row[5], created=_when(row[6]), updated=_when(row[7]),
            head=row[8], head_hash=row[9],
        )  # fmt: skip

    def describe(self, thread_id: str, *, title: str | None, workspace: str | None) -> None:
        """Change a thread's title or where its workspace is."""
        self._write(
            lambda db: db.execute(
                "UPDATE threads SET title = coalesce(?, title), "
                "workspace = coalesce(?, workspace) WHERE id = ?",
                (title, workspace, thread_id),
            ),
            thread=thread_id,
        )

    def delete_thread(self, thread_id: str) -> None:
        """Remove one thread and its messages, for ever."""
        self._write(
            lambda db: db.execute("DELETE FROM threads WHERE id = ?", (thread_id,)),
            thread=thread_id,
        )

    def append(
        self,
        thread_id: str,
        rows: Sequence[Row],
        *,
        sync: bool,
        lease: Lease | None = None,
        activity: Activity | None = None,
        settled: Sequence[Settled] = (),
    ) -> None:
        """Add messages after the head, all or none; with `sync` they are flushed to the disk."""
        if not rows and not settled and activity is None:
            return
        if rows and [row.seq for row in rows] != [*range(rows[0].seq, rows[0].seq + len(rows))]:
            raise StorageProblem(f"Messages for thread {thread_id} do not follow one another.")
        encoded = None if activity is None else msgspec.json.encode(activity)

        def add(db: Database) -> bool:
            self._move(db, thread_id, rows, lease, encoded)
            if rows:
                db.executemany(
                    _INSERT,
                    [
                        (thread_id, r.seq, r.time, r.turn, r.kind, r.path, r.corr, r.body, r.hash)
                        for r in rows
                    ],
                )
            if settled:
                self._settle(db, thread_id, settled)
            return True

        def there(db: Database) -> bool | None:
            if not rows:
                return (bool(settled) and all_settled(db, settled)) or None
            found = db.execute(
                "SELECT hash FROM messages WHERE thread = ? AND seq = ?", (thread_id, rows[-1].seq)
            ).fetchone()
            return (found is not None and found[0] == rows[-1].hash) or None

        self._write(add, sync=sync, thread=thread_id, known=there)

    def _move(
        self,
        db: Database,
        thread_id: str,
        rows: Sequence[Row],
        lease: Lease | None,
        activity: bytes | None,
    ) -> None:
        """Move the head, if it is where it should be and the lease is still ours."""
        query = _MARK
        values: list[Any] = [activity, thread_id]
        if rows:
            last = rows[-1]
            query = _MOVE
            values = [last.seq, last.hash, last.time, activity, thread_id, rows[0].seq - 1]
        if lease is not None:
            query += self.held
            values += [lease.name, lease.fence]
        if rows:
            query += self.placing
        if db.execute(query, values).rowcount == 1:
            return
        if lease is not None:
            found = db.execute("SELECT fence FROM leases WHERE name = ?", (lease.name,)).fetchone()
            if found != (lease.fence,):
                raise lost(lease.name)
        raise StorageProblem(
            f"Thread {thread_id} changed or vanished while it was being written.",
            "Another program wrote to it, or removed it.",
            "`steer ledger verify` shows whether it is intact.",
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
        if kinds is not None and not kinds:
            return
        wanted = f"AND kind IN ({','.join('?' * len(kinds))}) " if kinds is not None else ""
        # Named, so that the partial index of receipts is used for what it is there for.
        wanted = "AND kind = 'steer' " if kinds is not None and set(kinds) == {"steer"} else wanted
        names = tuple(kinds or ()) if "IN" in wanted else ()
        query = (
            f"SELECT {_ROW} FROM messages WHERE thread = ? AND seq > ? AND seq <= ? "
            f"{wanted}ORDER BY seq LIMIT {PAGE}"
        )
        end = until if until is not None else _ALL
        while True:
            page = self._page(query, (thread_id, after, end, *names))
            for row in page:
                yield Row(*row)
            if len(page) < PAGE:
                return
            after = page[-1][0]

    def recall(
        self, thread_id: str, kinds: Collection[str], most_bytes: int
    ) -> list[tuple[str, str, str | None, bytes]]:
        """Kind, path, corr and body of the newest messages of some kinds, in order."""
        names = tuple(kinds)
        if not names:
            return []
        query = (
            "SELECT kind, path, corr, body, seq FROM messages WHERE thread = ? AND seq < ? "
            f"AND kind IN ({','.join('?' * len(names))}) ORDER BY seq DESC LIMIT ?"
        )
        found: list[tuple[str, str, str | None, bytes]] = []
        before, size = _ALL, 64
        while True:
            page = self._page(query, (thread_id, before, *names, size))
            for row in page:
                most_bytes -= len(row[3])
                if most_bytes < 0:
                    return found[::-1]
                found.append(row[:4])
            if len(page) < size:
                return found[::-1]
            before, size = page[-1][4], min(size * 2, PAGE)

    def read_back(self, thread_id: str) -> Iterator[Row]:
        """Messages from the newest to the oldest."""
        query = (
            f"SELECT {_ROW} FROM messages WHERE thread = ? AND seq < ? ORDER BY seq DESC LIMIT ?"
        )
        before, size = _ALL, 64
        while True:
            page = self._page(query, (thread_id, before, size))
            for row in page:
                yield Row(*row)
            if len(page) < size:
                return
            before, size = page[-1][0], PAGE

    def read_raw(self, thread_id: str) -> Iterator[RawRow]:
        """Messages as the bytes on disk."""
        query = (
            f"SELECT {self.raw} FROM messages WHERE thread = ? AND seq > ? "
            f"ORDER BY seq LIMIT {PAGE}"
        )
        after = -_ALL
        while True:
            page = self._page(query, (thread_id, after))
            for row in page:
                yield RawRow(*row)
            if len(page) < PAGE:
                return
            after = page[-1][0]

    def _page(self, query: str, values: tuple[Any, ...]) -> list[Any]:
        return self._read(lambda db: db.execute(query, values).fetchall())

    def put_blob(self, data: bytes) -> str:
        """Keep some bytes; the answer is their SHA-256."""
        digest = sha256(data).hexdigest()
        self._write(
            lambda db: db.execute(
                "INSERT INTO blobs VALUES (?, ?) ON CONFLICT DO NOTHING", (digest, data)
            ),
            sync=False,
        )
        return digest

    def blob(self, digest: str) -> bytes | None:
        """Bytes by their digest."""
        rows = self._page("SELECT data FROM blobs WHERE digest = ?", (digest,))
        return bytes(rows[0][0]) if rows else None

    def digests(self) -> list[str]:
        """The digests of all blobs."""
        return [row[0] for row in self._page("SELECT digest FROM blobs ORDER BY digest", ())]

    def forget_blobs(self, digests: Collection[str]) -> int:
        """Remove blobs; the answer is how many bytes they had."""

        def forget(db: Database) -> int:
            where = f"WHERE digest {self.among}"
            values = (self._values(digests),)
            query = f"SELECT COALESCE(SUM(LENGTH(data)), 0) FROM blobs {where}"
            size = int(db.execute(query, values).fetchone()[0])
            db.execute(f"DELETE FROM blobs {where}", values)
            return size

        return self._write(forget) if digests else 0

    def setting(self, scope: str, name: str) -> str | None:
        """A remembered value."""
        rows = self._page("SELECT value FROM settings WHERE scope = ? AND name = ?", (scope, name))
        return str(rows[0][0]) if rows else None

    def settings(self) -> list[tuple[str, str, str]]:
        """Every remembered value with its scope and name."""
        return self._page("SELECT scope, name, value FROM settings ORDER BY scope, name", ())

    def remember(self, scope: str, name: str, value: str | None) -> None:
        """Keep a value, or forget it when None."""

        def keep(db: Database) -> None:
            if value is None:
                db.execute("DELETE FROM settings WHERE scope = ? AND name = ?", (scope, name))
                return
            db.execute(
                "INSERT INTO settings VALUES (?, ?, ?) "
                "ON CONFLICT (scope, name) DO UPDATE SET value = excluded.value",
                (scope, name, value),
            )

        self._write(keep)

    def mark(self) -> Hashable | None:
        """A server on another machine would have to be asked, and that takes time."""
        return None

    def status(self) -> StoreStatus:
        """What this store is and how much it holds."""

        def count(db: Database) -> StoreStatus:
            kind, engine, version, size = self._about(db)
            threads, messages, requests = db.execute(
                "SELECT (SELECT count(*) FROM threads), (SELECT count(*) FROM messages), "
                "(SELECT count(*) FROM requests WHERE logged = 0 AND outcome IS NULL)"
            ).fetchone()
            return StoreStatus(kind, self.where, engine, version, threads, messages, requests, size)

        return self._read(count)

    @abstractmethod
    def _about(self, db: Database) -> tuple[str, str, int, int]:
        """Kind, database program, version of the schema, bytes on disk."""


def _when(written: Any) -> datetime:
    """A time; one that was altered from outside is long ago, and stops nobody."""
    try:
        return moment(written)
    except (TypeError, ValueError):
        return datetime.fromtimestamp(0, UTC)
