"""Who is asked: the first backend that serves a question, the next when it cannot answer.

A backend that fails has a rest, so that its failing costs no second question, and is then asked
again: a server that comes back is used again.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

from msgspec import Struct

from steersman.operations.code.backend import Ability, Backend, Unable
from steersman.records.errors import ToolProblem

PATIENCE = 120.0  # seconds one backend gets for one question
REST = 30.0  # seconds a backend that failed is not asked again
_DOING = {
    "overview": "list the symbols of",
    "find": "find symbols in",
    "declaration": "find declarations from",
    "references": "find references in",
    "diagnostics": "check",
}

T = TypeVar("T")
Backends = Sequence[Backend] | Callable[[], Sequence[Backend]]
Ask = Callable[[Backend], Awaitable[list[T]]]


class Answered(Struct, Generic[T], frozen=True):
    """What a backend said; `passed` shows which ones were asked in vain before it, and why."""

    backend: str
    found: list[T]
    passed: tuple[str, ...] = ()

    def note(self, more: str = "") -> str:
        """Everything there is to remark on the answer."""
        return "; ".join(filter(None, (*self.passed, more)))


class Row:
    """Backends in the order of preference; a function that gives them may be called in a thread."""

    def __init__(
        self,
        backends: Backends,
        *,
        patience: float = PATIENCE,
        rest: float = REST,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._backends = backends if callable(backends) else lambda: backends
        self._patience = patience
        self._rest = rest
        self._clock = clock
        self._resting: dict[str, float] = {}
        self._met: dict[int, Backend] = {}

    async def ready(self, ability: Ability, path: str, first: str = "") -> list[Backend]:
        """Backends that would be asked, those that lately failed not among them."""
        # To know whether it serves a folder, a backend looks for its files there.
        ready = await asyncio.to_thread(self._serving, ability, path, self._clock())
        ready.sort(key=lambda backend: backend.name != first)
        return ready

    def _serving(self, ability: Ability, path: str, now: float) -> list[Backend]:
        return [
            backend
            for backend in self._backends()
            if self._resting.get(backend.name, now) <= now and backend.serves(ability, path)
        ]

    async def ask(
        self, ability: Ability, path: str, ask: Ask[T], *, any_will_do: bool = True, first: str = ""
    ) -> Answered[T]:
        """The first answer; unless `any_will_do`, the first that says something, if any does."""
        passed: list[str] = []
        nothing: Answered[T] | None = None
        for backend in await self.ready(ability, path, first):
            self._met[id(backend)] = backend
            try:
                found = await self._patiently(backend, ask)
            except ToolProblem as problem:
                passed.append(f"{backend.name}: {problem.what.rstrip('.')}")
                continue
            if found or any_will_do:
                return Answered(backend.name, found, tuple(passed))
            nothing = nothing or Answered(backend.name, found, tuple(passed))
            passed.append(f"{backend.name} found nothing")
        if nothing is not None:
            return nothing
        raise Unable(
            f"Nothing here can {_DOING[ability]} {os.path.basename(path)}.",
            "; ".join(passed) or "No language server or grammar knows such files.",
            "Use workspace_search_files and workspace_read_file instead.",
        )

    async def _patiently(self, backend: Backend, ask: Ask[T]) -> list[T]:
        try:
            async with asyncio.timeout(self._patience):
                return await ask(backend)
        except Unable:
            raise
        except TimeoutError:
            self._send_to_rest(backend)
            raise Unable(f"no answer within {self._patience:g} seconds") from None
        except ToolProblem:
            self._send_to_rest(backend)
            raise

    def _send_to_rest(self, backend: Backend) -> None:
        self._resting[backend.name] = self._clock() + self._rest

    async def close(self) -> None:
        """Let go of every backend that was asked."""
        for backend in self._met.values():
            await backend.close()
