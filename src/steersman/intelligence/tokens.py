"""How many tokens a text is: by the provider's own tokenizer where it is at hand, else estimated.

The estimate adds up what tokenizers split at: beginnings of words, digits, punctuation, line ends,
bytes beyond ASCII. The weights were fitted to real tokenizers over prose, code, JSON, logs, base64
and text in Chinese, Japanese and Russian; what a provider then reports corrects the rest.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import import_module
from itertools import pairwise
from math import ceil
from operator import mul
from typing import Literal

import msgspec

from steersman.records.dialogue import AssistantItem, Call, Item, ToolSpec, UserItem

Family = Literal["openai", "anthropic", "other"]

LONGEST = 16_384  # bytes of a text that are looked at one by one; of a longer one, samples
SLICES = 16
PER_ITEM, PER_CALL, PER_TOOL, PER_IMAGE = 4, 10, 12, 1_600
HEAVIEST, LIGHTEST, PACE = 3.0, 0.4, 0.3

# Every byte as a letter for its class: lower, upper, digit, newline, space, beginnings of longer
# characters (two bytes, three or four), their other bytes, and anything else.
_CLASSES = bytes(
    b"x"[0] if 0x80 <= byte < 0xC0
    else b"y"[0] if 0xC0 <= byte < 0xE0
    else b"z"[0] if byte >= 0xE0
    else b"a"[0] if chr(byte).islower()
    else b"A"[0] if chr(byte).isupper()
    else b"0"[0] if chr(byte).isdigit()
    else b"n"[0] if byte == 10
    else b"s"[0] if byte in b" \t\r"
    else b"."[0]
    for byte in range(256)
)  # fmt: skip

_SPLITS = (
    b"a", b"sa", b"sA", b".a", b".A", b"aA", b"AA", b"0a", b"a0", b"0", b".", b"n", b"s.", b"ss",
    b"0A", b"A0", b"y", b"z", b"x",
)  # fmt: skip

# Fitted to o200k_base, and to the only tokenizer Anthropic ever published.
_OPENAI = (
    0.025, 0.852, 0.682, 0.920, 0.354, 0.843, 0.322, 0.289, 0.820, 0.493, 0.412, 1.362, 0.687,
    0.035, 3.923, 1.105, 0.0, 0.090, 0.318,
)  # fmt: skip
_ANTHROPIC = (
    0.032, 0.884, 0.817, 1.800, 1.056, 1.187, 0.511, 0.0, 0.846, 0.606, 0.321, 1.140, 0.445,
    0.037, 2.188, 1.467, 0.604, 0.995, 0.0,
)  # fmt: skip
WEIGHTS: Mapping[Family, tuple[float, ...]] = {
    "openai": _OPENAI,
    "anthropic": _ANTHROPIC,
    "other": _ANTHROPIC,  # the larger of the two: too much is the safer mistake
}
DENSEST = 1.5  # bytes a unit, at the least, of stored JSON that is not parsed yet


class Counter:
    """Counts for one family of models; `ratio` is what its provider's reports made of it."""

    def __init__(self, family: Family = "other", exact: Callable[[str], int] | None = None) -> None:
        self.family = family
        self.ratio = 1.0
        self._weights = WEIGHTS[family]
        self._exact = exact

    def count(self, text: str) -> int:
        """The tokens of a text; at least 1 unless it is empty."""
        return self.tokens(self.units(text))

    def tokens(self, units: float) -> int:
        """Units as tokens: what was estimated, corrected by what the provider reported."""
        return ceil(self.ratio * units)

    def units(self, text: str) -> float:
        """The size of a text before correction, so that a sum stays right when `ratio` moves."""
        if self._exact is not None:
            return self._exact(text)
        return max(1.0, estimate(text, self._weights)) if text else 0.0

    def of_item(self, item: Item) -> float:
        """The units of one item of a conversation."""
        match item:
            case UserItem(text=text, images=images):
                return PER_ITEM + self.units(text) + PER_IMAGE * len(images)
            case AssistantItem():
                found = PER_ITEM + self.units(item.text) + sum(map(self._of_call, item.calls))
                if item.state is not None:  # then the reasoning is handed back as well
                    found += self.units(item.reasoning)
                    found += self.units(msgspec.json.encode(item.state.items).decode())
                return found
            case _:
                return PER_ITEM + self.units(item.text)

    def _of_call(self, call: Call) -> float:
        said = call.malformed or msgspec.json.encode(call.arguments).decode()
        return PER_CALL + self.units(call.name) + self.units(said)

    def of_frame(self, system: str, tools: Sequence[ToolSpec]) -> float:
        """The units of what is before the conversation."""
        return PER_ITEM + self.units(system) + sum(
            PER_TOOL
            + self.units(f"{tool.name} {tool.description}")
            + self.units(msgspec.json.encode(tool.parameters).decode())
            for tool in tools
        )  # fmt: skip

    def calibrate(self, estimated: int, reported: int) -> None:
        """Learn from what a provider reported for a request of so many estimated tokens."""
        if self._exact is not None or estimated < 200 or reported < 200:
            return
        seen = self.ratio * reported / estimated
        # Too few is the mistake that hurts: it is believed at once, the other one slowly.
        pace = 1.0 if seen > self.ratio else PACE
        moved = self.ratio + pace * (seen - self.ratio)
        self.ratio = min(HEAVIEST, max(LIGHTEST, moved))


