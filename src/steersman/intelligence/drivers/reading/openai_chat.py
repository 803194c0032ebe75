"""Reads the chunks of Chat Completions, also of servers that only nearly speak it."""

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Struct

from steersman.intelligence.drivers.answers import Broken, CallDraft, Deltas, Gathering
from steersman.records.dialogue import (
    Completed,
    Stop,
    Tokens,
)

STOPS: dict[str, Stop] = {
    "stop": "end",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "length": "length",
    "content_filter": "content_filter",
}
GROWING = ("text", "summary", "data")


class _Function(Struct):
    name: str | None = None
    arguments: str | None = None


class _ToolCall(Struct):
    index: int | None = None
    id: str | None = None
    function: _Function | None = None
    extra_content: Any = None


class _Delta(Struct):
    content: Any = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    reasoning_details: list[dict[str, Any]] | None = None
    refusal: str | None = None
    tool_calls: list[_ToolCall] | None = None


class _Choice(Struct):
    delta: _Delta | None = None
    finish_reason: str | None = None


class _Details(Struct):
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None


class _Usage(Struct):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    prompt_tokens_details: _Details | None = None
    completion_tokens_details: _Details | None = None
    prompt_cache_hit_tokens: int | None = None


class _Chunk(Struct):
    choices: list[_Choice] | None = None
    usage: _Usage | None = None
    error: Any = None


_chunk = msgspec.json.Decoder(_Chunk)


class ChatReader(Gathering):
    """Reads its chunks."""

    def __init__(self, provider: str, model: str) -> None:
        super().__init__(provider, model)
        self._field = ""
        self._details: list[dict[str, Any]] = []

    def take(self, data: bytes) -> Deltas:
        """Take in one chunk."""
        if data == b"[DONE]":
            self.done = True
            self.whole = self.whole or self.begun
            return ()
        chunk = _chunk.decode(data)
        if chunk.error is not None:
            raise Broken(data)
        if chunk.usage is not None:
            self.tokens = _tokens(chunk.usage)
        if not chunk.choices:
            return ()
        choice = chunk.choices[0]
        if choice.finish_reason:
            self.whole = True
            if choice.finish_reason == "error":
                raise Broken(b'{"error":{"message":"The server stopped with an error."}}')
            if self.stop != "refusal":
                self.stop = STOPS.get(choice.finish_reason, "end")
        return self._hear(choice.delta) if choice.delta is not None else ()

    def completed(self) -> Completed:
        """The whole answer, with what the server wants to see again."""
        if self.drafts:
            if self._details:
                self.kept.append({"details": self._details})
            elif self._field:
                self.kept.append({"field": self._field})
            for number, draft in enumerate(self.drafts.values()):
                if draft.extra is not None:
                    self.kept.append({"call": number, "extra_content": draft.extra})
        return super().completed()

    def _hear(self, delta: _Delta) -> Deltas:
        for call in delta.tool_calls or ():
            self._grow(call)
        if delta.reasoning_details:
            self._remember(delta.reasoning_details)
        deltas: Deltas = ()
        if thought := delta.reasoning_content or delta.reasoning:
            self._field = "reasoning_content" if delta.reasoning_content else "reasoning"
            deltas = self.think(thought)
        if delta.refusal:
            self.stop = "refusal"
            deltas = (*deltas, *self.say(delta.refusal))
        if content := delta.content:
            if isinstance(content, str):
                return (*deltas, *self.say(content)) if deltas else self.say(content)
            deltas = (*deltas, *self._parts(content))
        return deltas

    def _parts(self, content: Any) -> Iterator[Any]:
        """Content in parts, as Mistral sends it: texts, and thoughts that hold texts."""
        for part in content if isinstance(content, list) else ():
            match part:
                case {"type": "text", "text": str(text)} if text:
                    yield from self.say(text)
                case {"type": "thinking", "thinking": [*inner]}:
                    text = "".join(one.get("text", "") for one in inner if isinstance(one, dict))
                    if text:
                        yield from self.think(text)

    def _grow(self, call: _ToolCall) -> None:
        """A call, or one more piece of it; servers that give no index give each call whole."""
        self.begun = True
        index = call.index
        if index is None:
            index = len(self.drafts) if call.id or not self.drafts else len(self.drafts) - 1
        draft = self.drafts.get(index)
        if draft is None:
            draft = self.drafts[index] = CallDraft()
        draft.id = draft.id or call.id or ""
        if call.extra_content is not None:
            draft.extra = call.extra_content
        if function := call.function:
            draft.name = draft.name or function.name or ""
            if function.arguments:
                draft.pieces.append(function.arguments)

    def _remember(self, details: list[dict[str, Any]]) -> None:
        """OpenRouter's reasoning, whose texts come in pieces like everything else."""
        self.begun = True
        for detail in details:
            one = {name: value for name, value in detail.items() if value is not None}
            last = self._details[-1] if self._details else None
            if last is None or any(last.get(n) != one.get(n) for n in ("type", "index")):
                self._details.append(one)
                continue
            for name, value in one.items():
                before = last.get(name)
                grows = name in GROWING and isinstance(before, str) and isinstance(value, str)
                last[name] = f"{before}{value}" if grows else value


def _tokens(usage: _Usage) -> Tokens:
    before, after = usage.prompt_tokens_details, usage.completion_tokens_details
    cached = before.cached_tokens if before else None
    return Tokens(
        input=usage.prompt_tokens or 0,
        cached=cached or usage.prompt_cache_hit_tokens or 0,
        output=usage.completion_tokens or 0,
        reasoning=(after.reasoning_tokens or 0) if after else 0,
    )
