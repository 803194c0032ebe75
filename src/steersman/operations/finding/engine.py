"""Chooses who searches: ripgrep, or the program in Python."""

import asyncio
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import TypeVar

import msgspec

from steersman.operations.finding import ripgrep
from steersman.operations.finding.obstacles import Blocked, unless_blocked
from steersman.operations.finding.program import ripgrep as program
from steersman.operations.finding.program import run
from steersman.operations.finding.records import Found, Names, Query, SearchPlace
from steersman.operations.finding.scan import REFUSED, Job
from steersman.records.errors import ToolProblem
from steersman.records.gitignore import Globs

T = TypeVar("T")


async def find(place: SearchPlace, query: Query, environ: Mapping[str, str]) -> Found:
    """Where a pattern occurs."""
    Globs(query.globs)  # says what is wrong with them, whoever searches
    rg = await asyncio.to_thread(program, environ, place.root)
    if rg is not None:
        with suppress(Blocked):
            found = ripgrep.search(rg, place, query, environ)
            return await unless_blocked(place.folder, found)
    return await _scanned(Job(place, query=query), Found, environ)


async def list_names(place: SearchPlace, ignored: bool, environ: Mapping[str, str]) -> Names:
    """Every file below a folder."""
    rg = await asyncio.to_thread(program, environ, place.root)
    if rg is not None:
        with suppress(Blocked):
            names = ripgrep.list_names(rg, place, ignored, environ)
            return await unless_blocked(place.folder, names)
    return await _scanned(Job(place, ignored), Names, environ)


async def _scanned(job: Job, kind: type[T], environ: Mapping[str, str]) -> T:
    # -P: nothing of the workspace may be taken for a module of ours.
    command = [sys.executable, "-P", "-m", "steersman.operations.finding"]
    ran = await run(command, "/", environ, msgspec.json.encode(job))
    if ran.code == REFUSED:
        raise ToolProblem(*msgspec.json.decode(ran.out, type=tuple[str, str, str]))
    if ran.code or not ran.complete:
        raise ToolProblem("The search failed.", ran.err.decode("utf-8", "replace")[-500:])
    return msgspec.json.decode(ran.out, type=kind)
