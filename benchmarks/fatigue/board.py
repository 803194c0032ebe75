"""An MCP server with a tool that looks and one that writes, by hand, so that it needs nothing."""

import json
import sys
from pathlib import Path
from typing import Any

CARDS = {"type": "object", "properties": {}}
CARD = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
TOOLS = [
    {"name": "list_cards", "description": "List the cards of the team's board.",
     "inputSchema": CARDS, "annotations": {"readOnlyHint": True}},
    {"name": "post_card", "description": "Post a card to the team's board.",
     "inputSchema": CARD,
     "annotations": {"readOnlyHint": False, "destructiveHint": True, "openWorldHint": True}},
]  # fmt: skip


def answer(method: str, params: dict[str, Any], board: Path) -> dict[str, Any] | None:
    """What the server says to a request; nothing to one it does not know."""
    match method:
        case "initialize":
            version = params.get("protocolVersion", "2025-06-18")
            about = {"name": "board", "version": "1"}
            return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": about}
        case "tools/list":
            return {"tools": TOOLS}
        case "tools/call" if params["name"] == "post_card":
            with board.open("a") as file:
                file.write(params["arguments"]["text"] + "\n")
            return {"content": [{"type": "text", "text": "posted"}]}
        case "tools/call":
            return {"content": [{"type": "text", "text": "1. Release notes"}]}
    return None


def main() -> None:
    """Serve over standard input and output; the argument is the file that is the board."""
    for line in sys.stdin:
        request = json.loads(line)
        if "id" in request and "method" in request:
            result = answer(request["method"], request.get("params", {}), Path(sys.argv[1]))
            unknown = {"error": {"code": -32601, "message": "unknown method"}}
            said = unknown if result is None else {"result": result}
            print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **said}), flush=True)


if __name__ == "__main__":
    main()