def estimate(text: str, weights: Sequence[float]) -> float:
    """The tokens of a text by where tokenizers split."""
    data = text.encode("utf-8", "replace")
    size = len(data)
    if size > LONGEST:
        part = LONGEST // SLICES
        edges = [at * (size - part) // (SLICES - 1) for at in range(SLICES)]
        data = b"".join([data[at : at + part] for at in edges])
    seen = data.translate(_CLASSES)
    found: float = sum(map(mul, map(seen.count, _SPLITS), weights))
    return found * size / len(data)


def counter_for(model: str, environ: Mapping[str, str]) -> Counter:
    """The counter for a model, named as `provider:name` or by its name alone."""
    provider, _, name = model.partition(":")
    name = (name or provider).rpartition("/")[2].lower()
    if name.startswith(("gpt", "o1", "o3", "o4", "chatgpt", "codex")):
        return Counter("openai", exact=_tokenizer(name, environ))
    if name.startswith("claude"):
        return Counter("anthropic")
    return Counter("other")


ENCODINGS = {
    "o200k_base": "https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken",
    "cl100k_base": "https://openaipublic.blob.core.windows.net/encodings/cl100k_base.tiktoken",
}


def _tokenizer(name: str, environ: Mapping[str, str]) -> Callable[[str], int] | None:
    """tiktoken, if it is installed and has its vocabulary already: it would fetch it otherwise."""
    import hashlib
    import tempfile

    old = name.startswith(("gpt-3.5", "gpt-4")) and not name.startswith(("gpt-4o", "gpt-4."))
    encoding = "cl100k_base" if old else "o200k_base"
    folder = environ.get("TIKTOKEN_CACHE_DIR") or environ.get("DATA_GYM_CACHE_DIR")
    folder = folder or os.path.join(tempfile.gettempdir(), "data-gym-cache")
    kept = hashlib.sha1(ENCODINGS[encoding].encode(), usedforsecurity=False).hexdigest()
    return _exact(encoding) if os.path.isfile(os.path.join(folder, kept)) else None


@cache
def _exact(encoding: str) -> Callable[[str], int] | None:
    try:
        encode = import_module("tiktoken").get_encoding(encoding).encode_ordinary
    except (ImportError, ValueError, OSError):  # absent, or its vocabulary is not whole
        return None
    return lambda text: sum(len(encode(part)) for part in _parts(text))


def _parts(text: str, size: int = 65_536) -> list[str]:
    """Pieces of a text: the tokenizer's time grows faster than a run of one letter does."""
    edges = [*range(0, len(text), size), len(text)]
    return [text[start:end] for start, end in pairwise(edges)]
