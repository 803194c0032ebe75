"""What all formats share when a conversation is sent to a model: always the same bytes.

What an answer was made of is remembered as marks in its `State`; here they find their text again.
"""

from collections.abc import Iterable, Iterator
from hashlib import blake2b
from itertools import accumulate
from typing import Any
from zlib import crc32

import msgspec

from steersman.records.dialogue import AssistantItem, Call, Item, Prompt, ResultItem, UserItem


def grouped(items: Iterable[Item]) -> Iterator[UserItem | AssistantItem | list[ResultItem]]:
    """The conversation with the results of one answer's calls together."""
    results: list[ResultItem] = []
    for item in items:
        if isinstance(item, ResultItem):
            results.append(item)
            continue
        if results:
            yield results
            results = []
        yield item
    if results:
        yield results


def conversation_key(prompt: Prompt) -> str:
    """A name for a conversation that stays the same as it grows: caches are found by it."""
    first = next((item.text for item in prompt.items if isinstance(item, UserItem)), "")
    said = f"{prompt.system}\0{first}".encode("utf-8", "surrogatepass")
    return f"steersman-{blake2b(said, digest_size=12).hexdigest()}"


def encoded(body: dict[str, Any]) -> bytes:
    """A request as JSON; what no UTF-8 can say becomes a question mark."""
    try:
        return msgspec.json.encode(body)
    except UnicodeEncodeError:
        import json

        text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
        return text.encode("utf-8", "replace")


def arguments_of(call: Call) -> dict[str, Any]:
    """The arguments of a call as every server can read them, the malformed ones too."""
    return call.arguments if call.malformed is None else {"_raw": call.malformed}


def arguments_text(call: Call) -> str:
    """The same as text."""
    return encoded(arguments_of(call)).decode()


def kept_items(item: AssistantItem, provider: str, model: str) -> tuple[dict[str, Any], ...]:
    """What this very model gave to be handed back, if it is the one that answered."""
    state = item.state
    if state is None or (state.provider, state.model) != (provider, model):
        return ()
    return state.items


class Slices:
    """A text that is handed out again in the pieces it came in.

    The log may have masked a secret in it: then the last piece is as long as it takes.
    """

    def __init__(self, text: str, kept: Iterable[dict[str, Any]], kind: str) -> None:
        lengths = [part["length"] for part in kept if part["type"] == kind]
        ends = list(accumulate(lengths))
        last = max((n for n, length in enumerate(lengths) if length), default=-1)
        if last >= 0 and ends[last] != len(text):
            ends[last:] = [len(text)] * (len(ends) - last)
        self._pieces = [text[a:b] for a, b in zip([0, *ends], ends, strict=False)]
        self.rest = "" if last >= 0 else text

    def take(self) -> str:
        """The next piece."""
        return self._pieces.pop(0)


def mark(text: str) -> dict[str, int]:
    """How a piece of text is found again, and known to be the same."""
    return {"length": len(text), "check": crc32(text.encode("utf-8", "surrogatepass"))}


def same(text: str, kept: dict[str, Any]) -> bool:
    """Whether a piece is as it was when it was marked; the log may have masked a secret in it."""
    return mark(text)["check"] == kept.get("check")
