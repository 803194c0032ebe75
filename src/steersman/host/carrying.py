"""A thread in the background: a process of its own runs it until nothing is left to do.

It belongs to nobody's terminal. Whoever starts it waits until it has the thread, or hears why not.
"""

import asyncio
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen

import msgspec
from msgspec import Struct

from steersman.records.errors import Exit, SteersmanError

READY = b"ready\n"


class Failure(Struct, frozen=True):
    """Why a thread could not be taken up, on its way to whoever waits."""

    what: str
    why: str = ""
    try_this: str = ""
    exit: int = 1


def report(problem: SteersmanError) -> bytes:
    """A problem as the line that the background process prints."""
    failure = Failure(problem.what, problem.why, problem.try_this, int(problem.exit))
    return msgspec.json.encode(failure) + b"\n"


async def start(
    thread_id: str, home: Path, environ: Mapping[str, str], flags: Sequence[str] = ()
) -> None:
    """Start a process that runs a thread; returns when it does."""
    log = home / "background" / f"{thread_id}.log"
    process, line = await asyncio.to_thread(_begin, thread_id, log, environ, flags)
    if line != READY:
        await asyncio.to_thread(process.wait)
        raise _problem(line, log)


def _begin(
    thread_id: str, log: Path, environ: Mapping[str, str], flags: Sequence[str]
) -> tuple[Popen[bytes], bytes]:
    """The process, which outlives this one, and the first line it prints."""
    log.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with log.open("ab") as errors:
        # -P: nothing is imported from the folder one happens to be in.
        process = Popen(
            [sys.executable, "-P", "-m", "steersman", "carry", thread_id, *flags],
            stdin=DEVNULL,
            stdout=PIPE,
            stderr=errors,
            env=dict(environ),
            start_new_session=True,
        )
    assert process.stdout is not None
    with process.stdout as said:
        return process, said.readline()


def _problem(line: bytes, log: Path) -> SteersmanError:
    try:
        failure = msgspec.json.decode(line, type=Failure)
    except msgspec.DecodeError:
        return SteersmanError(
            "The background process ended before it had the thread.",
            try_this=f"{log} has its last words.",
        )
    problem = SteersmanError(failure.what, failure.why, failure.try_this)
    problem.exit = Exit(failure.exit)
    return problem
