"""Gemini `generateContent`: reads its requests and says answers in it."""

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Struct

from steersman.intelligence.scripted.wires.reading import Items, parse, texts
from steersman.intelligence.scripted.wires.records import (
    MODEL,
    Address,
    Answer,
    Asked,
    Failure,
    Frame,
    event,
    one_line,
)
from steersman.records.dialogue import Call, Prompt, Tokens, ToolSpec

_STATUSES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    409: "ABORTED",
    429: "RESOURCE_EXHAUSTED",
    499: "CANCELLED",
    501: "UNIMPLEMENTED",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}


class _FunctionCall(Struct):
    name: str = ""
    id: str | None = None
    args: dict[str, Any] | None = None


class _FunctionResponse(Struct):
    name: str = ""
    id: str | None = None
    response: Any = None
    parts: list[Any] | None = None


class _Part(Struct, rename="camel"):
    text: str | None = None
    thought: bool | None = None
    function_call: _FunctionCall | None = None
    function_response: _FunctionResponse | None = None


class _Content(Struct):
    role: str | None = None
    parts: list[_Part] | None = None


class _Declaration(Struct, rename="camel"):
    name: str
    description: str | None = None
    parameters: dict[str, Any] | None = None
    parameters_json_schema: dict[str, Any] | None = None


class _Tool(Struct, rename="camel"):
    function_declarations: list[_Declaration] | None = None


class _Config(Struct, rename="camel"):
    response_mime_type: str | None = None
    response_schema: dict[str, Any] | None = None
    response_json_schema: dict[str, Any] | None = None


class _Request(Struct, rename="camel"):
    contents: list[_Content]
    system_instruction: _Content | None = None
    tools: list[_Tool] | None = None
    generation_config: _Config | None = None


class _Count(Struct, rename="camel"):
    contents: list[_Content] | None = None
    generate_content_request: _Request | None = None


class Gemini:
    """POST /v1beta/models/MODEL:generateContent and its sisters."""

    name = "gemini"

    def read(self, body: bytes, place: Address) -> Asked:
        """Understand a request, or raise `BadRequest`."""
        if place.purpose == "count":
            count = parse(body, _Count)
            request = count.generate_content_request or _Request(count.contents or [])
        else:
            request = parse(body, _Request)
        return Asked(
            prompt=_prompt(request),
            model=place.model,
            stream=place.stream,
            schema=_schema(request.generation_config),
            sse=place.sse,
        )

    def whole(self, asked: Asked, answer: Answer) -> bytes:
        """The body of an answer that is not streamed."""
        parts = [part for part, _ in _parts(answer, [answer.reasoning], [answer.text])]
        return msgspec.json.encode(_response(answer, parts, last=True))

    def frames(self, asked: Asked, answer: Answer) -> Iterator[Frame]:
        """The events of a streamed answer; without server-sent events they form one JSON array."""
        thoughts, words = answer.pieces(answer.reasoning), answer.pieces(answer.text)
        parts = list(_parts(answer, thoughts, words)) or [({"text": ""}, 0)]
        for index, (part, said) in enumerate(parts, 1):
            chunk = _response(answer, [part], last=index == len(parts))
            if asked.sse:
                yield event(chunk, said=said)
            else:
                yield Frame((b"[" if index == 1 else b",\r\n") + one_line(chunk), said)
        if not asked.sse:
            yield Frame(b"]")

    def failure(self, status: int, message: str, retry_after: float | None = None) -> Failure:
        """An error answer; when to try again is in its body, where Google has it, as well."""
        name = _STATUSES.get(status, "INTERNAL" if status >= 500 else "FAILED_PRECONDITION")
        error: dict[str, Any] = {"code": status, "message": message, "status": name}
        headers: tuple[tuple[str, str], ...] = ()
        if retry_after is not None:
            kind = "type.googleapis.com/google.rpc.RetryInfo"
            error["details"] = [{"@type": kind, "retryDelay": f"{retry_after:g}s"}]
            headers = (("retry-after", f"{retry_after:g}"),)
        return Failure(msgspec.json.encode({"error": error}), headers)

    def counted(self, tokens: int) -> bytes:
        """The answer to a request that counts tokens."""
        return msgspec.json.encode({"totalTokens": tokens})

    def models(self) -> bytes:
        """The list of models: one."""
        model = {
            "name": f"models/{MODEL}",
            "displayName": "Scripted model",
            "version": "1",
            "inputTokenLimit": 1_000_000,
            "outputTokenLimit": 100_000,
            "supportedGenerationMethods": ["generateContent", "countTokens"],
        }
        return msgspec.json.encode({"models": [model]})


