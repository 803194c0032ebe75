"""Threads as programs get them: one record, whichever port hands it out."""

from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from msgspec import UNSET, Struct, UnsetType

from steersman.records.thread import State, Thread, ThreadState, Waiting


class Where(Struct, frozen=True):
    """The process that runs a thread."""

    pid: int
    machine: str


class Asked(Struct, frozen=True):
    """What a thread waits for: an answer to the request `corr`."""

    corr: str
    kind: Literal["permission", "question"]
    what: str


class ThreadFacts(Struct, frozen=True):
    """A thread: what it is, what it does, and what it waits for.

    `messages` counts those that are stored; `result` is how its last turn ended; `turn`, `step`
    and `since` are those of the turn that runs; `queued` names the messages for the next one.
    """

    id: str
    title: str
    workspace: str
    origin: str
    created: datetime
    updated: datetime
    parent: str | None
    parent_seq: int | None
    messages: int
    state: State
    result: str | UnsetType = UNSET
    process: Where | UnsetType = UNSET
    turn: int | UnsetType = UNSET
    step: int | UnsetType = UNSET
    since: str | UnsetType = UNSET
    waiting_for: Asked | UnsetType = UNSET
    also_waiting_for: list[Waiting] | UnsetType = UNSET
    queued: Sequence[str] | UnsetType = UNSET


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
