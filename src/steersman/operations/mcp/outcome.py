"""What a call of a server's tool gave, made ready for a model: text kept, the rest described.

Pure: works on the JSON of a result that `repair.py` has fixed.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec

from steersman.records.counting import counted
from steersman.records.mcp_tools import Outcome

MOST_TEXT = 100_000
WHOLE = 8_000_000  # what the host itself reads, and no model sees
TAIL = 20_000  # of the text that is cut, its end is kept too
MOST_ATTACHMENTS = 100

Block = Mapping[str, Any]


def outcome_of(
    result: Mapping[str, Any],
    clean: Callable[[Any], Any] = lambda value: value,
    most: int = MOST_TEXT,
) -> Outcome:
    """The outcome of a call; `clean` takes secrets out of what is passed on."""
    texts: list[str] = []
    attachments: list[str] = []
    for block in result.get("content") or ():
        text, attachment = _parts(block)
        if text:
            texts.append(text)
        if attachment:
            attachments.append(attachment)
    structured = result.get("structuredContent")
    if not texts and structured is not None:
        texts.append(_json(structured))
    if structured is not None and len(_json(structured)) > most:
        structured = None
    more = len(attachments) - MOST_ATTACHMENTS
    if more > 0:
        attachments[MOST_ATTACHMENTS:] = [f"and {more} more"]
    text, cut = _cut(clean("\n".join(texts)), most)
    return Outcome(
        text=text,
        structured=clean(structured),
        attachments=tuple(map(clean, attachments)),
        failed=result.get("isError") is True,
        cut=cut,
    )


def size(count: int) -> str:
    """A number of bytes as a person says it."""
    for unit, factor in (("MB", 10**6), ("kB", 10**3)):
        if count >= factor:
            return f"{count / factor:.3g} {unit}"
    return counted(count, "byte")


def _parts(block: Block) -> tuple[str, str]:
    """The text of a block, and how the rest of it is described."""
    match block:
        case {"type": "text", "text": str() as text}:
            return text, ""
        case {"type": "image" | "audio" as kind, "data": str() as data}:
            return "", f"{block.get('mimeType') or kind}, {size(_decoded(data))}"
        case {"type": "resource_link"}:
            return "", ", ".join(_link(block))
        case {"type": "resource", "resource": {"text": str() as text} as resource}:
            return f"{resource.get('uri', '')}:\n{text}", ""
        case {"type": "resource", "resource": {"blob": str() as blob} as resource}:
            kind = resource.get("mimeType") or "binary"
            return "", f"{resource.get('uri', '')}, {kind}, {size(_decoded(blob))}"
        case _:
            return "", f"content of an unknown type ({_kind(block)})"


def _link(block: Block) -> Iterator[str]:
    yield f"{block.get('name') or 'resource'}: {block.get('uri', '')}"
    if kind := block.get("mimeType"):
        yield str(kind)
    if isinstance(count := block.get("size"), int):
        yield size(count)


def _decoded(data: str) -> int:
    """How many bytes base64 stands for."""
    return len(data) * 3 // 4 - data[-2:].count("=")


def _kind(block: Block) -> str:
    return str(block.get("type", "none"))[:40]


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _cut(text: str, most: int) -> tuple[str, int]:
    """At most so much text, its beginning and its end, and how many characters were left out."""
    if len(text) <= most:
        return text, 0
    left_out = len(text) - most
    head, tail = text[: most - TAIL], text[-TAIL:]
    return f"{head}\n… {counted(left_out, 'character')} left out …\n{tail}", left_out
