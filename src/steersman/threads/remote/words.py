"""What a host and an agent say to one another about a thread: one record for each request.

Messages travel as their kind and the bytes that the log would keep.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Literal, TypeVar

import msgspec
from msgspec import Raw, Struct

from steersman.records.action import Action, Delete, Execute, Verdict, Write
from steersman.records.dialogue import Call, ToolSpec
from steersman.records.errors import SteersmanError
from steersman.records.judgement import CommandPlace, Judgement
from steersman.records.message import Body, Message, decode_body, encode_body
from steersman.records.profile import Profile
from steersman.records.settings import Settings
from steersman.records.undo import UndoPlan
from steersman.store.log import Draft
from steersman.systems import Edited
from steersman.threads.remote.frames import Garbled

T = TypeVar("T")
NO_SENSE = "The other side of the line says something unknown."

Containment = Literal["full", "weaker", "none"]


class Spoken(Struct, frozen=True):
    """A body of a message."""

    kind: str
    data: bytes


class Drafted(Struct, frozen=True):
    """A message that is about to happen."""

    said: Spoken
    path: str
    turn: int
    corr: str | None


class Stored(Struct, frozen=True):
    """A message of the log."""

    seq: int
    time: datetime
    turn: int
    path: str
    corr: str | None
    said: Spoken


class Problem(Struct, frozen=True):
    """What stops a turn."""

    kind: str
    what: str
    why: str = ""
    try_this: str = ""


class Offered(Struct, frozen=True):
    """A tool at the agent; `always` is what every call of it does, where that is known."""

    spec: ToolSpec
    family: str
    offered: bool
    always: Action | None = None


# A host asks an agent


class Entered(Struct, frozen=True):
    """Where the agent's folder really is, and whose it is."""

    root: str
    home: str


class Open(Struct, frozen=True):
    """Work on a thread in the agent's folder. `unreadable` and `exceptions` are of the rules."""

    thread: str
    head: int
    settings: Settings
    unreadable: tuple[str, ...] = ()
    exceptions: tuple[str, ...] = ()


class Opened(Struct, frozen=True):
    """What there is: tools, instructions for the model, what is secret, what people should know.

    `masks` are the secrets of that machine, which the log must not have.
    """

    tools: tuple[Offered, ...]
    instructions: str = ""
    secret: str = ""
    audits: tuple[Spoken, ...] = ()
    masks: tuple[str, ...] = ()


class Do(Struct, frozen=True):
    """Carry out a call; `withheld` is why the mode does not have the tool."""

    call: Call
    path: str
    turn: int
    head: int
    withheld: Verdict | None = None


class Done(Struct, frozen=True):
    """What came of a call. `tools` are all there are now, where others have joined."""

    result: Spoken
    diffs: tuple[Spoken, ...] = ()
    stop: Problem | None = None
    whole: Mapping[str, Any] | None = None
    tools: tuple[Offered, ...] = ()


class Confine(Struct, frozen=True):
    """How far to confine a command; `paths` and `hosts` are what earlier answers open to it."""

    action: Execute
    mode: Literal["ask", "plan", "spec", "code", "debug"]
    trust: Literal["restricted", "sandboxed", "untrusted"]
    containment: Containment
    paths: tuple[str, ...]
    hosts: tuple[str, ...]
    judgement: Judgement | None
    hidden: tuple[str, ...]


class Grounding(Struct, frozen=True):
    """What really lies at the paths of a command."""

    judgement: Judgement
    place: CommandPlace
    secret: str
    shared: bool
    outside: bool


class Names(Struct, frozen=True):
    """Which files the arguments of a server's tool name."""

    arguments: Any
    workspace: str
    home: str


class Guarded(Struct, frozen=True):
    """Whether a file needs approval in any case."""

    action: Write | Delete
    workspace: str


class Seen(Struct, frozen=True):
    """Which files are secret, and if looked for deeply, which there are."""

    secret: str
    hidden: tuple[str, ...] = ()


class Reverse(Struct, frozen=True):
    """Carry out an undo or a redo that was planned."""

    plan: UndoPlan
    force: bool
    path: str
    turn: int
    head: int


class Way(Struct, frozen=True):
    """A question about the way back of a thread: a method of `WayBack`, and what it is given."""

    method: str
    given: tuple[Any, ...]
    named: dict[str, Any]


# An agent asks a host


class Facts(Struct, frozen=True):
    """What the agent found out about actions, for the decision on them.

    `secret` is None where it is what was said last; `hidden` None where nobody looked deeply.
    """

    protected: tuple[str, ...] = ()
    brought: tuple[tuple[str, ...], ...] = ()
    secret: str | None = None
    hidden: tuple[str, ...] | None = None


class Admit(Struct, frozen=True):
    """Judge actions."""

    call: str
    tool: str
    actions: tuple[Action, ...]
    path: str
    turn: int
    facts: Facts
    edited: bool = False
    whole: bool = False


class Leave(Struct, frozen=True):
    """The host's permission for the actions of one request, and nothing else."""

    profile: Profile
    secret: str


class Admitted(Struct, frozen=True):
    """What the gate said: exactly one of these, or nothing."""

    head: int
    leave: Leave | None = None
    edited: Edited | None = None
    verdict: Verdict | None = None


class Reading(Struct, frozen=True):
    """Messages of a log; `back` for those before `until`, the newest first."""

    thread: str
    after: int
    until: int | None
    kinds: tuple[str, ...] | None
    back: bool = False


class Asking(Struct, frozen=True):
    """A question for the user."""

    said: Spoken
    path: str
    turn: int


class Flagged(Struct, frozen=True):
    """Something the gate is to know of a call until it is over."""

    call: str
    why: str = ""


def spoken(body: Body) -> Spoken:
    """A body as it travels."""
    return Spoken(body.kind, encode_body(body))


def heard(said: Spoken) -> Body:
    """A body that has travelled."""
    try:
        return decode_body(said.kind, said.data)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise Garbled(NO_SENSE, f"{said.kind}: {error}") from error


def understood(said: Raw, kind: type[T]) -> T:
    """A record that has travelled."""
    try:
        return msgspec.msgpack.decode(said, type=kind)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise Garbled(NO_SENSE, str(error)) from error


def drafted(drafts: Iterable[Draft]) -> list[Drafted]:
    """Messages that are about to happen, as they travel."""
    return [Drafted(spoken(one.body), one.path, one.turn, one.corr) for one in drafts]


def stored(message: Message) -> Stored:
    """A message of the log as it travels."""
    return Stored(message.seq, message.time, message.turn, message.path, message.corr,
                  spoken(message.body))  # fmt: skip


def message_of(thread: str, one: Stored) -> Message:
    """A message of the log that has travelled."""
    body = heard(one.said)
    return Message(thread, one.seq, one.time, one.turn, one.said.kind, one.path, one.corr, body)


def problem_of(error: SteersmanError) -> Problem:
    """An error as it travels."""
    return Problem(type(error).__name__, error.what, error.why, error.try_this)
