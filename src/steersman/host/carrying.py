"""A thread in the background: a process of its own runs it until nothing is left to do.

It belongs to nobody's terminal. Whoever starts it waits until it has the thread, or learns why not.
"""

import asyncio
import sys
from collections.abc import Mapping
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen

import msgspec

from steersman.records.errors import SteersmanError
from steersman.records.private_files import make_private, make_private_folder
from steersman.records.problem import Problem

READY = b"ready\n"


def report(problem: SteersmanError) -> bytes:
    """A problem as the line that the background process prints."""
    return msgspec.json.encode(Problem.of(problem)) + b"\n"


async def start(thread_id: str, home: Path, environ: Mapping[str, str]) -> None:
    """Start a process that runs a thread; returns when it does."""
    log = home / "background" / f"{thread_id}.log"
    process, line = await asyncio.to_thread(_begin, thread_id, log, environ)
    if line != READY:
        await asyncio.to_thread(process.wait)
        raise _problem(line, log)


def _begin(thread_id: str, log: Path, environ: Mapping[str, str]) -> tuple[Popen[bytes], bytes]:
    """The process, which outlives this one, and the first line it prints."""
    make_private_folder(log.parent)
    make_private(log)
    with log.open("ab") as errors:
        # -P: nothing is imported from the folder one happens to be in.
        process = Popen(
            [sys.executable, "-P", "-m", "steersman", "carry", thread_id],
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
        return msgspec.json.decode(line, type=Problem).error()
    except msgspec.DecodeError:
        return SteersmanError(
            "The background process ended before it had the thread.",
            try_this=f"See {log} for its last output.",
        )
