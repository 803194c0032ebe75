"""Gemini: `POST /v1/models/NAME:streamGenerateContent?alt=sse`.

Thoughts leave a signature on a part of the answer; it goes back on that part. Prefixes are cached
by the provider without being asked.
"""

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from steersman.intelligence.drivers.effort import gemini_thinking
from steersman.intelligence.drivers.endpoint import Endpoint
from steersman.intelligence.drivers.http import HttpDriver
from steersman.intelligence.drivers.reading.gemini import GeminiReader
from steersman.intelligence.drivers.request_text import (
    Slices,
    arguments_of,
    encoded,
    grouped,
    kept_items,
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

PROVIDER = "gemini"
UNSIGNED = "skip_thought_signature_validator"
_SIGNED = re.compile(r"(models/)?gemini-([3-9]|\d\d)")


def open(name: str, endpoint: Endpoint) -> Driver:
    """A model that speaks Gemini's own format."""
    return HttpDriver(name, endpoint, FORMAT)


class Gemini:
    """How it is spoken."""

    def url(self, name: str, endpoint: Endpoint) -> str:
        """Where requests go; a base that brings the version is fine too."""
        usual = "v1beta" if name.endswith("-latest") else "v1"  # which knows no such names
        base = self._base(endpoint, usual)
        model = name if "/" in name else f"models/{name}"
        return f"{base}/{quote(model)}:streamGenerateContent?alt=sse"

    def _base(self, endpoint: Endpoint, usual: str) -> str:
        if re.search(r"/v1(alpha|beta)?$", endpoint.base_url):
            return endpoint.base_url
        version = "v1beta" if endpoint.version == "beta" else endpoint.version
        return f"{endpoint.base_url}/{version or usual}"

    def models_url(self, endpoint: Endpoint) -> str:
        """Where the models are listed."""
        return f"{self._base(endpoint, 'v1beta')}/models?pageSize=1000"

    def headers(self, endpoint: Endpoint) -> dict[str, str]:
        """The headers that name and authorise us."""
        return {"x-goog-api-key": endpoint.key} if endpoint.key else {}

    def body(self, prompt: Prompt, name: str, endpoint: Endpoint) -> bytes:
        """A request; the conversation is its end."""
        body: dict[str, Any] = {}
        config: dict[str, Any] = {}
        if endpoint.max_output is not None:
            config["maxOutputTokens"] = endpoint.max_output
        if (effort := endpoint.wanted_effort) is not None or endpoint.thinks:
            config["thinkingConfig"] = gemini_thinking(name, effort)
        if prompt.schema is not None:
            config["responseMimeType"] = "application/json"
            config["responseJsonSchema"] = prompt.schema
        if config:
            body["generationConfig"] = config
        body |= endpoint.extra
        if prompt.system:
            body["systemInstruction"] = {"parts": [{"text": prompt.system}], "role": "user"}
        if prompt.tools:
            body["tools"] = [{"functionDeclarations": [_tool(tool) for tool in prompt.tools]}]
        body["contents"] = list(_contents(prompt, name))
        return encoded(body)

    def reader(self, name: str) -> GeminiReader:
        """Who understands the answer."""
        return GeminiReader(PROVIDER, name)


FORMAT = Gemini()


def _tool(tool: ToolSpec) -> dict[str, Any]:
    return {
        "name": tool.name,
        "description": tool.description,
        "parametersJsonSchema": tool.parameters,
    }


def _contents(prompt: Prompt, name: str) -> Iterator[dict[str, Any]]:
    """The conversation; the results of one answer's calls are in one content."""
    names: dict[str, str] = {}
    for item in grouped(prompt.items):
        match item:
            case UserItem():
                yield {"role": "user", "parts": _words(item)}
            case AssistantItem():
                names |= {call.id: call.name for call in item.calls}
                if parts := list(_answer(item, kept_items(item, PROVIDER, name), name)):
                    yield {"role": "model", "parts": parts}
            case results:
                yield {"role": "user", "parts": [_result(one, names) for one in results]}


def _words(item: UserItem) -> list[dict[str, Any]]:
    images: list[dict[str, Any]] = [
        {"inlineData": {"mimeType": i.media, "data": i.data}} for i in item.images
    ]
    words = [{"text": item.text}] if item.text.strip() or not images else []
    return [*words, *images]


def _result(item: ResultItem, names: dict[str, str]) -> dict[str, Any]:
    response = {"error" if item.failed else "output": item.text}
    said = {"id": item.call, "name": names.get(item.call, ""), "response": response}
    return {"functionResponse": said}


def _answer(
    item: AssistantItem, kept: tuple[dict[str, Any], ...], name: str
) -> Iterator[dict[str, Any]]:
    """An answer in the order it came in; without a memory of that, words before calls."""
    words, calls = Slices(item.text, kept, "text"), iter(item.calls)
    for part in kept:
        signed = {"thoughtSignature": part["signature"]} if "signature" in part else {}
        if part["type"] == "text":
            text = words.take()
            if text or signed:
                yield {"text": text} | signed
        elif call := next(calls, None):
            yield _call(call) | signed
    if words.rest:
        yield {"text": words.rest}
    for number, call in enumerate(calls):
        # The first call of an answer must be signed; this one came from another model.
        foreign = number == 0 and not kept and bool(_SIGNED.match(name))
        yield _call(call) | ({"thoughtSignature": UNSIGNED} if foreign else {})


def _call(call: Call) -> dict[str, Any]:
    function = {"id": call.id, "name": call.name, "args": arguments_of(call)}
    return {"functionCall": function}
