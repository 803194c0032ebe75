"""The messages of a copied thread: those of its source up to a place, and what still holds there.

A message that was queued before the place and withdrawn after it would be queued again in the copy.
Nobody expects words to be sent that they withdrew, so the copy begins with those receipts, too.
"""

from collections.abc import Iterator
from itertools import islice

from msgspec.structs import replace

from steersman.records.message import Steer
from steersman.store.chain import link_row
from steersman.store.contract import Row, Store
from steersman.store.log import to_message

PAGE = 2000  # messages copied at a time


def copy_messages(store: Store, source: str, copy: str, until: int) -> None:
    """Give a new thread the messages of another up to one, and what is withdrawn since."""
    last: Row | None = None
    rows = store.read(source, until=until)
    while page := list(islice(rows, PAGE)):
        store.append(copy, page, sync=True)
        last = page[-1]
    if last is not None:
        store.append(copy, _chained(last, _withdrawn(store, source, until)), sync=True)


def _withdrawn(store: Store, thread: str, until: int) -> Iterator[Row]:
    """The receipts of messages that waited at a place and were withdrawn later."""
    waited = {row.corr for row in store.read(thread, until=until, kinds={"steer"})}
    for row in store.read(thread, after=until, kinds={"steer"}):
        body = to_message(thread, row).body if row.corr in waited else None
        if isinstance(body, Steer) and body.state == "withdrawn":
            yield row


def _chained(last: Row, rows: Iterator[Row]) -> list[Row]:
    """Rows as they follow another one, in no turn."""
    made = list[Row]()
    for row in rows:
        bare = replace(row, seq=last.seq + 1, turn=0, hash=b"")
        last = replace(bare, hash=link_row(last.hash, bare))
        made.append(last)
    return made
