"""A session that was cut off anywhere is closed completely, truthfully and once."""

from collections import Counter
from datetime import timedelta

import pytest
from hypothesis import given
from msgspec.structs import replace

from steersman.coordination.recovery import NOT_BEGUN, UNKNOWN, closing, jobs_ended, resumption
from steersman.operations.journal.journal import Journal
from steersman.operations.journal.objects import Objects
from steersman.records.action import Execute, Read, Verdict, Write
from steersman.records.message import (
    Assistant,
    ConfirmRequest,
    ConfirmResponse,
    JobEnd,
    Message,
    Policy,
    SessionEnd,
    SessionStart,
    ToolCall,
    ToolResult,
    TurnEnd,
    TurnStart,
)
from steersman.store.log import Draft
from steersman.threads.meanwhile import meanwhile
from steersman.views.text import words
from tests.coordination.stories import ALLOW, ASK, DENY, Story, cut_sessions, sessions, told

PAIRS = {
    "session_start": "session_end",
    "turn_start": "turn_end",
    "tool_call": "tool_result",
    "agent_spawn": "agent_done",
}


def unclosed(messages: list[Message]) -> Counter[tuple[str, str | None]]:
    """What was opened more often than it was closed, or the other way round."""
    balance: Counter[tuple[str, str | None]] = Counter()
    for message in messages:
        for opening, end in PAIRS.items():
            balance[opening, message.corr] += message.kind == opening
            balance[opening, message.corr] -= message.kind == end
    return Counter({key: number for key, number in balance.items() if number})


def closed(story: Story) -> list[Message]:
    """The messages of a cut-off story with their closing ones."""
    return told([*story, *closing(told(story))])


@given(sessions())
def test_a_session_that_ended_needs_nothing(story):
    assert unclosed(told(story)) == Counter()
    assert closing(told(story)) == []


@given(cut_sessions())
def test_a_session_that_was_cut_anywhere_is_closed_completely_and_only_once(story):
    messages = closed(story)
    assert unclosed(messages) == Counter()
    assert closing(messages) == []


@given(cut_sessions())
def test_what_was_opened_last_is_closed_first_and_in_its_own_place(story):
    opened: list[Message] = []
    for message in closed(story):
        if message.kind in PAIRS:
            opened.append(message)
            continue
        for start in [m for m in opened if PAIRS[m.kind] == message.kind]:
            if start.corr == message.corr:
                assert (message.path, message.turn) == (start.path, start.turn)
                opened.remove(start)
                if message.kind in ("turn_end", "session_end"):
                    assert not [m for m in opened if m.kind in ("tool_call", "agent_spawn")]
    assert opened == []


@given(cut_sessions())
def test_a_result_says_whether_the_call_can_have_had_an_effect(story):
    before = told(story)
    for message in closed(story)[len(before) :]:
        if isinstance(message.body, ToolResult):
            verdicts = [
                m.body.verdict.decision
                for m in before
                if isinstance(m.body, Policy) and m.corr == message.corr
            ]
            asked = {
                m.corr
                for m in before
                if isinstance(m.body, ConfirmRequest) and m.body.call == message.corr
            }
            granted = any(
                m.corr in asked and m.body.decision == "allow"
                for m in before
                if isinstance(m.body, ConfirmResponse)
            )
            begun = verdicts[-1:] == ["allow"] or granted
            assert message.body.status == "interrupted"
            assert message.body.message == (UNKNOWN if begun else NOT_BEGUN)


def a_call(*verdicts: Verdict, answer: str | None = None) -> Story:
    """A call on which some verdicts were given, and perhaps an answer, before the end came."""
    command = Execute("make", "/srv/app")
    story = [Draft(ToolCall("run"), "steersman/operations/run", 1, "call_1")]
    story += [Draft(Policy(Read("/x"), verdict), "p", 1, "call_1") for verdict in verdicts]
    if ASK in verdicts:
        story.append(Draft(ConfirmRequest("call_1", "run", (command,), "why"), "p", 1, "ask_1"))
    if answer:
        story.append(Draft(ConfirmResponse(answer), "p", 1, "ask_1"))
    return story


