"""What the stores in SQL databases have in common below their tables: statements and moments.

One set of statements, written with `?`, serves both dialects; a store says how it runs them.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import datetime
from typing import Any, Protocol, TypeVar

from steersman.records.thread import Process

T = TypeVar("T")
PAGE = 2000


class Found(Protocol):
    """What a statement gave."""

    @property
    def rowcount(self) -> int:
        """How many rows it changed."""
        ...

    def fetchone(self) -> Any:
        """One row, or None."""
        ...

    def fetchall(self) -> list[Any]:
        """All rows."""
        ...


class Database(Protocol):
    """A connection as the statements below see it."""

    def execute(self, sql: str, values: Sequence[Any] = ..., /) -> Found:
        """Run one statement."""
        ...

    def executemany(self, sql: str, values: Iterable[Sequence[Any]], /) -> Any:
        """Run one statement for each of several rows."""
        ...


Work = Callable[[Database], T]


class Tables(ABC):
    """Statements run in transactions, and the few words in which the dialects differ."""

    process: Process
    shared: bool
    among: str  # “is one of a list that is given as one value”
    held: str  # “this lease is held”, in the statement that moves a thread's head
    placing: str  # “messages are about to get positions”, at the end of the same statement
    raw: str  # the columns of a message as the bytes on disk

    @abstractmethod
    def _read(self, work: Work[T]) -> T:
        """Look something up."""

    @abstractmethod
    def _write(
        self,
        work: Work[T],
        *,
        sync: bool = True,
        thread: str = "",
        known: Work[T | None] = lambda db: None,
    ) -> T:
        """Change something, all or nothing, and let others know when it concerns a thread.

        `known` recognises work that was done although nobody could say so: it looks whether a
        transaction whose end is unknown took place, and what it gave.
        """

    @abstractmethod
    def _values(self, values: Collection[str]) -> Any:
        """A list as one value of a statement."""

    @abstractmethod
    def _clock(self, db: Database) -> float:
        """Seconds by the clock that all users of this store share."""

    @abstractmethod
    def _wall(self, db: Database) -> datetime:
        """The time of day by the same."""

    @abstractmethod
    def _exclude(self, db: Database, name: str) -> None:
        """Let nobody else decide about a lease until this transaction ends."""

    @abstractmethod
    def _insert_lease(self, db: Database, name: str, ttl: float) -> int:
        """Write a lease down; the answer is its fence."""

    @abstractmethod
    def _beats(self, process: str, place: str) -> bool:
        """Whether a process that was heard of lately may still live, as far as one can tell."""
