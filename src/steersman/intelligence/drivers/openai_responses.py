"""OpenAI Responses: `POST /responses`, streamed and stateless.

Nothing is stored at the provider: reasoning comes back encrypted and is handed back with the
answer it belongs to.
"""

from collections.abc import Iterator
from typing import Any

from steersman.intelligence.drivers.effort import openai_thinks
from steersman.intelligence.drivers.endpoint import Endpoint
from steersman.intelligence.drivers.http import HttpDriver, OpenAI
from steersman.intelligence.drivers.reading.openai_responses import ResponsesReader
from steersman.intelligence.drivers.request_text import (
    Slices,
    arguments_text,
    conversation_key,
    encoded,
    kept_items,
)
from steersman.records.dialogue import (
    AssistantItem,
    Driver,
    Item,
    Prompt,
    ResultItem,
    ToolSpec,
    UserItem,
)

PROVIDER = "openai-responses"


def open(name: str, endpoint: Endpoint) -> Driver:
    """A model that speaks Responses."""
    return HttpDriver(name, endpoint, FORMAT)


class Responses(OpenAI):
    """How it is spoken."""

    def url(self, name: str, endpoint: Endpoint) -> str:
        """Where requests go."""
        return f"{endpoint.base_url}/responses"

    def body(self, prompt: Prompt, name: str, endpoint: Endpoint) -> bytes:
        """A request; the conversation is its end."""
        body: dict[str, Any] = {"model": name, "stream": True, "store": False}
        if openai_thinks(name, endpoint):
            effort = endpoint.wanted_effort
            body["reasoning"] = ({"effort": effort} if effort else {}) | {"summary": "auto"}
            body["include"] = ["reasoning.encrypted_content"]
        if endpoint.max_output is not None:
            body["max_output_tokens"] = endpoint.max_output
        body["prompt_cache_key"] = endpoint.cache_key or conversation_key(prompt)
        if prompt.schema is not None:
            shape = {"name": "answer", "schema": prompt.schema, "strict": False}
            body["text"] = {"format": {"type": "json_schema", **shape}}
        body |= endpoint.extra
        if prompt.system:
            body["instructions"] = prompt.system
        if prompt.tools:
            body["tools"] = [_tool(tool) for tool in prompt.tools]
        body["input"] = [part for item in prompt.items for part in _said(item, name)]
        return encoded(body)

    def reader(self, name: str) -> ResponsesReader:
        """Who understands the answer."""
        return ResponsesReader(PROVIDER, name)


FORMAT = Responses()


def _tool(tool: ToolSpec) -> dict[str, Any]:
    return {
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.parameters,
        "strict": False,
    }


def _said(item: Item, name: str) -> Iterator[dict[str, Any]]:
    """An item of the conversation as items of the input."""
    match item:
        case UserItem(images=()):
            yield {"role": "user", "content": item.text}
        case UserItem():
            content: list[dict[str, Any]] = []
            if item.text.strip():
                content.append({"type": "input_text", "text": item.text})
            for image in item.images:
                url = f"data:{image.media};base64,{image.data}"
                content.append({"type": "input_image", "image_url": url, "detail": "auto"})
            yield {"role": "user", "content": content}
        case ResultItem():
            yield {"type": "function_call_output", "call_id": item.call, "output": item.text}
        case AssistantItem():
            yield from _answer(item, kept_items(item, PROVIDER, name))


def _answer(item: AssistantItem, kept: tuple[dict[str, Any], ...]) -> Iterator[dict[str, Any]]:
    """An answer in the order it came in; without a memory of that, words before calls."""
    words = Slices(item.text, kept, "message")
    calls = iter(item.calls)
    for part in kept:
        match part["type"]:
            case "reasoning":
                yield part
            case "message":
                if text := words.take():
                    phase = {"phase": part["phase"]} if part.get("phase") else {}
                    yield {"role": "assistant", "content": text, **phase}
            case "function_call":
                if call := next(calls, None):
                    yield _call(call.id, call.name, arguments_text(call))
    if words.rest:
        yield {"role": "assistant", "content": words.rest}
    for call in calls:
        yield _call(call.id, call.name, arguments_text(call))


def _call(call_id: str, name: str, arguments: str) -> dict[str, Any]:
    return {"type": "function_call", "call_id": call_id, "name": name, "arguments": arguments}
