"""A command in the background, and something that is done beside it."""

import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from steersman.host import Host
from steersman.records.message import Message
from steersman.records.settings import Settings
from steersman.threads.handle import ThreadHandle
from tests.world import call

PATIENCE = 280
DONE = {"text": "Done."}
Played = tuple[str, list[Message]]


def until_stopped(what: str) -> str:
    """A command that does something again and again until the test is over."""
    return f"while [ ! -e stop ]; do {what}; sleep 0.02; done; echo ended"


class Look:
    """What the command in the background has printed."""

    def __init__(self, thread: ThreadHandle, home: Path) -> None:
        self._thread = thread
        self._home = home

    async def __call__(self, after: int, wait: float = 60) -> Any:
        """What it printed after a place, or that it has ended."""
        words = {"process_id": "p1", "wait_timeout": wait, "offset": after}
        while True:
            result = await self._thread.call("workspace_read_command_output", words)
            seen = result.body.output
            if not wait or seen["output"] or seen["state"] != "running":
                return seen

    async def printed(self, text: str) -> None:
        """Wait for something without a call, at which its work would come over."""
        while not any(text in one.read_text() for one in self._outputs()):
            await asyncio.sleep(0.01)

    def _outputs(self) -> list[Path]:
        """Where it prints; beside it are copies of folders, which the command may be deleting."""
        walked = os.walk(self._home)
        return [
            Path(folder, name)
            for folder, _, names in walked
            for name in names
            if name.startswith("p1-") and name.endswith(".out")
        ]


def player(
    environ: dict[str, str], workspace: Path, script: Callable[..., str]
) -> Callable[..., Played]:
    """Start a command in the background, do something beside it, let it end, see its output."""

    def played(
        command: str,
        meanwhile: Callable[[Look], Awaitable[None] | None] = lambda look: None,
        wait: float = 0.01,
    ) -> Played:
        start = call("workspace_run_command", command=command, background=True, wait_timeout=wait)
        settings = Settings(model=script({"tool_calls": [start]}, DONE), approvals="never")

        async def scenario() -> Played:
            home = Path(environ["STEERSMAN_HOME"])
            async with asyncio.timeout(PATIENCE), Host.at(home, environ) as host:
                thread = await host.start(str(workspace), "a task", settings)

                look = Look(thread, home)
                await thread.send("go")
                await thread.wait()
                doing = meanwhile(look)
                if doing is not None:
                    await doing
                (workspace / "stop").touch()
                output, state = "", "running"
                while state == "running":
                    part = await look(len(output.encode()))
                    output, state = output + part["output"], part["state"]
                await thread.call("workspace_list_processes", {})
                await thread.close()
                return output, list(host.messages(thread.id))

        return asyncio.run(scenario())

    return played
