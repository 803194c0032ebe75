"""What is asked of a thread that another process may run: requests, and what became of each."""

from datetime import datetime
from typing import Any, ClassVar, Literal

from msgspec import Struct

from steersman.records.change import Change
from steersman.records.dialogue import Image
from steersman.records.message import Answer, ConfirmResponse, Rewind
from steersman.records.settings import Value
from steersman.records.undo import UndoPlan


class Send(Struct, frozen=True, omit_defaults=True, tag="send"):
    """Begin a turn with these words."""

    text: str
    images: tuple[Image, ...] = ()


class SteerTurn(Struct, frozen=True, tag="steer"):
    """Say something to the running turn; it is queued where none runs."""

    text: str


class Queue(Struct, frozen=True, tag="queue"):
    """Queue a message for the next turn."""

    text: str


class GoOn(Struct, frozen=True, tag="go_on"):
    """Begin a turn with the oldest queued message."""


class Hasten(Struct, frozen=True, tag="hasten"):
    """Give queued words to the turn that runs; where none runs, begin one with the oldest."""

    corr: str


class Withdraw(Struct, frozen=True, tag="withdraw"):
    """Withdraw words that were not delivered."""

    corr: str


class Confirm(Struct, frozen=True, tag="confirm"):
    """Answer a request for permission."""

    corr: str
    response: ConfirmResponse


class Reply(Struct, frozen=True, tag="reply"):
    """Answer a question."""

    corr: str
    answer: Answer


class Cancel(Struct, frozen=True, tag="cancel"):
    """Stop the running turn."""

    expires_after: ClassVar[float] = 30.0  # seconds; later it would stop something else


class Compact(Struct, frozen=True, omit_defaults=True, tag="compact"):
    """Show the model a digest of what is older, or take the last digest back."""

    undo: bool = False


class Aside(Struct, frozen=True, tag="aside"):
    """Ask the thread's model something that is no part of the conversation."""

    system: str
    text: str


class Set(Struct, frozen=True, omit_defaults=True, tag="set"):
    """Change settings of the thread by their names."""

    values: dict[str, Value]


class Undo(Struct, frozen=True, omit_defaults=True, tag="undo"):
    """Carry out an undo or a redo that the sender was shown.

    `imported`: a person saw the plan of a thread that came from a file, and agreed to it.
    """

    plan: UndoPlan
    force: bool = False
    imported: bool = False


class UndoTold(Struct, frozen=True, tag="undo_told"):
    """Note that a person heard what became of the undo or redo at a place in the log."""

    checkpoint: int


class Rewound(Struct, frozen=True, omit_defaults=True, tag="rewound"):
    """Note where a thread comes from that a rewind made.

    `stays` is what was changed later in the other thread, where files were not restored.
    """

    rewind: Rewind
    stays: tuple[Change, ...] = ()


class CallTool(Struct, frozen=True, omit_defaults=True, tag="call"):
    """Carry out one tool call that no model made; `id` is the call's name in the log.

    `own` when the user made it, and not a program of theirs; `typed` when it is a command that
    they typed, word for word, so that nobody asks them about it again.
    """

    id: str
    tool: str
    arguments: dict[str, Any] = {}
    own: bool = False
    typed: bool = False


class Unreadable(Struct, frozen=True, tag="unreadable"):
    """Something that this version does not understand."""

    why: str


class Close(Struct, frozen=True, tag="close"):
    """Stop what runs and leave the thread."""


Asked = (
    Send | SteerTurn | Queue | GoOn | Hasten | Withdraw | Confirm | Reply | Cancel
    | Compact | Aside | Set | Undo | UndoTold | Rewound | CallTool | Close | Unreadable
)  # fmt: skip


class Request(Struct, frozen=True, omit_defaults=True):
    """Something asked of a thread. `sender` is who asks, in words; `time` is when.

    After `expires` it is not carried out any more. `expired` shows that its sender gave up; the
    thread's log has yet to say so.
    """

    id: str
    thread: str
    sender: str
    time: datetime
    body: Asked
    expires: datetime | None = None
    expired: bool = False


Outcome = Literal["taken", "refused", "expired", "too_late"]


class Settled(Struct, frozen=True, omit_defaults=True):
    """What became of a request; `result` is what the operation answered, if anything.

    For one that was not carried out it is the `Problem`; `LATER` means that the work has begun, and
    a `request_result` in the log will say what came of it.
    """

    request: str
    outcome: Outcome
    reason: str = ""
    result: Any = None


LATER = "later"
