"""What a thread is doing, as anybody who lists threads reads it."""

import pytest

from steersman.records.action import Execute, Write
from steersman.records.clock import now
from steersman.records.message import ConfirmRequest, Message
from steersman.records.thread import Activity
from steersman.store.activity import LONGEST, after
from steersman.store.sql_inbox import _request
from steersman.store.sql_leases import activity_of

ONE = Execute("make\n  rm -rf /", "/srv")


@pytest.mark.parametrize(
    ("actions", "shown"),
    [
        ((ONE,), "run `make ⏎ rm -rf /`"),
        ((ONE, Write("a.py", before="", after="1")), "run `make ⏎ rm -rf /`; create `a.py`"),
        ((Execute("echo " + "x" * 300, "/"),), "run `echo " + "x" * 74 + "…`"),
        ((), "it leaves"),
    ],
    ids=["lines", "several", "long", "nothing named"],
)
def test_what_waits_is_one_line_that_hides_nothing(actions, shown):
    request = ConfirmRequest("call_1", "workspace_run_command", actions, "it leaves")
    asked = Message("t", 1, now(), 1, request.kind, "steersman", "ask_1", request)

    (waiting,) = after(Activity(turn=1), asked).waiting

    assert waiting.what == shown
    assert len(waiting.what) <= LONGEST


@pytest.mark.parametrize(
    "stored",
    [b"", b"{", b"[]", b'{"turn": "x"}', b"[" * 100_000, b'{"waiting":' + b"[" * 100_000],
)
def test_what_was_altered_from_outside_stops_nobody(stored):
    assert activity_of(stored) == Activity()
    taken = _request("req_1", "t", "somebody", "no time", None, stored, None)
    assert type(taken.body).__name__ == "Unreadable"
