"""One connection to a Postgres server that is opened again when it is lost.

Work is done again on the new connection, unless it turns out to have been done: the answer to a
commit may be lost although the server carried it out.
"""

import re
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any, TypeVar

import psycopg
from psycopg import errors
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from steersman.store.postgres_problems import LASTING, gone, malformed, refused, too_old, unopened

T = TypeVar("T")
LEAST_SERVER = 140_000
SCHEMA = "steersman"
_LONGEST_PAUSE = 2.0
# A server or network that goes away silently is noticed in about ten seconds.
_WATCHFUL = {
    "connect_timeout": "10", "keepalives": "1", "keepalives_idle": "5", "keepalives_interval": "2",
    "keepalives_count": "3", "tcp_user_timeout": "10000", "application_name": "steersman",
}  # fmt: skip
# A transaction whose client has vanished must not keep others waiting.
_SESSION = (
    f"SET search_path TO {SCHEMA}; SET idle_in_transaction_session_timeout TO '15s'; "
    "SET lock_timeout TO '20s'; SET tcp_keepalives_idle TO 5; SET tcp_keepalives_interval TO 2; "
    "SET tcp_keepalives_count TO 3; SET TIME ZONE 'UTC'"
)
_PASSING = (errors.DeadlockDetected, errors.SerializationFailure, errors.CannotConnectNow)
# Text that the database cannot hold, and what a closed connection says.
FAULTS = (psycopg.Error, UnicodeError)


def checked(url: str) -> str:
    """A URL that a driver understands."""
    try:
        port = str(conninfo_to_dict(url).get("port") or "")
    except psycopg.ProgrammingError:
        raise malformed(url) from None
    if not port.replace(",", "0").isdigit() and port:
        raise malformed(url)
    return url


def connect(url: str) -> "psycopg.Connection[tuple[Any, ...]]":
    """A connection of this store; what is said in the URL comes before what is usual."""
    given = conninfo_to_dict(url)
    usual = {name: value for name, value in _WATCHFUL.items() if name not in given}
    connection = psycopg.connect(make_conninfo(url, **usual), autocommit=True)
    version = connection.info.server_version
    if version < LEAST_SERVER:
        connection.close()
        raise too_old(url, version, LEAST_SERVER)
    connection.execute(_SESSION)
    return connection


@cache
def _own_dialect(sql: str) -> str:
    return sql.replace("?", "%s")


class Backend:
    """A connection as the statements of the store see it."""

    def __init__(self, connection: "psycopg.Connection[tuple[Any, ...]]") -> None:
        self.connection = connection
        self.synced: bool | None = None

    @property
    def lost(self) -> bool:
        """Whether the server is gone."""
        return self.connection.closed

    def execute(self, sql: str, values: Sequence[Any] = (), /) -> "psycopg.Cursor[tuple[Any, ...]]":
        """Run one statement."""
        cursor = self.connection.cursor(binary=True)
        return cursor.execute(_own_dialect(sql), values or None)

    def executemany(self, sql: str, values: Iterable[Sequence[Any]], /) -> None:
        """Run one statement for each of several rows."""
        with self.connection.cursor(binary=True) as cursor:
            cursor.executemany(_own_dialect(sql), values)

    def sync(self, wanted: bool) -> None:
        """Say whether the next commits wait for the disk."""
        if wanted is not self.synced:
            self.execute(f"SET synchronous_commit TO {'on' if wanted else 'off'}")
            self.synced = wanted

    def transact(self, work: Callable[["Backend"], T]) -> T:
        """Do something, all or nothing."""
        self.execute("BEGIN")
        try:
            result = work(self)
            self.execute("COMMIT")
        except BaseException:
            if not self.lost:
                self.execute("ROLLBACK")
            raise
        return result


class Line:
    """The way to the server, for one use at a time."""

    def __init__(self, url: str, patience: float) -> None:
        self.url = url
        self.prepare: Callable[[Backend], None] = lambda _: None  # done with each new connection
        self.lock = threading.RLock()
        self._patience = patience
        self._session: Backend | None = None
        self._closed = False

    def run(
        self, work: Callable[[Backend], T], known: Callable[[Backend], T | None] | None = None
    ) -> T:
        """Do something, waiting for a server that has gone away to come back."""
        with self.lock:
            until, pause, begun = 0.0, 0.02, False
            while True:
                try:
                    session = self._opened()
                    if begun and known and (done := known(session)) is not None:
                        return done
                    begun = True
                    return work(session)
                except FAULTS as error:
                    if not self._passing(error, begun):
                        raise self._problem(error) from error
                    now = time.monotonic()
                    until = until or now + self._patience
                    if now > until:
                        raise gone(self.url, self._patience, error) from error
                    time.sleep(pause)
                    pause = min(pause * 2, _LONGEST_PAUSE)

    def attempt(self, work: Callable[[Backend], object]) -> None:
        """Do something if it can be done now; nobody cares if not."""
        if not self.lock.acquire(timeout=0.1):
            return
        try:
            if self._session is not None and not self._session.lost:
                work(self._session)
        except FAULTS:
            pass
        finally:
            self.lock.release()

    def close(self) -> None:
        """Let go of the server."""
        with self.lock:
            self._closed = True
            if self._session is not None:
                self._session.connection.close()

    def _opened(self) -> Backend:
        if self._session is None or (self._session.lost and not self._closed):
            self._session = Backend(connect(self.url))
            try:
                self.prepare(self._session)
            except BaseException:
                self._session.connection.close()
                raise
        return self._session

    def _passing(self, error: Exception, begun: bool) -> bool:
        """Whether it may be better in a moment."""
        if self._closed:
            return False
        if isinstance(error, _PASSING) or re.search("starting up|shutting down", str(error)):
            return True
        calling = self._session is None or self._session.lost
        # A server that has answered before is waited for; one that never did is a wrong address.
        known = begun or self._session is not None
        return known and calling and not re.search(LASTING, str(error))

    def _problem(self, error: Exception) -> Exception:
        state = getattr(error, "sqlstate", None)
        opening = self._session is None and isinstance(error, psycopg.OperationalError)
        return unopened(self.url, error) if opening else refused(self.url, error, state)