@pytest.mark.parametrize(
    ("verdicts", "answer", "says"),
    [
        ((), None, NOT_BEGUN),
        ((ALLOW,), None, UNKNOWN),
        ((ALLOW, ALLOW), None, UNKNOWN),
        ((ASK,), None, NOT_BEGUN),
        ((ALLOW, ASK), None, NOT_BEGUN),
        ((ASK, ALLOW), None, NOT_BEGUN),
        ((ASK,), "allow", UNKNOWN),
        ((ASK, ALLOW), "allow", UNKNOWN),
        ((ASK,), "deny", NOT_BEGUN),
        ((ASK, ALLOW), "deny", NOT_BEGUN),
        ((DENY,), None, NOT_BEGUN),
        ((ALLOW, DENY), None, NOT_BEGUN),
        ((DENY, ALLOW), None, NOT_BEGUN),
    ],
)
def test_only_a_call_that_had_leave_for_everything_may_have_begun(verdicts, answer, says):
    (result,) = closing(told(a_call(*verdicts, answer=answer)))
    assert result.body == ToolResult("run", "interrupted", message=says)
    assert (result.path, result.turn, result.corr) == ("steersman/operations/run", 1, "call_1")


def test_the_closing_words_name_no_exit_code_since_nobody_knows_it():
    start = SessionStart("1", "/srv", "m", "code", "sandboxed", "never")
    story = [Draft(start, "steersman"), Draft(TurnStart(), "steersman", 1)]
    assert [draft.body for draft in closing(told(story))] == [
        TurnEnd("interrupted"),
        SessionEnd("interrupted", reason="the process ended unexpectedly"),
    ]


def test_a_turn_that_was_cut_off_counts_the_steps_it_did():
    said = Draft(Assistant("Editing."), "steersman/intelligence", 2)
    agent = Draft(Assistant("Mine."), "steersman/operations/mate/intelligence", 2)
    story = [Draft(TurnStart(), "steersman/coordination", 2), said, agent, said]
    assert [draft.body for draft in closing(told(story))] == [TurnEnd("interrupted", 2)]


def test_what_is_asked_about_after_a_command_ran_does_not_make_it_undone():
    """It would be run again; its effects are looked at later than it was let go ahead."""
    ran = Draft(Policy(Execute("make", "/srv/app"), ALLOW), "p", 1, "call_1")
    effect = Draft(Policy(Write("/srv/app/.git/hooks/x", "a", "b", ""), ASK), "p", 1, "call_1")
    asks = Draft(ConfirmRequest("call_1", "run", (), "why"), "p", 1, "ask_1")
    call = Draft(ToolCall("run"), "steersman/operations/run", 1, "call_1")
    messages = told([Draft(TurnStart(), "steersman", 1), call, ran, effect, asks])
    later = [replace(m, time=m.time + timedelta(seconds=m.seq)) for m in messages]
    assert resumption(later, "steersman") is None
    assert [d.body.message for d in closing(later) if isinstance(d.body, ToolResult)] == [UNKNOWN]


def test_a_turn_that_only_waits_for_an_answer_can_go_on():
    look = Draft(Policy(Read("/srv/app/a"), ALLOW), "p", 1, "call_1")
    write = Draft(Policy(Write("/srv/app/a", "a", "b", ""), ASK), "p", 1, "call_1")
    asks = Draft(ConfirmRequest("call_1", "write", (), "why"), "p", 1, "ask_1")
    call = Draft(ToolCall("write"), "steersman/operations/write", 1, "call_1")
    messages = told([Draft(TurnStart(), "steersman", 1), call, look, write, asks])
    later = [replace(m, time=m.time + timedelta(seconds=m.seq)) for m in messages]
    kept = resumption(later, "steersman")
    assert kept is not None
    assert [m.corr for m in kept.calls] == ["call_1"]
    assert [m.corr for m in kept.asked] == ["ask_1"]
    assert closing(later, kept) == []


def test_jobs_of_a_session_that_was_cut_off_ended_with_it():
    place = "steersman/operations/workspace_run_command"
    started = [
        draft
        for name, command in (("p1", "make watch"), ("p2", "make serve"))
        for draft in (
            Draft(ToolCall("workspace_run_command", {"command": command}), place, 1, name),
            Draft(
                ToolResult("workspace_run_command", "ok", {"background_process_id": name}),
                place, 1, name,
            ),
        )
    ]  # fmt: skip
    ended = Draft(JobEnd("p1", "make watch", 0), place, 1, "p1")
    lost = JobEnd("p2", "make serve", lost=True)
    assert jobs_ended(told([*started, ended])) == [Draft(lost, place, 1, "p2")]
    assert words(lost).endswith("p2 (make serve) ended when Steersman stopped unexpectedly.")
    copied = JobEnd("p2", "make serve", copied=True)
    assert jobs_ended(told([*started, ended]), copied=True) == [Draft(copied, place, 1, "p2")]
    note = meanwhile(told([Draft(lost, place, 1, "p2")]), Journal("/srv", Objects("/nowhere")))
    assert note.endswith('p2 ("make serve") ended when Steersman stopped unexpectedly.')
