"""Reads the chunks of Gemini's `streamGenerateContent`."""

from typing import Any

import msgspec
from msgspec import Struct

from steersman.intelligence.drivers.answers import Broken, Deltas, Gathering
from steersman.records.dialogue import (
    Call,
    Completed,
    Stop,
    Tokens,
)

STOPS: dict[str, Stop] = {
    "STOP": "end",
    "MAX_TOKENS": "length",
    "SAFETY": "content_filter",
    "RECITATION": "content_filter",
    "BLOCKLIST": "content_filter",
    "PROHIBITED_CONTENT": "content_filter",
    "SPII": "content_filter",
}


class _FunctionCall(Struct):
    name: str = ""
    id: str | None = None
    args: Any = None


class _Part(Struct, rename="camel"):
    text: str | None = None
    thought: bool | None = None
    thought_signature: str | None = None
    function_call: _FunctionCall | None = None


class _Content(Struct):
    parts: list[_Part] | None = None


class _Candidate(Struct, rename="camel"):
    content: _Content | None = None
    finish_reason: str | None = None
    finish_message: str | None = None


class _Usage(Struct, rename="camel"):
    prompt_token_count: int | None = None
    tool_use_prompt_token_count: int | None = None
    cached_content_token_count: int | None = None
    candidates_token_count: int | None = None
    thoughts_token_count: int | None = None


class _Feedback(Struct, rename="camel"):
    block_reason: str | None = None
    block_reason_message: str | None = None


class _Chunk(Struct, rename="camel"):
    candidates: list[_Candidate] | None = None
    usage_metadata: _Usage | None = None
    prompt_feedback: _Feedback | None = None
    error: Any = None


_chunk = msgspec.json.Decoder(_Chunk)


class GeminiReader(Gathering):
    """Reads its chunks; the end of the stream is the end of the answer."""

    def take(self, data: bytes) -> Deltas:
        """Take in one chunk."""
        chunk = _chunk.decode(data)
        if chunk.error is not None:
            raise Broken(data)
        if chunk.usage_metadata is not None:
            self.tokens = _tokens(chunk.usage_metadata)
        if (feedback := chunk.prompt_feedback) and feedback.block_reason:
            self.whole = True
            self.stop = "content_filter"
            said = feedback.block_reason_message
            self.why = said or f"The prompt was blocked: {feedback.block_reason}."
        if not chunk.candidates:
            return ()
        candidate = chunk.candidates[0]
        if candidate.finish_reason:
            self._end(candidate.finish_reason, candidate.finish_message or "")
        content = candidate.content
        if content is None or not content.parts:
            return ()
        if len(content.parts) == 1:
            return self._hear(content.parts[0])
        return [delta for part in content.parts for delta in self._hear(part)]

    def completed(self) -> Completed:
        """The whole answer; only signatures are worth a memory of its order."""
        if not any("signature" in part for part in self.kept):
            self.kept = []
        return super().completed()

    def _hear(self, part: _Part) -> Deltas:
        if part.function_call is not None:
            self._keep("call", 0, part.thought_signature)
            self._called(part.function_call)
            return ()
        text = part.text or ""
        if part.thought:
            return self.think(text) if text else ()
        self._keep("text", len(text), part.thought_signature)
        return self.say(text) if text else ()

    def _keep(self, kind: str, length: int, signature: str | None) -> None:
        """Mark a part's place; pieces of one text are one part until a signature ends it."""
        last = self.kept[-1] if self.kept else {}
        if kind == "text" and last.get("type") == "text" and "signature" not in last:
            last["length"] += length
        else:
            last = {"type": kind, "length": length}
            self.kept.append(last)
        if signature:
            last["signature"] = signature

    def _called(self, call: _FunctionCall) -> None:
        self.begun = True
        if call.args is None or isinstance(call.args, dict):
            made = Call(call.id or "", call.name, call.args or {})
        else:
            text = msgspec.json.encode(call.args).decode()
            made = Call(call.id or "", call.name, malformed=text)
        self.calls.append(made)

    def _end(self, reason: str, message: str) -> None:
        self.whole = True
        self.stop = STOPS.get(reason, "end")
        if reason != "STOP":
            self.why = message or f"Gemini ended the answer: {reason}."


def _tokens(usage: _Usage) -> Tokens:
    """Gemini counts thoughts beside the answer, not within it."""
    thought = usage.thoughts_token_count or 0
    return Tokens(
        input=(usage.prompt_token_count or 0) + (usage.tool_use_prompt_token_count or 0),
        cached=usage.cached_content_token_count or 0,
        output=(usage.candidates_token_count or 0) + thought,
        reasoning=thought,
    )
