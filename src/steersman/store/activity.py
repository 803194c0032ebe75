"""What a thread is doing, followed from its messages. Pure."""

import msgspec

from steersman.records.message import (
    Answer,
    Assistant,
    ConfirmRequest,
    ConfirmResponse,
    Message,
    Question,
    Steer,
    TurnEnd,
    TurnStart,
)
from steersman.records.thread import Activity, Waiting
from steersman.store.contract import stamp

LONGEST = 200
MAIN = "steersman/intelligence"  # the lane whose answers are the turn's steps


def after(now: Activity, message: Message) -> Activity:
    """What a thread does once a message is stored."""
    corr = message.corr or ""
    match message.body:
        case TurnStart():
            return msgspec.structs.replace(
                now, turn=message.turn, step=0, since=stamp(message.time), waiting=()
            )
        case TurnEnd():
            return msgspec.structs.replace(now, turn=0, step=0, since="", waiting=())
        case Assistant() if message.path == MAIN:
            return msgspec.structs.replace(now, step=now.step + 1)
        case ConfirmRequest(call=call, tool=tool, reason=reason):
            what = f"{tool}: {reason}"[:LONGEST]
            others = tuple(one for one in now.waiting if not call or one.call != call)
            asked = Waiting(corr, "permission", what, call)
            return msgspec.structs.replace(now, waiting=(*others, asked))
        case Question(text=text):
            asked = Waiting(corr, "question", text[:LONGEST])
            return msgspec.structs.replace(now, waiting=(*now.waiting, asked))
        case ConfirmResponse() | Answer():
            rest = tuple(one for one in now.waiting if one.corr != corr)
            return msgspec.structs.replace(now, waiting=rest)
        case Steer(state=state):
            rest_queued = tuple(one for one in now.queued if one != corr)
            queued = (*rest_queued, corr) if state == "queued" else rest_queued
            return msgspec.structs.replace(now, queued=queued)
    return now
