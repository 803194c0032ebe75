"""Which turn of a script answers a conversation, what it does instead, and what it expects."""

import asyncio
import json
import os
import shlex
import subprocess
from contextlib import aclosing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steersman.intelligence.models import open_driver
from steersman.intelligence.scripted.driver import ScriptedDriver, cut
from steersman.intelligence.scripted.script import (
    Faults,
    Player,
    Script,
    Standing,
    calls_of,
    check_expectation,
    load,
    parse_call,
)
from steersman.intelligence.scripted.steps import as_shell, concrete
from steersman.records.dialogue import (
    AssistantItem,
    Call,
    Completed,
    Item,
    Prompt,
    ResultItem,
    TextDelta,
    ThoughtDelta,
    Tokens,
    ToolSpec,
    UserItem,
)
from steersman.records.errors import DriverProblem, ScriptProblem, UsageProblem
from tests.operations.workshop import our_tools


def a_script(*turns: dict[str, Any] | int) -> Script:
    """A script; a number is a turn with that many calls."""
    calls = {"name": "tool", "arguments": {}}
    made = [
        {"text": "words", "tool_calls": [calls] * turn} if isinstance(turn, int) else turn
        for turn in turns
    ]
    return load_text(json.dumps({"turns": made}))


def load_text(text: str) -> Script:
    """A script from the text of its file."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "script.json")
        path.write_text(text)
        return load(path)


def a_conversation(shorthand: str) -> list[Item]:
    """`P` prompt, `S` steering, `?` words of either kind, `A` answer, `C` answer with a call,
    `R` result."""
    items: dict[str, Item] = {
        "P": UserItem("go", steer=False),
        "S": UserItem("also", steer=True),
        "?": UserItem("hm"),
        "A": AssistantItem("words", "", ()),
        "C": AssistantItem("words", "", (Call("c", "tool"),)),
        "R": ResultItem("c", "done"),
    }
    return [items[letter] for letter in shorthand]


ERROR = {"error": {"status": 500}}
POSITIONS = [
    # turns and their calls, conversation, index of the turn that answers it
    ([0], "P", 0),
    ([1, 0], "P", 0),
    ([1, 0], "PCR", 1),
    ([2, 1, 0], "P", 0),
    ([2, 1, 0], "PCR", None),  # one of two parallel results is missing
    ([2, 1, 0], "PCRR", 1),
    ([2, 1, 0], "PCRRCR", 2),
    ([3, 0], "PCRRR", 1),
    # each prompt has its segment, and after the last one it begins again
    ([1, 0, 0, 2, 0], "P", 0),
    ([1, 0, 0, 2, 0], "PCRA" + "P", 2),
    ([1, 0, 0, 2, 0], "PCRA" + "PA" + "P", 3),
    ([1, 0, 0, 2, 0], "PCRA" + "PA" + "PCRR", 4),
    ([1, 0, 0, 2, 0], "PCRA" + "PA" + "PCRRA" + "P", 0),
    ([1, 0, 0, 2, 0], "PCRA" + "PA" + "PCRRA" + "PCR", 1),
    ([0], "PAPAPAP", 0),
    # words said into a running turn do not ask anew
    ([1, 1, 0], "PCRS", 1),
    ([1, 1, 0], "PCRSSCR", 2),
    ([1, 0, 0], "PCRSAP", 2),
    ([0, 0], "PAS", 0),
    # where nobody can tell, words after results steer and words after an answer ask anew
    ([1, 1, 0], "?CR?", 1),
    ([1, 0, 0], "?CRA?", 2),
    ([0, 0], "?A?", 1),
    ([1, 0, 1, 0], "?CR?", 1),
    ([0, 0], "??", 0),
    # a cancelled turn leaves results behind; a new prompt asks anew all the same
    ([1, 1, 0, 0], "PCRP", 3),
    ([1, 1, 0, 0], "PCP", 3),
    # a script that is over
    ([1], "P", 0),
    ([1], "PCR", None),
    ([1, 0], "PCRCR", None),
    # turns that are nothing but a fault take no place
    ([ERROR, 1, ERROR, 0], "P", 1),
    ([ERROR, 1, ERROR, 0], "PCR", 3),
    ([0, ERROR, 0], "PAP", 2),
    ([{"drop": True}, {"stall_ms": 1}, 0], "P", 2),
    ([ERROR], "P", 0),
    ([0, ERROR], "PAP", 1),
    # no prompt at all, as in a request for a title
    ([1, 0], "", 0),
]


@pytest.mark.parametrize(("turns", "conversation", "index"), POSITIONS)
def test_prompts_choose_the_segment_and_results_the_turn(turns, conversation, index):
    player = Player(a_script(*turns))
    standing = Standing()
    standing.follow(a_conversation(conversation))
    if index is None:
        with pytest.raises(ScriptProblem, match="no turn left"):
            player.turn(standing)
    else:
        assert player.turn(standing) == index


@given(st.text("PS?ACR", max_size=12), st.integers(0, 12))
def test_following_piece_by_piece_or_at_once_is_the_same(shorthand, at):
    items = a_conversation(shorthand)
    once, twice = Standing(), Standing()
    once.follow(items)
    twice.follow(items[:at])
    twice.follow(items)
    assert vars(once) == vars(twice)


@given(st.lists(st.integers(0, 3), min_size=1, max_size=6), st.integers(1, 12))
def test_a_conversation_that_keeps_to_the_script_plays_every_turn_in_order(calls, prompts):
    """Whatever the script, answering as it says visits its turns one after another."""
    if calls[-1]:
        calls = [*calls, 0]
    player = Player(a_script(*calls))
    conversation = ""
    expected = 0
    for _ in range(prompts):
        conversation += "P"
        while True:
            standing = Standing()
            standing.follow(a_conversation(conversation))
            index = player.turn(standing)
            assert index == expected % len(calls)
            expected += 1
            if calls[index] == 0:
                conversation += "A"
                break
            conversation += "C" + "R" * calls[index]


FAULTY = [
    # turns, the turn that is asked for, what is played: a turn's index, or `-` for the turn itself
    ([0], 0, ["-", "-"]),
    ([{"text": "x", "error": {"status": 500}}], 0, [0, "-", "-"]),
    ([{"text": "x", "error": {"status": 500, "times": 3}}], 0, [0, 0, 0, "-"]),
    ([{"text": "x", "drop": True}], 0, [0, "-"]),
    ([{"text": "x", "stall_ms": 5}], 0, [0, "-"]),
    ([{"text": "x", "delay_ms": 5}], 0, ["-"]),
    ([ERROR, {"error": {"status": 429, "times": 2}}, 0], 2, [0, 1, 1, "-"]),
    ([ERROR, {"text": "x", "drop": 3}], 1, [0, 1, "-"]),
    ([1, ERROR, 0], 0, ["-"]),
    ([1, ERROR, 0], 2, [1, "-"]),
    ([ERROR], 0, [0, 0, 0]),  # nothing follows: it stays with it
]


@pytest.mark.parametrize(("turns", "asked", "played"), FAULTY)
def test_a_fault_comes_its_number_of_times_and_then_the_turn_goes_on(turns, asked, played):
    script = a_script(*turns)
    faults = Faults(script)
    for expected in played:
        due = faults.due(asked, "conversation")
        assert due == (None if expected == "-" else script.turns[expected])
    again = faults.due(asked, "another conversation")
    assert again == (None if played[0] == "-" else script.turns[played[0]])


@pytest.mark.parametrize(
    ("conversation", "met"),
    [
        ([ResultItem("c", "return a - b")], True),
        ([ResultItem("c", "other"), ResultItem("d", "return a - b\n")], True),
        ([ResultItem("c", "return a -"), ResultItem("d", " b")], False),
        ([ResultItem("c", "return a - b"), UserItem("also")], True),
        ([ResultItem("c", "a - b"), AssistantItem("", "", ()), ResultItem("d", "no")], False),
        ([UserItem("a - b")], False),
        ([AssistantItem("a - b", "", ())], False),
        ([], False),
    ],
)
def test_an_expectation_is_met_by_the_latest_results_alone(conversation, met):
    script = a_script({"expect": "a - b", "text": "Found."})
    if met:
        check_expectation(script, 0, conversation)
    else:
        with pytest.raises(ScriptProblem, match=r"Turn 1 .* expected 'a - b'"):
            check_expectation(script, 0, conversation)


def test_a_turn_that_expects_nothing_takes_anything():
    check_expectation(a_script(0), 0, [])


# Files

BROKEN = {
    "": "valid script",
    "{": "valid script",
    "[]": "valid script",
    "{}": "valid script",
    '{"turns": []}': "no turns",
    '{"turns": {}}': "valid script",
    '{"turns": [{"txt": "x"}]}': "txt",
    '{"turns": [{"text": 7}]}': "text",
    '{"turns": [{"tool_calls": [{"arguments": {}}]}]}': "name",
    '{"turns": [{"do": "dance"}]}': "do",
    '{"turns": [{"error": {}}]}': "status",
    '{"turns": [{"chunk": -1}]}': "chunk",
    '{"turns": [{"delay_ms": -1}]}': "delay_ms",
    '{"turns": [{"error": {"status": 500, "times": 0}}]}': "times",
    '{"turns": [{"text": "x"}], "more": 1}': "more",
    '{"turns": ' + "[" * 100_000: "valid script",
}


@pytest.mark.parametrize(("text", "says"), BROKEN.items(), ids=lambda text: text[:40])
def test_a_broken_script_is_refused_with_a_sentence_that_names_the_fault(text, says):
    with pytest.raises(ScriptProblem) as refusal:
        load_text(text)
    assert says in str(refusal.value)


def test_a_script_that_is_missing_or_not_utf_8_is_refused(tmp_path):
    (tmp_path / "latin").write_bytes(b'{"turns": [{"text": "\xff"}]}')
    for path in (tmp_path / "nowhere", tmp_path, tmp_path / "latin"):
        with pytest.raises(ScriptProblem, match="script file"):
            load(path)


@pytest.mark.parametrize("name", ["", "scripted", "scripted:", "openai:gpt", "nonsense"])
def test_a_model_there_is_not_is_refused(name):
    with pytest.raises(UsageProblem):
        open_driver(name)


# Calls

ARGUMENTS = [
    ({"path": "x"}, Call("call_t_1", "tool", {"path": "x"})),
    ('{"path": "x"}', Call("call_t_1", "tool", {"path": "x"})),
    ("", Call("call_t_1", "tool", {})),
    ("{path: x", Call("call_t_1", "tool", malformed="{path: x")),
    ("[1, 2]", Call("call_t_1", "tool", malformed="[1, 2]")),
    ('"text"', Call("call_t_1", "tool", malformed='"text"')),
    ("null", Call("call_t_1", "tool", malformed="null")),
]


@pytest.mark.parametrize(("arguments", "call"), ARGUMENTS)
def test_arguments_that_are_no_object_are_kept_as_they_came(arguments, call):
    turn = a_script({"tool_calls": [{"name": "tool", "arguments": arguments}]}).turns[0]
    assert calls_of(turn, "t") == (call,)


def test_text_that_goes_too_deep_is_malformed_too():
    assert parse_call("c", "tool", '{"a": ' + "[" * 100_000).malformed is not None


def test_the_ids_of_a_turn_are_unique():
    ids = [call.id for call in calls_of(a_script(3).turns[0], "ab12")]
    assert ids == ["call_ab12_1", "call_ab12_2", "call_ab12_3"]


# Abstract steps, by what a client advertises


def spec(name: str, *fields: str, required: tuple[str, ...] = (), **special: Any) -> ToolSpec:
    """A tool with text fields; `special` gives the schema of a field."""
    properties = {field: {"type": "string"} for field in fields} | special
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return ToolSpec(name, "", schema)


CODEX = [spec("exec_command", "cmd", "workdir", required=("cmd",)), spec("apply_patch", "input")]
CLAUDE = [
    spec("Bash", "command", "description", required=("command",)),
    spec("Read", "file_path", required=("file_path",)),
    spec("Write", "file_path", "content", required=("file_path", "content")),
    spec("Edit", "file_path", "old_string", "new_string"),
]
GEMINI = [
    spec("run_shell_command", "command", "description", required=("command",)),
    spec("read_file", "absolute_path"),
    spec("write_file", "file_path", "content"),
    spec(
        "replace", "file_path", "instruction", "old_string", "new_string",
        required=("file_path", "instruction", "old_string", "new_string"),
    ),
]  # fmt: skip
OPENCODE = [
    spec("bash", "command", "description", required=("command", "description")),
    spec("read", "filePath"),
    spec("write", "filePath", "content"),
    spec("edit", "filePath", "oldString", "newString", required=("filePath",)),
]
PI = [
    spec("bash", "command"),
    spec("read", "path"),
    spec("write", "path", "content"),
    spec("edit", "path", edits={"items": spec("", "oldText", "newText").parameters}),
]
OLD_CODEX = [spec("shell", command={"type": "array", "items": {"type": "string"}})]
OURS = [tool.spec() for tool in our_tools().values()]

SHELL = {"do": "shell", "command": "ls -l"}
READ = {"do": "read", "path": "a.py"}
WRITE = {"do": "write", "path": "a.py", "content": "x\n"}
EDIT = {"do": "edit", "path": "a.py", "search": "x", "replace": "y"}
SAID = {"description": "scripted step"}
STEPS = [
    (CODEX, SHELL, "exec_command", {"cmd": "ls -l"}),
    (CODEX, READ, "exec_command", {"cmd": "cat a.py"}),
    (CODEX, WRITE, "exec_command", {"cmd": "printf %s 'x\n' > a.py"}),
    (CLAUDE, SHELL, "Bash", {"command": "ls -l"}),
    (CLAUDE, READ, "Read", {"file_path": "a.py"}),
    (CLAUDE, WRITE, "Write", {"file_path": "a.py", "content": "x\n"}),
    (CLAUDE, EDIT, "Edit", {"file_path": "a.py", "old_string": "x", "new_string": "y"}),
    (GEMINI, SHELL, "run_shell_command", {"command": "ls -l"}),
    (GEMINI, READ, "read_file", {"absolute_path": "a.py"}),
    (GEMINI, WRITE, "write_file", {"file_path": "a.py", "content": "x\n"}),
    (GEMINI, EDIT, "replace", {"file_path": "a.py", "old_string": "x", "new_string": "y",
                               "instruction": "scripted step"}),
    (OPENCODE, SHELL, "bash", {"command": "ls -l"} | SAID),
    (OPENCODE, READ, "read", {"filePath": "a.py"}),
    (OPENCODE, WRITE, "write", {"filePath": "a.py", "content": "x\n"}),
    (OPENCODE, EDIT, "edit", {"filePath": "a.py", "oldString": "x", "newString": "y"}),
    (PI, SHELL, "bash", {"command": "ls -l"}),
    (PI, READ, "read", {"path": "a.py"}),
    (PI, WRITE, "write", {"path": "a.py", "content": "x\n"}),
    (PI, EDIT, "edit", {"path": "a.py", "edits": [{"oldText": "x", "newText": "y"}]}),
    (OLD_CODEX, SHELL, "shell", {"command": ["bash", "-c", "ls -l"]}),
    (OLD_CODEX, READ, "shell", {"command": ["bash", "-c", "cat a.py"]}),
    (OURS, SHELL, "workspace_run_command", {"command": "ls -l"}),
    (OURS, READ, "workspace_read_file", {"path": "a.py"}),
    (OURS, WRITE, "workspace_write_file", {"path": "a.py", "content": "x\n"}),
    (OURS, EDIT, "workspace_edit_files",
     {"files": [{"path": "a.py", "edits": [{"search": "x", "replace": "y"}]}]}),
]  # fmt: skip


@pytest.mark.parametrize(("tools", "step", "name", "arguments"), STEPS)
def test_a_step_becomes_a_call_of_what_the_client_has(tools, step, name, arguments):
    call = concrete(a_script(step).turns[0], tools)
    assert (call.name, call.arguments) == (name, arguments)


def test_our_own_tools_take_what_a_step_makes():
    tools = our_tools()
    for step in (SHELL, READ, WRITE, EDIT):
        call = concrete(a_script(step).turns[0], OURS)
        tools[call.name].parse(Call("c", call.name, call.arguments))


def test_a_step_no_tool_can_do_is_told_with_what_there_is():
    with pytest.raises(ScriptProblem) as refusal:
        concrete(a_script(READ).turns[0], [spec("weather", "city")])
    assert "weather" in str(refusal.value)


AWKWARD = ["it's", 'a "b" $HOME `id` \\ ! * ~', "two\nlines\n", "-n", "%s%d", "ünï 請", "", "\r\n"]


@pytest.mark.parametrize("text", AWKWARD, ids=ascii)
def test_a_step_as_a_shell_command_does_just_what_it_says(tmp_path, text):
    def run(step: dict[str, Any]) -> str:
        command = as_shell(a_script(step).turns[0])
        done = subprocess.run(
            ["bash", "-c", command], cwd=tmp_path, capture_output=True, check=True
        )
        return done.stdout.decode()

    name = "a file's name.txt"
    run({"do": "write", "path": name, "content": f"<{text}>\r\n"})
    assert (tmp_path / name).read_bytes().decode() == f"<{text}>\r\n"
    assert run({"do": "read", "path": name}) == f"<{text}>\r\n"
    run({"do": "edit", "path": name, "search": f"<{text}>", "replace": f"[{text}]"})
    assert (tmp_path / name).read_bytes().decode() == f"[{text}]\r\n"
    assert run({"do": "shell", "command": f"printf %s {shlex.quote(text)}"}) == text


# The driver


def streamed(driver: ScriptedDriver, items: list[Item], tools: Any = ()) -> list[Any]:
    """The events of one answer, and the problem it ended with."""

    async def work() -> list[Any]:
        events: list[Any] = []
        try:
            async with aclosing(driver.stream(Prompt("", tuple(tools), items))) as stream:
                async for event in stream:
                    events.append(event)
        except DriverProblem as problem:
            events.append(problem)
        return events

    return asyncio.run(work())


def test_an_answer_comes_in_pieces_and_ends_with_the_whole():
    script = a_script(
        {"text": "Hello!", "reasoning": "hmm", "chunk": 4, "usage": {"input": 5, "output": 2}}
    )
    events = streamed(ScriptedDriver(script, "scripted:x"), a_conversation("P"))
    assert events == [
        ThoughtDelta("hmm"),
        TextDelta("Hell"),
        TextDelta("o!"),
        Completed("Hello!", "hmm", (), Tokens(input=5, output=2), "end"),
    ]


@given(st.text(), st.integers(0, 9))
def test_pieces_are_together_the_whole_and_none_is_empty(text, size):
    pieces = cut(text, size)
    assert "".join(pieces) == text
    assert all(0 < len(piece) <= (size or len(text)) for piece in pieces)


@pytest.mark.parametrize(
    ("status", "retryable"),
    [(429, True), (500, True), (503, True), (400, False), (401, False), (404, False)],
)
def test_an_error_tells_whether_another_try_is_worth_it(status, retryable):
    fault = {"status": status, "retry_after": 1.5, "message": "so"}
    driver = ScriptedDriver(a_script({"text": "ok", "error": fault}), "scripted:x")
    (problem,) = streamed(driver, a_conversation("P"))
    assert (problem.status, problem.retry_after, problem.why) == (status, 1.5, "so")
    assert problem.retryable is retryable
    assert streamed(driver, a_conversation("P"))[-1].text == "ok"


def test_a_dropped_connection_ends_half_way_once_and_can_be_tried_again():
    driver = ScriptedDriver(a_script({"text": "Hello!", "chunk": 1, "drop": 3}), "scripted:x")
    events = streamed(driver, a_conversation("P"))
    assert "".join(event.text for event in events[:-1]) == "Hel"
    assert events[-1].retryable
    assert streamed(driver, a_conversation("P"))[-1] == Completed("Hello!", tokens=Tokens(output=1))


def test_a_step_and_exact_calls_are_made_together():
    turn = {"tool_calls": [{"name": "x", "arguments": "{broken"}], **SHELL}
    driver = ScriptedDriver(a_script(turn), "scripted:x")
    end = streamed(driver, a_conversation("P"), OURS)[-1]
    assert [call.name for call in end.calls] == ["x", "workspace_run_command"]
    assert end.calls[0].malformed == "{broken"
    assert len({call.id for call in end.calls}) == 2
    assert end.stop == "tool_calls"


def test_a_model_is_known_by_the_whole_path_of_its_script(tmp_path, monkeypatch):
    (tmp_path / "s.json").write_text('{"turns": [{"text": "hi"}]}')
    monkeypatch.chdir(tmp_path)
    assert open_driver("scripted:s.json").model == f"scripted:{os.path.realpath('s.json')}"
