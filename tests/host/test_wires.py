"""The same conversation in four formats gives the same log."""

import asyncio
import json
from functools import cache
from pathlib import Path

import pytest

from steersman.records.message import Assistant, Error, ReasoningDelta, ToolResult
from tests.host.wires import WIRES, Waits, plain, talking
from tests.world import call

SCRIPT = (
    {
        "reasoning": "Two files, both at once.",
        "text": "Looking.",
        "tool_calls": [
            call("workspace_read_file", path="calc.py"),
            call("workspace_read_file", path="README.md"),
        ],
        "chunk": 5,
    },
    {
        "expect": "return a - b",
        "error": {"status": 429, "message": "slow down", "retry_after": 0},
        "reasoning": "A minus where a plus belongs.",
        "text": "It subtracts.",
        "chunk": 5,
    },
    {"text": "You are welcome."},
)


async def listen(line, into):
    """Everything that a subscriber gets, pieces included."""
    async for message in line.handle.events():
        into.append(message)
        if message.kind == "turn_end":
            return


@pytest.fixture
def told(online, stage, workspace):
    """What one format makes of the conversation: the log, the pieces, the waits."""

    @cache
    def play(wire):
        stage.play(*SCRIPT)
        online["STEERSMAN_HOME"] = str(Path(workspace).parent / f"data-{wire}")
        seen, waits = [], Waits()

        async def scenario(line):
            listening = asyncio.create_task(listen(line, seen))
            await line.say("what is wrong?")
            await listening
            await line.say("thank you")
            return line.messages

        messages = talking(online, workspace, scenario, waits, model=f"{wire}:m-1")
        assert stage.complaints == []
        return messages, seen, waits

    return play


def test_every_format_gives_the_same_messages(told):
    first = plain(told(WIRES[0])[0], wire=WIRES[0], model=f"{WIRES[0]}:m-1")
    for wire in WIRES[1:]:
        assert plain(told(wire)[0], wire=wire, model=f"{wire}:m-1") == first


def test_what_they_say(told, wire):
    messages, _, waits = told(wire)
    bodies = [message.body for message in messages]

    answers = [body for body in bodies if isinstance(body, Assistant)]
    assert [(a.text, a.reasoning, len(a.calls)) for a in answers] == [
        ("Looking.", "Two files, both at once.", 2),
        ("It subtracts.", "A minus where a plus belongs.", 0),
        ("You are welcome.", "", 0),
    ]
    results = [body for body in bodies if isinstance(body, ToolResult)]
    assert sum("a - b" in str(result.output) for result in results) == 1
    assert sum("# Calc" in str(result.output) for result in results) == 1
    problem = next(body for body in bodies if isinstance(body, Error))
    assert "is limiting requests (status 429)" in problem.what
    assert (problem.why, problem.retry_in) == ("slow down", 0.0)
    assert waits == [0.0]
    shown = ("assistant", "error", "tool_result", "turn_end")
    kinds = [m.kind for m in messages if m.kind in shown]
    assert kinds == [
        *("assistant", "tool_result", "tool_result", "error", "assistant", "turn_end"),
        *("assistant", "turn_end"),
    ]


def test_pieces_are_broadcast_in_every_format(told, wire):
    _, seen, _ = told(wire)
    words = "".join(m.body.text for m in seen if m.kind == "assistant_delta")
    thoughts = "".join(m.body.text for m in seen if isinstance(m.body, ReasoningDelta))
    assert words == "Looking.It subtracts."
    assert thoughts == "Two files, both at once.A minus where a plus belongs."


@pytest.mark.parametrize(
    ("model", "field", "low", "high"),
    [
        ("openai:gpt-5.5", "reasoning", "low", "high"),
        ("openai-chat:gpt-5.5", "reasoning_effort", "low", "high"),
        ("anthropic:claude-opus-5", "output_config", "low", "high"),
        ("gemini:gemini-3.8-flash", "generationConfig", "LOW", "HIGH"),
    ],
)
def test_how_hard_a_model_thinks_changes_with_the_next_request(
    online, stage, workspace, model, field, low, high
):
    stage.play({"text": "One."}, {"text": "Two."}, {"text": "Three."})

    async def scenario(line):
        await line.say("one")
        await line.handle.set(effort="high")
        await line.say("two")
        await line.handle.set(effort="default")
        await line.say("three")

    talking(online, workspace, scenario, Waits(), model=model, effort="low")
    sent = [str(json.loads(body).get(field)) for body in stage.bodies]
    assert (low in sent[0], high in sent[1]) == (True, True)
    assert low not in sent[2]
    assert high not in sent[2]
