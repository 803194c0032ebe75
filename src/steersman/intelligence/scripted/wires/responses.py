"""OpenAI Responses: reads its requests and says answers in it."""

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Struct

from steersman.intelligence.scripted.script import parse_call
from steersman.intelligence.scripted.wires.openai import OpenAI, SchemaFormat, wanted_schema
from steersman.intelligence.scripted.wires.reading import Items, parse, plain, texts
from steersman.intelligence.scripted.wires.records import (
    Address,
    Answer,
    Asked,
    BadRequest,
    Frame,
    SpokenCall,
    event,
)
from steersman.records.dialogue import Call, Prompt, Tokens, ToolSpec

CALLS = (
    "function_call", "custom_tool_call", "local_shell_call", "shell_call", "apply_patch_call",
)  # fmt: skip


class _Tool(Struct):
    type: str = "function"
    name: str | None = None
    description: str | None = None
    parameters: dict[str, Any] | None = None
    tools: "list[_Tool] | None" = None


class _Item(Struct):
    type: str = "message"
    role: str | None = None
    content: Any = None
    summary: Any = None
    id: str | None = None
    call_id: str | None = None
    name: str | None = None
    arguments: Any = None
    input: Any = None
    output: Any = None
    tools: list[_Tool] | None = None


class _Text(Struct):
    format: SchemaFormat | None = None


class _Request(Struct):
    model: str
    input: str | list[_Item]
    instructions: str | None = None
    tools: list[_Tool] | None = None
    stream: bool | None = None
    text: _Text | None = None
    previous_response_id: str | None = None


class Responses(OpenAI):
    """POST /v1/responses."""

    name = "responses"

    def read(self, body: bytes, place: Address) -> Asked:
        """Understand a request, or raise `BadRequest`."""
        request = parse(body, _Request)
        if request.previous_response_id:
            raise BadRequest(
                "Nothing is kept here: send the whole input, not previous_response_id."
            )
        tools = list(_tools(request))
        return Asked(
            prompt=_prompt(request, tools),
            model=request.model,
            stream=bool(request.stream),
            schema=wanted_schema(request.text.format if request.text else None),
            free_text=frozenset(_name(tool) for tool in tools if tool.type == "custom"),
            namespaces={
                _name(tool): _name(space)
                for space in request.tools or ()
                if space.type == "namespace"
                for tool in space.tools or ()
            },
        )

    def whole(self, asked: Asked, answer: Answer) -> bytes:
        """The body of an answer that is not streamed."""
        return msgspec.json.encode(_response(answer, _output(asked, answer)))

    def frames(self, asked: Asked, answer: Answer) -> Iterator[Frame]:
        """The events of a streamed answer."""
        return _Stream(answer).events(_output(asked, answer))


def _tools(request: _Request) -> Iterator[_Tool]:
    listed = list(request.tools or ())
    if isinstance(request.input, list):
        for item in request.input:
            listed += item.tools or () if item.type == "additional_tools" else ()
    for tool in listed:
        yield from tool.tools or () if tool.type == "namespace" else (tool,)


def _name(tool: _Tool) -> str:
    return tool.name or tool.type


def _prompt(request: _Request, tools: list[_Tool]) -> Prompt:
    system = texts(request.instructions)
    items = Items()
    given = request.input
    for item in [_Item(content=given)] if isinstance(given, str) else given:
        if item.type == "message" and item.role in ("system", "developer"):
            system += texts(item.content)
        else:
            _add(items, item)
    specs = [ToolSpec(_name(t), t.description or "", t.parameters or {}) for t in tools]
    return Prompt("\n".join(system), tuple(specs), items.all)


def _add(items: Items, item: _Item) -> None:
    if item.type in CALLS:
        name = item.name or item.type.removesuffix("_call")
        call = parse_call(item.call_id or "", name, plain(item.arguments or item.input))
        items.assistant(calls=[call])
    elif item.type == "reasoning":
        items.assistant(reasoning=plain(item.summary or item.content))
    elif item.type == "item_reference":
        # It stands for an item of an earlier answer; only the kind of the id is known.
        reference = item.id or ""
        items.assistant(calls=[Call(reference, "")] if reference.startswith("fc_") else ())
    elif item.type.endswith("_output"):
        items.result(item.call_id or "", plain(item.output))
    elif item.type == "message":
        if item.role == "assistant":
            items.assistant(plain(item.content))
        else:
            items.user(texts(item.content))


