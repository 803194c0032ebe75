"""OpenAI Chat Completions: `POST /chat/completions`, the format most other servers speak too.

Ollama, llama.cpp, vLLM, LM Studio, MLX, OpenRouter and their like differ in small things; what is
sent is what all of them understand, and what they send back is read with patience.
"""

from collections.abc import Iterator
from typing import Any

from steersman.intelligence.drivers.endpoint import Endpoint
from steersman.intelligence.drivers.http import HttpDriver, OpenAI
from steersman.intelligence.drivers.reading.openai_chat import ChatReader
from steersman.intelligence.drivers.request_text import (
    arguments_text,
    conversation_key,
    encoded,
    kept_items,
)
from steersman.records.dialogue import (
    AssistantItem,
    Call,
    Driver,
    Item,
    Prompt,
    ResultItem,
    ToolSpec,
    UserItem,
)

PROVIDER = "openai-chat"


def open(name: str, endpoint: Endpoint) -> Driver:
    """A model that speaks Chat Completions."""
    return HttpDriver(name, endpoint, FORMAT)


class Chat(OpenAI):
    """How it is spoken."""

    def url(self, name: str, endpoint: Endpoint) -> str:
        """Where requests go."""
        return f"{endpoint.base_url}/chat/completions"

    def body(self, prompt: Prompt, name: str, endpoint: Endpoint) -> bytes:
        """A request; the conversation is its end."""
        official = endpoint.belongs_to("openai.com")
        body: dict[str, Any] = {"model": name, "stream": True}
        body["stream_options"] = {"include_usage": True}
        if endpoint.wanted_effort:
            body["reasoning_effort"] = endpoint.wanted_effort
        if endpoint.max_output is not None:
            body["max_completion_tokens" if official else "max_tokens"] = endpoint.max_output
        if official:  # who only speaks like it may not know this
            body["prompt_cache_key"] = endpoint.cache_key or conversation_key(prompt)
        if prompt.schema is not None:
            wanted = {"name": "answer", "schema": prompt.schema, "strict": False}
            body["response_format"] = {"type": "json_schema", "json_schema": wanted}
        body |= endpoint.extra
        if prompt.tools:
            body["tools"] = [_tool(tool) for tool in prompt.tools]
        system = [{"role": "system", "content": prompt.system}] if prompt.system else []
        said = (message for item in prompt.items for message in _said(item, name))
        body["messages"] = [*system, *said]
        return encoded(body)

    def reader(self, name: str) -> ChatReader:
        """Who understands the answer."""
        return ChatReader(PROVIDER, name)


FORMAT = Chat()


def _tool(tool: ToolSpec) -> dict[str, Any]:
    function = {
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.parameters,
    }
    return {"type": "function", "function": function}


def _said(item: Item, name: str) -> Iterator[dict[str, Any]]:
    """An item of the conversation as a message."""
    match item:
        case UserItem(images=()):
            yield {"role": "user", "content": item.text}
        case UserItem():
            content: list[dict[str, Any]] = []
            if item.text.strip():
                content.append({"type": "text", "text": item.text})
            for image in item.images:
                url = f"data:{image.media};base64,{image.data}"
                content.append({"type": "image_url", "image_url": {"url": url}})
            yield {"role": "user", "content": content}
        case ResultItem():
            yield {"role": "tool", "tool_call_id": item.call, "content": item.text}
        case AssistantItem() if item.text or item.acts:
            yield _answer(item, kept_items(item, PROVIDER, name))


def _answer(item: AssistantItem, kept: tuple[dict[str, Any], ...]) -> dict[str, Any]:
    """An answer; reasoning goes back only with calls, where models want to continue from it."""
    message: dict[str, Any] = {"role": "assistant", "content": item.text or None}
    extras: dict[int, Any] = {}
    for part in kept:
        if "call" in part:
            extras[part["call"]] = part["extra_content"]
        elif item.acts and "details" in part:
            message["reasoning_details"] = part["details"]
        elif item.acts:
            message[part["field"]] = item.reasoning
    if item.acts:
        message["tool_calls"] = [_call(c, extras.get(n)) for n, c in enumerate(item.calls)]
    return message


def _call(call: Call, extra: Any) -> dict[str, Any]:
    function = {"name": call.name, "arguments": arguments_text(call)}
    made: dict[str, Any] = {"id": call.id, "type": "function", "function": function}
    return made | {"extra_content": extra} if extra is not None else made
