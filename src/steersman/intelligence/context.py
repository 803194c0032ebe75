"""The conversation as a model sees it: a view of one capsule's lane, built message by message.

The same messages always give the same items, whether they just happened or were read from the log
years later: that is what keeps a prompt's prefix stable.
"""

from collections.abc import Iterable
from typing import Any

import msgspec

from steersman.dialogue import AssistantItem, Call, Item, ResultItem, UserItem
from steersman.message import Assistant, Message, ToolCall, ToolResult, User

KINDS = frozenset({"user", "assistant", "tool_call", "tool_result"})


class Context:
    """Dialogue items of one capsule; `items` only ever grows at its end."""

    def __init__(self, path: str) -> None:
        self.items: list[Item] = []
        self._path = path
        self._answer: Assistant | None = None
        self._calls: dict[str, Call] = {}
        self._results: dict[str, ResultItem | None] = {}

    def observe(self, messages: Iterable[Message]) -> None:
        """Take in messages in order of the log; those of other lanes are passed over."""
        for message in messages:
            if message.kind in KINDS and self._mine(message.path):
                self._take(message)

    def _mine(self, path: str) -> bool:
        if not path.startswith(self._path):
            return False
        rest = path[len(self._path) :].split("/")[1:]
        return len(rest) <= 1 or (len(rest) == 2 and rest[0] == "operations")

    def _take(self, message: Message) -> None:
        corr = message.corr or ""
        match message.body:
            case User(text=text, via=via):
                self.items.append(UserItem(text, steer=via == "steer"))
            case Assistant() as answer if answer.calls:
                self._answer, self._calls = answer, {}
            case Assistant() as answer:
                self.items.append(AssistantItem(answer.text, answer.reasoning, ()))
            case ToolCall() as call if self._answer and corr in self._answer.calls:
                self._calls[corr] = Call(corr, call.tool, call.arguments, call.malformed)
                self._close_answer(self._answer)
            case ToolResult() as result if corr in self._results:
                item = ResultItem(corr, result_text(result), result.status != "ok")
                self._results[corr] = item
                self._close_results()
            case _:
                pass

    def _close_answer(self, answer: Assistant) -> None:
        """An answer with calls enters the context once all of its calls are known."""
        if len(self._calls) < len(answer.calls):
            return
        calls = tuple(self._calls[corr] for corr in answer.calls)
        self.items.append(AssistantItem(answer.text, answer.reasoning, calls))
        self._results = dict.fromkeys(answer.calls)
        self._answer = None

    def _close_results(self) -> None:
        """Results enter together, in the order of their calls, whichever was ready first."""
        items = [item for item in self._results.values() if item is not None]
        if len(items) == len(self._results):
            self.items.extend(items)
            self._results = {}


def result_text(result: ToolResult) -> str:
    """A result as the model reads it."""
    parts = [result.message] if result.message else []
    if result.output is not None:
        parts.append(plain(result.output))
    if result.note:
        parts.append(f"Note: {result.note}")
    return "\n".join(parts) or "(nothing)"


def plain(value: Any) -> str:
    """A tool's output as text: short fields a line each, then long text as it is, unescaped."""
    if isinstance(value, str):
        return value
    if not isinstance(value, dict):
        return msgspec.json.encode(value).decode()
    short, long = [], []
    for name, item in value.items():
        if isinstance(item, str) and "\n" in item:
            long.append(f"{name}:\n{item}")
        else:
            text = item if isinstance(item, str) else msgspec.json.encode(item).decode()
            short.append(f"{name}: {text}")
    return "\n".join([*short, *long])
