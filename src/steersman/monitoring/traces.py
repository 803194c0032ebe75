"""A turn as spans of OpenTelemetry, by its conventions for generative AI; made from the log. Pure.

One trace a turn: `invoke_agent`, and below it each request to a model (`chat`) and each tool call
(`execute_tool`). Ids follow from the thread and its messages, so that a turn sent twice is one.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any

import msgspec
from msgspec import Struct

from steersman.records.message import (
    Assistant,
    Message,
    ToolCall,
    ToolResult,
    TurnEnd,
    TurnStart,
    UsageReport,
    User,
)

AGENT = "steersman"
KINDS = frozenset(
    one.kind
    for one in (TurnStart, TurnEnd, User, Assistant, UsageReport, ToolCall, ToolResult)
)  # fmt: skip
INTERNAL, CLIENT = 1, 3
FAILED = 2
BAD_ENDINGS = ("failed", "interrupted")
LOST = "unfinished"  # the error of a call that the turn ended without
# What the conventions call a provider, where that is another name than ours.
_PROVIDERS = {"openai-chat": "openai", "gemini": "gcp.gemini", "mistral": "mistral_ai"}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

Attributes = Mapping[str, Any]


class Span(Struct, frozen=True):
    """One piece of work; `error` is what kind of failure it ended with."""

    id: str
    name: str
    kind: int
    start: datetime
    end: datetime
    attributes: Attributes
    parent: str = ""
    error: str = ""


class Trace(Struct, frozen=True):
    """A turn."""

    id: str
    spans: Sequence[Span]


def trace_of(messages: Iterable[Message], *, content: bool = False) -> Trace | None:
    """The trace of the turn that some messages are of; None unless it began and ended.

    With `content` also what was said, and what tools were given and gave.
    """
    found = list(messages)
    starts = [one for one in found if isinstance(one.body, TurnStart)]
    ends = [one for one in found if isinstance(one.body, TurnEnd)]
    if not (starts and ends):
        return None
    start, end = starts[0], ends[-1]
    root = _id(start, 8)
    below = [*_requests(found, root), *_calls(found, root, end, content=content)]
    own = _turn(start, end, found, root, content=content)
    return Trace(_id(start, 16, "trace"), [own, *sorted(below, key=lambda one: one.start)])


def _turn(
    start: Message, end: Message, found: Sequence[Message], root: str, *, content: bool
) -> Span:
    began, ended = start.body, end.body
    assert isinstance(began, TurnStart)
    assert isinstance(ended, TurnEnd)
    used = [one.body for one in found if isinstance(one.body, UsageReport)]
    told: dict[str, Any] = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": AGENT,
        "gen_ai.conversation.id": start.thread,
        **_model(began.model),
        "gen_ai.usage.input_tokens": sum(one.input for one in used),
        "gen_ai.usage.output_tokens": sum(one.output for one in used),
        "steersman.turn": start.turn,
        "steersman.mode": began.mode,
        "steersman.ending": ended.ending,
        "steersman.cost": sum(one.cost for one in used),
    }
    if content:
        words = [one.body.text for one in found if isinstance(one.body, User)]
        said = [one.body.text for one in found if isinstance(one.body, Assistant)]
        told["gen_ai.input.messages"] = _spoken("user", words)
        told["gen_ai.output.messages"] = _spoken("assistant", said[-1:])
    error = ended.ending if ended.ending in BAD_ENDINGS else ""
    return Span(
        root, f"invoke_agent {AGENT}", INTERNAL, start.time, end.time, told, error=error
    )  # fmt: skip


def _requests(found: Sequence[Message], root: str) -> Iterable[Span]:
    """The requests to models; an answer is stored right before what it used."""
    for before, one in zip([None, *found], found, strict=False):
        used = one.body
        if not isinstance(used, UsageReport):
            continue
        model = _model(used.model)
        told: dict[str, Any] = {
            "gen_ai.operation.name": "chat",
            "gen_ai.conversation.id": one.thread,
            **model,
            "gen_ai.usage.input_tokens": used.input,
            "gen_ai.usage.cache_read.input_tokens": used.cached,
            "gen_ai.usage.output_tokens": used.output,
            "gen_ai.usage.reasoning.output_tokens": used.reasoning,
            "gen_ai.response.time_to_first_chunk": used.first_token_ms / 1000,
            "steersman.cost": used.cost,
        }
        if before is not None and isinstance(before.body, Assistant) and not used.aside:
            told["gen_ai.response.finish_reasons"] = [before.body.stop]
        start = one.time - timedelta(milliseconds=used.ms)
        name = f"chat {model.get('gen_ai.request.model', '')}".strip()
        yield Span(_id(one, 8), name, CLIENT, start, one.time, told, root)


def _calls(found: Sequence[Message], root: str, end: Message, *, content: bool) -> Iterable[Span]:
    results = {one.corr: one for one in found if isinstance(one.body, ToolResult)}
    for one in found:
        call = one.body
        if not isinstance(call, ToolCall):
            continue
        last = results.get(one.corr, end)
        result = last.body if isinstance(last.body, ToolResult) else None
        status = result.status if result else LOST
        told: dict[str, Any] = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": call.tool,
            "gen_ai.tool.type": "function",
            "gen_ai.tool.call.id": one.corr or "",
            "steersman.status": status,
        }
        if content:
            told["gen_ai.tool.call.arguments"] = _json(call.arguments)
            given = (result.output or result.message) if result else ""
            told["gen_ai.tool.call.result"] = _json(given)
        error = "" if status == "ok" else status
        yield Span(
            _id(one, 8), f"execute_tool {call.tool}", INTERNAL, one.time, last.time, told, root,
            error,
        )  # fmt: skip


def _model(named: str) -> dict[str, str]:
    provider, colon, name = named.partition(":")
    if not colon:
        return {"gen_ai.request.model": named} if named else {}
    return {
        "gen_ai.provider.name": _PROVIDERS.get(provider, provider),
        "gen_ai.request.model": name,
    }


def _spoken(role: str, texts: Sequence[str]) -> str:
    return _json(
        [{"role": role, "parts": [{"type": "text", "content": text}]} for text in texts]
    )  # fmt: skip


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _id(message: Message, size: int, what: str = "span") -> str:
    text = f"{what}/{message.thread}/{message.seq}"
    return sha256(text.encode()).digest()[:size].hex()


# As it is sent


def otlp(trace: Trace, service: str, version: str) -> bytes:
    """A trace as JSON of the OpenTelemetry protocol."""
    resource = {"service.name": service, "service.version": version}
    spans = [_sent(trace.id, one) for one in trace.spans]
    scope = {"name": AGENT, "version": version}
    told = {
        "resource": {"attributes": _attributes(resource)},
        "scopeSpans": [{"scope": scope, "spans": spans}],
    }
    return msgspec.json.encode({"resourceSpans": [told]})


def _sent(trace: str, span: Span) -> dict[str, Any]:
    told = {**span.attributes, **({"error.type": span.error} if span.error else {})}
    return {
        "traceId": trace,
        "spanId": span.id,
        **({"parentSpanId": span.parent} if span.parent else {}),
        "name": span.name,
        "kind": span.kind,
        "startTimeUnixNano": _nanoseconds(span.start),
        "endTimeUnixNano": _nanoseconds(span.end),
        "attributes": _attributes(told),
        "status": {"code": FAILED} if span.error else {},
    }


def _nanoseconds(moment: datetime) -> str:
    return str((moment - _EPOCH) // timedelta(microseconds=1) * 1000)


def _attributes(told: Attributes) -> list[dict[str, Any]]:
    return [{"key": name, "value": _value(value)} for name, value in told.items()]


def _value(value: Any) -> dict[str, Any]:
    match value:
        case bool():
            return {"boolValue": value}
        case int():
            return {"intValue": str(value)}
        case float():
            return {"doubleValue": value}
        case list():
            return {"arrayValue": {"values": [_value(one) for one in value]}}
    return {"stringValue": str(value)}
