"""Reads the events of Anthropic Messages."""

from typing import Any

import msgspec
from msgspec import Struct

from steersman.intelligence.drivers.answers import Broken, CallDraft, Deltas, Gathering
from steersman.intelligence.drivers.request_text import (
    mark,
)
from steersman.records.dialogue import (
    Completed,
    Stop,
    Tokens,
)

STOPS: dict[str, Stop] = {
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refusal",
}


class _Details(Struct):
    thinking_tokens: int | None = None


class _Usage(Struct):
    input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    output_tokens: int | None = None
    output_tokens_details: _Details | None = None


class _Block(Struct):
    type: str = ""
    text: str = ""
    thinking: str = ""
    signature: str | None = None
    data: str = ""
    id: str = ""
    name: str = ""
    input: dict[str, Any] | None = None


class _Delta(Struct):
    type: str = ""
    text: str = ""
    thinking: str = ""
    partial_json: str = ""
    signature: str = ""
    stop_reason: str | None = None


class _Message(Struct):
    usage: _Usage | None = None


class _Event(Struct):
    type: str = ""
    index: int = 0
    delta: _Delta | None = None
    content_block: _Block | None = None
    message: _Message | None = None
    usage: _Usage | None = None


_event = msgspec.json.Decoder(_Event)


class MessagesReader(Gathering):
    """Reads its events."""

    def __init__(self, provider: str, model: str) -> None:
        super().__init__(provider, model)
        self._usage = _Usage()
        self._block = _Block()
        self._pieces: list[str] = []

    def take(self, data: bytes) -> Deltas:
        """Take in one event."""
        event = _event.decode(data)
        delta = event.delta
        match event.type:
            case "content_block_delta" if delta is not None:
                return self._grow(event.index, delta)
            case "content_block_start" if event.content_block is not None:
                return self._begin(event.index, event.content_block)
            case "content_block_stop":
                self._finish()
            case "message_start" if event.message is not None:
                self._count(event.message.usage)
            case "message_delta":
                self._count(event.usage)
                if delta is not None and delta.stop_reason:
                    self.whole = True
                    self.stop = STOPS.get(delta.stop_reason, "end")
            case "message_stop":
                self.whole = self.done = True
            case "error":
                raise Broken(data)
        return ()

    def completed(self) -> Completed:
        """The whole answer; only thinking is worth a memory of its order."""
        if not any("thinking" in part["type"] for part in self.kept):
            self.kept = []
        return super().completed()

    def _begin(self, index: int, block: _Block) -> Deltas:
        self.begun = True
        self._block, self._pieces = block, []
        if block.type == "tool_use":
            draft = self.drafts[index] = CallDraft(block.id, block.name)
            if block.input:  # a server that sends it whole
                draft.pieces.append(msgspec.json.encode(block.input).decode())
        elif block.type == "text" and block.text:
            return self._grow(index, _Delta("text_delta", text=block.text))
        elif block.type == "thinking" and block.thinking:
            return self._grow(index, _Delta("thinking_delta", thinking=block.thinking))
        return ()

    def _grow(self, index: int, delta: _Delta) -> Deltas:
        match delta.type:
            case "text_delta":
                self._pieces.append(delta.text)
                return self.say(delta.text)
            case "thinking_delta":
                self._pieces.append(delta.thinking)
                return self.think(delta.thinking)
            case "input_json_delta":
                if delta.partial_json and (draft := self.drafts.get(index)):
                    draft.pieces.append(delta.partial_json)
            case "signature_delta":
                self._block.signature = (self._block.signature or "") + delta.signature
        return ()

    def _finish(self) -> None:
        block, said = self._block, "".join(self._pieces)
        match block.type:
            case "text":
                self.kept.append({"type": "text", "length": len(said)})
            case "thinking" if block.signature:
                signed = {"signature": block.signature, **mark(said)}
                self.kept.append({"type": "thinking"} | signed)
            case "redacted_thinking":
                self.kept.append({"type": "redacted_thinking", "data": block.data})
            case "tool_use":
                self.kept.append({"type": "tool_use"})

    def _count(self, usage: _Usage | None) -> None:
        """Later counts replace earlier ones; what was cached is counted beside the input."""
        for field in usage.__struct_fields__ if usage else ():
            if (value := getattr(usage, field)) is not None:
                setattr(self._usage, field, value)
        known = self._usage
        cached = known.cache_read_input_tokens or 0
        written = known.cache_creation_input_tokens or 0
        fresh = (known.input_tokens or 0) + written
        details = known.output_tokens_details
        thought = (details.thinking_tokens or 0) if details else 0
        self.tokens = Tokens(fresh + cached, cached, known.output_tokens or 0, thought, written)
