"""Tools of servers as a model finds them: by words, in one line each, under names it can call.

Pure; what the tools of a server are is reported by `gateway.py`.
"""

from collections.abc import Iterable, Mapping, Sequence

from steersman.records.mcp_server import Server
from steersman.records.mcp_tools import RemoteTool
from steersman.records.patterns import pattern

LONG_LINE = 100
MOST_SEARCHED = 2_000  # characters of a description in which words are looked for
MOST_LISTING = 2_000  # characters of the list of servers in the first request
_WORD = pattern(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z]+")
_SENTENCE = pattern(r"(?<=[.!?])\s+(?=\W*[A-Z0-9])|\n\s*\n|\n(?=\s*[-*#])")


def first_sentence(text: str, most: int = LONG_LINE) -> str:
    """The beginning of a description, on one line."""
    head = text.strip()[: 10 * most]  # what has no end is not looked through for one
    flat = " ".join(_SENTENCE.split(head, maxsplit=1)[0].split())
    return flat if len(flat) <= most else f"{flat[: most - 1].rstrip()}…"


def rank(
    tools: Iterable[RemoteTool], words: str, abouts: Mapping[str, str] | None = None
) -> list[RemoteTool]:
    """Tools that have some of the words, the best first; without words, all as they came."""
    wanted = [_stem(word) for word in split(words)]
    if not wanted:
        return list(tools)
    scored = []
    for place, tool in enumerate(tools):
        score = _score(tool, wanted, (abouts or {}).get(tool.server, ""))
        if score:
            scored.append((-score, place, tool))
    return [tool for _, _, tool in sorted(scored, key=lambda one: one[:2])]


def split(text: str) -> list[str]:
    """The words of a text or a name, in small letters."""
    return [word.lower() for word in _WORD.findall(text)]


def _score(tool: RemoteTool, wanted: Sequence[str], about: str) -> float:
    fields = (
        (4.0, {_stem(word) for word in split(tool.name)}),
        (3.0, {_stem(word) for word in split(tool.server)}),
        (1.0, {_stem(word) for word in split(tool.description[:MOST_SEARCHED])}),
        (1.0, {_stem(word) for word in split(about)}),
    )
    total, hits = 0.0, 0
    for word in wanted:
        found = sum(weight * _fit(word, having) for weight, having in fields)
        total += found
        hits += found > 0
    return total * hits / len(wanted)


def _fit(word: str, having: set[str]) -> float:
    if word in having:
        return 1.0
    near = len(word) >= 3 and any(other.startswith(word) for other in having)
    return 0.5 if near else 0.0


def _stem(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def servers_in_short(servers: Sequence[Server], abouts: Mapping[str, str]) -> str:
    """The servers with a line each, in so many letters at the most; with many, short lines."""
    lines = [_line(server.name, abouts.get(server.name, ""), LONG_LINE) for server in servers]
    if _size(lines) > MOST_LISTING:
        fair = MOST_LISTING // max(1, len(servers)) - 6
        lines = [
            _line(server.name, abouts.get(server.name, ""), fair - len(server.name))
            for server in servers
        ]
    if _size(lines) <= MOST_LISTING:
        return "\n".join(lines)
    names = [server.name for server in servers]
    while names and len(", ".join(names)) > MOST_LISTING - 20:
        names.pop()
    more = len(servers) - len(names)
    return ", ".join(names) + (f" and {more} more" if more else "")


def _line(name: str, about: str, most: int) -> str:
    return f"- {name}: {first_sentence(about, most)}" if about and most >= 12 else f"- {name}"


def _size(lines: Sequence[str]) -> int:
    return sum(len(line) + 1 for line in lines)
