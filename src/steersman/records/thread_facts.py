"""Threads, and what undoing would do, as programs get them: the same records on both sides."""

from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from msgspec import UNSET, Struct, UnsetType

from steersman.records.thread import State, Waiting

API = "/api/v0"  # how the paths of the server's operations begin


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


class Threads(Struct, frozen=True):
    """Threads, the most recently used first; `more` when there are others."""

    threads: list[ThreadFacts]
    more: bool


class Plan(Struct, frozen=True):
    """What an undo would do, as diffs; `digest` names exactly this.

    At the paths `taken` changes of someone else would be overwritten (a copy is kept); `rest`: it
    can be done without these. `stays` are their changes that stay, `stands` what no undo changes.
    """

    digest: str
    diffs: list[str]
    taken: list[str]
    lost: list[str]
    stays: list[str]
    stands: str
    rest: bool


class Undone(Struct, frozen=True):
    """What was undone, in words."""

    words: str
    notes: list[str]
