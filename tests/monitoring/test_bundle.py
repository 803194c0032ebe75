"""A thread as a file: whole, or refused with nothing stored."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest

from steersman.host.pruning import prune
from steersman.monitoring.bundle import export_lines, import_lines
from steersman.records.errors import SteersmanError, UsageProblem
from steersman.records.thread import Thread
from steersman.store.chain import GENESIS, flaws, link_row
from steersman.store.contract import Row, Store
from steersman.store.sqlite import SqliteStore
from tests.store.contract import everything
from tests.store.made import a_thread, some_rows


@pytest.fixture
def here(tmp_path) -> Iterator[Store]:
    """A store with one thread in it."""
    store = SqliteStore(tmp_path / "here")
    store.create_thread(a_thread(title="“Mend” it", parent="aaaa", parent_seq=3, origin="import"))
    store.append(a_thread().id, some_rows(30), sync=True)
    yield store
    store.close()


@pytest.fixture
def there(tmp_path) -> Iterator[Store]:
    """An empty store."""
    store = SqliteStore(tmp_path / "there")
    yield store
    store.close()


def lines_of(store: Store) -> list[bytes]:
    """The file of the one thread of a store."""
    (thread,) = store.threads()
    return list(export_lines(thread, store.read(thread.id), store.blob))


def test_what_was_exported_is_imported_as_it_was(here, there):
    imported = import_lines(there, lines_of(here))
    assert there.thread(imported.id) == here.thread(imported.id)
    assert everything(there) == everything(here)
    assert list(flaws(there.thread(imported.id), there.read_raw(imported.id))) == []
    assert lines_of(there) == lines_of(here)


def test_a_thread_without_messages_is_a_file_too(there, tmp_path):
    empty = SqliteStore(tmp_path / "empty")
    empty.create_thread(a_thread(origin="import"))
    import_lines(there, lines_of(empty))
    assert everything(there) == everything(empty)


def test_every_line_is_json_and_the_first_tells_what_it_is(here):
    header, *entries = map(json.loads, lines_of(here))
    assert header["steersman_thread"] == 1
    assert header["thread"]["id"] == a_thread().id
    assert [entry["seq"] for entry in entries] == list(range(1, 31))
    assert entries[0]["body"] == {"text": "nº 1"}


def test_a_thread_that_is_already_here_is_not_replaced(here):
    before = everything(here)
    with pytest.raises(UsageProblem, match="already here"):
        import_lines(here, lines_of(here))
    assert everything(here) == before


def changed(line: bytes, **fields: Any) -> bytes:
    """A line with other values in it."""
    return json.dumps(json.loads(line) | fields).encode()


def header(line: bytes, **fields: Any) -> bytes:
    """A first line that tells something else of the thread."""
    found = json.loads(line)
    return json.dumps(found | {"thread": found["thread"] | fields}).encode()


Spoil = Callable[[list[bytes]], list[bytes]]
SPOILT: dict[str, Spoil] = {
    "nothing": lambda lines: [],
    "no-header": lambda lines: lines[1:],
    "no-json": lambda lines: [b"PK\x03\x04"],
    "not-utf-8": lambda lines: [lines[0], b'{"seq": 1, "time": "\xff"}'],
    "too-deep": lambda lines: [lines[0], b'{"seq":' + b"[" * 200_000],
    "other-format": lambda lines: [changed(lines[0], steersman_thread=2), *lines[1:]],
    "more-in-the-header": lambda lines: [changed(lines[0], more=1), *lines[1:]],
    "altered": lambda lines: [*lines[:5], changed(lines[5], body={"text": "no"}), *lines[6:]],
    "altered-kind": lambda lines: [*lines[:5], changed(lines[5], kind="error"), *lines[6:]],
    "altered-hash": lambda lines: [*lines[:5], changed(lines[5], hash="AAAA"), *lines[6:]],
    "missing": lambda lines: [*lines[:5], *lines[6:]],
    "missing-end": lambda lines: lines[:-1],
    "twice": lambda lines: [*lines, lines[-1]],
    "reordered": lambda lines: [*lines[:5], lines[6], lines[5], *lines[7:]],
    "field-missing": lambda lines: [lines[0], b'{"seq": 1}', *lines[2:]],
    "head-too-small": lambda lines: [header(lines[0], head=29), *lines[1:]],
    "head-too-large": lambda lines: [header(lines[0], head=31), *lines[1:]],
    "other-head": lambda lines: [header(lines[0], head_hash="AAAA"), *lines[1:]],
    "id-empty": lambda lines: [header(lines[0], id=""), *lines[1:]],
    "id-a-path": lambda lines: [header(lines[0], id="../../escape"), *lines[1:]],
    "id-absolute": lambda lines: [header(lines[0], id="/etc/escape"), *lines[1:]],
    "id-with-a-newline": lambda lines: [header(lines[0], id="abc\n"), *lines[1:]],
}


@pytest.mark.parametrize("spoil", SPOILT.values(), ids=SPOILT)
def test_a_file_that_is_not_whole_is_refused_and_nothing_is_stored(here, there, spoil):
    with pytest.raises(UsageProblem) as refusal:
        import_lines(there, spoil(lines_of(here)))
    assert refusal.value.what
    assert everything(there) == []


# Files that are made to harm: every hash is right


def forged(**fields: Any) -> list[bytes]:
    """A file of two messages, rightly chained, one of which has something odd in it."""
    plain = {"seq": 1, "time": "2026-01-02T03:04:05.678+00:00", "turn": 0, "kind": "user",
             "path": "steersman", "corr": None, "body": b'{"text":"x"}', "hash": b""}  # fmt: skip
    rows = [Row(**plain), Row(**{**plain, "seq": 2, **fields})]
    previous, chained = GENESIS, []
    for row in rows:
        previous = link_row(previous, row)
        chained.append(msgspec.structs.replace(row, hash=previous))
    thread = a_thread("forged", head=2, head_hash=previous)
    return list(export_lines(thread, chained, lambda digest: None))


FORGED: dict[str, dict[str, Any]] = {
    "a-gap": {"seq": 3},
    "the-same-number": {"seq": 1},
    "a-number-too-large": {"seq": 2**70},
    "a-turn-too-large": {"turn": 2**70},
    "no-time": {"time": "yesterday"},
    "empty-time": {"time": ""},
}


@pytest.mark.parametrize("fields", FORGED.values(), ids=FORGED)
def test_a_forged_file_is_refused_in_a_sentence_and_leaves_no_trace(there, fields):
    with pytest.raises(SteersmanError):
        import_lines(there, forged(**fields))
    assert there.threads() == []


def test_what_a_forged_file_may_say_is_stored_and_harms_no_other_thread(there):
    """An unknown kind is kept; who reads the thread is told what cannot be read."""
    import_lines(there, forged(kind="from_the_future"))
    there.create_thread(a_thread())
    assert {thread.id for thread in there.threads()} == {"forged", a_thread().id}


def test_a_store_that_fails_half_way_keeps_no_half_thread(here, there, monkeypatch):
    def fails(*args: Any, **kwargs: Any) -> None:
        raise UsageProblem("There is no room left to write the log.")

    monkeypatch.setattr(there, "append", fails)
    with pytest.raises(UsageProblem):
        import_lines(there, lines_of(here))
    assert there.threads() == []


def test_images_survive_a_gc_that_runs_before_the_messages_are_there(here, tmp_path):
    """Until the messages name them, images belong to no thread: they are put there again."""
    (thread,) = here.threads()
    digest = here.put_blob(b"a picture")
    body = f'{{"text":"look","images":[{{"media":"image/png","digest":"{digest}"}}]}}'.encode()
    (last,) = list(here.read(thread.id))[-1:]
    row = msgspec.structs.replace(some_rows(1, last)[0], kind="user", body=body)
    here.append(thread.id, [msgspec.structs.replace(row, hash=link_row(last.hash, row))], sync=True)

    class Collected(SqliteStore):
        """A store in which someone else runs `steer store gc` as the thread comes in."""

        def create_thread(self, thread: Thread) -> None:
            assert prune(self, str(tmp_path / "objects")).contents == 1
            super().create_thread(thread)

    store = Collected(tmp_path / "collected")
    import_lines(store, lines_of(here))
    assert store.blob(digest) == b"a picture"
    store.close()
