"""The wire formats a script can be served in, and which of them a request speaks."""

from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import parse_qs, unquote

from steersman.intelligence.scripted.wires.anthropic import Anthropic
from steersman.intelligence.scripted.wires.chat import Chat
from steersman.intelligence.scripted.wires.gemini import Gemini
from steersman.intelligence.scripted.wires.records import Address, Wire
from steersman.intelligence.scripted.wires.responses import Responses

CHAT, RESPONSES, ANTHROPIC, GEMINI = Chat(), Responses(), Anthropic(), Gemini()
VERSIONS = ("v1", "v1beta", "v1alpha")
POSTS: dict[tuple[str, ...], tuple[Wire, Address]] = {
    ("chat", "completions"): (CHAT, Address("answer")),
    ("responses",): (RESPONSES, Address("answer")),
    ("responses", "input_tokens"): (RESPONSES, Address("count")),
    ("messages",): (ANTHROPIC, Address("answer")),
    ("messages", "count_tokens"): (ANTHROPIC, Address("count")),
}


class Route(NamedTuple):
    """The format of a request and what its address says."""

    wire: Wire
    place: Address


def route(method: str, target: str, headers: Mapping[str, str]) -> Route:
    """Where a request belongs; a version before the path may be missing or be there twice."""
    path, _, query = target.partition("?")
    steps = [unquote(step) for step in path.split("/") if step]
    versions = 0
    while versions < len(steps) and steps[versions] in VERSIONS:
        versions += 1
    before, rest = steps[:versions], tuple(steps[versions:])
    if method == "POST" and rest in POSTS:
        return Route(*POSTS[rest])
    if method == "POST" and len(rest) == 2 and rest[0] == "models":
        place = _gemini_place(rest[1], parse_qs(query))
        if place is not None:
            return Route(GEMINI, place)
    style = _style(before, headers)
    return Route(style, Address("models" if (method, rest) == ("GET", ("models",)) else "unknown"))


def _gemini_place(last: str, query: dict[str, list[str]]) -> Address | None:
    model, _, verb = last.rpartition(":")
    match verb:
        case "generateContent":
            return Address("answer", model)
        case "streamGenerateContent":
            return Address("answer", model, stream=True, sse=query.get("alt") == ["sse"])
        case "countTokens":
            return Address("count", model)
        case _:
            return None


def _style(versions: list[str], headers: Mapping[str, str]) -> Wire:
    """The format a caller expects where the path does not tell."""
    if "anthropic-version" in headers or "x-api-key" in headers:
        return ANTHROPIC
    if "x-goog-api-key" in headers or any(version != "v1" for version in versions):
        return GEMINI
    return CHAT
