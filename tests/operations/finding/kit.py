"""A folder to look around in, by ripgrep and without it, as far as the policy lets one."""

import asyncio
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec

from steersman.governance.policy import Circumstances, decide
from steersman.operations.tool import Tool
from steersman.operations.tools.list_files import ListFiles
from steersman.operations.tools.search_files import SearchFiles
from steersman.operations.tools.search_pattern import SearchPattern
from steersman.operations.workspace import Workspace
from steersman.records.dialogue import Call
from steersman.records.errors import ToolProblem
from tests.operations.workshop import not_asked

ENGINES = ("ripgrep", "python")


def plant(folder: Path, files: dict[str, str | bytes]) -> None:
    """Write files, with the folders they are in."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)


def environ_of(engine: str) -> dict[str, str]:
    """An environment in which that engine is used."""
    return dict(os.environ) if engine == "ripgrep" else {"PATH": "/nowhere"}


def use(tool: Tool[Any], folder: Path, **arguments: Any) -> Any:
    """Call a tool with the leave it asks for: its answer, or the words of the refusal."""
    workspace = Workspace.open(folder)
    try:
        args = tool.parse(Call("call_1", tool.name, arguments))
        plan = asyncio.run(tool.plan(args, workspace.planning(not_asked)))
        for verdict in (decide(action, Circumstances(workspace.root)) for action in plan.actions):
            if verdict.decision != "allow":
                return f"Denied: {verdict.reason}"
        bench: Any = SimpleNamespace(workspace=workspace.granted(plan.actions))
        return msgspec.to_builtins(asyncio.run(tool.perform(plan, bench)))
    except ToolProblem as problem:
        return str(problem)


class Finder:
    """The three tools in one folder."""

    def __init__(self, folder: Path, environ: dict[str, str]) -> None:
        self._folder = folder
        self._environ = environ

    def list(self, **arguments: Any) -> Any:
        """List files."""
        return use(ListFiles(self._environ), self._folder, **arguments)

    def text(self, query: str, **arguments: Any) -> Any:
        """Search for a text."""
        return use(SearchFiles(self._environ), self._folder, query=query, **arguments)

    def pattern(self, pattern: str, **arguments: Any) -> Any:
        """Search for a pattern."""
        return use(SearchPattern(self._environ), self._folder, pattern=pattern, **arguments)
