"""Hints, names and patterns: what a call of a server's tool counts as, and what is not offered."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steersman.operations.mcp.authority import effect, hidden, is_serena, sounds_writing
from steersman.records.mcp_server import Server
from tests.operations.mcp.gateway.kit import remote

SERVER = Server("s", "stdio", command="x")
RULED = Server("s", "stdio", command="x", reads=("get_*", "run_report"), writes=("get_token",))
READS = {"readOnlyHint": True}


@pytest.mark.parametrize(
    ("name", "hints", "expected"),
    [
        ("get_issue", READS, "reads"),
        ("get_issue", {**READS, "openWorldHint": False}, "reads"),
        ("query", READS, "reads"),
        ("anything", READS, "reads"),
        # Whoever says nothing may write.
        ("get_issue", {}, "writes"),
        ("get_issue", {"destructiveHint": False}, "writes"),
        ("get_issue", {"idempotentHint": True}, "writes"),
        # Hints that contradict themselves, or are not what they should be.
        ("get_issue", {**READS, "destructiveHint": True}, "writes"),
        ("get_issue", {"readOnlyHint": "true"}, "writes"),
        ("get_issue", {"readOnlyHint": 1}, "writes"),
        # What reaches out takes what it is asked along.
        ("fetch", {**READS, "openWorldHint": True}, "writes"),
        # A name that says otherwise.
        ("delete_issue", READS, "writes"),
        ("issue_write", READS, "writes"),
        ("browserFileUpload", READS, "writes"),
        ("execute_sql", READS, "writes"),
    ],
)
def test_hints_are_believed_as_far_as_they_go(name, hints, expected):
    assert effect(remote(name, hints=hints), SERVER, personal=True) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [("get_issue", "reads"), ("run_report", "reads"), ("get_token", "writes"), ("x", "writes")],
)
def test_the_patterns_of_a_person_count_more_than_hints(name, expected):
    for hints in ({}, {"readOnlyHint": False}, {"destructiveHint": True}):
        assert effect(remote(name, hints=hints), RULED, personal=True) == expected
    assert effect(remote("get_token", hints=READS), RULED, personal=True) == "writes"


@given(
    name=st.sampled_from(["get_x", "delete_x", "x"]),
    hints=st.dictionaries(
        st.sampled_from(["readOnlyHint", "destructiveHint", "openWorldHint", "title"]),
        st.one_of(st.booleans(), st.none(), st.text(max_size=3)),
    ),
)
def test_no_hint_of_a_server_that_a_folder_brought_makes_a_call_harmless(name, hints):
    assert effect(remote(name, hints=hints), SERVER, personal=False) == "writes"


@pytest.mark.parametrize(
    ("name", "writes"),
    [
        ("get_update_history", False),
        ("list_deleted_items", False),
        ("pull_request_read", False),
        ("updateHistory", True),
        ("repo-create", True),
        ("HTTPPost", True),
        ("settings", False),
        ("", False),
    ],
)
def test_the_first_verb_of_a_name_tells(name, writes):
    assert sounds_writing(name) is writes


SERENA = Server("code", "stdio", command="uvx", arguments=("--from", "serena-agent", "serena"))


@pytest.mark.parametrize(
    ("tool", "server", "siblings", "away"),
    [
        ("rename_symbol", SERVER, (), True),
        ("replace_symbol_body", SERENA, (), True),
        ("replace_content", SERENA, (), True),
        ("execute_shell_command", SERENA, (), True),
        ("find_symbol", SERENA, (), False),
        ("read_memory", SERENA, (), False),
        # The same names elsewhere mean something else.
        ("replace_content", SERVER, ("get_page", "replace_content"), False),
        ("write_memory", SERVER, (), False),
        # Whatever it is called, it is known by its tools.
        ("write_memory", SERVER, ("get_symbols_overview", "find_referencing_symbols"), True),
        ("serena_repl", SERVER, ("serena_repl", "initial_instructions"), True),
    ],
)
def test_tools_that_would_change_code_past_the_gate_are_hidden(tool, server, siblings, away):
    assert bool(hidden(tool, server, siblings)) is away
    if away:
        assert hidden(tool, server, siblings).startswith(f"{tool} of the MCP server {server.name}")


def test_serena_is_known_by_its_name_its_command_or_its_tools():
    assert is_serena(SERENA)
    assert is_serena(Server("Serena", "http", url="http://x/"))
    assert not is_serena(SERVER)
