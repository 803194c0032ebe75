"""Going back to a message: a new thread that ends there."""

import asyncio

from steersman.host import Host
from steersman.records.settings import Settings
from steersman.records.thread import REWOUND, Thread


async def rewound(host: Host, source: str, at: int, *, undone: bool) -> Thread:
    """A thread that continues from a message; `undone`: the files were restored."""
    rewind, stays = await asyncio.to_thread(host.way_back.rewind, source, at, undone=undone)
    copy = await asyncio.to_thread(host.fork, source, at, REWOUND)
    handle = await host.attach(copy.id, Settings(), thinks=False)
    await handle.rewound(rewind, stays)
    return copy
