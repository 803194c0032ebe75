"""What a step costs, and that the five-hundredth costs what the tenth does."""

import asyncio
import time
from collections.abc import AsyncGenerator
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.measure import STEER, Figure, cost, script, world
from steersman.dialogue import Driver, Event, Prompt
from steersman.host import Host
from steersman.identity.settings import Settings
from steersman.intelligence.models import Models

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


class Clocked:
    """A driver that notes the CPU time at each model call."""

    def __init__(self, driver: Driver) -> None:
        self.model = driver.model
        self.times: list[float] = []
        self._driver = driver

    async def stream(self, prompt: Prompt) -> AsyncGenerator[Event, None]:
        """The same answer, with a note of when it was asked for."""
        self.times.append(time.process_time())
        async for event in self._driver.stream(prompt):
            yield event


def _late_against_early(data: Path, work: Path, model: str, environ: dict[str, str]) -> float:
    clocks: list[Clocked] = []
    opener = Models.open

    def clocked(models: Models, name: str, **how: Any) -> Driver:
        clocks.append(Clocked(opener(models, name, **how)))
        return clocks[-1]

    async def play() -> None:
        async with Host.at(data, environ) as host:
            settings = Settings(model=model, approvals="never")
            thread = await host.start(str(work), "go", settings)
            await host.send(thread.id, "go")
            await host.wait(thread.id)

    Models.open = clocked  # type: ignore[method-assign,assignment]
    try:
        asyncio.run(play())
    finally:
        Models.open = opener  # type: ignore[method-assign]
    steps = [b - a for a, b in zip(clocks[0].times, clocks[0].times[1:], strict=False)]
    return median(steps[-20:]) / median(steps[5:25])
