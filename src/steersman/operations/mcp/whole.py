"""Results of calls as the servers sent them, for whoever passes them on to another client.

A model gets an `Outcome`: text, and the rest described. A client that speaks the protocol itself
gets what there is. Whoever makes a call says in its own context where the result should go, so
nothing between the call and the connection has to know of it.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

Take = Callable[[Mapping[str, Any]], None]
_TAKE: ContextVar[Take | None] = ContextVar("take", default=None)


@contextmanager
def given_to(take: Take) -> Iterator[None]:
    """Results of calls that are begun in here, also by tasks, go there too."""
    token = _TAKE.set(take)
    try:
        yield
    finally:
        _TAKE.reset(token)


def hand_on(result: Mapping[str, Any]) -> None:
    """A call has ended with this."""
    take = _TAKE.get()
    if take is not None:
        take(result)
