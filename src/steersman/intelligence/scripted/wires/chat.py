"""OpenAI Chat Completions: reads its requests and says answers in it."""

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Struct

from steersman.intelligence.scripted.script import parse_call
from steersman.intelligence.scripted.wires.openai import OpenAI, SchemaFormat, wanted_schema
from steersman.intelligence.scripted.wires.reading import Items, parse, plain, texts
from steersman.intelligence.scripted.wires.records import Address, Answer, Asked, Frame, event
from steersman.records.dialogue import Call, Prompt, Tokens, ToolSpec


class _Function(Struct):
    name: str
    description: str | None = None
    parameters: dict[str, Any] | None = None


class _Tool(Struct):
    function: _Function | None = None
    custom: _Function | None = None


class _Called(Struct):
    name: str
    arguments: str | None = None
    input: str | None = None


class _ToolCall(Struct):
    id: str = ""
    function: _Called | None = None
    custom: _Called | None = None


class _Message(Struct):
    role: str
    content: Any = None
    reasoning_content: str | None = None
    tool_calls: list[_ToolCall] | None = None
    tool_call_id: str | None = None


class _StreamOptions(Struct):
    include_usage: bool | None = None


class _Request(Struct):
    model: str
    messages: list[_Message]
    tools: list[_Tool] | None = None
    stream: bool | None = None
    stream_options: _StreamOptions | None = None
    response_format: SchemaFormat | None = None


class Chat(OpenAI):
    """POST /v1/chat/completions."""

    name = "chat"

    def read(self, body: bytes, place: Address) -> Asked:
        """Understand a request, or raise `BadRequest`."""
        request = parse(body, _Request)
        options = request.stream_options
        return Asked(
            prompt=_prompt(request),
            model=request.model,
            stream=bool(request.stream),
            schema=wanted_schema(request.response_format),
            wants_usage=options is not None and bool(options.include_usage),
        )

    def whole(self, asked: Asked, answer: Answer) -> bytes:
        """The body of an answer that is not streamed."""
        calls = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.text},
            }
            for call in answer.calls
        ]
        message: dict[str, Any] = {
            "role": "assistant",
            "content": None if calls and not answer.text else answer.text,
            "refusal": None,
        }
        if answer.reasoning:
            message["reasoning_content"] = answer.reasoning
        if calls:
            message["tool_calls"] = calls
        choice = {"index": 0, "message": message, "finish_reason": _finish(answer)}
        head = _head(answer, "chat.completion")
        return msgspec.json.encode(head | {"choices": [choice], "usage": _usage(answer.tokens)})

    def frames(self, asked: Asked, answer: Answer) -> Iterator[Frame]:
        """The events of a streamed answer."""
        head = _head(answer, "chat.completion.chunk")

        def chunk(delta: dict[str, Any], said: int = 0, finish: str | None = None) -> Frame:
            choice = {"index": 0, "delta": delta, "finish_reason": finish}
            return event(head | {"choices": [choice]}, said=said)

        yield chunk({"role": "assistant", "content": ""})
        for piece in answer.pieces(answer.reasoning):
            yield chunk({"reasoning_content": piece}, len(piece))
        for piece in answer.pieces(answer.text):
            yield chunk({"content": piece}, len(piece))
        for index, call in enumerate(answer.calls):
            function = {"name": call.name, "arguments": ""}
            opening = {"index": index, "id": call.id, "type": "function", "function": function}
            yield chunk({"tool_calls": [opening]})
            for piece in answer.pieces(call.text):
                part = {"index": index, "function": {"arguments": piece}}
                yield chunk({"tool_calls": [part]}, len(piece))
        yield chunk({}, finish=_finish(answer))
        if asked.wants_usage:
            yield event(head | {"choices": [], "usage": _usage(answer.tokens)})
        yield Frame(b"data: [DONE]\n\n")


def _prompt(request: _Request) -> Prompt:
    system: list[str] = []
    items = Items()
    for message in request.messages:
        match message.role:
            case "system" | "developer":
                system += texts(message.content)
            case "assistant":
                calls = [_call(call) for call in message.tool_calls or ()]
                reasoning = message.reasoning_content or ""
                items.assistant(plain(message.content), reasoning, calls)
            case "tool" | "function":
                items.result(message.tool_call_id or "", plain(message.content))
            case _:
                items.user(texts(message.content))
    tools = [tool.function or tool.custom for tool in request.tools or ()]
    return Prompt("\n".join(system), tuple(_spec(tool) for tool in tools if tool), items.all)


def _call(call: _ToolCall) -> Call:
    called = call.function or call.custom or _Called("")
    return parse_call(call.id, called.name, called.arguments or called.input or "")


def _spec(tool: _Function) -> ToolSpec:
    return ToolSpec(tool.name, tool.description or "", tool.parameters or {})


def _head(answer: Answer, kind: str) -> dict[str, Any]:
    return {
        "id": f"chatcmpl-{answer.tag}",
        "object": kind,
        "created": answer.created,
        "model": answer.model,
    }


def _finish(answer: Answer) -> str:
    return "tool_calls" if answer.calls else "stop"


def _usage(tokens: Tokens) -> dict[str, Any]:
    return {
        "prompt_tokens": tokens.input,
        "completion_tokens": tokens.output,
        "total_tokens": tokens.input + tokens.output,
        "prompt_tokens_details": {"cached_tokens": tokens.cached},
        "completion_tokens_details": {"reasoning_tokens": tokens.reasoning},
    }
