"""Anthropic Messages: `POST /v1/messages`, streamed.

Thinking comes signed, and must go back exactly as it came; cached prefixes are marked, the newest
message by the mark on the whole request, so that no byte of an older one ever changes.
"""

import re
from collections.abc import Iterator
from typing import Any

from steersman.intelligence.drivers.effort import anthropic_thinking
from steersman.intelligence.drivers.endpoint import Endpoint
from steersman.intelligence.drivers.http import HttpDriver, bearer
from steersman.intelligence.drivers.reading.anthropic import MessagesReader
from steersman.intelligence.drivers.request_text import (
    Slices,
    arguments_of,
    encoded,
    grouped,
    kept_items,
    same,
)
from steersman.records.dialogue import (
    AssistantItem,
    Call,
    Driver,
    Prompt,
    ResultItem,
    ToolSpec,
    UserItem,
)

PROVIDER = "anthropic"
VERSION = "2026-10-21"
MAX_OUTPUT = 32_000
CACHED = {"type": "ephemeral"}
_ODD = re.compile(r"[^a-zA-Z0-9_-]")


def open(name: str, endpoint: Endpoint) -> Driver:
    """A model that speaks Messages."""
    return HttpDriver(name, endpoint, FORMAT)


class Messages:
    """How it is spoken."""

    def url(self, name: str, endpoint: Endpoint) -> str:
        """Where requests go; a base that brings the version is fine too."""
        return f"{endpoint.base_url.removesuffix('/v1')}/v1/messages"

    def models_url(self, endpoint: Endpoint) -> str:
        """Where the models are listed."""
        return f"{endpoint.base_url.removesuffix('/v1')}/v1/models?limit=1000"

    def headers(self, endpoint: Endpoint) -> dict[str, str]:
        """The headers that name and authorise us."""
        version = {"anthropic-version": endpoint.version or VERSION}
        headers = version | bearer(endpoint)
        if endpoint.key and not endpoint.belongs_to("anthropic.com"):
            headers["x-api-key"] = endpoint.key  # gateways want the one or the other
        return headers

    def body(self, prompt: Prompt, name: str, endpoint: Endpoint) -> bytes:
        """A request; the conversation is its end."""
        limit = endpoint.max_output or MAX_OUTPUT
        body: dict[str, Any] = {"model": name, "max_tokens": limit, "stream": True}
        body["cache_control"] = CACHED
        config: dict[str, Any] = {}
        if (effort := endpoint.wanted_effort) is not None:
            body["thinking"], config = anthropic_thinking(name, effort, limit)
        if prompt.schema is not None:
            config["format"] = {"type": "json_schema", "schema": prompt.schema}
        if config:
            body["output_config"] = config
        body |= endpoint.extra
        if prompt.tools:
            tools = [_tool(tool) for tool in prompt.tools]
            tools[-1]["cache_control"] = CACHED
            body["tools"] = tools
        if prompt.system:
            said = {"type": "text", "text": prompt.system, "cache_control": CACHED}
            body["system"] = [said]
        body["messages"] = list(_messages(prompt, name))
        return encoded(body)

    def reader(self, name: str) -> MessagesReader:
        """Who understands the answer."""
        return MessagesReader(PROVIDER, name)


FORMAT = Messages()


def _tool(tool: ToolSpec) -> dict[str, Any]:
    return {
        "name": tool.name,
        "description": tool.description,
        "input_schema": tool.parameters,
    }


def _messages(prompt: Prompt, name: str) -> Iterator[dict[str, Any]]:
    """The conversation; the results of one answer's calls are in one message."""
    for item in grouped(prompt.items):
        match item:
            case UserItem():
                yield {"role": "user", "content": _words(item)}
            case AssistantItem():
                if blocks := list(_answer(item, kept_items(item, PROVIDER, name))):
                    yield {"role": "assistant", "content": blocks}
            case results:
                yield {"role": "user", "content": [_result(result) for result in results]}


def _words(item: UserItem) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    for image in item.images:
        source = {"type": "base64", "media_type": image.media, "data": image.data}
        blocks.append({"type": "image", "source": source})
    if item.text.strip() or not blocks:
        blocks.append({"type": "text", "text": item.text if item.text.strip() else "(nothing)"})
    return blocks


def _result(item: ResultItem) -> dict[str, Any]:
    block: dict[str, Any] = {"type": "tool_result", "tool_use_id": _id(item.call)}
    block["content"] = item.text
    return block | {"is_error": True} if item.failed else block


def _id(call_id: str) -> str:
    """An id as this provider takes it; another one's may have other characters."""
    return _ODD.sub("_", call_id)


def _answer(item: AssistantItem, kept: tuple[dict[str, Any], ...]) -> Iterator[dict[str, Any]]:
    """An answer in the order it came in; without a memory of that, words before calls."""
    words = Slices(item.text, kept, "text")
    thoughts = Slices(item.reasoning, kept, "thinking")
    calls = iter(item.calls)
    for part in kept:
        match part["type"]:
            case "thinking":
                thought = thoughts.take()
                if same(thought, part):
                    signed = {"thinking": thought, "signature": part["signature"]}
                    yield {"type": "thinking"} | signed
            case "text":
                yield from _text(words.take())
            case "tool_use":
                yield from (_call(call) for call in (next(calls, None),) if call)
            case _:
                yield part
    yield from _text(words.rest)
    yield from map(_call, calls)


def _text(text: str) -> Iterator[dict[str, Any]]:
    """A block of text; a blank one is an error here."""
    if text.strip():
        yield {"type": "text", "text": text}


def _call(call: Call) -> dict[str, Any]:
    made = {"id": _id(call.id), "name": call.name, "input": arguments_of(call)}
    return {"type": "tool_use"} | made
