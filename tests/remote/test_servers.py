"""What knows the code, and MCP servers: both are beside the code; the gate is here."""

import json
from collections.abc import Callable

from tests.mcp.kit import entry, verdicts
from tests.remote.conftest import Box
from tests.remote.test_workspace import results
from tests.world import Steer, call


def test_symbols_of_the_code_there(box: Box, far: Steer, script: Callable[..., str]) -> None:
    model = script(
        {"tool_calls": [
            {"name": "workspace_find_symbol", "arguments": {"name": "add"}},
            call("workspace_search_files", query="return a"),
        ]},
        {"text": "Done."},
    )  # fmt: skip
    said = far.messages("run", "-w", box.address, "--model", model, "look")
    symbol, found = results(said)
    assert symbol["status"] == "ok", symbol
    assert "calc.py" in json.dumps(symbol["output"])
    assert "calc.py" in json.dumps(found["output"])


def test_an_mcp_server_of_the_other_machine(
    box: Box, far: Steer, script: Callable[..., str]
) -> None:
    notes = box.home / "notes"
    notes.mkdir()
    config = box.home / ".config" / "steersman" / "mcp.json"
    config.parent.mkdir(parents=True)
    config.write_text(json.dumps({"mcpServers": {"notes": entry(notes)}}))
    (notes / "notes.txt").write_text("Buy milk.\n")
    model = script(
        {"tool_calls": [call("mcp_list_tools", select=["notes__read_notes"])]},
        {"tool_calls": [call("notes__read_notes")]},
        {"text": "Done."},
    )
    said = far.messages("run", "-w", box.address, "--model", model, "--yes", "read")
    _, result = results(said)
    assert result["status"] == "ok", result
    assert verdicts(said) == [("read_notes", "reads", "allow")]
    assert list(notes.glob("started-*"))
