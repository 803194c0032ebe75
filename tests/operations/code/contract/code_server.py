"""An MCP server that knows a little Python in its own way: `python code_server.py FOLDER`.

It answers as servers in the wild do: objects with camel case and lines from 0, text with places,
and sentences when it has nothing to say.
"""

import ast
import sys
from pathlib import Path
from typing import Any

from mcp.server import MCPServer
from mcp_types import ToolAnnotations

ROOT = Path(sys.argv[1])
LOOKS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
server = MCPServer("small-code", version="1.0")


def definitions(path: Path) -> list[dict[str, Any]]:
    """The definitions of a file, members inside."""
    tree = ast.parse(path.read_text())
    return [_described(node, path) for node in tree.body if hasattr(node, "name")]


def _described(node: Any, path: Path) -> dict[str, Any]:
    inner = [_described(child, path) for child in node.body if hasattr(child, "name")]
    return {
        "name": node.name,
        "kind": 5 if isinstance(node, ast.ClassDef) else 12,
        "location": {
            "uri": path.as_uri(),
            "range": {
                "start": {"line": node.lineno - 1, "character": node.col_offset},
                "end": {"line": node.end_lineno - 1, "character": 0},
            },
        },
        "children": inner,
    }


@server.tool(annotations=LOOKS)
def outline(filePath: str) -> dict[str, Any]:
    """The symbols of a file."""
    return {"symbols": definitions(Path(filePath))}


@server.tool(annotations=LOOKS)
def lookup(symbol: str) -> list[dict[str, Any]]:
    """Definitions by name."""
    files = sorted(ROOT.rglob("*.py"))
    return [one for path in files for one in definitions(path) if one["name"] == symbol]


@server.tool(annotations=LOOKS)
def usages(symbol: str) -> str:
    """Places of a name, one in a line."""
    found = []
    for path in sorted(ROOT.rglob("*.py")):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if symbol in line:
                found.append(f"{path}:{number}:{line.index(symbol) + 1}: {line}")
    return "\n".join(found) or "No references found."


@server.tool(annotations=LOOKS)
def problems(file: str) -> str:
    """What is wrong in a file."""
    try:
        ast.parse((ROOT / file).read_text())
    except SyntaxError as error:
        return f"{file}:{error.lineno}:{error.offset}: error: {error.msg}"
    return "No problems."


@server.tool()
def rewrite(path: str) -> str:
    """Change a file; nothing says that it does."""
    (ROOT / path).write_text("rewritten\n")
    return "[]"


if __name__ == "__main__":
    server.run("stdio")
