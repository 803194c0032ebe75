"""What tests of tools of one's own share: files with tools, and what comes of calling them."""

from pathlib import Path
from textwrap import indent
from typing import Any

from steersman.records.message import ToolResult
from tests.hooks.kit import bodies, play, worked
from tests.world import call

HEAD = """\
import os, subprocess, sys, time
from typing import Annotated

from steersman.extension import Arguments, Meta, Tool


"""
COUNT = (
    HEAD
    + '''class CountWords(Tool):
    """Count the words of a file."""

    name = "count_words"

    class Args(Arguments):
        path: Annotated[str, Meta(description="a file of the workspace")]

    def run(self, args):
        with open(args.path) as file:
            return {"words": len(file.read().split())}
'''
)


def tool(body: str, *facts: str, name: str = "probe") -> str:
    """The text of a file whose tool does something."""
    lines = "".join(f"    {fact}\n" for fact in (f'name = "{name}"', *facts))
    head = f'class Probe(Tool):\n    """Try something."""\n\n{lines}\n    def run(self, args):\n'
    return HEAD + head + indent(body, " " * 8) + "\n"


def own(environ: dict[str, str], text: str, name: str = "probe.py") -> Path:
    """Put a tool into the user's own folder."""
    return _put(Path(environ["XDG_CONFIG_HOME"], "steersman", "tools"), text, name)


def brought(workspace: Path, text: str, name: str = "probe.py") -> Path:
    """Have a folder come with a tool."""
    return _put(workspace / ".steersman" / "tools", text, name)


def _put(folder: Path, text: str, name: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(text)
    return path


def called(
    environ: dict[str, str],
    workspace: Path,
    script: Any,
    name: str = "probe",
    how: dict[str, Any] | None = None,
    **arguments: Any,
) -> ToolResult:
    """What comes of a model's call in a thread where nobody is asked."""
    model = script({"tool_calls": [call(name, **arguments)]}, {"text": "Done."})

    async def scenario(host: Any) -> ToolResult:
        thread = await worked(host, workspace, model, **(how or {}))
        (result,) = bodies(host, thread, ToolResult)
        return result

    found: ToolResult = play(environ, scenario)
    return found