def _prompt(request: _Request) -> Prompt:
    items = Items()
    for content in request.contents:
        if content.role == "model":
            _add_answer(items, content.parts or [])
        else:
            _add_words(items, content.parts or [])
    system = request.system_instruction
    said = [part.text or "" for part in (system.parts if system else None) or ()]
    tools = [
        ToolSpec(d.name, d.description or "", d.parameters_json_schema or d.parameters or {})
        for tool in request.tools or ()
        for d in tool.function_declarations or ()
    ]
    return Prompt("\n".join(said), tuple(tools), items.all)


def _add_answer(items: Items, parts: list[_Part]) -> None:
    calls = [part.function_call for part in parts if part.function_call]
    items.assistant(
        "".join(part.text or "" for part in parts if not part.thought),
        "".join(part.text or "" for part in parts if part.thought),
        [Call(call.id or call.name, call.name, call.args or {}) for call in calls],
    )


def _add_words(items: Items, parts: list[_Part]) -> None:
    """Results first: words beside them steer."""
    for part in parts:
        if result := part.function_response:
            failed = isinstance(result.response, dict) and "error" in result.response
            items.result(result.id or result.name, _result_text(result), failed=failed)
    others = (part for part in parts if not part.function_response)
    items.user("[image]" if part.text is None else part.text for part in others)


def _result_text(result: _FunctionResponse) -> str:
    match result.response:
        case {"output": said} | {"error": said} | {"result": said}:
            given = texts(said)
        case other:
            given = texts(other)
    return "\n".join([*given, *("[image]" for _ in result.parts or ())])


def _schema(config: _Config | None) -> dict[str, Any] | None:
    if config is None:
        return None
    schema = config.response_json_schema or config.response_schema
    return {} if schema is None and config.response_mime_type == "application/json" else schema


def _parts(
    answer: Answer, thoughts: list[str], words: list[str]
) -> Iterator[tuple[dict[str, Any], int]]:
    """The parts of an answer, each with the characters it carries."""
    for piece in filter(None, thoughts):
        yield {"text": piece, "thought": True}, len(piece)
    for piece in filter(None, words):
        yield {"text": piece}, len(piece)
    for call in answer.calls:
        function = {"id": call.id, "name": call.name, "args": call.arguments}
        yield {"functionCall": function}, len(call.text)


def _response(answer: Answer, parts: list[dict[str, Any]], *, last: bool) -> dict[str, Any]:
    candidate: dict[str, Any] = {"index": 0, "content": {"role": "model", "parts": parts}}
    response: dict[str, Any] = {
        "candidates": [candidate],
        "modelVersion": answer.model,
        "responseId": answer.tag,
    }
    if last:
        candidate["finishReason"] = "STOP"
        response["usageMetadata"] = _usage(answer.tokens)
    return response


def _usage(tokens: Tokens) -> dict[str, Any]:
    """Gemini counts thoughts beside the answer, not within it."""
    return {
        "promptTokenCount": tokens.input,
        "cachedContentTokenCount": tokens.cached,
        "candidatesTokenCount": max(tokens.output - tokens.reasoning, 0),
        "thoughtsTokenCount": tokens.reasoning,
        "totalTokenCount": tokens.input + tokens.output,
    }
