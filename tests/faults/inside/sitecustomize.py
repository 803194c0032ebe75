"""Loaded by every process of a round: notes who writes, and breaks the product where asked to.

The note is part of the transaction it is about. `FAULTS_BREAK` names a defect that the checker has
to find. A process that gets SIGUSR2 prints what it is waiting for.
"""

import asyncio
import os
import signal
import sys
import time
from importlib import import_module

from steersman.store.sql_inbox import Inbox
from steersman.store.sql_store import SqlStore

_move, _append, _requests = SqlStore._move, SqlStore.append, Inbox.requests


def _noting(self, db, thread_id, rows, lease, activity):
    _move(self, db, thread_id, rows, lease, activity)
    if rows:
        db.execute(
            "INSERT INTO witness (thread, first, last, fence, process) VALUES (?, ?, ?, ?, ?)",
            (thread_id, rows[0].seq, rows[-1].seq, lease.fence if lease else 0, self.process.id),
        )


def _settling_apart(self, thread_id, rows, *, settled=(), **how):
    """The effect of a request and its receipt in two transactions."""
    _append(self, thread_id, rows, **how)
    if settled:
        time.sleep(0.4)
        _append(self, thread_id, (), sync=True, lease=how.get("lease"), settled=settled)


def _writing_unasked(self, thread_id, rows, **how):
    """Whoever has lost a thread goes on writing behind whatever is there."""
    from msgspec.structs import replace

    from steersman.store.chain import link_row

    head = self.thread(thread_id)
    if rows and head.head != rows[0].seq - 1:
        rebased, previous = [], head.head_hash
        for seq, row in enumerate(rows, head.head + 1):
            bare = replace(row, seq=seq, hash=b"")
            previous = link_row(previous, bare)
            rebased.append(replace(bare, hash=previous))
        rows = rebased
    _append(self, thread_id, rows, **how)


def _forgetting(self, thread_id):
    """Requests leave the inbox when they are read, not when they are carried out."""
    found = _requests(self, thread_id)
    if found:
        self._write(
            lambda db: db.execute(
                "UPDATE requests SET logged = 1, outcome = 'taken' WHERE thread = ? AND id = ?",
                (thread_id, found[0].id),
            )
        )
        time.sleep(0.4)
    return found[:1]


def _settling_what_is_settled(self, db, thread_id, settled):
    """Needed by a product that forgets: it would refuse to settle twice."""


def _tell(*_):
    for task in list(asyncio.tasks._all_tasks):
        if not task.done():
            task.print_stack(file=sys.stderr)


signal.signal(signal.SIGUSR2, _tell)
SqlStore._move = _noting
match os.environ.get("FAULTS_BREAK"):
    case "settle apart":
        SqlStore.append = _settling_apart
    case "no fence":
        SqlStore.append = _writing_unasked
        name = "postgres" if os.environ.get("STEERSMAN_STORE") else "sqlite"
        import_module(f"steersman.store.{name}")
        for store in SqlStore.__subclasses__():
            store.held = " AND ? <> '' AND ? > 0"
    case "forget":
        Inbox.requests = _forgetting
        Inbox._settle = _settling_what_is_settled
