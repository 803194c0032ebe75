"""What is found out on the disk for a decision, where that disk is another machine's.

A decision about files asks three things of the disk; while someone is `looking` elsewhere, they are
asked there. Everything else in a decision is the same.
"""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol, TypeVar

from steersman.records.action import Delete, Write
from steersman.records.judgement import CommandPlace, Judgement

T = TypeVar("T")


class FarDisk(Protocol):
    """A disk that is not here."""

    def aside(self, work: Callable[[], T]) -> Awaitable[T]:
        """Do what waits for that disk where nothing else has to wait with it."""
        ...

    def protected(self, action: Write | Delete, workspace: str) -> str:
        """What file it is that needs approval in any case; empty when it does not."""
        ...

    def named(self, arguments: Any, workspace: str, home: str) -> Sequence[str]:
        """Every text in arguments as a path, and where that leads."""
        ...

    def grounded(
        self, judgement: Judgement, place: CommandPlace, lines: str, *, shared: bool, outside: bool
    ) -> Judgement:
        """A judgement whose facts name what is really reached; `lines` say what is secret."""
        ...


_there: ContextVar[FarDisk | None] = ContextVar("far_disk", default=None)


def far_disk() -> FarDisk | None:
    """The other disk, where a decision is about one."""
    return _there.get()


@contextmanager
def looking(there: FarDisk | None) -> Iterator[None]:
    """Decide about files of another disk."""
    before = _there.set(there)
    try:
        yield
    finally:
        _there.reset(before)
