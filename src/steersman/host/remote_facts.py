"""What a server says of its threads, before anyone here believes it: it may be someone else's.

Titles and texts are shown as those of any model; names are printed as they are, so they are plain.
"""

import re
from collections.abc import AsyncIterator
from datetime import UTC
from typing import TypeVar

from msgspec import UNSET, MsgspecError

from steersman.records.clock import local
from steersman.records.errors import SteersmanError
from steersman.records.thread import Activity, Process, Thread, ThreadState, Waiting
from steersman.records.thread_facts import ThreadFacts

LONGEST = 500
_ID = re.compile(r"[0-9a-z]{1,64}")
T = TypeVar("T")


class NotUnderstood(SteersmanError):
    """A server says what none of ours would."""

    def __init__(self) -> None:
        super().__init__(
            "The server's answer cannot be understood.",
            "It has another version of Steersman, or another program is at this address.",
        )


def apart(facts: ThreadFacts) -> tuple[Thread, ThreadState]:
    """A thread's record and what it does, of what programs get as one."""
    first = facts.waiting_for
    asked = [] if first is UNSET else [Waiting(first.corr, first.kind, first.what)]
    waiting = (*asked, *(facts.also_waiting_for or ()))
    queued = tuple(facts.queued or ())
    owner = facts.process
    process = None if owner is UNSET else Process("", owner.machine, owner.pid)
    ending, since = facts.result or "", facts.since or ""
    for name in (ending, since, process.machine if process else "", *queued):
        plain(name)
    for one in waiting:
        plain(one.corr)
    if not all(_ID.fullmatch(one) for one in (facts.id, facts.parent) if one is not None):
        raise NotUnderstood
    thread = Thread(
        facts.id,
        facts.title,
        facts.workspace,
        facts.origin,
        local(facts.created, UTC),
        local(facts.updated, UTC),
        facts.parent,
        facts.parent_seq,
        facts.messages,
    )
    doing = Activity(facts.turn or 0, facts.step or 0, since, waiting, queued, ending)
    return thread, ThreadState(facts.state, process, doing)


def further(after: int, seq: int) -> int:
    """The number of the last message of a page, which is after the page before."""
    if seq <= after:
        raise NotUnderstood
    return seq


async def understood(items: AsyncIterator[T]) -> AsyncIterator[T]:
    """What a stream brings, as far as it can be understood."""
    try:
        async for item in items:
            yield item
    except (MsgspecError, ValueError, LookupError, TypeError, RecursionError) as error:
        raise NotUnderstood from error


def plain(name: str) -> str:
    """A name that can be printed."""
    if not name.isprintable() or len(name) > LONGEST:
        raise NotUnderstood
    return name
