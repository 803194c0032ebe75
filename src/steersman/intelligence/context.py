"""The conversation as a model sees it: a view of one capsule's lane, built message by message.

The same messages always give the same items, whether they just happened or were read from the log
years later: that is what keeps a prompt's prefix stable.
"""

from collections.abc import Iterable
from functools import partial
from typing import Any, TypeVar

import msgspec

from steersman.dialogue import AssistantItem, Call, Item, ResultItem, UserItem
from steersman.errors import StorageProblem
from steersman.message import (
    Assistant,
    Body,
    Message,
    ToolCall,
    ToolResult,
    User,
    decode_body,
)

KINDS = frozenset({"user", "assistant", "tool_call", "tool_result"})


class Context:
    """Dialogue items of one capsule; `items` only ever grows at its end."""

    def __init__(self, path: str) -> None:
        self.items: list[Item] = []
        self._path = path
        self._answer: Assistant | None = None
        self._calls: dict[str, Body | bytes] = {}
        self._results: dict[str, ResultItem | None] = {}
        self._known: dict[str, bool] = {}  # which lanes are this capsule's own
        self._takers = {
            "user": self._take_user,
            "assistant": self._take_answer,
            "tool_call": self._take_call,
            "tool_result": self._take_result,
        }

    def observe(self, messages: Iterable[Message]) -> None:
        """Take in messages in order of the log; those of other lanes are passed over."""
        for message in messages:
            self._take(message.kind, message.path, message.corr, message.body)

    def recall(self, rows: Iterable[tuple[str, str, str | None, bytes]]) -> None:
        """Take in stored messages as kind, path, corr and body; most are decoded when needed."""
        for kind, path, corr, data in rows:
            self._take(kind, path, corr, data)

    def _mine(self, path: str) -> bool:
        if not f"{path}/".startswith(f"{self._path}/"):
            return False
        rest = path[len(self._path) :].split("/")[1:]
        return len(rest) <= 1 or (len(rest) == 2 and rest[0] == "operations")

    def _take(self, kind: str, path: str, corr: str | None, body: Body | bytes) -> None:
        take = self._takers.get(kind)
        if take is None:
            return
        mine = self._known.get(path)
        if mine is None:
            mine = self._known[path] = self._mine(path)
        if mine:
            take(corr or "", body)

    def _take_user(self, corr: str, body: Body | bytes) -> None:
        said = whole(User, body)
        self.items.append(UserItem(said.text, steer=said.via == "steer"))

    def _take_answer(self, corr: str, body: Body | bytes) -> None:
        answer = whole(Assistant, body)
        if answer.calls:
            self._answer, self._calls = answer, {}
        else:
            self.items.append(AssistantItem(answer.text, answer.reasoning, ()))

    def _take_call(self, corr: str, body: Body | bytes) -> None:
        """An answer with calls enters once all of its calls are known."""
        answer = self._answer
        if answer is None or corr not in answer.calls:
            return
        self._calls[corr] = body
        if len(self._calls) == len(answer.calls):
            calls = partial(made_calls, answer.calls, self._calls)
            self.items.append(AssistantItem(answer.text, answer.reasoning, calls))
            self._results = dict.fromkeys(answer.calls)
            self._answer = None

    def _take_result(self, corr: str, body: Body | bytes) -> None:
        """Results enter together, in the order of their calls, whichever was ready first."""
        if corr not in self._results:
            return
        self._results[corr] = ResultItem(corr, load=partial(read_result, body))
        if None not in self._results.values():
            self.items.extend(item for item in self._results.values() if item)
            self._results = {}


B = TypeVar("B", bound=Body)


def whole(kind: type[B], body: Body | bytes) -> B:
    """A body, decoded now if it was not."""
    try:
        found = decode_body(kind.kind, body) if isinstance(body, bytes) else body
    except msgspec.DecodeError as error:
        raise StorageProblem(
            f"A stored message of kind {kind.kind} cannot be read.",
            str(error),
            "`steer ledger verify` tells which messages were altered.",
        ) from error
    assert isinstance(found, kind)
    return found


def made_calls(order: Iterable[str], bodies: dict[str, Body | bytes]) -> tuple[Call, ...]:
    """The calls of an answer."""
    found = ((corr, whole(ToolCall, bodies[corr])) for corr in order)
    return tuple(Call(corr, call.tool, call.arguments, call.malformed) for corr, call in found)


def read_result(body: Body | bytes) -> tuple[str, bool]:
    """The text of a result, and whether it is one of failure."""
    result = whole(ToolResult, body)
    return result_text(result), result.status != "ok"


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
