"""Runs a checker to its end, confined, within bounds of time and output."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from msgspec import Struct

from steersman.operations.code.backend import Unable
from steersman.operations.code.checkers.table import Job
from steersman.operations.code.lsp.programs import start
from steersman.operations.running.companions import Companion, Companions

MOST = 16 << 20
LINGERING = 5.0
_MERGED = ("/bin/sh", "-c", 'exec "$@" 2>&1', "sh")


class Ran(Struct, frozen=True):
    """How a checker ended, what it printed, and the end of what it printed as errors."""

    code: int
    output: str
    errors: str


async def run(
    job: Job, paths: Sequence[str], companions: Companions, environ: Mapping[str, str]
) -> Ran:
    """Run a checker for some paths; raises `Unable` when it cannot be run to its end."""
    checker = job.checker
    argv = [*(_MERGED if checker.merged else ()), *job.program.argv, *paths]
    companion = await start(checker, job.program, argv, job.folder, companions, environ)
    try:
        async with asyncio.timeout(checker.patience):
            output = await _collected(checker.name, companion)
            async with asyncio.timeout(LINGERING):
                code = await companion.wait()
    except TimeoutError:
        raise Unable(f"{checker.name} took more than {checker.patience:g} seconds.") from None
    finally:
        await companion.stop(0)
    return Ran(code, output.decode("utf-8", "replace"), companion.last_words())


async def _collected(name: str, companion: Companion) -> bytes:
    said = bytearray()
    while piece := await companion.reader.read(1 << 16):
        said += piece
        if len(said) > MOST:
            raise Unable(f"{name} printed more than {MOST >> 20} MB.")
    return bytes(said)
