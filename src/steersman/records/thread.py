"""A thread as everybody may know it: its record, who runs it, and what it is doing."""

from datetime import datetime
from typing import Literal

from msgspec import Struct

IMPORTED = "import"


REWOUND = " (rewound)"  # ends the title of a thread that a rewind made

EVERY = "*"  # instead of the id of a thread: all of them


class Thread(Struct, frozen=True):
    """A conversation: found by its id, wherever its workspace moves to."""

    id: str
    title: str
    workspace: str
    origin: str
    created: datetime
    updated: datetime
    parent: str | None = None
    parent_seq: int | None = None
    head: int = 0
    head_hash: bytes = b""

    @property
    def imported(self) -> bool:
        """Whether its messages came from a file: nobody here knows who wrote them."""
        return self.origin == IMPORTED


class Process(Struct, frozen=True):
    """One running program that uses the store. `id` is never used twice."""

    id: str
    machine: str
    pid: int


class Lease(Struct, frozen=True):
    """The right to write under a name, such as a thread's id.

    `fence` grows with every new holder; what is written under an older one is refused.
    """

    name: str
    fence: int
    process: Process


class Waiting(Struct, frozen=True):
    """A request that waits for someone's answer; `what` is one line about it."""

    corr: str
    kind: Literal["permission", "question"]
    what: str = ""
    call: str = ""


class Activity(Struct, frozen=True, omit_defaults=True):
    """What the log says a thread is doing; the store keeps it beside the thread's head.

    `turn` is the number of the running turn, 0 between turns; `queued` names the messages for
    the next turn; `ending` is how the last turn ended.
    """

    turn: int = 0
    step: int = 0
    since: str = ""
    waiting: tuple[Waiting, ...] = ()
    queued: tuple[str, ...] = ()
    ending: str = ""


State = Literal["idle", "running", "waiting", "queued"]


class ThreadState(Struct, frozen=True):
    """What a thread is doing, for anyone who asks.

    `owner` is the process that runs it, absent when none does; `since` is when its turn began.
    `requests` counts those in its inbox that nobody has taken. A thread whose owner died while a
    request waited is still `waiting`: the answer may come from anyone.
    """

    state: State
    owner: Process | None = None
    activity: Activity = Activity()
    requests: int = 0
