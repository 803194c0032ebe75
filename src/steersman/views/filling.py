"""What fills a model's window, about: from the log, and from what the last request took.

Pure. Instructions and tools are not in the log; they are what is left of a request.
"""

import os
from collections.abc import Iterable

from msgspec import Struct

from steersman.records.message import (
    Assistant,
    Compaction,
    HookRun,
    Meanwhile,
    Message,
    ToolCall,
    ToolResult,
    UsageReport,
    User,
    encode_message,
)
from steersman.views.text import amount, counted, one_line, tokens

LETTERS = 4  # of a token, as a rule
WIDTH = 30
PARTS = " ▏▎▍▌▋▊▉"  # of a cell, in eighths
_NAMES = {
    User: "your words", Meanwhile: "your words", Assistant: "answers", ToolCall: "tool calls",
    ToolResult: "results", HookRun: "hooks",
}  # fmt: skip
USED = frozenset({"usage", "compaction"})  # the messages that say how much is used
KINDS = frozenset(
    {"user", "meanwhile", "assistant", "tool_call", "tool_result", "compaction", "hook_run"}
)
_CALLS = ("tool_call", "tool_result")  # a person's own, outside of turns, no model sees
REST, DIGEST, FREE, FILES = "instructions, tools", "digest", "free", "files"
_READ = "workspace_read_file"
MOST = 12  # files that are named
NAME = 28  # letters of a file's name


class Share(Struct, frozen=True):
    """A part of the window, in tokens; `inside` is what it consists of, the largest first."""

    name: str
    tokens: int
    inside: tuple["Share", ...] = ()


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
    files: dict[str, int] = {}
    since = 0
    kept = [(message, len(encode_message(message)) // LETTERS) for message in messages]
    for message, _ in kept:
        if isinstance(message.body, Compaction):
            since = 0 if message.body.undone else max(since, message.body.until)
            found = {} if message.body.undone else {DIGEST: len(message.body.digest) // LETTERS}
    read = _read_files(message for message, _ in kept)
    for message, size in kept:
        file = read.get(message.seq, "")
        name = FILES if file else _NAMES.get(type(message.body), "")
        own = own_lane(message.path) and (message.turn or message.kind not in _CALLS)
        if name and own and message.seq > since:
            found[name] = found.get(name, 0) + size
            if file:
                files[file] = files.get(file, 0) + size
    total = sum(found.values())
    if total > used:  # an estimate must not say more than is known
        found = {name: size * used // total for name, size in found.items()}
        files = {name: size * used // total for name, size in files.items()}
    rest = used - sum(found.values())
    inside = tuple(Share(*one) for one in sorted(files.items(), key=lambda one: -one[1]))
    told = [
        Share(name, size, inside if name == FILES else ())
        for name, size in ((REST, rest), *found.items())
        if size
    ]
    return [*told, Share(FREE, max(0, window - used))] if window else told


def _read_files(messages: Iterable[Message]) -> dict[int, str]:
    """The files whose content is in results, by the messages that have it."""
    asked: dict[str | None, str] = {}
    found: dict[int, str] = {}
    for message in messages:
        match message.body:
            case ToolCall(tool=tool, arguments={"path": str(path)}) if tool == _READ:
                asked[message.corr] = os.path.normpath(path)
            case ToolResult(tool=tool, status="ok") if tool == _READ:
                found[message.seq] = asked.get(message.corr, "")
    return found


def bars(parts: list[Share], used: int, window: int) -> str:
    """The parts as bars, one below the other, under how full it is."""
    whole = window or used
    full = f"{amount(used)} of {tokens(window)}, {percent(used, window)}" if window else ""
    lines = [full or tokens(used), ""]
    rows = [row for part in parts for row in (part, *_inside(part))]
    room = max(len(part.name) for part in rows)
    for part in rows:
        lines.append(f"{part.name:<{room}}  {_bar(part, whole)}  {amount(part.tokens):>5}")
    return "\n".join(lines)


def _inside(part: Share) -> list[Share]:
    """What a part consists of, set in; of many the largest, and the others together."""
    rows = [Share(f"  {_short(one.name)}", one.tokens) for one in part.inside[:MOST]]
    others = part.inside[MOST:]
    more = Share(f"  {counted(len(others), 'more file')}", sum(one.tokens for one in others))
    return [*rows, more] if others else rows


def _short(path: str) -> str:
    """A path in a line; of a long one the end, as that is what tells files apart."""
    name = one_line(path, 1000)
    return name if len(name) <= NAME else f"…{name[1 - NAME :]}"


def _bar(part: Share, whole: int) -> str:
    """As long as the part is large, in eighths of a cell; the smallest is not nothing."""
    if part.name == FREE:
        return ("░" * (part.tokens * WIDTH // whole)).ljust(WIDTH)
    eighths = part.tokens * WIDTH * 8 // whole or bool(part.tokens)
    filled, more = divmod(min(WIDTH * 8, eighths), 8)
    return f"{'█' * filled}{PARTS[more]}"[:WIDTH].ljust(WIDTH)
