"""MCP servers at work in threads: found, chosen, called through the gate, and ended."""

import json
import os
import select
import sys
from pathlib import Path

import pytest

from tests.cli.kit import DONE, StrictSteer, decoded
from tests.cli.terminal import Terminal
from tests.mcp.kit import TOKEN, entry, results, verdicts
from tests.world import call


@pytest.fixture
def steer(environ: dict[str, str], workspace: Path) -> StrictSteer:
    """The command line in the workspace."""
    return StrictSteer(environ, workspace)


@pytest.fixture
def home(environ: dict[str, str]) -> Path:
    """The data folder."""
    return Path(environ["STEERSMAN_HOME"])


LOOK = call("mcp_list_tools", words="notes")
CHOOSE = call("mcp_list_tools", select=["notes__read_notes", "notes__write_note"])
READ = call("notes__read_notes")
WRITE = call("notes__write_note", text="buy milk")


def test_a_model_finds_a_tool_chooses_it_and_calls_it_by_its_name(steer, script, notes, configured):
    (notes / "note-0").write_text("hello")
    model = script({"tool_calls": [LOOK]}, {"tool_calls": [CHOOSE]}, {"tool_calls": [READ]}, DONE)
    messages = steer.messages("run", "x", "--model", model)
    found, chosen, read = results(messages)
    assert "notes__read_notes" in str(found["output"])
    assert "schema" in str(chosen["output"]) or "parameters" in str(chosen["output"])
    assert read["status"] == "ok", read
    assert read["output"]["content"] == "hello"
    assert verdicts(messages) == [("read_notes", "reads", "allow")]


def test_what_may_write_is_asked_about_and_refused_when_nobody_is_there(
    steer, script, notes, configured
):
    model = script({"tool_calls": [WRITE]}, DONE)
    messages = steer.messages("run", "x", "--model", model)
    assert results(messages)[0]["status"] == "denied"
    assert verdicts(messages) == [("write_note", "writes", "ask")]
    assert list(notes.glob("note-*")) == []
    assert "ok" in [
        b["status"] for b in results(steer.messages("run", "x", "--model", model, "--yes"))
    ]
    assert (notes / "note-0").read_text() == "buy milk"


def test_the_generic_way_and_a_single_call_pass_the_same_gate(steer, script, notes, configured):
    generic = call("mcp_call_tool", server="notes", tool="write_note", arguments={"text": "x"})
    messages = steer.messages("run", "x", "--model", script({"tool_calls": [generic]}, DONE))
    assert results(messages)[0]["status"] == "denied"
    done = steer("call", "notes__read_notes")
    assert done.returncode == 0, done.stderr


def test_rules_know_servers_and_their_tools(steer, script, notes, configured, workspace):
    rules = workspace / ".steersman" / "rules.toml"
    rules.parent.mkdir()
    rules.write_text('[[rule]]\nid = "no-notes"\ndecision = "deny"\nmcp = "notes/read_*"\n')
    assert steer("policy", "trust", "--yes").returncode == 0
    messages = steer.messages("run", "x", "--model", script({"tool_calls": [READ]}, DONE))
    assert results(messages)[0]["status"] == "denied"
    assert "no-notes" in results(messages)[0]["message"]


@pytest.mark.parametrize("mode", ["ask", "spec"])
def test_where_nothing_may_change_only_what_looks_is_called(steer, script, notes, configured, mode):
    model = script({"tool_calls": [READ, WRITE]}, DONE)
    messages = steer.messages("run", "x", "--model", model, "--mode", mode, "--yes")
    assert {body["tool"]: body["status"] for body in results(messages)} == {
        "notes__read_notes": "ok",
        "notes__write_note": "denied",
    }
    assert list(notes.glob("note-*")) == []


def test_no_server_is_started_by_a_turn_that_does_not_use_it(steer, script, notes, configured):
    assert steer("run", "x", "--model", script(DONE)).returncode == 0
    assert list(notes.glob("started-*")) == []


def test_a_folders_own_servers_wait_until_it_is_trusted(steer, script, notes, workspace):
    (workspace / ".mcp.json").write_text(json.dumps({"mcpServers": {"notes": entry(notes)}}))
    model = script({"tool_calls": [READ]}, DONE)
    messages = steer.messages("run", "x", "--model", model)
    assert results(messages)[0]["status"] == "malformed"
    assert list(notes.glob("started-*")) == []
    assert steer("policy", "trust", "--yes").returncode == 0
    messages = steer.messages("run", "x", "--model", model, "--yes")
    assert results(messages)[0]["status"] == "ok"
    # A server that a folder brought is not believed that its tool only looks.
    assert verdicts(messages) == [("read_notes", "writes", "ask")]


