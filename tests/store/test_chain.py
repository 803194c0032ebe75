"""A log that was altered says so, and says where."""

import random
import sqlite3
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steersman.records.errors import StorageProblem
from steersman.records.thread import Thread
from steersman.store.chain import GENESIS, flaws
from steersman.store.contract import RawRow, Row
from steersman.store.sqlite import SqliteStore
from tests.store.made import a_thread, chained, raw, some_rows

replace = msgspec.structs.replace
words = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
contents = st.tuples(st.integers(0, 9), words, words, st.none() | words, st.binary(max_size=9))
FIELDS = ("time", "turn", "kind", "path", "corr", "body", "hash")


class Log(msgspec.Struct, frozen=True):
    """A thread and its messages as they are on disk."""

    thread: Thread
    rows: list[RawRow]

    def seqs(self) -> list[int]:
        """Where the log says it is flawed."""
        return [flaw.seq for flaw in flaws(self.thread, self.rows)]


@st.composite
def logs(draw: st.DrawFn, least: int = 1) -> Log:
    """An unaltered log."""
    drawn = draw(st.lists(contents, min_size=least, max_size=8))
    bare = [
        Row(seq, "2026-01-02", turn, kind, path, corr, body, b"")
        for seq, (turn, kind, path, corr, body) in enumerate(drawn, 1)
    ]
    rows = list(chained(bare))
    head_hash = rows[-1].hash if rows else GENESIS
    return Log(a_thread(head=len(rows), head_hash=head_hash), [raw(row) for row in rows])


def altered(row: RawRow, field: str, data: st.DataObject) -> RawRow:
    """The row with another value in one field."""
    value = getattr(row, field)
    values = st.binary(max_size=9) | st.none() if field == "corr" else st.binary(max_size=9)
    if value:
        place = st.integers(0, len(value) - 1)
        values |= place.map(lambda at: value[:at] + bytes([value[at] ^ 1]) + value[at + 1 :])
    return replace(row, **{field: data.draw(values.filter(lambda other: other != value))})


@given(logs(least=0))
def test_an_unaltered_log_has_no_flaw(log):
    assert log.seqs() == []


@given(logs(), st.sampled_from(FIELDS), st.data())
def test_any_changed_field_is_found_and_only_its_message_is_named(log, field, data):
    at = data.draw(st.integers(0, len(log.rows) - 1))
    log.rows[at] = altered(log.rows[at], field, data)
    assert set(log.seqs()) == {at + 1}


@given(logs(least=2), st.data())
def test_two_changed_messages_are_both_named(log, data):
    first, second = sorted(data.draw(st.permutations(range(len(log.rows))))[:2])
    for at in (first, second):
        log.rows[at] = altered(log.rows[at], "body", data)
    assert log.seqs() == [first + 1, second + 1]


@given(logs(), st.data())
def test_any_missing_message_is_named(log, data):
    at = data.draw(st.integers(0, len(log.rows) - 1))
    del log.rows[at]
    assert log.seqs() == [at + 1]


@given(logs(least=2), st.data())
def test_missing_messages_are_named_by_the_first_of_them(log, data):
    first = data.draw(st.integers(0, len(log.rows) - 1))
    last = data.draw(st.integers(first, len(log.rows) - 1))
    del log.rows[first : last + 1]
    (flaw,) = flaws(log.thread, log.rows)
    assert flaw.seq == first + 1
    assert str(last + 1) in flaw.what


@given(logs(), st.data())
def test_a_message_that_is_there_twice_is_named(log, data):
    at = data.draw(st.integers(0, len(log.rows) - 1))
    log.rows.insert(at, log.rows[at])
    assert set(log.seqs()) == {at + 1}


@given(logs(least=2), st.data())
def test_exchanged_messages_are_named(log, data):
    at = data.draw(st.integers(0, len(log.rows) - 2))
    log.rows[at : at + 2] = log.rows[at : at + 2][::-1]
    assert log.seqs()
    assert set(log.seqs()) <= {at + 1, at + 2}


@given(logs(least=2), st.data())
def test_exchanged_contents_are_named(log, data):
    first, second = data.draw(st.permutations(range(len(log.rows))))[:2]
    one, other = log.rows[first], log.rows[second]
    log.rows[first] = replace(other, seq=one.seq)
    log.rows[second] = replace(one, seq=other.seq)
    # Where content and hash are both wrong, the message after it cannot be proven either.
    assert (
        {one.seq, other.seq}
        <= set(log.seqs())
        <= {seq + more for seq in (one.seq, other.seq) for more in (0, 1)}
    )


@given(logs(), st.integers(-3, 0))
def test_a_message_put_before_the_first_is_named(log, seq):
    log.rows.insert(0, replace(log.rows[0], seq=seq))
    assert set(log.seqs()) == {seq}


@given(logs(), st.binary(min_size=32, max_size=32))
def test_a_message_added_at_the_end_is_named(log, made_up):
    head = log.thread.head
    log.rows.append(replace(log.rows[-1], seq=head + 1, hash=made_up))
    assert set(log.seqs()) == {head + 1}


