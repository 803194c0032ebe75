"""What was spent: every `usage` message counted once, by thread, day, model or agent.

A fork shares messages with the thread it came from, and a thread that was imported twice shares all
of them; a message is known by its hash, so what was paid once is counted once.
"""

from collections.abc import Callable, Collection, Iterable, Iterator
from datetime import datetime, tzinfo

import msgspec
from msgspec import Struct

from steersman.records.bill import Bill, Grouping
from steersman.records.clock import local
from steersman.records.message import UsageReport
from steersman.records.thread import Thread
from steersman.store.contract import Store, moment

ROOM = "intelligence"
_usage = msgspec.json.Decoder(UsageReport)


class Spent(Struct, frozen=True):
    """One request to a model, and where it was made."""

    thread: str
    time: datetime
    agent: str
    usage: UsageReport


def requests(store: Store, threads: Collection[Thread]) -> Iterator[Spent]:
    """Every request in some threads, once; shared ones belong to the oldest thread with them."""
    seen: set[bytes] = set()
    for thread in sorted(threads, key=lambda thread: (thread.created, thread.id)):
        for row in store.read(thread.id, kinds={UsageReport.kind}):
            if row.hash not in seen:
                seen.add(row.hash)
                agent = row.path.removesuffix(f"/{ROOM}")
                yield Spent(thread.id, moment(row.time), agent, _usage.decode(row.body))


def bills(spent: Iterable[Spent], by: Grouping, zone: tzinfo | None = None) -> list[Bill]:
    """A bill for each thread, day, model or agent, in the order in which they first spent."""
    found: dict[str, Bill] = {}
    named = _NAMES[by]
    for one in spent:
        name = named(one, zone)
        found[name] = found.get(name, Bill(name)) + _bill(name, one.usage)
    return list(found.values())


def total(parts: Iterable[Bill]) -> Bill:
    """One number for all."""
    return sum(parts, start=Bill("total"))


def _bill(name: str, usage: UsageReport) -> Bill:
    used = usage.input + usage.output > 0
    return Bill(
        name,
        1,
        usage.input,
        usage.cached,
        usage.output,
        usage.reasoning,
        usage.cost,
        int(used and usage.cost == 0.0),
    )


def _day(one: Spent, zone: tzinfo | None) -> str:
    return local(one.time, zone).date().isoformat()


_NAMES: dict[Grouping, Callable[[Spent, tzinfo | None], str]] = {
    "thread": lambda one, _: one.thread,
    "day": _day,
    "model": lambda one, _: one.usage.model,
    "agent": lambda one, _: one.agent,
}
