"""Who may write: leases by rows, and what threads are doing, in any SQL database."""

from collections.abc import Collection
from functools import cache
from typing import Any

import msgspec
from msgspec import Struct

from steersman.records.errors import LeaseLost, StorageProblem, ThreadBusy
from steersman.records.patterns import pattern
from steersman.records.thread import Activity, Lease, Process, State, ThreadState
from steersman.store.contract import LEASE
from steersman.store.living import Living
from steersman.store.sql import Database, Tables

_NAME = pattern(r"[0-9A-Za-z_-]{1,64}")
_LONG_DEAD = 86_400
_HOLDER = "p.id, p.machine, p.pid, p.place, p.seen, l.ttl"
_STATES = (
    f"SELECT t.id, t.activity, coalesce(r.waiting, 0), {_HOLDER} FROM threads t "
    "LEFT JOIN leases l ON l.name = t.id LEFT JOIN processes p ON p.id = l.process "
    "LEFT JOIN (SELECT thread, count(*) AS waiting FROM requests "
    "WHERE logged = 0 AND outcome IS NULL GROUP BY thread) r ON r.thread = t.id WHERE t.id "
)


class _Holder(Struct, frozen=True):
    """Who holds a lease, as the rows say."""

    id: str
    machine: str
    pid: int
    place: str
    seen: float
    ttl: float

    @property
    def process(self) -> Process:
        return Process(self.id, self.machine, self.pid)


class Leases(Tables):
    """Leases, signs of life and states."""

    _living: Living
    _leases: dict[str, int]
    _place: str

    def lease(self, name: str, ttl: float = LEASE) -> Lease:
        """Be the only one who may write under a name; raises `ThreadBusy` when another is."""
        if not _NAME.fullmatch(name):
            raise StorageProblem(f"“{name}” is not the id of a thread.")
        self._live()

        def take(db: Database) -> int:
            self._exclude(db, name)
            now = self._clock(db)
            found = db.execute(
                f"SELECT {_HOLDER} FROM leases l JOIN processes p ON p.id = l.process "
                "WHERE l.name = ?",
                (name,),
            ).fetchone()
            holder = _Holder(*found) if found else None
            if holder and self._holds(holder, name, now):
                raise _busy(name, holder)
            self._say_alive(db, now)
            db.execute("DELETE FROM leases WHERE name = ?", (name,))
            return self._insert_lease(db, name, ttl)

        fence = self._write(take, sync=False)
        self._leases[name] = fence
        return Lease(name, fence, self.process)

    def renew(self) -> set[str]:
        """Say that this process is alive: its leases hold for another `ttl`, but those it lost."""
        held = dict(self._leases)
        if not held:
            return set()

        def say(db: Database) -> list[Any]:
            self._say_alive(db, self._clock(db))
            mine = "SELECT name, fence FROM leases WHERE process = ?"
            return list(db.execute(mine, (self.process.id,)).fetchall())

        there = dict(self._write(say, sync=False))
        return {name for name, fence in held.items() if there.get(name) != fence}

    def release(self, lease: Lease) -> None:
        """Give a lease back; one that was lost is nobody's business any more."""
        if self._leases.get(lease.name) == lease.fence:
            del self._leases[lease.name]
        self._write(
            lambda db: db.execute(
                "DELETE FROM leases WHERE name = ? AND fence = ?", (lease.name, lease.fence)
            ),
            sync=False,
            thread=lease.name,  # whoever has asked something sees to it that another takes it
        )

    def states(self, thread_ids: Collection[str]) -> dict[str, ThreadState]:
        """What threads are doing, whichever process runs them."""
        wanted = self._values(thread_ids)

        def look(db: Database) -> tuple[float, list[Any]]:
            found = db.execute(_STATES + self.among, (wanted,)).fetchall()
            return self._clock(db), found

        now, rows = self._read(look)
        alive = cache(lambda holder: self._lives(holder, now))
        states = {}
        for thread, encoded, requests, *found in rows:
            holder = _Holder(*found) if found[0] is not None else None
            owner = holder.process if holder and alive(holder) else None
            activity = activity_of(encoded)
            state = state_of(activity, owner is not None, requests)
            states[thread] = ThreadState(state, owner, activity, requests)
        return states

    def _live(self) -> None:
        """Hold the lock by which others of this machine see that this process lives."""

    def _holds(self, holder: _Holder, name: str, now: float) -> bool:
        if holder.id == self.process.id:
            return name in self._leases
        return self._lives(holder, now)

    def _lives(self, holder: _Holder, now: float) -> bool:
        if holder.id == self.process.id:
            return True
        return abs(now - holder.seen) <= holder.ttl and self._beats(holder.id, holder.place)

    def _say_alive(self, db: Database, now: float) -> None:
        renewed = db.execute(
            "UPDATE processes SET seen = ? WHERE id = ?", (now, self.process.id)
        ).rowcount
        if renewed:
            return
        db.execute(
            "INSERT INTO processes (id, machine, pid, place, seen) VALUES (?, ?, ?, ?, ?)",
            (self.process.id, self.process.machine, self.process.pid, self._place, now),
        )
        gone = "SELECT id FROM processes WHERE abs(seen - ?) > ?"
        db.execute(f"DELETE FROM leases WHERE process IN ({gone})", (now, _LONG_DEAD))
        db.execute(f"DELETE FROM processes WHERE id IN ({gone})", (now, _LONG_DEAD))

    def _say_goodbye(self, db: Database) -> None:
        db.execute("DELETE FROM leases WHERE process = ?", (self.process.id,))
        db.execute("DELETE FROM processes WHERE id = ?", (self.process.id,))


def lost(name: str) -> LeaseLost:
    """Another process has the lease now."""
    return LeaseLost(
        f"Another process has taken over thread {name}.",
        "This process showed no sign of life for too long; nothing more was written by it.",
        f"`steer attach {name}` shows what the thread is doing now.",
    )


def _busy(name: str, holder: _Holder) -> ThreadBusy:
    return ThreadBusy(
        f"Thread {name} is open in another process (pid {holder.pid} on {holder.machine}).",
        "Only one process may write to a thread at a time.",
        f"Join it with `steer attach {name}`, or work on a copy: `steer fork {name}`.",
    )


def state_of(activity: Activity, owned: bool, requests: int) -> State:
    """What a thread is doing, from what its log says, whether its owner lives, and its inbox."""
    if activity.waiting:
        return "waiting"
    if activity.turn and owned:
        return "running"
    return "queued" if requests or activity.queued else "idle"


_NOTHING = Activity()


def activity_of(encoded: bytes | None) -> Activity:
    """A stored activity."""
    if encoded is None or encoded == b"{}":
        return _NOTHING
    try:
        return msgspec.json.decode(encoded, type=Activity)
    except (
        msgspec.DecodeError,
        RecursionError,
        TypeError,
    ):  # altered from outside, or of a newer version; the log knows
        return _NOTHING
