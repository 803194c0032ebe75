"""What was spent in threads, as bills."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from steersman.monitoring.cost import bills, requests, total
from steersman.records.bill import Bill, Grouping
from steersman.records.thread import Thread

if TYPE_CHECKING:
    from steersman.host.application import Host


class Account(Struct, frozen=True):
    """Bills of one grouping, in the order in which something was first spent, and their sum."""

    by: Grouping
    bills: tuple[Bill, ...]
    total: Bill


def spent(host: "Host", threads: Sequence[Thread], *by: Grouping) -> list[Account]:
    """What models were paid for in some threads, grouped in one way after the other."""
    every = list(requests(host.store, threads))
    found = ((one, bills(every, one)) for one in by)
    return [Account(one, tuple(listed), total(listed)) for one, listed in found]
