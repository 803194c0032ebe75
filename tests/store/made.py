"""Threads and rows as a store gets them, made up for tests."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from steersman.records.thread import Thread
from steersman.store.chain import GENESIS, link_row
from steersman.store.contract import RawRow, Row, stamp

START = datetime(2026, 1, 2, 3, 4, 5, 678000, tzinfo=UTC)


def a_thread(thread_id: str = "k3n5p7q9rs", *, minutes: int = 0, **fields: Any) -> Thread:
    """A thread as a store gives it back when it is new."""
    time = START + timedelta(minutes=minutes)
    plain = {"title": "Mend it", "workspace": "/srv/app", "origin": "run", "head_hash": GENESIS}
    return Thread(id=thread_id, created=time, updated=time, **{**plain, **fields})


def chained(rows: Sequence[Row], previous: bytes = GENESIS) -> Iterator[Row]:
    """The same rows with the hashes they should have."""
    for row in rows:
        previous = link_row(previous, row)
        yield msgspec.structs.replace(row, hash=previous)


def some_rows(count: int, after: Row | None = None, *, minutes: int = 0) -> list[Row]:
    """Rows of many kinds that follow one another."""
    first = after.seq + 1 if after else 1
    kinds = ("user", "assistant", "tool_call", "tool_result", "steer")
    bare = [
        Row(
            seq=seq,
            time=stamp(START + timedelta(minutes=minutes, milliseconds=seq)),
            turn=seq // 10,
            kind=kinds[seq % len(kinds)],
            path="steersman/intelligence",
            corr=f"call_{seq}" if seq % 3 else None,
            body=f'{{"text":"nº {seq}"}}'.encode(),
            hash=b"",
        )
        for seq in range(first, first + count)
    ]
    return list(chained(bare, after.hash if after else GENESIS))


def raw(row: Row) -> RawRow:
    """A row as the bytes a store should have on disk."""
    return RawRow(
        row.seq, row.time.encode(), str(row.turn).encode(), row.kind.encode(), row.path.encode(),
        None if row.corr is None else row.corr.encode(), row.body, row.hash,
    )  # fmt: skip
