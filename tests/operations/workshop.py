"""Tools at work in a folder, through a host with a scripted model: gate, log and all."""

import asyncio
import json
import os
from collections.abc import Awaitable, Callable, Sequence
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from steersman.host import Host
from steersman.operations.executor import Toolbox
from steersman.operations.journal.journal import Journal
from steersman.operations.journal.objects import Objects
from steersman.operations.mcp.cache import Cache
from steersman.operations.mcp.gateway import Gateway
from steersman.operations.tool import Tool
from steersman.operations.tools.mcp_list_tools import ListTools
from steersman.operations.workspace import Look, Workspace
from steersman.records.mcp_server import Server
from steersman.records.message import ConfirmResponse, Message, ToolResult, TurnEnd
from steersman.records.settings import Settings
from steersman.systems import Permit
from steersman.threads.handle import ThreadHandle

Answer = Callable[[Message], str | ConfirmResponse]
Deed = tuple[str, dict[str, Any]]
PATIENCE = 60
PATH = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8"}


class Workshop:
    """Calls of tools in one folder. `answer` says allow or deny to a request, or all of it."""

    meanwhile: Callable[[ThreadHandle], Awaitable[None]] | None = None

    def __init__(
        self,
        folder: Path,
        *,
        answer: Answer | None = None,
        environ: dict[str, str] | None = None,
        **settings: Any,
    ) -> None:
        self.folder = folder
        self.messages: list[Message] = []
        self.told: list[Message] = []
        self.end: TurnEnd | None = None
        self._answer = answer
        self._environ = PATH | (environ or {})
        self._settings = {"approvals": "on-request" if answer else "never"} | settings

    def do(self, *calls: Deed) -> list[ToolResult]:
        """Carry out the calls of one answer; the results in the order of the calls."""
        with TemporaryDirectory() as home:
            asyncio.run(asyncio.wait_for(self._work(Path(home), calls), PATIENCE))
        announced = [message.corr for message in self.messages if message.kind == "tool_call"]
        found = {m.corr: m.body for m in self.messages if isinstance(m.body, ToolResult)}
        return [found[corr] for corr in announced]

    def one(self, tool: str, **arguments: Any) -> ToolResult:
        """Carry out one call."""
        (result,) = self.do((tool, arguments))
        return result

    def kinds(self) -> list[str]:
        """The kinds of what was logged."""
        return [message.kind for message in self.messages]

    async def during(self, thread: ThreadHandle) -> None:
        """What happens while the calls are carried out."""
        if self.meanwhile is not None:
            await self.meanwhile(thread)

    async def _work(self, home: Path, calls: Sequence[Deed]) -> None:
        script = home / "script.json"
        made = [{"name": name, "arguments": arguments} for name, arguments in calls]
        script.write_text(json.dumps({"turns": [{"tool_calls": made}, {"text": "Done."}]}))
        settings = Settings(model=f"scripted:{script}", **{"command_wait": 600, **self._settings})
        async with Host.at(home / "data", self._environ) as host:
            attended = self._answer is not None
            thread = await host.start(str(self.folder), "t", settings, attended=attended)
            listening = asyncio.create_task(self._listen(thread))
            await thread.send("go")
            await self.during(thread)
            self.end = await thread.wait()
            await thread.close()
            await listening
            self.messages = list(host.messages(thread.id))

    async def _listen(self, thread: ThreadHandle) -> None:
        async for message in thread.events():
            self.told.append(message)
            if message.kind == "confirm_request" and self._answer is not None:
                given: Any = self._answer(message)
                answer = given if isinstance(given, ConfirmResponse) else ConfirmResponse(given)
                await thread.answer(message.corr or "", answer)


def our_tools() -> dict[str, Tool[Any]]:
    """Every tool there is, by its name; good for asking what it takes, not for running it."""
    import_module("steersman.operations.tools")
    found = [kind for kind in Tool.__subclasses__() if hasattr(kind, "name")]
    return {
        kind.name: _made(kind)
        for kind in sorted(found, key=lambda kind: kind.name)
        if kind.__module__.startswith("steersman.operations.tools.")
    }


def _made(kind: type[Tool[Any]]) -> Tool[Any]:
    """A tool that is good for asking only."""
    made = kind.__new__(kind)
    if isinstance(made, ListTools):
        made.__init__(Gateway((), _connect, Cache(None)))
    return made


def _connect(server: Server) -> Any:
    raise AssertionError(f"nobody connects to {server.name}")


async def not_asked(looks: Sequence[Look]) -> Permit:
    """For plans that look at nothing."""
    raise AssertionError(f"nobody is asked about {looks}")


def toolbox_of(folder: Path, tools: Sequence[Any], gate: Any, **more: Any) -> Toolbox:
    """A toolbox with tools made up for a test."""
    workspace = Workspace.open(folder)
    journal = Journal(workspace.root, Objects(folder / "objects"))
    return Toolbox(tools, workspace, journal, gate, **more)
