"""What can be opened of a conversation, and all of it: also what the log has only a part of."""

import asyncio
from collections.abc import Iterable
from copy import copy

import msgspec

from steersman.host.outputs import artifact as named
from steersman.host.outputs import kept
from steersman.records.counting import counted
from steersman.records.errors import SteersmanError
from steersman.views.blocks import Block, Person, Words, Work
from steersman.views.seat import Seat
from steersman.views.text import call_words, one_line


def artifact(block: Work) -> str:
    """The name of the whole output of a call, where the log has only a part of it."""
    return named(block.result.output) if block.result is not None else ""


def opened(blocks: Iterable[Block]) -> list[Work | Words]:
    """What there may be more of than is shown: calls and thoughts, the last first."""
    found = [
        block
        for block in blocks
        if (isinstance(block, Work) and not block.by_agent and (block.result or block.progress))
        or (isinstance(block, Words) and block.thought)
    ]
    return found[::-1]


def title(block: Block) -> str:
    """What a block is, in a line."""
    match block:
        case Work():
            call = block.call
            return one_line(call_words(call.tool, call.arguments, typed=call.typed), 200)
        case Words(thought=True):
            return f"thinking: {one_line(block.text, 200)}"
        case Person() | Words():
            return one_line(block.text, 200)
    return ""


async def whole(seat: Seat, block: Block) -> Block:
    """A block with all that was printed, read from where it is kept."""
    if not isinstance(block, Work) or block.result is None or not artifact(block):
        return block
    output = dict(block.result.output)
    try:
        found = await asyncio.to_thread(kept, seat.host, artifact(block))
    except SteersmanError as problem:
        note = f"only a part is shown: {problem}"
    else:
        output["output"] = found.text
        note = f"{counted(found.before, 'earlier byte')} not shown" if found.before else ""
    output["note"] = "; ".join(filter(None, (note, output.get("note"))))
    fuller = copy(block)
    fuller.result = msgspec.structs.replace(block.result, output=output)
    return fuller
