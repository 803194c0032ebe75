"""Loaded by a process that is to die: `DIE_AT` counts the steps of its change of files.

A step is a write to the log or to the disk. The first are before the checkpoint is in the log, the
last when the session has ended.
"""

import os
import signal
from functools import wraps

from steersman.operations.journal.journal import Journal
from steersman.store.sql_store import SqlStore

STEPS = (
    "rename", "unlink", "mkdir", "rmdir", "link", "symlink", "fsync", "fdatasync", "chmod",
    "pwrite",
)  # fmt: skip
left, how = int(os.environ["DIE_AT"]), signal.Signals[os.environ["DIE_BY"]]
counting = False


def dies(step):
    @wraps(step)
    def counted(*args, **kwargs):
        global left
        left -= counting
        if left == 0 and counting:
            left = -1
            os.kill(os.getpid(), how)
        return step(*args, **kwargs)

    return counted


def begins(make):
    @wraps(make)
    async def begun(*args, **kwargs):
        global counting
        counting = True
        return await make(*args, **kwargs)

    return begun


for name in STEPS:
    setattr(os, name, dies(getattr(os, name)))
SqlStore.append = dies(SqlStore.append)
Journal.make = begins(Journal.make)
