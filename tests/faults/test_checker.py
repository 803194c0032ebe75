"""The checker by itself: a sound round passes, and each thing that can be wrong is named."""

from datetime import UTC, datetime

import pytest
from msgspec.structs import replace

from steersman.records.action import Execute, Verdict
from steersman.records.message import (
    ConfirmRequest,
    ConfirmResponse,
    Message,
    Policy,
    RequestReceipt,
    SessionEnd,
    SessionStart,
    Steer,
    ToolCall,
    ToolResult,
    TurnEnd,
    TurnStart,
    User,
)
from tests.faults.checker import Evidence, RequestRow, Written, violations
from tests.faults.sender import Note

TIME = datetime(2026, 1, 1, tzinfo=UTC)
RUN = "workspace_run_command"
ACTION = Execute("true", "/", {})


def story(*bodies):
    """A log of these bodies, each with its `corr`."""
    return tuple(
        Message("t", seq, TIME, 1, body.kind, "steersman", corr, body)
        for seq, (body, corr) in enumerate(bodies, 1)
    )


def taken(what, outcome="taken"):
    """A receipt."""
    return RequestReceipt(what, "somebody", outcome)


SOUND = Evidence(
    messages=story(
        (SessionStart("1", "/", "m", "code", "sandboxed", "never"), None),
        (taken("send"), "req_1"),
        (TurnStart(), None),
        (User("hello"), None),
        (ToolCall(RUN, {}), "call_1"),
        (Policy(ACTION, Verdict("ask", "rule", "why")), "call_1"),
        (ConfirmRequest("call_1", RUN, (ACTION,), "why"), "ask_1"),
        (taken("permit"), "req_2"),
        (ConfirmResponse("allow", "please"), "ask_1"),
        (taken("queue"), "req_3"),
        (Steer("queued", "queue", "later"), "in_1"),
        (ToolResult(RUN, "ok"), "call_1"),
        (TurnEnd("done"), None),
        (TurnStart(), None),
        (Steer("delivered", "queue"), "in_1"),
        (User("later", via="queue"), "in_1"),
        (TurnEnd("done"), None),
        (SessionEnd("done"), None),
    ),
    flaws=(),
    requests=tuple(RequestRow(f"req_{n}", "taken", True) for n in (1, 2, 3)),
    written=(Written(1, 9, 1, "a"), Written(10, 18, 2, "b")),
    notes=(
        Note(0, "send", "hello", request="req_1", heard="taken"),
        Note(0, "allow", "please", about="ask_1", request="req_2", heard="taken"),
        Note(1, "queue", "later", request="req_3"),
    ),
    effects=("call_1",),
)


def changed(seq, body):
    """The log with another body in one place."""
    messages = list(SOUND.messages)
    messages[seq - 1] = replace(messages[seq - 1], body=body, kind=body.kind)
    return {"messages": tuple(messages)}


def requests(**last):
    """The requests, the last one changed."""
    return {"requests": (*SOUND.requests[:2], replace(SOUND.requests[2], **last))}


WRONG = {
    "never at rest": ({"restless": "it waits"}, "it did not come to rest: it waits"),
    "altered": ({"flaws": ("message 3",)}, "the chain is broken: message 3"),
    "open turn": (changed(17, TurnStart()), "3 turn_start, but 1 turn_end"),
    "no receipt": (
        changed(10, Steer("queued", "queue", "x")),
        "request req_3 counts as logged: True, receipts: []",
    ),
    "two receipts": (
        {"requests": SOUND.requests[:2], "messages": story(
            *((m.body, "req_1" if m.corr == "req_3" else m.corr) for m in SOUND.messages)
        )},
        "request req_1 has 2 receipts",
    ),
    "another outcome": (
        requests(outcome="refused"),
        "request req_3 is refused, its receipt says taken",
    ),
    "never taken": (
        {"requests": (*SOUND.requests, RequestRow("req_4", "", False))},
        "request req_4 was never taken",
    ),
    "lost": (
        {"notes": (*SOUND.notes, Note(2, "send", "x", request="req_9"))},
        "request req_9 (send) is lost",
    ),
    "told otherwise": (
        {"notes": (replace(SOUND.notes[0], heard="refused"), *SOUND.notes[1:])},
        "the sender of req_1 heard refused, but it is taken",
    ),
    "said twice": (
        changed(16, User("hello")),
        "the words of req_1 (send, taken) are there 2 times",
    ),
    "not delivered": (
        changed(15, Steer("queued", "queue")),
        "the words later went through ['queued', 'queued']",
    ),
    "answered twice": (
        changed(4, ConfirmResponse("allow")) | {"messages": story(
            *((ConfirmResponse("deny"), "ask_1") if m.seq == 4 else (m.body, m.corr)
              for m in SOUND.messages)
        )},
        "ask_1 was answered 2 times",
    ),
    "written after a takeover": (
        {"written": (Written(1, 9, 2, "b"), Written(10, 18, 1, "a"))},
        "message 10 was written under fence 1 after 2",
    ),
    "one fence, two writers": (
        {"written": (Written(1, 9, 1, "a"), Written(10, 18, 1, "b"))},
        "two processes wrote under fence 1",
    ),
    "nobody wrote it": (
        {"written": (Written(1, 9, 1, "a"),)},
        "9 messages have a writer, of 18",
    ),
    "ran twice": ({"effects": ("call_1", "call_1")}, "call_1 ran 2 times"),
    "never ran": ({"effects": ()}, "call_1 is done, but ran 0 times"),
    "ran unknown": (
        {"effects": ("call_1", "call_2")},
        "call_2 ran, but the log does not know it",
    ),
    "ran although denied": (
        changed(9, ConfirmResponse("deny", "please")),
        "call_1 ran without permission",
    ),
}  # fmt: skip


def test_a_sound_round_passes():
    assert violations(SOUND) == []


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_named(name):
    change, expected = WRONG[name]
    assert expected in violations(replace(SOUND, **change))
