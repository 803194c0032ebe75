"""The index of a workspace, built by a program of its own so that no turn has to wait for it.

A job comes in on the first line, progress goes out as lines of two numbers. It works at low
priority, and it ends when its input does: with the host, whatever ends that.
"""

import os
import sys
import threading
from contextlib import suppress
from pathlib import Path

import msgspec
from msgspec import Struct

from steersman.operations.code.index.upkeep import Records
from steersman.records.errors import SteersmanError

PROBLEM = 3
_NICE = 10


class Job(Struct, frozen=True):
    """Which files (relative to the root) are to be indexed, and where the index is kept."""

    root: str
    home: str
    files: list[str]


def main() -> None:
    """Do the job of the standard input."""
    with suppress(OSError):
        os.nice(_NICE)
    job = msgspec.json.decode(sys.stdin.buffer.readline(), type=Job)
    threading.Thread(target=_leave_with_the_host, daemon=True).start()
    try:
        records = Records(job.root, Path(job.home))
        records.update(job.files, _tell)
        records.picture()  # its graph is kept
        records.close()
    except SteersmanError as problem:
        sys.stderr.write(f"{problem.what} {problem.why}\n")
        sys.exit(PROBLEM)


def _tell(done: int, whole: int) -> None:
    sys.stdout.write(f"{done} {whole}\n")
    sys.stdout.flush()


def _leave_with_the_host() -> None:
    # Not through `sys.stdin`, whose lock would be held when the program ends by itself.
    while os.read(0, 1 << 12):
        continue
    os._exit(0)


if __name__ == "__main__":
    main()
