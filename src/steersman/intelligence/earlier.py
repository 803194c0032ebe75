"""What was said before, found again: messages as text, and a search through them. Pure."""

from collections.abc import Iterable

from msgspec import Struct

from steersman.intelligence.context import plain, result_text
from steersman.records.message import Assistant, Message, ToolCall, ToolResult, User

KINDS = frozenset({"user", "assistant", "tool_call", "tool_result"})
AROUND = 160


class Found(Struct, frozen=True):
    """A message that holds all the words; `offset` is the character where they are."""

    message: int
    turn: int
    kind: str
    offset: int
    excerpt: str


def text_of(message: Message) -> str:
    """The text of a message of the conversation; empty for other kinds."""
    match message.body:
        case User(text=text):
            return text
        case Assistant(text=text):
            return text
        case ToolCall(tool=tool, arguments=arguments, malformed=malformed):
            return f"{tool}\n{malformed or plain(arguments)}"
        case ToolResult() as result:
            return result_text(result)
        case _:
            return ""


def search(messages: Iterable[Message], words: str, most: int = 20) -> list[Found]:
    """The newest messages that hold every word, whatever its case, the newest first."""
    wanted = words.casefold().split()
    found: list[Found] = []
    if not wanted:
        return found
    for message in messages:
        text = text_of(message)
        folded = text.casefold()
        if all(word in folded for word in wanted):
            # Folding may change lengths, so this is about the place rather than exactly it.
            whole = folded.find(" ".join(wanted))
            at = whole if whole >= 0 else max(folded.index(word) for word in wanted)
            found.append(Found(message.seq, message.turn, message.kind, at, excerpt(text, at)))
    return found[-most:][::-1]


def excerpt(text: str, at: int) -> str:
    """What is around a place, on one line."""
    start, end = max(0, at - AROUND), at + AROUND
    flat = " ".join(text[start:end].split())
    return f"{'…' if start else ''}{flat}{'…' if end < len(text) else ''}"
