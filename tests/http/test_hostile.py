"""`--connect` to a server that is hostile: it draws nothing on the terminal, and breaks nothing."""

import re
from pathlib import Path
from typing import Any

import pytest

from steersman.client.connecting import LARGEST, Whole
from steersman.records.errors import SteersmanError
from tests.http.hostile import ESCAPE, FACTS, answering, event, message
from tests.world import Steer

UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]")
RUNS = {**FACTS, "state": "running", "turn": 1, "step": 1, "process": {"machine": "m", "pid": 3}}
ASKED = {"corr": "c1", "kind": "permission", "what": f"run {ESCAPE}"}
NOT_UNDERSTOOD = "The server's answer cannot be understood."


@pytest.fixture
def far(environ: dict[str, str], tmp_path: Path) -> Steer:
    """The command line of someone who connects."""
    return Steer({**environ, "STEERSMAN_TOKEN": "x" * 20}, tmp_path)


def said(far: Steer, facts: dict[str, Any], /, *words: str, **more: Any) -> str:
    """All that a command prints about a thread of the server; it is safe, and no bug is reported.

    `more` are answers by the end of their path.
    """
    answers = {
        "/threads": {"threads": [facts], "more": False},
        "/messages": {"messages": [], "head": 0},
        **{f"/{name}": answer for name, answer in more.items()},
        "": facts,
    }
    with answering(answers) as url:
        done = far(*words, "--connect", url)
    printed = done.stdout + done.stderr
    assert not UNSAFE.search(printed)
    assert "has a bug" not in printed
    return printed


@pytest.mark.parametrize("name", ["id", "parent", "result", "since"])
def test_names_with_escapes_are_not_printed(far: Steer, name: str) -> None:
    facts = {**RUNS, name: f"abc{ESCAPE}"}
    assert NOT_UNDERSTOOD in said(far, facts, "threads", "list")


@pytest.mark.parametrize("words", [("threads", "list"), ("wait", "abc", "--timeout", "0.1")])
def test_what_a_thread_asks_is_shown_as_text(far: Steer, words: tuple[str, ...]) -> None:
    facts = {**RUNS, "state": "waiting", "title": ESCAPE, "workspace": ESCAPE, "waiting_for": ASKED}
    assert "run \\x1b" in said(far, facts, *words)


def test_the_name_of_what_was_said_is_plain(far: Steer) -> None:
    assert NOT_UNDERSTOOD in said(far, RUNS, "tell", "abc", "Hello.", steer={"corr": ESCAPE})


@pytest.mark.parametrize("day", ["9999-12-31T23:59:59-12:00", "0001-01-01T00:00:00"])
def test_any_day_can_be_shown(far: Steer, day: str) -> None:
    facts = {**FACTS, "created": day, "updated": day}
    told = {**message(1, "assistant", text="Hello."), "time": day}
    shown = said(far, facts, "threads", "show", "abc", messages={"messages": [told], "head": 1})
    assert "Hello." in shown


@pytest.mark.parametrize(
    "stream",
    [
        b"id: 9\nevent: message\ndata: {\n\n",
        b"id: 9\nevent: message\n\n",
        b"id: 9\nevent: message\ndata: " + b"[" * 100_000 + b"\n\n",
        event(None),
        event({"seq": "x"}),
        event({**message(1, "turn_end"), "body": {"ending": "never"}}),
    ],
)
def test_a_stream_of_nonsense_ends_with_a_sentence(far: Steer, stream: bytes) -> None:
    assert NOT_UNDERSTOOD in said(far, RUNS, "wait", "abc", events=stream)


def test_a_thread_that_only_runs_is_waited_for_in_vain(far: Steer) -> None:
    assert "is still running" in said(far, RUNS, "wait", "abc", "--timeout", "0.1", events=b"")


def test_lists_without_end_come_to_one(far: Steer) -> None:
    same = {"messages": [message(1, "user", text="Hello.")] * 500, "head": 1}
    assert NOT_UNDERSTOOD in said(far, FACTS, "threads", "show", "abc", messages=same)
    more = {"threads": [FACTS] * 500, "more": True}
    with answering({"/threads": more}) as url:
        assert NOT_UNDERSTOOD in far("threads", "list", "--connect", url).stderr


def test_an_event_that_does_not_end_is_given_up(far: Steer) -> None:
    endless = b"id: 9\nevent: message\ndata: " + b"x" * ((16 << 20) + 1)
    assert "The server's answer is too long." in said(far, RUNS, "attach", "abc", events=endless)


def test_an_answer_is_no_longer_than_any_of_ours() -> None:
    whole = Whole()
    whole.add(b"x" * LARGEST)
    with pytest.raises(SteersmanError, match="too long"):
        whole.add(b"x")