def _output(asked: Asked, answer: Answer) -> list[dict[str, Any]]:
    """The output items, complete."""
    items: list[dict[str, Any]] = []
    if answer.reasoning:
        summary = [{"type": "summary_text", "text": answer.reasoning}]
        items.append({"id": f"rs_{answer.tag}", "type": "reasoning", "summary": summary})
    if answer.text or not answer.calls:
        head = {"id": f"msg_{answer.tag}", "type": "message", "role": "assistant"}
        items.append(head | {"status": "completed", "content": [_part(answer.text)]})
    return items + [_call_item(call, asked) for call in answer.calls]


def _call_item(call: SpokenCall, asked: Asked) -> dict[str, Any]:
    tag = call.id.removeprefix("call_")
    head = {"call_id": call.id, "name": call.name, "status": "completed"}
    if call.name in asked.namespaces:
        head["namespace"] = asked.namespaces[call.name]
    if call.name in asked.free_text:
        return head | {"id": f"ctc_{tag}", "type": "custom_tool_call", "input": call.text}
    return head | {"id": f"fc_{tag}", "type": "function_call", "arguments": call.text}


def _part(text: str) -> dict[str, Any]:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


class _Stream:
    """Numbers the events of one answer."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self._next = 0

    def events(self, output: list[dict[str, Any]]) -> Iterator[Frame]:
        begun = _response(self._answer, None)
        yield self._event("created", response=begun)
        yield self._event("in_progress", response=begun)
        for index, item in enumerate(output):
            yield from self._item(item, index)
        yield self._event("completed", response=_response(self._answer, output))

    def _event(self, kind: str, said: int = 0, **fields: Any) -> Frame:
        name = f"response.{kind}"
        head = {"type": name, "sequence_number": self._next}
        self._next += 1
        return event(head | fields, name, said)

    def _item(self, item: dict[str, Any], index: int) -> Iterator[Frame]:
        field, deltas = {
            "reasoning": ("summary", self._reasoning),
            "message": ("content", self._message),
            "function_call": ("arguments", self._function_call),
            "custom_tool_call": ("input", self._custom_tool_call),
        }[item["type"]]
        opened = item | {field: type(item[field])(), "status": "in_progress"}
        yield self._event("output_item.added", output_index=index, item=opened)
        yield from deltas(item, {"item_id": item["id"], "output_index": index})
        yield self._event("output_item.done", output_index=index, item=item)

    def _deltas(self, kind: str, text: str, at: dict[str, Any]) -> Iterator[Frame]:
        for piece in self._answer.pieces(text):
            yield self._event(f"{kind}.delta", len(piece), **at, delta=piece)

    def _reasoning(self, item: dict[str, Any], place: dict[str, Any]) -> Iterator[Frame]:
        at = place | {"summary_index": 0}
        part = item["summary"][0]
        yield self._event("reasoning_summary_part.added", **at, part=part | {"text": ""})
        yield from self._deltas("reasoning_summary_text", part["text"], at)
        yield self._event("reasoning_summary_text.done", **at, text=part["text"])
        yield self._event("reasoning_summary_part.done", **at, part=part)

    def _message(self, item: dict[str, Any], place: dict[str, Any]) -> Iterator[Frame]:
        at = place | {"content_index": 0}
        part = item["content"][0]
        yield self._event("content_part.added", **at, part=_part(""))
        yield from self._deltas("output_text", part["text"], at | {"logprobs": []})
        yield self._event("output_text.done", **at, text=part["text"], logprobs=[])
        yield self._event("content_part.done", **at, part=part)

    def _function_call(self, item: dict[str, Any], at: dict[str, Any]) -> Iterator[Frame]:
        yield from self._deltas("function_call_arguments", item["arguments"], at)
        yield self._event("function_call_arguments.done", **at, arguments=item["arguments"])

    def _custom_tool_call(self, item: dict[str, Any], at: dict[str, Any]) -> Iterator[Frame]:
        yield from self._deltas("custom_tool_call_input", item["input"], at)
        yield self._event("custom_tool_call_input.done", **at, input=item["input"])


def _response(answer: Answer, output: list[dict[str, Any]] | None) -> dict[str, Any]:
    """The response object; without output while it is being made."""
    return {
        "id": f"resp_{answer.tag}",
        "object": "response",
        "created_at": answer.created,
        "status": "in_progress" if output is None else "completed",
        "error": None,
        "incomplete_details": None,
        "model": answer.model,
        "output": output or [],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": None if output is None else _usage(answer.tokens),
    }


def _usage(tokens: Tokens) -> dict[str, Any]:
    return {
        "input_tokens": tokens.input,
        "input_tokens_details": {"cached_tokens": tokens.cached, "cache_write_tokens": 0},
        "output_tokens": tokens.output,
        "output_tokens_details": {"reasoning_tokens": tokens.reasoning},
        "total_tokens": tokens.input + tokens.output,
    }
