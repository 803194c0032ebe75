"""Threads as programs get them, whichever port hands them out."""

from msgspec import UNSET

from steersman.records.thread import Thread, ThreadState
from steersman.records.thread_facts import Asked, Where
from steersman.records.thread_facts import ThreadFacts as ThreadFacts


def facts(thread: Thread, state: ThreadState) -> ThreadFacts:
    """All that is known of a thread."""
    doing, owner = state.activity, state.owner
    first = doing.waiting[0] if doing.waiting else None
    ended = ending(state) if state.state in ("idle", "queued") else ""
    return ThreadFacts(
        thread.id,
        thread.title,
        thread.workspace,
        thread.origin,
        thread.created,
        thread.updated,
        thread.parent,
        thread.parent_seq,
        thread.head,
        state.state,
        result=ended or UNSET,
        process=Where(owner.pid, owner.machine) if owner else UNSET,
        turn=doing.turn or UNSET,
        step=doing.step if doing.turn else UNSET,
        since=doing.since if doing.turn else UNSET,
        waiting_for=Asked(first.corr, first.kind, first.what) if first else UNSET,
        also_waiting_for=list(doing.waiting[1:]) or UNSET,
        queued=doing.queued or UNSET,
    )


def ending(state: ThreadState) -> str:
    """How the last turn ended; a turn that nobody runs and nobody ended was cut off."""
    return "interrupted" if state.activity.turn else state.activity.ending
