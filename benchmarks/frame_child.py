"""The processes that `frame` measures: an owner, somebody who answers, readers, many threads.

`python -m benchmarks.frame_child ROLE …` prints what it measured as JSON. Times are those of the
machine's monotonic clock, which all its processes share.
"""

import asyncio
import gc
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

from steersman.host import Host
from steersman.records.errors import Exit
from steersman.records.message import ConfirmResponse, ToolProgress
from steersman.records.settings import Settings

SETTLE = 2.0
WATCHED = 15.0  # seconds over which an idle reader is measured


def host() -> Host:
    """A host on the data folder or store of the environment."""
    return Host.at(Path(os.environ["STEERSMAN_HOME"]), os.environ)


def say(value: Any) -> None:
    """Tell whoever measures."""
    print(json.dumps(value), flush=True)


async def own(model: str) -> None:
    """Run a thread; say when its gate hears an answer and when a piece is shown."""
    async with host() as here:
        thread = await here.start(os.getcwd(), "go", Settings(model=model), attended=True)
        say(thread.id)
        await asyncio.to_thread(sys.stdin.readline)
        heard, shown, length = {}, [], 0
        following = asyncio.create_task(thread.send("go"))
        async for message in thread.events():
            now = time.monotonic()
            match message.body:
                case ConfirmResponse():
                    heard[message.corr] = now
                case ToolProgress(text=text):
                    length += len(text)
                    shown.append((length, now))
            if message.kind == "turn_end":
                break
        await following
        say({"heard": heard, "shown": shown})


async def answer(thread_id: str) -> None:
    """Allow whatever a thread asks; say when, and when pieces came."""
    async with host() as here:
        thread = await here.attach(thread_id)
        given, shown, length = {}, [], 0
        events = thread.events()
        say("ready")
        async for message in events:
            now = time.monotonic()
            if message.kind == "confirm_request" and message.corr:
                given[message.corr] = now
                await thread.answer(message.corr, ConfirmResponse("allow"))
            elif isinstance(message.body, ToolProgress):
                length += len(message.body.text)
                shown.append((length, now))
            elif message.kind == "turn_end":
                break
        say({"given": given, "shown": shown})


async def read(thread_id: str) -> None:
    """Follow a thread in which nothing happens; say how much of a core that takes."""
    async with host() as here:
        thread = await here.attach(thread_id)

        async def follow() -> None:
            async for _ in thread.events():
                pass

        following = asyncio.create_task(follow())
        await asyncio.sleep(SETTLE)
        began, used = time.monotonic(), time.process_time()
        await asyncio.sleep(WATCHED)
        say((time.process_time() - used) / (time.monotonic() - began))
        following.cancel()


async def many(model: str, threads: str) -> None:
    """Open threads and run a command in each at the same time; say what an open thread takes."""
    async with host() as here:
        settings = Settings(model=model, approvals="never")
        first = await here.start(os.getcwd(), "go", settings)
        await first.send("go")
        await first.wait()
        before = _memory()
        opened = [await here.start(os.getcwd(), "go", settings) for _ in range(int(threads))]
        for thread in opened:
            await thread.send("go")
        for thread in opened:
            await thread.wait()
        after = _memory()
        lists = Path("/proc/self/task").glob("*/children")
        children = [child for one in lists for child in one.read_text().split()]
        say({"memory": (after - before) / len(opened), "processes": len(children)})


async def one_by_one(model: str, threads: str) -> None:
    """The same turns, each thread closed before the next is opened."""
    async with host() as here:
        settings = Settings(model=model, approvals="never")
        for _ in range(int(threads) + 1):
            thread = await here.start(os.getcwd(), "go", settings)
            await thread.send("go")
            await thread.wait()
            await here.close(thread.id, Exit.DONE)


def _memory() -> float:
    """Bytes of this process that are its own."""
    gc.collect()
    lines = Path("/proc/self/smaps_rollup").read_text().splitlines()
    found = dict(line.split(":", 1) for line in lines[1:])
    return sum(int(found[name].split()[0]) * 1024 for name in ("Private_Clean", "Private_Dirty"))


ROLES = {"own": own, "answer": answer, "read": read, "many": many, "one-by-one": one_by_one}

if __name__ == "__main__":
    asyncio.run(ROLES[sys.argv[1]](*sys.argv[2:]))
