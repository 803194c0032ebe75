"""What can be asked of a server: each question as a request, and how its answer is read. Pure."""

from collections.abc import Callable, Sequence
from functools import partial
from secrets import token_hex
from typing import Any, Generic, Literal, TypedDict, TypeVar, Unpack
from urllib.parse import quote, urlencode

import msgspec
from msgspec import Raw, Struct

from steersman.records.dialogue import Image
from steersman.records.errors import SteersmanError, UsageProblem
from steersman.records.hunks import FileHunks
from steersman.records.message import Message, decode_message
from steersman.records.problem import Problem
from steersman.records.settings import Approvals, Mode
from steersman.records.thread import State
from steersman.records.thread_facts import API, Plan, ThreadFacts, Threads, Undone

PASSING = (502, 503, 504)  # a server that starts or a proxy in front of it says so
OTHER = "It has another version of Steersman, or another program is at this address."
T = TypeVar("T")
U = TypeVar("U")


class Call(Generic[T]):
    """A request; one that may be made `again` can be repeated when its answer was lost."""

    def __init__(
        self,
        method: str,
        path: str,
        read: Callable[[bytes], T],
        body: object = None,
        *,
        again: bool = True,
    ) -> None:
        self.method = method
        self.path = f"{API}{path}"
        self._read = read
        self.body = None if body is None else msgspec.json.encode(body)
        self.again = again

    def read(self, data: bytes) -> T:
        """What an answer says."""
        try:
            return self._read(data)
        except (msgspec.MsgspecError, ValueError, LookupError, TypeError) as error:
            raise SteersmanError("The server's answer cannot be understood.", OTHER) from error


class Messages(Struct, frozen=True):
    """Stored messages in order; `head` is the number of the newest there is."""

    messages: list[Message]
    head: int


class _Page(Struct, frozen=True):
    messages: list[Raw]
    head: int


def threads(
    workspace: str = "",
    q: str = "",
    state: State | None = None,
    *,
    calls: bool = False,
    skip: int = 0,
    limit: int = 100,
) -> Call[Threads]:
    """List threads: of a folder, with words in the title, in a state; `calls`: single calls too."""
    given = {
        "workspace": workspace, "q": q, "state": state, "calls": "true" if calls else "",
        "skip": skip, "limit": limit,
    }  # fmt: skip
    return Call("GET", f"/threads?{urlencode(_kept(given))}", _as(Threads))


def thread(thread: str) -> Call[ThreadFacts]:
    """Show what a thread is, what it does, and what it waits for."""
    return Call("GET", _at(thread), _as(ThreadFacts))


class How(TypedDict, total=False):
    """How a thread works; what is left out is as the user's settings say."""

    model: str
    mode: Mode
    approvals: Approvals
    trust: Literal["restricted", "sandboxed"]
    profile: str


def start(
    workspace: str,
    text: str = "",
    *,
    title: str = "",
    images: Sequence[Image] = (),
    **how: Unpack[How],
) -> Call[ThreadFacts]:
    """Start a thread in a folder; with `text` its first turn begins."""
    given = {"workspace": workspace, "text": text, "title": title, "images": images, **how}
    return Call("POST", "/threads", _as(ThreadFacts), _once(given))


def send(thread: str, text: str, images: Sequence[Image] = ()) -> Call[int]:
    """Begin a turn; its number."""
    body = _once({"text": text, "images": images})
    return Call("POST", _at(thread, "/send"), partial(_field, "turn", int), body)


def steer(thread: str, text: str) -> Call[str]:
    """Say something to the turn that runs; the name under which it waits."""
    return Call("POST", _at(thread, "/steer"), partial(_field, "corr", str), _once({"text": text}))


def queue(thread: str, text: str) -> Call[str]:
    """Say something for the next turn; the name under which it waits."""
    return Call("POST", _at(thread, "/queue"), partial(_field, "corr", str), _once({"text": text}))


def withdraw(thread: str, corr: str) -> Call[None]:
    """Withdraw words that were not delivered, by their name."""
    return Call("POST", _at(thread, "/withdraw"), _nothing, _once({"corr": corr}))


def hasten(thread: str, corr: str) -> Call[None]:
    """Give queued words to the turn that runs, by their name."""
    return Call("POST", _at(thread, "/hasten"), _nothing, _once({"corr": corr}))


def change(
    thread: str,
    *,
    mode: str = "",
    model: str = "",
    approvals: Approvals | None = None,
    title: str = "",
) -> Call[ThreadFacts]:
    """Change how a thread works, from the next model call on, or its title."""
    given = _kept({"mode": mode, "model": model, "approvals": approvals, "title": title})
    return Call("PATCH", _at(thread), _as(ThreadFacts), given)


