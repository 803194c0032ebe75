"""A thousand readers and a kill in the middle: everyone has every message once and in order."""

import asyncio
import json
import random
import resource
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.kit import shell
from tests.http.kit import Served
from tests.real.crowd import COMMAND, END, PATIENCE, Crowd, Page, Reader, lazy
from tests.world import call

pytestmark = pytest.mark.real
READERS, PAGES, THREADS, SEED = 1000, 50, 20, 20
FOLLOWED = 4  # threads a page follows
LISTENERS = 5  # readers of the thread with much to say
LARGE = "many words\n" * 30_000


def write(path: str, content: str = "new\n") -> dict[str, object]:
    """A step that writes a file."""
    return {"text": "", "tool_calls": [call("workspace_write_file", path=path, content=content)]}


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Served]:
    """A server that is killed, with room for all readers on either side."""
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (limits[1], limits[1]))
    made = Served(tmp_path / "home", tmp_path / "work")
    yield made
    errors = made.stop()
    resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    assert "Traceback" not in errors, errors


async def begin(own: Served, crowd: Crowd, number: int) -> str:
    """A thread whose first turn does not end by itself; the second one of the last is large."""
    script = own.home / f"script-{number}.json"
    endless = [write("a.txt"), {"text": "", "tool_calls": [shell(COMMAND)]}, {"text": "Slept."}]
    steps = [write(f"{n}.txt", LARGE) for n in range(12)] if number == THREADS else [write("b.txt")]
    script.write_text(json.dumps({"turns": [*endless, *steps, {"text": END}]}))
    told = {"workspace": str(own.workspace), "text": "Go.", "model": f"scripted:{script}"}
    return str((await crowd.ask("POST", "/threads", told))["id"])


def test_a_thousand_readers_while_the_server_is_killed(own: Served) -> None:
    """Each comes back with its last number whenever its line is cut, and one never reads."""
    asyncio.run(_crowded(own))


async def _crowded(own: Served) -> None:
    crowd = Crowd(own.at, own.token)
    threads = [await begin(own, crowd, number) for number in range(THREADS + 1)]
    *usual, loud = threads
    chance = random.Random(SEED)
    places = [usual[number % THREADS] for number in range(READERS)] + [loud] * LISTENERS
    readers = [Reader(crowd, random.Random(chance.random()), thread) for thread in places]
    readers += [
        Page(crowd, random.Random(chance.random()), *chance.sample(usual, FOLLOWED))
        for _ in range(PAGES)
    ]
    async with asyncio.timeout(PATIENCE), asyncio.TaskGroup() as group:
        for one in readers:
            group.create_task(one.read())

        # All threads work, and readers come and go, when the server is killed.
        await crowd.until(crowd.working, set(threads))
        crowd.up.clear()
        await asyncio.to_thread(own.kill)
        await asyncio.to_thread(own.start)
        with lazy(crowd, loud):
            crowd.up.set()
            await asyncio.gather(
                *(crowd.ask("POST", f"/threads/{one}/send", {"text": "Go on."}) for one in threads)
            )
            await crowd.until(crowd.ended, set(threads))
            for thread in threads:
                told = await crowd.ask("GET", f"/threads/{thread}/messages?limit=1")
                crowd.heads[thread] = told["head"]
            for one in readers:
                one.look()
            # Whoever reads gets everything while the lazy one still holds its line.
            await asyncio.gather(*(one.all_read.wait() for one in readers))

    for one in readers:
        for thread, seen in one.seen.items():
            assert seen == list(range(1, crowd.heads[thread] + 1))
    assert crowd.lines > 2 * len(readers)  # each was cut at least once
    for thread in threads:
        assert (await crowd.ask("GET", f"/threads/{thread}/verify"))["verified"]
