"""How long a cancel takes: the stream, the tool and its stubborn processes gone, and logged."""

import asyncio
import time
from pathlib import Path

from benchmarks.measure import Figure, script, world
from steersman.host import Host
from steersman.records.message import ToolProgress
from steersman.records.settings import Settings

COMMAND = "trap '' TERM INT; setsid sleep 600 & sleep 600 & echo begun; wait"
RUNS = 10


def figures() -> list[Figure]:
    """The slowest of several cancels."""
    with world() as (folder, environ):
        call = {"name": "workspace_run_command", "arguments": {"command": COMMAND}}
        model = script(folder, [{"tool_calls": [call]}])
        spent = [asyncio.run(_cancel(folder, environ, model)) for _ in range(RUNS)]
    return [Figure(f"cancel of a running command, slowest of {RUNS}", 1000 * max(spent), 200, "ms")]


async def _cancel(folder: Path, environ: dict[str, str], model: str) -> float:
    async with Host.at(folder / "data", environ) as host:
        settings = Settings(model=model, approvals="never")
        thread = await host.start(str(folder / "work"), "go", settings)
        news = thread.events()
        await thread.send("go")
        async for message in news:
            if isinstance(message.body, ToolProgress):
                break
        started = time.monotonic()
        await thread.cancel()
        return time.monotonic() - started
