"""What of MCP servers there is in each mode: what is forbidden is not offered, and refused."""

import json
from pathlib import Path

import pytest

from tests.cli.kit import DONE
from tests.host.wires import RecordingStage, reaching
from tests.mcp.kit import entry, results, verdicts
from tests.world import call

READS = call("mcp_call_tool", server="notes", tool="read_notes")
WRITES = call("mcp_call_tool", server="notes", tool="write_note",
              arguments={"text": "x"})  # fmt: skip
SELECT = call("mcp_list_tools", select=["notes__read_notes", "notes__write_note"])
RULE = '[[rule]]\ndecision = "allow"\nmcp = "notes/read_notes"\n'


@pytest.fixture
def rules(environ):
    """The person's own rules."""

    def write(text):
        path = Path(environ["XDG_CONFIG_HOME"], "steersman", "rules.toml")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    return write


@pytest.mark.usefixtures("configured")
@pytest.mark.parametrize("how", [["--yes"], ["--approvals", "never"]], ids=["yes", "alone"])
def test_plan_mode_blocks_servers(steer, script, how):
    model = script({"tool_calls": [READS]}, {"tool_calls": [WRITES]}, DONE)
    done = steer.messages("run", "x", "--mode", "plan", "--model", model, *how)
    assert [one["status"] for one in results(done)] == ["denied", "denied"]


def test_a_rule_of_the_person_names_a_reading_tool_for_plan_mode(
    steer, script, rules, environ, notes, tmp_path
):  # fmt: skip
    file = tmp_path / "mcp.json"
    server = entry(notes, readOnlyTools=["read_notes"])
    file.write_text(json.dumps({"mcpServers": {"notes": server}}))
    environ["STEERSMAN_MCP_CONFIG_FILES"] = str(file)
    rules(RULE + RULE.replace("read_notes", "write_note"))
    model = script({"tool_calls": [READS]}, {"tool_calls": [WRITES]}, DONE)
    done = steer.messages("run", "x", "--mode", "plan", "--model", model, "--yes")
    found = [(tool, decision) for tool, _, decision in verdicts(done)]
    assert found == [("read_notes", "allow"), ("write_note", "deny")]


@pytest.fixture
def stage():
    """A model server."""
    stage = RecordingStage()
    yield stage
    stage.close()


def offered(stage):
    """The names of the tools in each request."""
    return [{tool["name"] for tool in json.loads(body)["tools"]} for body in stage.bodies]


@pytest.mark.usefixtures("configured")
def test_tools_that_a_mode_forbids_are_not_offered(steer, stage, rules):
    online = steer.having(**reaching({}, stage.url))
    model = ("--model", "anthropic:m-1", "--yes")
    stage.play({"tool_calls": [SELECT]}, {"text": "Selected."}, {"text": "Planned."})
    thread = online.work("run", "select", *model).thread
    assert {"notes__read_notes", "notes__write_note", "mcp_call_tool"} <= offered(stage)[-1]

    assert online("resume", thread, "plan it", "--mode", "plan", *model).returncode == 0
    named = {name for name in offered(stage)[-1] if "mcp" in name or "__" in name}
    assert named == set()

    rules(RULE)
    stage.play({"tool_calls": [SELECT]}, {"text": "Planned."})
    assert online("run", "plan it", "--mode", "plan", *model).returncode == 0
    named = {name for name in offered(stage)[-1] if "mcp" in name or "__" in name}
    assert named == {"mcp_call_tool", "mcp_list_tools", "notes__read_notes"}


@pytest.mark.parametrize("mode", ["ask", "plan", "spec", "debug"])
def test_a_resumed_thread_keeps_its_mode(steer, script, mode):
    model = script(DONE)
    thread = steer.work("run", "x", "--mode", mode, "--model", model).thread
    again = steer.messages("resume", thread, "go on", "--model", model)
    assert [m["body"]["mode"] for m in again if m["kind"] == "turn_start"] == [mode]
