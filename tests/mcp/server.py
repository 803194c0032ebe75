"""An MCP server for stories: it looks, it writes, it asks, and it tells when it was started."""

import os
from pathlib import Path
from typing import Annotated

from mcp.server import MCPServer
from mcp.server.mcpserver import Context, Elicit, ElicitationResult, ListRoots, Resolve, Sample
from mcp.types import (
    CreateMessageResult,
    ListRootsResult,
    SamplingMessage,
    TextContent,
    ToolAnnotations,
)
from pydantic import BaseModel

server = MCPServer("notes")
folder = Path(os.environ["NOTES"])
(folder / f"started-{os.getpid()}").touch()


class Branch(BaseModel):
    branch: str
    sure: bool = True


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def read_notes() -> str:
    """Read the notes. They are kept in a file."""
    return "\n".join(sorted(path.read_text() for path in folder.glob("note-*")))


@server.tool()
def write_note(text: str) -> str:
    """Write a note."""
    (folder / f"note-{len(list(folder.glob('note-*')))}").write_text(text)
    return f"wrote {text}"


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def reveal() -> str:
    """Say the token that the server was given."""
    return f"token {os.environ['NOTES_TOKEN']}"


def which(ctx: Context) -> Elicit:
    return Elicit("Which branch?", Branch)


def word(ctx: Context) -> Sample:
    text = TextContent(type="text", text="A word, please.")
    return Sample([SamplingMessage(role="user", content=text)], max_tokens=50)


def where(ctx: Context) -> ListRoots:
    return ListRoots()


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
async def look_branch(answer: Annotated[ElicitationResult, Resolve(which)]) -> str:
    """Ask the person for a branch."""
    return f"{answer.action} {getattr(answer, 'data', None)}"


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
async def look_model(said: Annotated[CreateMessageResult, Resolve(word)]) -> str:
    """Ask the host's model."""
    return f"the model says {said.content.text}"


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
async def look_roots(found: Annotated[ListRootsResult, Resolve(where)]) -> str:
    """Ask where the work is."""
    return str([str(root.uri) for root in found.roots])


server.run("stdio")
