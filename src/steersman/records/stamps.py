"""What shows that a file was written without reading it: its times, size and place on the disk."""

import os
import time

FRESH = 100_000_000  # nanoseconds; the clock of a file system may tick this seldom
Stamp = tuple[int, ...]


def stamp(found: os.stat_result) -> Stamp | None:
    """What is another after a write, whoever sets the time of its content back.

    None for what was written so lately that the next write could leave it as it is.
    """
    if found.st_ctime_ns > time.time_ns() - FRESH:
        return None
    return (
        found.st_dev, found.st_ino, found.st_mode, found.st_size,
        found.st_mtime_ns, found.st_ctime_ns,
    )  # fmt: skip
