"""How well commands can be confined on this machine, found out by real runs."""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from typing import Literal

from msgspec import Struct

from steersman.operations.running import seccomp
from steersman.operations.running.bubblewrap import Bubblewrap, Unavailable, find
from steersman.operations.running.confine import Sandbox
from steersman.records.errors import SteersmanError

Level = Literal["full", "weaker", "none"]


class Containment(Struct, frozen=True):
    """Whether a command can be kept from doing harm, and what a person should know about it."""

    level: Level
    reason: str = ""


class Means(Struct, frozen=True):
    """What there is to confine commands with."""

    containment: Containment
    bubblewrap: Bubblewrap | None = None


class Probe:
    """Finds out once, for all threads of a workspace, how commands can be confined there."""

    def __init__(self, workspace: str, scratch: str) -> None:
        self._workspace = workspace
        self._scratch = scratch
        self._finding: asyncio.Future[Means] | None = None
        self._trying: asyncio.Future[None] | None = None

    def begin(self) -> None:
        """Begin to find out, unless that was done; one that failed is tried again."""
        if self._finding is not None and self._finding.done() and self._finding.exception():
            self._finding = None
        if self._finding is None:
            look = asyncio.to_thread(means, self._workspace, self._scratch)
            self._finding = asyncio.ensure_future(look)
            self._trying = asyncio.ensure_future(self._try())

    async def _try(self) -> None:
        """Find out what a sandbox can show of the disk before the first command needs to know."""
        with suppress(SteersmanError, OSError):  # the first command will meet and report it
            found = await self.found()
            if found.bubblewrap is not None:
                sandbox = Sandbox(found.bubblewrap)
                await asyncio.to_thread(sandbox.seen, os.path.realpath(self._workspace))

    async def found(self) -> Means:
        """What was found."""
        self.begin()
        assert self._finding is not None
        return await asyncio.shield(self._finding)

    async def close(self) -> None:
        """Wait for what was begun."""
        if self._finding is not None and self._trying is not None:
            await asyncio.gather(self._finding, self._trying, return_exceptions=True)


_WEAKER: dict[tuple[int, int], str] = {}


def means(workspace: str, scratch: str) -> Means:
    """The best there is for a workspace, with scratch space in a folder."""
    os.makedirs(scratch, mode=0o700, exist_ok=True)
    found = find(workspace, scratch)
    if isinstance(found, Bubblewrap) and seccomp.supported():
        view = "" if found.attributes else "no views: effects are judged when they have happened"
        return Means(Containment("full", view), found)
    return Means(_without(found.reason if isinstance(found, Unavailable) else "", scratch))


def _without(why: str, scratch: str) -> Containment:
    """What there is where no bubblewrap works."""
    from steersman.operations.running import landlock, launcher

    key = (os.stat(scratch).st_dev, os.geteuid())
    if key not in _WEAKER:
        _WEAKER[key] = landlock.problem(scratch)
    if problem := _WEAKER[key]:
        return Containment("none", f"{why} Landlock does not help: {problem}.".strip())
    signals = "" if launcher.version() >= landlock.SIGNALS else "; signals are not held back"
    limits = (
        "Landlock only: secrets inside the workspace can be read, protected files changed, and "
        f"effects are judged when they have happened{signals}."
    )
    return Containment("weaker", f"{why} {limits}".strip())
