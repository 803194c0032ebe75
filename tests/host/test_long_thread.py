"""A very long thread through the host: it stays in its window and keeps what must be kept."""

import asyncio
import json
import os
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from steersman.host import Host
from steersman.intelligence.context import KINDS, Context
from steersman.records.dialogue import AssistantItem, UserItem
from steersman.records.settings import Settings

WINDOW = 32_000
GOAL = "Rebuild the parser so that nested lists work."
RULE = "Never touch vendor/keep.c: it is generated."
TURNS = [
    {
        "text": "Looking.",
        "tool_calls": [{"name": "workspace_read_file", "arguments": {"path": "a.py"}}],
    },
    {"text": "It is so."},
]


async def played(folder: Path, turns: int) -> None:
    (folder / "ws").mkdir()
    lines = "".join(f"def f_{n}(a): return a * {n}\n" for n in range(60))
    (folder / "ws" / "a.py").write_text(lines)
    (folder / "s.json").write_text(json.dumps({"turns": TURNS}))
    settings = Settings(model=f"scripted:{folder}/s.json", approvals="never", window=WINDOW)
    async with Host.at(folder / "home", os.environ) as host:
        thread = await host.start(str(folder / "ws"), "t", settings)
        session = host.session(thread.id)
        context, counter = session._context, session._mind.compactor.counter
        for turn in range(1, turns + 1):
            await thread.send({1: GOAL, 3: RULE}.get(turn, f"Turn {turn}: look again"))
            end = await thread.wait()
            assert end is not None
            assert end.ending == "done"
            if turn % 50 == 0:
                assert counter.tokens(sum(map(counter.of_item, context.view))) < 0.8 * WINDOW
        assert context.view[0] == UserItem(GOAL, steer=False)
        assert RULE in context.view[1].text
        assert sum(isinstance(item, AssistantItem) for item in context.items) == 2 * turns
        before = repr(context.view)
        assert await thread.compact()
        assert len(repr(context.view)) < len(before)
        assert await thread.compact(undo=True)
        assert repr(context.view) == before
        from_log = Context("steersman")
        from_log.observe(host.messages(thread.id, kinds=KINDS))
        assert repr(from_log.view) == before
        await thread.close()
        thread = await host.open(thread.id, settings)
        assert repr(host.session(thread.id)._context.view) == before
        await thread.close()
        assert host.verify(thread.id) == []


@pytest.mark.parametrize("turns", [400, pytest.param(2000, marks=pytest.mark.soak)])
def test_hundreds_and_thousands_of_turns_through_the_host(turns: int) -> None:
    with TemporaryDirectory() as folder:
        asyncio.run(asyncio.wait_for(played(Path(folder), turns), 200))
