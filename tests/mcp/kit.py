"""A server that keeps notes, as configurations name it, and what a thread says of its calls."""

import sys
from pathlib import Path
from typing import Any

SERVER = Path(__file__).with_name("server.py")
TOKEN = "tok-0123456789abcdef"


def entry(notes: Path, **more: Any) -> dict[str, Any]:
    """The server as configurations name it."""
    environ = {"NOTES": str(notes), "NOTES_TOKEN": TOKEN}
    return {"command": sys.executable, "args": [str(SERVER)], "env": environ, **more}


def results(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What came of every call."""
    return [m["body"] for m in messages if m["kind"] == "tool_result"]


def verdicts(messages: list[dict[str, Any]]) -> list[tuple[str, str, str]]:
    """The tool, its effect and the decision of every call of a server."""
    found = [m["body"] for m in messages if m["kind"] == "policy"]
    return [
        (b["action"]["tool"], b["action"].get("effect", "writes"), b["verdict"]["decision"])
        for b in found
        if b["action"]["action"] == "mcp_call" and b["action"]["tool"] != "tools/list"
    ]
