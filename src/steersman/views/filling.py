"""What fills a model's window, about: from the log, and from what the last request took.

Pure. Instructions and tools are not in the log; they are what is left of a request.
"""

from collections.abc import Iterable

from msgspec import Struct

from steersman.records.message import (
    Assistant,
    Compaction,
    Meanwhile,
    Message,
    ToolCall,
    ToolResult,
    UsageReport,
    User,
    encode_message,
)
from steersman.views.text import amount, tokens

LETTERS = 4  # of a token, as a rule
WIDTH = 30
PARTS = " ▏▎▍▌▋▊▉"  # of a cell, in eighths
_NAMES = {
    User: "your words", Meanwhile: "your words", Assistant: "answers", ToolCall: "tool calls",
    ToolResult: "results",
}  # fmt: skip
USED = frozenset({"usage", "compaction"})  # the messages that say how much is used
KINDS = frozenset({"user", "meanwhile", "assistant", "tool_call", "tool_result", "compaction"})
_CALLS = ("tool_call", "tool_result")  # a person's own, outside of turns, no model sees
REST, DIGEST, FREE = "instructions, tools", "digest", "free"


class Share(Struct, frozen=True):
    """A part of the window, in tokens."""

    name: str
    tokens: int


def own_lane(path: str) -> bool:
    """Whether a message is of the thread's own agent, and not of one that works for it."""
    rest = path.split("/")[1:]
    return len(rest) <= 1 or (len(rest) == 2 and rest[0] == "operations")


def context_after(before: int, message: Message) -> int:
    """How much of the window is used, once the log has this message; `before` without it.

    What agents and requests beside the conversation use is no part of it.
    """
    match message.body:
        case UsageReport(aside=False, input=given, output=made) if own_lane(message.path):
            return given + made
        case Compaction(undone=False, tokens_after=left) if left:
            return left
    return before


def context(messages: Iterable[Message]) -> int:
    """How much of the window a conversation uses now."""
    used = 0
    for message in messages:
        used = context_after(used, message)
    return used


def percent(used: int, window: int) -> str:
    """How full a window is."""
    return f"{min(999, round(100 * used / window))}%"


def shares(messages: Iterable[Message], used: int, window: int) -> list[Share]:
    """The parts of a window of which the last request took `used`; `window` is 0 if unknown."""
    found: dict[str, int] = {}
    since = 0
    kept = [(message, len(encode_message(message)) // LETTERS) for message in messages]
    for message, _ in kept:
        if isinstance(message.body, Compaction):
            since = 0 if message.body.undone else max(since, message.body.until)
            found = {} if message.body.undone else {DIGEST: len(message.body.digest) // LETTERS}
    for message, size in kept:
        name = _NAMES.get(type(message.body), "")
        own = own_lane(message.path) and (message.turn or message.kind not in _CALLS)
        if name and own and message.seq > since:
            found[name] = found.get(name, 0) + size
    counted = sum(found.values())
    if counted > used:  # an estimate must not say more than is known
        found = {name: size * used // counted for name, size in found.items()}
    rest = used - sum(found.values())
    told = [Share(name, size) for name, size in ((REST, rest), *found.items()) if size]
    return [*told, Share(FREE, max(0, window - used))] if window else told


def bars(parts: list[Share], used: int, window: int) -> str:
    """The parts as bars, one below the other, under how full it is."""
    whole = window or used
    full = f"{amount(used)} of {tokens(window)}, {percent(used, window)}" if window else ""
    lines = [full or tokens(used), ""]
    room = max(len(part.name) for part in parts)
    for part in parts:
        lines.append(f"{part.name:<{room}}  {_bar(part, whole)}  {amount(part.tokens):>5}")
    return "\n".join(lines)


def _bar(part: Share, whole: int) -> str:
    """As long as the part is large, in eighths of a cell; the smallest is not nothing."""
    if part.name == FREE:
        return ("░" * (part.tokens * WIDTH // whole)).ljust(WIDTH)
    eighths = part.tokens * WIDTH * 8 // whole or bool(part.tokens)
    filled, more = divmod(min(WIDTH * 8, eighths), 8)
    return f"{'█' * filled}{PARTS[more]}"[:WIDTH].ljust(WIDTH)
