"""What a thread is doing, followed from its messages. Pure."""

from msgspec.structs import replace

from steersman.records.action import Network
from steersman.records.message import (
    Answer,
    Assistant,
    ConfirmRequest,
    ConfirmResponse,
    JobEnd,
    Message,
    Question,
    SessionEnd,
    Steer,
    ToolResult,
    TurnEnd,
    TurnStart,
)
from steersman.records.thread import Activity, Waiting
from steersman.records.wording import requested
from steersman.store.contract import stamp

LONGEST = 200
MAIN = "steersman/intelligence"  # the lane whose answers are the turn's steps


_TELLING = frozenset(
    body.kind
    for body in (
        TurnStart, TurnEnd, Assistant, Steer, ConfirmRequest, ConfirmResponse, Question, Answer,
        ToolResult, JobEnd, SessionEnd,
    )
)  # fmt: skip


def after(now: Activity, message: Message) -> Activity:
    """What a thread does once a message is stored."""
    if message.kind not in _TELLING:
        return now
    match message.body:
        case TurnStart():
            began = stamp(message.time)
            return replace(now, turn=message.turn, step=0, since=began, waiting=())
        case TurnEnd(ending=ending):
            return replace(now, turn=0, step=0, since="", waiting=(), ending=ending)
        case Assistant() if message.path == MAIN:
            return replace(now, step=now.step + 1)
        case Steer(state=state):
            corr = message.corr or ""
            rest = tuple(one for one in now.queued if one != corr)
            return replace(now, queued=(*rest, corr) if state == "queued" else rest)
        case ToolResult() | JobEnd() if not now.waiting:
            return now
    waiting = _waiting(now, message)
    return now if waiting == now.waiting else replace(now, waiting=waiting)


def _waiting(now: Activity, message: Message) -> tuple[Waiting, ...]:
    """What waits for an answer once a message is stored."""
    corr = message.corr or ""
    match message.body:
        case ConfirmRequest(call=call) as request:
            # A command may ask about several hosts at the same time; each of them waits.
            beside = all(isinstance(action, Network) for action in request.actions)
            others = tuple(one for one in now.waiting if beside or not call or one.call != call)
            return (*others, Waiting(corr, "permission", _subject(request), call))
        case Question(text=text, call=call):
            return (*now.waiting, Waiting(corr, "question", text[:LONGEST], call))
        case ConfirmResponse() | Answer():
            return tuple(one for one in now.waiting if one.corr != corr)
        case ToolResult() | JobEnd():  # a call that is over asks nothing now
            return tuple(one for one in now.waiting if not corr or one.call != corr)
        case SessionEnd() if not now.turn:
            return ()
    return now.waiting


def _subject(request: ConfirmRequest) -> str:
    """What a permission is about, in a line."""
    return requested(request.actions, request.facts)[:LONGEST] or request.reason[:LONGEST]
