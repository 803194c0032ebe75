"""Anthropic Messages: reads its requests and says answers in it."""

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Struct

from steersman.intelligence.scripted.wires.reading import Items, parse, plain, texts
from steersman.intelligence.scripted.wires.records import (
    MODEL,
    Address,
    Answer,
    Asked,
    BadRequest,
    Failure,
    Frame,
    SpokenCall,
    event,
)
from steersman.records.dialogue import Call, Prompt, Tokens, ToolSpec

_ERRORS = {
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}


class _Block(Struct):
    type: str = "text"
    text: str | None = None
    thinking: str | None = None
    id: str | None = None
    name: str | None = None
    input: dict[str, Any] | None = None
    tool_use_id: str | None = None
    content: Any = None
    is_error: bool | None = None


class _Message(Struct):
    role: str
    content: str | list[_Block]


class _Tool(Struct):
    type: str | None = None
    name: str | None = None
    description: str | None = None
    input_schema: dict[str, Any] | None = None


class _Format(Struct):
    type: str = ""
    schema: dict[str, Any] | None = None


class _OutputConfig(Struct):
    format: _Format | None = None


class _Request(Struct):
    model: str
    messages: list[_Message]
    max_tokens: int | None = None
    system: Any = None
    tools: list[_Tool] | None = None
    stream: bool | None = None
    output_format: _Format | None = None
    output_config: _OutputConfig | None = None


class Anthropic:
    """POST /v1/messages."""

    name = "anthropic"

    def read(self, body: bytes, place: Address) -> Asked:
        """Understand a request, or raise `BadRequest`."""
        request = parse(body, _Request)
        if place.purpose == "answer" and request.max_tokens is None:
            raise BadRequest("max_tokens: Field required")
        return Asked(
            prompt=_prompt(request),
            model=request.model,
            stream=bool(request.stream),
            schema=_schema(request),
        )

    def whole(self, asked: Asked, answer: Answer) -> bytes:
        """The body of an answer that is not streamed."""
        blocks: list[dict[str, Any]] = []
        if answer.reasoning:
            thinking = {"thinking": answer.reasoning, "signature": answer.tag}
            blocks.append({"type": "thinking"} | thinking)
        if answer.text:
            blocks.append({"type": "text", "text": answer.text})
        blocks += [_tool_use(call, call.arguments) for call in answer.calls]
        message = _message(answer, blocks, _usage(answer.tokens)) | _stop(answer)
        return msgspec.json.encode(message)

    def frames(self, asked: Asked, answer: Answer) -> Iterator[Frame]:
        """The events of a streamed answer."""
        usage = _usage(answer.tokens)
        yield _event("message_start", message=_message(answer, [], usage | {"output_tokens": 0}))
        yield _event("ping")
        for index, (block, deltas) in enumerate(_blocks(answer)):
            yield _event("content_block_start", index=index, content_block=block)
            for delta, said in deltas:
                yield _event("content_block_delta", said, index=index, delta=delta)
            yield _event("content_block_stop", index=index)
        yield _event("message_delta", delta=_stop(answer), usage=usage)
        yield _event("message_stop")

    def failure(self, status: int, message: str, retry_after: float | None = None) -> Failure:
        """An error answer."""
        kind = _ERRORS.get(status, "api_error" if status >= 500 else "invalid_request_error")
        body = {"type": "error", "error": {"type": kind, "message": message}}
        headers = () if retry_after is None else (("retry-after", f"{retry_after:g}"),)
        return Failure(msgspec.json.encode(body), headers)

    def counted(self, tokens: int) -> bytes:
        """The answer to a request that counts tokens."""
        return msgspec.json.encode({"input_tokens": tokens})

    def models(self) -> bytes:
        """The list of models: one."""
        model = {
            "type": "model",
            "id": MODEL,
            "display_name": "Scripted model",
            "created_at": "1970-01-01T00:00:00Z",
            "lifecycle": "active",
        }
        page = {"data": [model], "has_more": False, "first_id": MODEL, "last_id": MODEL}
        return msgspec.json.encode(page)


def _prompt(request: _Request) -> Prompt:
    items = Items()
    system = texts(request.system)
    for message in request.messages:
        content = message.content
        blocks = [_Block(text=content)] if isinstance(content, str) else content
        if message.role == "assistant":
            _add_answer(items, blocks)
        elif message.role == "system":
            system += [block.text or "" for block in blocks]
        else:
            _add_words(items, blocks)
    tools = [
        ToolSpec(tool.name or tool.type or "", tool.description or "", tool.input_schema or {})
        for tool in request.tools or ()
    ]
    return Prompt("\n".join(system), tuple(tools), items.all)


def _add_answer(items: Items, blocks: list[_Block]) -> None:
    items.assistant(
        "".join(block.text or "" for block in blocks if block.type == "text"),
        "".join(block.thinking or "" for block in blocks if block.type == "thinking"),
        [Call(b.id or "", b.name or "", b.input or {}) for b in blocks if b.type == "tool_use"],
    )


def _add_words(items: Items, blocks: list[_Block]) -> None:
    """Results first: words beside them steer."""
    for block in blocks:
        if block.type == "tool_result":
            failed = bool(block.is_error)
            items.result(block.tool_use_id or "", plain(block.content), failed=failed)
    others = (block for block in blocks if block.type != "tool_result")
    items.user(f"[{b.type}]" if b.text is None else b.text for b in others)


def _schema(request: _Request) -> dict[str, Any] | None:
    config = request.output_config
    wanted = (config.format if config else None) or request.output_format
    return None if wanted is None else wanted.schema or {}


def _blocks(answer: Answer) -> Iterator[tuple[dict[str, Any], list[tuple[dict[str, Any], int]]]]:
    """Each content block as it begins, and its deltas with the characters they carry."""
    if answer.reasoning:
        deltas = _deltas(answer, answer.reasoning, "thinking_delta", "thinking")
        deltas.append(({"type": "signature_delta", "signature": answer.tag}, 0))
        yield {"type": "thinking", "thinking": "", "signature": ""}, deltas
    if answer.text:
        yield {"type": "text", "text": ""}, _deltas(answer, answer.text, "text_delta", "text")
    for call in answer.calls:
        yield _tool_use(call, {}), _deltas(answer, call.text, "input_json_delta", "partial_json")


def _deltas(answer: Answer, text: str, kind: str, field: str) -> list[tuple[dict[str, Any], int]]:
    return [({"type": kind, field: piece}, len(piece)) for piece in answer.pieces(text)]


def _tool_use(call: SpokenCall, arguments: dict[str, Any]) -> dict[str, Any]:
    tool_id = "toolu_" + call.id.removeprefix("call_")
    return {"type": "tool_use", "id": tool_id, "name": call.name, "input": arguments}


def _event(kind: str, said: int = 0, **fields: Any) -> Frame:
    return event({"type": kind} | fields, kind, said)


def _message(answer: Answer, content: list[Any], usage: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": f"msg_{answer.tag}",
        "type": "message",
        "role": "assistant",
        "model": answer.model,
        "content": content,
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage,
    }


def _stop(answer: Answer) -> dict[str, Any]:
    reason = "tool_use" if answer.calls else "end_turn"
    return {"stop_reason": reason, "stop_sequence": None}


def _usage(tokens: Tokens) -> dict[str, Any]:
    """Anthropic counts cached tokens beside the input, not within it."""
    return {
        "input_tokens": max(tokens.input - tokens.cached, 0),
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": tokens.cached,
        "output_tokens": tokens.output,
        "output_tokens_details": {"thinking_tokens": tokens.reasoning},
    }
