"""`read_earlier`: what the conversation no longer shows, from the log."""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Annotated

from msgspec import Meta, Struct

from steersman.operations.tool import Arguments, Bench, Family, Plan, Tool
from steersman.operations.workspace import PlanningWorkspace
from steersman.records.errors import ToolProblem
from steersman.records.message import Message
from steersman.store.log import Lane, to_message

KINDS = frozenset({"user", "assistant", "tool_call", "tool_result"})


class EarlierPart(Struct, frozen=True):
    """Characters `offset` to `next_offset` of the `size` characters of a message."""

    message: int
    kind: str
    offset: int
    next_offset: int
    size: int
    text: str


class ReadEarlierArgs(Arguments, frozen=True):
    """Which message, or which words."""

    message: Annotated[int, Meta(ge=1, description="number of a message")] | None = None
    call: Annotated[str, Meta(description="id of a call: its whole result")] | None = None
    words: Annotated[str, Meta(description="search: messages that contain all of them")] | None = (
        None
    )
    offset: Annotated[int, Meta(ge=0, description="first character")] = 0
    limit: Annotated[int, Meta(ge=1, le=32768, description="characters at most")] = 16384


class ReadEarlier(Tool[ReadEarlierArgs]):
    """Read again what this conversation no longer shows: a message by its number, the whole result
    of a call by its id, or search everything that was said and done before for words."""

    name = "read_earlier"
    family = Family.READ
    Args = ReadEarlierArgs

    def __init__(
        self,
        text_of: Callable[[Message], str],
        search: Callable[[Iterable[Message], str], Sequence[Struct]],
    ) -> None:
        self._text_of = text_of
        self._search = search

    async def plan(
        self, args: ReadEarlierArgs, workspace: PlanningWorkspace
    ) -> Plan[ReadEarlierArgs]:
        """None: it was shown before."""
        given = [one for one in (args.message, args.call, args.words) if one is not None]
        if len(given) != 1:
            raise ToolProblem(
                "It is not clear which part of the conversation you mean.",
                f"{'None' if not given else 'Several'} of message, call and words are given.",
                "Give exactly one of them.",
            )
        return Plan(args)

    async def perform(
        self, plan: Plan[ReadEarlierArgs], bench: Bench
    ) -> EarlierPart | Sequence[Struct]:
        """Look into the log."""
        return await asyncio.to_thread(self._look, plan.args, bench.lane)

    def _look(self, args: ReadEarlierArgs, lane: Lane) -> EarlierPart | Sequence[Struct]:
        if args.words is not None:
            return self._search(_own(lane), args.words)
        message = _the_one(lane, args)
        text = self._text_of(message)
        part = text[args.offset : args.offset + args.limit]
        end = args.offset + len(part)
        return EarlierPart(message.seq, message.kind, args.offset, end, len(text), part)


def _own(lane: Lane, call: str | None = None, seq: int | None = None) -> Iterator[Message]:
    """What was said in this agent's lane and by agents that worked for it."""
    top = lane.path.rsplit("/", 2)[0] + "/"
    log = lane.log
    after, until = (seq - 1, seq) if seq else (0, None)
    kinds = KINDS if call is None else {"tool_result"}
    for row in log.store.read(log.thread, after=after, until=until, kinds=kinds):
        if row.path.startswith(top) and call in (None, row.corr):
            yield to_message(log.thread, row)


def _the_one(lane: Lane, args: ReadEarlierArgs) -> Message:
    newest = deque(_own(lane, args.call, args.message), maxlen=1)
    if not newest:
        what = f"message {args.message}" if args.message else f"result of a call “{args.call}”"
        raise ToolProblem(
            f"There is no {what} in this conversation.",
            try_this="Search for it by words.",
        )
    return newest[0]
