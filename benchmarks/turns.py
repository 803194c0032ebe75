"""What a step costs, and that the five-hundredth costs what the tenth does."""

import asyncio
import time
from itertools import pairwise
from pathlib import Path
from statistics import median

from benchmarks.measure import STEER, Figure, cost, script, world
from steersman.host import Host
from steersman.records.settings import Settings
from steersman.threads.handle import ThreadHandle

STEPS = 500


def figures() -> list[Figure]:
    """CPU a step over a whole run, and late steps against early ones."""
    read = {"name": "workspace_read_file", "arguments": {"path": "calc.py"}}
    turns = [{"text": f"Step {n}.", "tool_calls": [read]} for n in range(STEPS)]
    with world() as (folder, environ):
        work = folder / "work"
        model = script(folder, [{"text": "Done."}])
        run = [STEER, "run", "--json", "--model", model, "--approvals", "never", "go"]
        empty = cost(run, environ, work, 5).cpu
        script(folder, [*turns, {"text": "Done."}])
        whole = cost(run, environ, work, 3).cpu
        ratios = [_late_against_early(folder / str(n), work, model, environ) for n in range(3)]
    return [
        Figure(f"one step of {STEPS}, CPU", 1000 * (whole - empty) / STEPS, 4, "ms"),
        Figure("step 500 against step 10, CPU", min(ratios), 1.2, "×", "medians of 20 steps"),
    ]


def _late_against_early(data: Path, work: Path, model: str, environ: dict[str, str]) -> float:
    times: list[float] = []

    async def clock(thread: ThreadHandle) -> None:
        """Note the CPU time at each answer of the model."""
        async for message in thread.events():
            if message.kind == "usage":
                times.append(time.process_time())

    async def play() -> None:
        async with Host.at(data, environ) as host:
            settings = Settings(model=model, approvals="never")
            thread = await host.start(str(work), "go", settings)
            clocking = asyncio.create_task(clock(thread))
            await thread.send("go")
            await thread.wait()
            await thread.close()
            await clocking

    asyncio.run(play())
    steps = [b - a for a, b in pairwise(times)]
    return median(steps[-20:]) / median(steps[5:25])
