"""Reads the events of OpenAI Responses."""

from typing import Any

import msgspec
from msgspec import Raw, Struct

from steersman.intelligence.drivers.answers import (
    Broken,
    CallDraft,
    Delta,
    Deltas,
    Gathering,
    parse_call,
)
from steersman.records.dialogue import (
    Completed,
    Tokens,
)


class _Part(Struct):
    type: str = ""
    text: str = ""
    refusal: str = ""


class _Item(Struct):
    type: str = ""
    id: str = ""
    call_id: str = ""
    name: str = ""
    arguments: str = ""
    content: list[_Part] | None = None
    summary: list[Any] | None = None
    encrypted_content: str | None = None
    phase: str | None = None


class _Details(Struct):
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None


class _Usage(Struct):
    input_tokens: int = 0
    output_tokens: int = 0
    input_tokens_details: _Details | None = None
    output_tokens_details: _Details | None = None


class _Why(Struct):
    reason: str = ""


class _Response(Struct):
    status: str = ""
    output: list[_Item] | None = None
    usage: _Usage | None = None
    incomplete_details: _Why | None = None


class _Event(Struct):
    type: str = ""
    delta: Any = None
    output_index: int = 0
    summary_index: int = 0
    item: Raw = Raw()
    response: Raw = Raw()


_event = msgspec.json.Decoder(_Event)
_item = msgspec.json.Decoder(_Item)
_response = msgspec.json.Decoder(_Response)


class ResponsesReader(Gathering):
    """Reads its events."""

    def take(self, data: bytes) -> Deltas:
        """Take in one event."""
        event = _event.decode(data)
        said = event.delta if isinstance(event.delta, str) else ""
        match event.type:
            case "response.output_text.delta":
                return self.say(said)
            case "response.reasoning_summary_text.delta" | "response.reasoning_text.delta":
                return self.think(said)
            case "response.function_call_arguments.delta":
                if draft := self.drafts.get(event.output_index):
                    draft.pieces.append(said)
            case "response.completed" | "response.incomplete" | "response.done":
                return self._end(_response.decode(event.response))
            case "response.failed":
                raise Broken(bytes(event.response))
            case "error":
                raise Broken(data if b'"error":' in data else b'{"error":' + data + b"}")
            case _:
                return self._turn(event)
        return ()

    def _turn(self, event: _Event) -> Deltas:
        """Where one part of the answer ends and another begins."""
        match event.type:
            case "response.refusal.delta":
                self.stop = "refusal"
                return self.say(str(event.delta))
            case "response.reasoning_summary_part.added" if event.summary_index:
                return self.think("\n\n")
            case "response.output_item.added":
                self.begun = True
                item = _item.decode(event.item)
                if item.type == "function_call":
                    self.drafts[event.output_index] = CallDraft(item.call_id, item.name)
            case "response.output_item.done":
                self.drafts.pop(event.output_index, None)
                self._keep(_item.decode(event.item))
        return ()

    def completed(self) -> Completed:
        """The whole answer; only reasoning is worth a memory of its order."""
        if not any(part["type"] == "reasoning" or part.get("phase") for part in self.kept):
            self.kept = []
        return super().completed()

    def _keep(self, item: _Item) -> None:
        """Remember a finished item: calls whole, the rest as a mark of its place."""
        self.begun = True
        if item.type == "function_call":
            self.calls.append(parse_call(item.call_id, item.name, item.arguments))
            self.kept.append({"type": "function_call"})
        elif item.type == "message":
            length = sum(len(part.text or part.refusal) for part in item.content or ())
            phase = {"phase": item.phase} if item.phase else {}
            self.kept.append({"type": "message", "length": length, **phase})
        elif item.type == "reasoning" and item.encrypted_content:
            self.kept.append(
                {
                    "type": "reasoning",
                    "id": item.id,
                    "summary": item.summary or [],
                    "encrypted_content": item.encrypted_content,
                }
            )

    def _end(self, response: _Response) -> Deltas:
        self.whole = self.done = True
        if response.usage is not None:
            self.tokens = _tokens(response.usage)
        if response.status == "incomplete":
            reason = response.incomplete_details.reason if response.incomplete_details else ""
            self.stop = "content_filter" if reason == "content_filter" else "length"
        if self.words or self.calls or self.drafts:
            return ()
        deltas: list[Delta] = []
        for item in response.output or ():  # a server that sent nothing on the way
            self._keep(item)
            for part in item.content or () if item.type == "message" else ():
                self.stop = "refusal" if part.refusal else self.stop
                deltas += self.say(part.text or part.refusal)
        return deltas


def _tokens(usage: _Usage) -> Tokens:
    before, after = usage.input_tokens_details, usage.output_tokens_details
    return Tokens(
        input=usage.input_tokens,
        cached=(before.cached_tokens or 0) if before else 0,
        output=usage.output_tokens,
        reasoning=(after.reasoning_tokens or 0) if after else 0,
    )
