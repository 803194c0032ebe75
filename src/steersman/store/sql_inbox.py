"""What is asked of threads: requests in the order they came, and what became of each."""

from collections.abc import Collection, Iterator, Sequence
from functools import cache
from typing import Any

import msgspec

from steersman.records.clock import now
from steersman.records.errors import RequestSettled, StorageProblem
from steersman.records.inbox import Asked, Request, Settled, Unreadable
from steersman.store.contract import moment, stamp
from steersman.store.sql import Database
from steersman.store.sql_names import Names

_PAGE = 100
_REQUEST = "id, thread, sender, time, expires, body, outcome"
_SETTLE = (
    "UPDATE requests SET outcome = ?, reason = ?, result = ?, body = NULL, logged = 1 "
    "WHERE id = ? AND thread = ? AND logged = 0 AND (outcome IS NULL OR outcome = ?) "
    "AND (expires IS NULL OR expires > ?)"
)


class Inbox(Names):
    """Requests for threads."""

    def post(self, request: Request) -> None:
        """Put a request into a thread's inbox."""
        expires = None if request.expires is None else stamp(request.expires)
        body = msgspec.json.encode(request.body)
        values = (
            request.id, request.thread, request.sender, stamp(request.time), expires, body,
        )  # fmt: skip

        def put(db: Database) -> None:
            self._forget_old(db)
            # Only where the thread is; and once, though a sender who got no answer asks again.
            put = db.execute(
                "INSERT INTO requests (id, thread, sender, time, expires, body) "
                "SELECT ?, id, ?, ?, ?, ? FROM threads WHERE id = ? ON CONFLICT (id) DO NOTHING",
                (values[0], *values[2:], request.thread),
            )
            if put.rowcount != 1 and not _row(db, "1", request.id):
                raise StorageProblem(
                    f"There is no thread {request.thread} to send a request to.",
                    try_this="`steer threads list` shows them.",
                )

        self._write(put, thread=request.thread)

    def requests(self, thread_id: str) -> list[Request]:
        """The oldest requests that the thread's log does not mention, in order, at most a page."""
        unsettled = "thread = ? AND logged = 0 AND (outcome IS NULL OR outcome = 'expired')"
        return self._requests(unsettled, (thread_id,), _PAGE)

    def waiting(self) -> Iterator[Request]:
        """Every request that nobody has settled."""
        for thread in self._read(
            lambda db: db.execute(
                "SELECT DISTINCT thread FROM requests WHERE logged = 0 AND outcome IS NULL"
            ).fetchall()
        ):
            yield from self._requests(
                "thread = ? AND logged = 0 AND outcome IS NULL", (thread[0],), 2**31
            )

    def asked(self, thread_ids: Collection[str]) -> set[str]:
        """Which of these threads have requests that their logs do not mention."""
        wanted = self._values(thread_ids)
        query = f"SELECT DISTINCT thread FROM requests WHERE logged = 0 AND thread {self.among}"
        return {row[0] for row in self._read(lambda db: db.execute(query, (wanted,)).fetchall())}

    def settled(self, request_id: str) -> Settled | None:
        """What became of a request; None while it waits."""
        return self._read(lambda db: _settled(db, request_id))

    def expire(self, request_id: str) -> Settled:
        """The sender gives up: expired, unless it was settled before; the answer says which."""
        thread = self._read(lambda db: _row(db, "thread", request_id))
        if thread is None:
            raise StorageProblem(f"There is no request {request_id}.")

        def give_up(db: Database) -> Settled:
            db.execute(
                "UPDATE requests SET outcome = 'expired' WHERE id = ? AND outcome IS NULL",
                (request_id,),
            )
            return _settled(db, request_id) or Settled(request_id, "expired")

        return self._write(give_up, thread=thread[0])

    def _settle(self, db: Database, thread_id: str, settled: Sequence[Settled]) -> None:
        """Say what became of requests, each once; belongs to the transaction of an append."""
        for one in settled:
            result = None if one.result is None else msgspec.json.encode(one.result)
            # What is carried out must be in time; for anything else no time is too late.
            now = stamp(self._wall(db)) if one.outcome == "taken" else ""
            values = (one.outcome, one.reason, result, one.request, thread_id, one.outcome, now)
            if db.execute(_SETTLE, values).rowcount != 1:
                raise _refused(db, one.request)

    def _requests(self, clause: str, values: tuple[Any, ...], most: int) -> list[Request]:
        query = f"SELECT {_REQUEST} FROM requests WHERE {clause} ORDER BY number LIMIT ?"
        rows = self._read(lambda db: db.execute(query, (*values, most)).fetchall())
        # A name that is not text was put there from outside; nobody waits for it.
        return [_request(*row) for row in rows if isinstance(row[0], str)]


def all_settled(db: Database, settled: Sequence[Settled]) -> bool:
    """Whether requests were settled just so."""
    found = [_row(db, "outcome, logged", one.request) for one in settled]
    return found == [(one.outcome, 1) for one in settled]


def _row(db: Database, columns: str, request_id: str) -> Any:
    return db.execute(f"SELECT {columns} FROM requests WHERE id = ?", (request_id,)).fetchone()


def _settled(db: Database, request_id: str) -> Settled | None:
    found = _row(db, "outcome, reason, result", request_id)
    if found is None or found[0] is None:
        return None
    outcome, reason, result = found
    return Settled(request_id, outcome, reason, result and msgspec.json.decode(result))


def _refused(db: Database, request_id: str) -> RequestSettled:
    found = _settled(db, request_id)
    if found is not None:
        return RequestSettled(f"Request {request_id} is already settled: {found.outcome}.")
    return RequestSettled(
        f"Request {request_id} cannot be carried out.", "It expired, or it does not exist."
    )


@cache
def _asked() -> "msgspec.json.Decoder[Asked]":
    return msgspec.json.Decoder(Asked)


def _request(*row: Any) -> Request:
    request_id, thread, sender, time, expires, body, outcome = row
    try:
        asked, since = _asked().decode(body), moment(time)
        until = None if expires is None else moment(expires)
    except (msgspec.DecodeError, RecursionError, TypeError, ValueError) as error:
        asked, since, until = Unreadable(str(error)), now(), None
    return Request(request_id, thread, sender, since, asked, until, outcome == "expired")