def compact(thread: str, *, undo: bool = False) -> Call[bool]:
    """Show the model a digest of what is older, or undo that; False if there is nothing to."""
    body = _once({"undo": undo})
    return Call("POST", _at(thread, "/compact"), partial(_field, "done", bool), body)


def answer(
    thread: str,
    corr: str,
    decision: Literal["allow", "deny"],
    *,
    guidance: str = "",
    scope: Literal["once", "turn", "thread", "here"] = "once",
    lasting: str = "",
    arguments: dict[str, Any] | None = None,
    hunks: Sequence[FileHunks] | None = None,
) -> Call[None]:
    """Answer a request for permission; `guidance` goes to the model.

    `lasting` names which of the lasting answers is meant; `hunks` are all that you accept.
    """
    given = {
        "type": "permission", "corr": corr, "decision": decision, "guidance": guidance,
        "scope": scope, "lasting": lasting, "arguments": arguments,
    }  # fmt: skip
    chosen = {} if hunks is None else {"hunks": hunks}  # none of them is an answer, too
    return Call("POST", _at(thread, "/answer"), _nothing, _once(given) | chosen)


def reply(thread: str, corr: str, text: str = "", *, declined: bool = False) -> Call[None]:
    """Answer a question; `declined` when nobody will."""
    given = {"type": "question", "corr": corr, "text": text, "declined": declined}
    return Call("POST", _at(thread, "/answer"), _nothing, _once(given))


def cancel(thread: str) -> Call[None]:
    """Stop the turn that runs, its tools and their processes."""
    return Call("POST", _at(thread, "/cancel"), _nothing, {}, again=False)


def messages(
    thread: str, after: int = 0, *, limit: int = 100, kinds: Sequence[str] = ()
) -> Call[Messages]:
    """Read stored messages, all or some kinds."""
    given = _kept({"after": after, "limit": limit, "kinds": ",".join(kinds)})
    return Call("GET", f"{_at(thread, '/messages')}?{urlencode(given)}", _messages)


def plan_undo(thread: str, *, turn: int | None = None, redo: bool = False) -> Call[Plan]:
    """Show what an undo, or with `redo` its reversal, would do: of the last turn or a certain one.

    Nothing is done.
    """
    body = _kept({"turn": turn, "redo": redo})
    return Call("POST", _at(thread, "/undo/plan"), _as(Plan), body)


def undo(
    thread: str,
    plan: Plan,
    *,
    choice: Literal["whole", "rest"] = "whole",
    turn: int | None = None,
    redo: bool = False,
) -> Call[Undone]:
    """Do what a plan showed; `turn` and `redo` are those it was made with.

    “rest” leaves out what would overwrite changes of someone else.
    """
    body = _kept({"digest": plan.digest, "choice": choice, "turn": turn, "redo": redo})
    return Call("POST", _at(thread, "/undo"), _as(Undone), body, again=False)


def events(thread: str | None) -> str:
    """Where the events of a thread are, or those of all."""
    return f"{API}/events" if thread is None else f"{API}{_at(thread, '/events')}"


def passing(status: int, body: bytes) -> bool:
    """Whether an answer only means that the server cannot be reached now.

    That a model's provider cannot be reached is an answer of the server.
    """
    try:
        kind = msgspec.json.decode(body, type=Problem).kind
    except (msgspec.MsgspecError, ValueError):
        kind = ""
    return status in PASSING and kind != "DriverProblem"


def failed(status: int, body: bytes) -> SteersmanError:
    """What an answer says went wrong."""
    try:
        told = msgspec.json.decode(body, type=Problem).error()
    except (msgspec.MsgspecError, ValueError):
        told = SteersmanError(f"The server answered with status {status}.")
    if status == 401:
        return UsageProblem(
            "The server does not accept this token.",
            "It is wrong or has expired, or it was revoked.",
            "`steer token make NAME` makes one there.",
        )
    if status in (404, 405) and type(told) is SteersmanError:  # no thread is a usage problem
        return UsageProblem("The server does not know this request.", OTHER)
    return told


def _at(thread: str, rest: str = "") -> str:
    return f"/threads/{quote(thread, safe='')}{rest}"


def _kept(given: dict[str, Any]) -> dict[str, Any]:
    """What was given; the server knows the rest."""
    return {name: value for name, value in given.items() if value not in (None, "", ())}


def _once(given: dict[str, Any]) -> dict[str, Any]:
    """A body that is done once, however often it arrives."""
    return _kept(given) | {"id": token_hex(8)}


def _as(kind: type[U]) -> Callable[[bytes], U]:
    return msgspec.json.Decoder(kind).decode


def _field(name: str, kind: type[U], data: bytes) -> U:
    return msgspec.convert(msgspec.json.decode(data)[name], kind)


def _nothing(data: bytes) -> None:
    return None


def _messages(data: bytes) -> Messages:
    page = msgspec.json.decode(data, type=_Page)
    return Messages([decode_message(one) for one in page.messages], page.head)