def test_values_of_a_configuration_never_reach_the_log(steer, script, notes, configured, home):
    model = script({"tool_calls": [call("notes__reveal")]}, DONE)
    done = steer("run", "x", "--model", model, "--json")
    assert results([json.loads(line) for line in done.stdout.splitlines()])[0]["status"] == "ok"
    assert TOKEN not in done.stdout + done.stderr
    assert not [p for p in home.rglob("*") if p.is_file() and TOKEN.encode() in p.read_bytes()]


def test_a_token_from_a_variable_whose_name_tells_nothing_is_masked_too(
    steer, script, notes, environ, tmp_path
):
    environ["MY_THING"] = "k7-0123456789-abcdef"
    given = {"NOTES": str(notes), "NOTES_TOKEN": "${MY_THING}"}
    file = tmp_path / "mcp.json"
    file.write_text(json.dumps({"mcpServers": {"notes": entry(notes) | {"env": given}}}))
    environ["STEERSMAN_MCP_CONFIG_FILES"] = str(file)
    done = steer("run", "x", "--model", script({"text": f"It is {environ['MY_THING']}."}), "--json")
    assert "It is " in done.stdout
    assert environ["MY_THING"] not in done.stdout


def test_what_the_model_chose_is_there_when_the_thread_goes_on(steer, script, notes, configured):
    first = steer.messages("run", "x", "--model", script({"tool_calls": [CHOOSE]}, DONE))
    thread = first[0]["thread"]
    again = steer.messages(
        "resume", thread, "go on", "--model",
        script({"tool_calls": [CHOOSE]}, DONE, {"tool_calls": [READ]}, DONE),
    )  # fmt: skip
    assert results(again)[-1]["status"] == "ok"


def test_a_server_may_ask_where_the_work_is(steer, script, notes, configured, workspace):
    messages = steer.messages(
        "run", "x", "--model", script({"tool_calls": [call("notes__look_roots")]}, DONE)
    )
    assert workspace.as_uri() in results(messages)[0]["output"]["content"]
    assert ("roots/list", "reads", "allow") in verdicts(messages)


def test_a_server_gets_an_answer_of_the_model_only_with_leave(steer, script, notes, configured):
    model = script({"text": "Well.", "tool_calls": [call("notes__look_model")]}, DONE)
    alone = steer.messages("run", "x", "--model", model)
    assert ("sampling/createMessage", "writes", "ask") in verdicts(alone)
    assert "the model says" not in str(results(alone)[0])
    allowed = steer.messages("run", "x", "--model", model, "--yes")
    assert results(allowed)[0]["output"]["content"] == "the model says Well."


def test_a_person_answers_the_form_of_a_server(steer, script, notes, configured):
    model = script({"tool_calls": [call("notes__look_branch")]}, DONE)
    with Terminal(steer, "run", "x", "--model", model) as terminal:
        terminal.until("The MCP server notes asks: Which branch?")
        terminal.until("Enter is “decline”: ")
        terminal.press("1\n")
        terminal.until("branch")
        terminal.until("“decline” declines: ")
        terminal.press("main\n")
        terminal.until("sure")
        terminal.until("“decline” declines: ")
        terminal.press("no\n")
        assert terminal.end() == 0
    assert "sure=False" in terminal.text or "main" in terminal.text


def test_nobody_there_declines_a_form(steer, script, notes, configured):
    messages = steer.messages(
        "run", "x", "--model", script({"tool_calls": [call("notes__look_branch")]}, DONE)
    )
    assert results(messages)[0]["output"]["content"].startswith("decline")


def test_no_server_outlives_a_host_that_is_killed(steer, script, notes, configured):
    wait = call("workspace_run_command", command="sleep 600")
    model = script({"tool_calls": [READ]}, {"tool_calls": [wait]}, DONE)
    process = steer.start("run", "x", "--model", model, "--json")
    assert process.stdout is not None
    for line in process.stdout:
        if json.loads(line)["kind"] == "tool_result":
            break
    (started,) = [int(path.name.removeprefix("started-")) for path in notes.glob("started-*")]
    handle = os.pidfd_open(started)
    process.kill()
    process.communicate()
    assert select.select([handle], [], [], 30)[0], "the server lives on"
    os.close(handle)


