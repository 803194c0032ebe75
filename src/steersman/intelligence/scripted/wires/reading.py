"""What all wire formats share when they read a request: text of any shape, and the items it makes.

Client programs put blocks of context into the mouth of the user; those are no prompts.
"""

import re
from collections.abc import Iterable
from typing import Any, TypeVar

import msgspec

from steersman.intelligence.scripted.wires.records import BadRequest
from steersman.records.dialogue import AssistantItem, Call, Item, ResultItem, UserItem

CONTEXT_BLOCKS = (
    "environment_context", "user_instructions", "permissions", "INSTRUCTIONS", "skill",
    "skills_instructions", "plugins_instructions", "apps_instructions", "collaboration_mode",
    "turn_aborted", "subagent_notification", "user_shell_command",
    "system-reminder", "session_context",
)  # fmt: skip
_BLOCK = re.compile(
    rf"(?:# AGENTS\.md instructions[^\n]*\s+)?<({'|'.join(CONTEXT_BLOCKS)})\b[^>]*>.*?</\1\b[^>]*>",
    re.DOTALL,
)

Shape = TypeVar("Shape")


def parse(body: bytes, shape: type[Shape]) -> Shape:
    """A request body as a record."""
    try:
        return msgspec.json.decode(body, type=shape)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadRequest(f"The request cannot be read: {error}.") from error


def texts(content: Any) -> list[str]:
    """The texts in content of any shape: a string, or parts of which some may be images."""
    match content:
        case None:
            return []
        case str():
            return [content]
        case list():
            return [text for part in content for text in texts(part)]
        case {"text": str(text)} | {"refusal": str(text)}:
            return [text]
        case {"type": str(kind)} if "image" in kind:
            return ["[image]"]
        case _:
            return [msgspec.json.encode(content).decode()]


def plain(content: Any) -> str:
    """Content of any shape as one text."""
    return "\n".join(texts(content))


def is_context(text: str) -> bool:
    """Whether a text is nothing but context that a client program added."""
    return not _BLOCK.sub("", text).strip()


class Items:
    """Collects the items of a conversation; neighbouring answers of the model become one."""

    def __init__(self) -> None:
        self.all: list[Item] = []

    def user(self, said: Iterable[str]) -> None:
        """Words of the user, unless they are only context."""
        words = [text for text in said if not is_context(text)]
        if words:
            self.all.append(UserItem("\n".join(words)))

    def assistant(self, text: str = "", reasoning: str = "", calls: Iterable[Call] = ()) -> None:
        """An answer of the model, or one more part of it."""
        answer = AssistantItem(text, reasoning, tuple(calls))
        if self.all and isinstance(before := self.all[-1], AssistantItem):
            self.all[-1] = AssistantItem(
                before.text + answer.text,
                before.reasoning + answer.reasoning,
                (*before.calls, *answer.calls),
            )
        else:
            self.all.append(answer)

    def result(self, call: str, text: str, *, failed: bool = False) -> None:
        """The result of a call."""
        self.all.append(ResultItem(call, text, failed))