@given(logs(), st.binary(min_size=32, max_size=32))
def test_a_changed_head_is_found(log, made_up):
    other = Log(replace(log.thread, head_hash=made_up), log.rows)
    assert other.seqs() == ([] if made_up == log.thread.head_hash else [log.thread.head])
    assert Log(replace(log.thread, head=log.thread.head + 1), log.rows).seqs()
    assert Log(replace(log.thread, head=log.thread.head - 1), log.rows).seqs()


class Counted(bytes):
    """Bytes that count how often their length was asked for, as hashing them does."""

    looks = 0

    def __len__(self) -> int:
        Counted.looks += 1
        return super().__len__()


@pytest.mark.parametrize("spoilt", [(), (0,), (3, 4, 5), range(60)], ids=str)
def test_the_work_of_verifying_grows_with_the_log_and_not_with_its_square(spoilt):
    rows = [replace(raw(row), path=Counted(row.path.encode())) for row in some_rows(300)]
    thread = a_thread(head=300, head_hash=rows[-1].hash)
    for at in spoilt:
        rows[at] = replace(rows[at], hash=bytes(32))
    Counted.looks = 0
    found = list(flaws(thread, rows))
    assert len(found) >= len(spoilt)
    assert Counted.looks <= 5 * len(rows)


# In the database itself

SPOILING: list[tuple[str, set[int]]] = [
    ("UPDATE messages SET time = '2026-01-01T00:00:00.000+00:00' WHERE seq = 3", {3}),
    ("UPDATE messages SET turn = turn + 1 WHERE seq = 4", {4}),
    ("UPDATE messages SET kind = 'assistant' WHERE seq = 5", {5}),
    ("UPDATE messages SET path = path || '/x' WHERE seq = 6", {6}),
    ("UPDATE messages SET corr = NULL WHERE seq = 7", {7}),
    ("UPDATE messages SET corr = '' WHERE seq = 9", {9}),
    ('UPDATE messages SET body = CAST(\'{"text":"no"}\' AS BLOB) WHERE seq = 8', {8}),
    ("UPDATE messages SET hash = zeroblob(32) WHERE seq = 2", {2}),
    ("UPDATE messages SET hash = x'' WHERE seq = 10", {10}),
    ("DELETE FROM messages WHERE seq = 1", {1}),
    ("DELETE FROM messages WHERE seq >= 9", {9}),
    ("DELETE FROM messages", {1}),
    ("UPDATE messages SET seq = 99 WHERE seq = 5", {5, 11}),
    ("UPDATE messages SET seq = 'x' WHERE seq = 5", {5, 11}),
    ("UPDATE messages SET turn = 'x' WHERE seq = 5", {5}),
    ("UPDATE messages SET turn = 1.5 WHERE seq = 5", {5}),
    ("UPDATE messages SET time = x'ff' WHERE seq = 5", {5}),
    ("UPDATE messages SET kind = CAST(x'ff00' AS TEXT) WHERE seq = 5", {5}),
    (
        "INSERT INTO messages (thread, seq, time, turn, kind, path, corr, body, hash) "
        "SELECT thread, 11, time, turn, kind, path, corr, body, hash FROM messages WHERE seq = 10",
        {11},
    ),
    ("UPDATE threads SET head = 9", {10}),
    ("UPDATE threads SET head = 11", {11}),
    ("UPDATE threads SET head_hash = zeroblob(32)", {10}),
    ("UPDATE threads SET updated = 'yesterday'", set()),
]


@pytest.mark.parametrize(("statement", "seqs"), SPOILING, ids=[text for text, _ in SPOILING])
def test_whatever_is_done_to_the_database_is_told_as_a_flaw_or_in_a_sentence(
    tmp_path, statement, seqs
):
    store = SqliteStore(tmp_path)
    store.create_thread(a_thread())
    store.append(a_thread().id, some_rows(10), sync=True)
    outside = sqlite3.connect(tmp_path / "steersman.db")
    with outside:
        outside.execute(statement)
    outside.close()
    try:
        found = {flaw.seq for flaw in _verify(store)}
    except StorageProblem:
        found = seqs  # refused in a sentence
    assert found == seqs
    store.close()


def test_any_changed_byte_of_the_file_is_found_or_refused_or_harmless(tmp_path):
    store = SqliteStore(tmp_path / "whole")
    store.create_thread(a_thread())
    rows = some_rows(40)
    store.append(a_thread().id, rows, sync=True)
    store.close()
    whole = (tmp_path / "whole" / "steersman.db").read_bytes()
    places = [whole.index(row.body) + 3 for row in rows]
    chance = random.Random(7)
    spoilt = tmp_path / "spoilt"
    spoilt.mkdir()
    for at in [*places, *(chance.randrange(100, len(whole)) for _ in range(300))]:
        for leftover in spoilt.iterdir():
            leftover.unlink()
        changed = whole[at] ^ (1 << chance.randrange(8))
        (spoilt / "steersman.db").write_bytes(whole[:at] + bytes([changed]) + whole[at + 1 :])
        try:
            store = SqliteStore(spoilt)
            found = _verify(store)
            messages = list(store.read(a_thread().id))
            store.close()
        except StorageProblem:
            assert at not in places
            continue
        if at in places:
            assert [flaw.seq for flaw in found] == [places.index(at) + 1]
        elif not found:
            assert messages == rows


def _verify(store: SqliteStore) -> list[Any]:
    thread = next(iter(store.threads()), None)
    return list(flaws(thread, store.read_raw(thread.id))) if thread else []