def test_a_server_that_cannot_be_started_costs_a_sentence_and_not_the_turn(
    steer, script, environ, tmp_path
):
    file = tmp_path / "mcp.json"
    file.write_text(json.dumps({"mcpServers": {"gone": {"command": "/nowhere/server"}}}))
    environ["STEERSMAN_MCP_CONFIG_FILES"] = str(file)
    model = script({"tool_calls": [call("mcp_list_tools")]}, DONE)
    messages = steer.messages("run", "x", "--model", model)
    assert "gone" in str(results(messages)[0]["output"])
    assert messages[-1]["body"]["exit"] == 0


ROUGH = Path(__file__).parents[1] / "operations" / "mcp" / "servers" / "rough.py"
FAULTS = {
    "die": "ended while it worked",
    "hang": "no answer",
    "huge": "16 MB",
    "flood": "",
    "garbage": "",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_server_that_misbehaves_costs_a_call_and_not_the_turn(
    steer, script, environ, tmp_path, fault
):
    file = tmp_path / "mcp.json"
    rough = {"command": sys.executable, "args": [str(ROUGH)]}
    if fault == "hang":
        rough["timeout"] = 2
    file.write_text(json.dumps({"mcpServers": {"rough": rough}}))
    environ["STEERSMAN_MCP_CONFIG_FILES"] = str(file)
    how = {"size": 17_000_000, "count": 60_000}
    calls = [
        call("mcp_call_tool", server="rough", tool=fault, arguments=how),
        call("rough__echo", text="still here"),
    ]
    model = script(*({"tool_calls": [one]} for one in calls), DONE)
    messages = steer.messages("run", "x", "--model", model, "--yes")
    broken, sound = results(messages)
    if FAULTS[fault]:
        assert broken["status"] == "error"
        assert "rough" in broken["message"]
    assert sound["status"] == "ok", sound
    assert messages[-1]["body"]["exit"] == 0


def test_a_list_that_changes_is_asked_for_again(steer, script, environ, tmp_path):
    file = tmp_path / "mcp.json"
    rough = {"command": sys.executable, "args": [str(ROUGH)]}
    file.write_text(json.dumps({"mcpServers": {"rough": rough}}))
    environ["STEERSMAN_MCP_CONFIG_FILES"] = str(file)
    look = call("mcp_list_tools", server="rough")
    model = script(
        {"tool_calls": [look]},
        {"tool_calls": [call("mcp_call_tool", server="rough", tool="change")]},
        {"tool_calls": [look]},
        DONE,
    )
    before, changed, after = results(steer.messages("run", "x", "--model", model, "--yes"))
    assert changed["status"] == "ok"
    assert before["output"] != after["output"]


def test_a_named_file_inside_the_folder_waits_for_trust_too(
    steer, script, notes, environ, workspace
):
    server = entry(notes, timeout=600)  # however busy the machine is
    (workspace / "servers.json").write_text(json.dumps({"mcpServers": {"notes": server}}))
    environ["STEERSMAN_MCP_CONFIG_FILES"] = "servers.json"
    model = script({"tool_calls": [READ]}, DONE)
    assert results(steer.messages("run", "x", "--model", model))[0]["status"] == "malformed"
    assert steer("policy", "trust", "--yes").returncode == 0
    assert results(steer.messages("run", "x", "--model", model, "--yes"))[0]["status"] == "ok"


def test_a_list_of_tools_can_name_a_server_and_then_there_is_no_other(
    steer, script, notes, environ, tmp_path
):
    (notes / "note-0").write_text("hello")
    file = tmp_path / "mcp.json"
    servers = {name: entry(notes, timeout=600) for name in ("notes", "other")}
    file.write_text(json.dumps({"mcpServers": servers}))
    environ["STEERSMAN_MCP_CONFIG_FILES"] = str(file)
    other = call("mcp_list_tools", server="other")
    model = script({"tool_calls": [READ, other, call("workspace_list_files")]}, DONE)
    how = ("--output-format", "json", "--model", model)

    done = steer("-p", "look", "--tools", "mcp:notes", *how)

    assert done.returncode == 0, done.stderr
    thread = json.loads(done.stdout)["session_id"]
    came = {body["tool"]: body for body in results(decoded(steer("replay", thread).stdout))}
    assert came["notes__read_notes"]["output"]["content"] == "hello"
    refused = " ".join(came["mcp_list_tools"]["message"].split())
    assert "There is no MCP server “other”. There are: notes." in refused
    assert came["workspace_list_files"]["status"] == "malformed"


def test_a_server_in_a_list_of_tools_that_is_not_there_is_named(steer, script, configured):
    done = steer("-p", "look", "--tools", "Read,mcp:nots", "--model", script(DONE))
    assert done.returncode == 2
    assert "There is no MCP server “nots”. There are: notes." in " ".join(done.stderr.split())
