"""An MCP server by the official library: stdio, streamable HTTP or SSE, in both eras.

`polite.py stdio`, `polite.py http PORT`, `polite.py sse PORT`.
"""

import asyncio
import os
import sys
from typing import Annotated

from mcp.server import MCPServer
from mcp.server.mcpserver import Context, Elicit, Image, Resolve
from pydantic import BaseModel

server = MCPServer("polite", version="3.1", instructions="Say please.")


class Branch(BaseModel):
    branch: str


class Sum(BaseModel):
    total: int


async def which(ctx: Context) -> Elicit:
    return Elicit("Which branch?", Branch)


@server.tool()
def echo(text: str) -> str:
    """Give back what was said."""
    return text


@server.tool()
def add(a: int, b: int) -> Sum:
    """Add two numbers."""
    return Sum(total=a + b)


@server.tool()
def picture() -> Image:
    """A picture."""
    return Image(data=b"x" * 12_000, format="png")


@server.tool()
async def slow(ctx: Context, steps: int = 3) -> str:
    """Work in steps."""
    for step in range(steps):
        await ctx.report_progress(step + 1, steps, "step")
    return "done"


@server.tool()
async def choose(answer: Annotated[Branch, Resolve(which)]) -> str:
    """Ask a person."""
    return f"on {answer.branch}"


@server.tool()
async def wait() -> str:
    """Never end."""
    await asyncio.sleep(600)
    return "at last"


@server.tool()
def die() -> str:
    """End the server."""
    os._exit(3)


@server.tool()
def large(size: int) -> str:
    """A long text."""
    return "x" * size


def main() -> None:
    how = sys.argv[1]
    if how == "stdio":
        server.run("stdio")
        return
    transport = "sse" if how == "sse" else "streamable-http"
    server.run(transport, host="127.0.0.1", port=int(sys.argv[2]))


main()
