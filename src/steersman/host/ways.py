"""The way back of every thread: of those whose workspace is elsewhere, it is found there.

Whoever asks waits for the answer, on any thread of the process, so lines for this have an event
loop of their own.
"""

from __future__ import annotations

import asyncio
import threading
from collections import defaultdict
from collections.abc import Callable, Mapping
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

from steersman.records.far import is_far, refuse_foreign
from steersman.store.contract import Store
from steersman.threads.way_back import FOUND, WayBack

if TYPE_CHECKING:
    from steersman.threads.remote.answering import Reach


class Ways(WayBack):
    """Finds out what an undo, a redo or a rewind of a thread would do, wherever its files are."""

    def __init__(self, store: Store, home: Path, environ: Mapping[str, str]) -> None:
        super().__init__(store, home)
        self._environ = environ
        self._there: There | None = None
        self._first = threading.Lock()

    def find(self, method: str, plain: Callable[..., Any], *given: Any, **named: Any) -> Any:
        """The answer to a question about a thread, which is the first that is given."""
        thread = self._store.thread(given[0])
        if thread is None or not is_far(thread.workspace):
            return plain(self, *given, **named)
        with self._first:  # whoever asks may be on any thread
            if self._there is None:
                self._there = There(self._store, self._environ)
        refuse_foreign(imported=thread.imported)
        return self._there.ask(thread.workspace, method, given, named)

    def close(self) -> None:
        """Leave the agents that were asked."""
        if self._there is not None:
            self._there.close()


def _found(method: str) -> Callable[..., Any]:
    plain = getattr(WayBack, method)

    @wraps(plain)
    def find(self: Ways, *given: Any, **named: Any) -> Any:
        return self.find(method, plain, *given, **named)

    return find


for _name in FOUND:
    setattr(Ways, _name, _found(_name))


class There:
    """Lines to agents, one for each address, on a thread of their own."""

    def __init__(self, store: Store, environ: Mapping[str, str]) -> None:
        self._store = store
        self._environ = environ
        self._lines: dict[str, Reach] = {}
        self._opening: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._loop = asyncio.new_event_loop()
        self._runs = threading.Thread(target=self._loop.run_forever, name="ways", daemon=True)
        self._runs.start()

    def ask(self, address: str, method: str, given: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """What an agent finds."""
        from steersman.threads.remote.ways import asked, types_of

        question = asked(method, given, named)
        answer = self._ask(address, question, types_of(method)[1])
        return asyncio.run_coroutine_threadsafe(answer, self._loop).result()

    async def _ask(self, address: str, question: Any, gives: Any) -> Any:
        async with self._opening[address]:  # others who ask meanwhile use the same line
            line = self._lines.get(address)
            if line is None or line.line.over is not None:
                line = await self._opened(address)
        return await line.line.ask("way", question, gives)

    async def _opened(self, address: str) -> Reach:
        from steersman.host.reaching import reach
        from steersman.threads.remote.answering import BookDesk

        if (before := self._lines.pop(address, None)) is not None:
            await before.close()
        line = reach(address, self._environ)
        line.desk = BookDesk(self._store, address)
        await line.open()
        self._lines[address] = line
        return line

    def close(self) -> None:
        """Leave all of them."""

        async def leave() -> None:
            for line in self._lines.values():
                await line.close()

        asyncio.run_coroutine_threadsafe(leave(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._runs.join()
        self._loop.close()
