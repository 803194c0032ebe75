"""Where the words are that a person looks for: in blocks, and in lines that were drawn of them."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import Any

from rich.text import Text

from steersman.ports.tui.drawing.lines import continues
from steersman.views.blocks import Agent, Asked, Block, Person, Remark, Request, Words, Work

_SIGNS = re.compile(r"[\W_]+")


def lines_with(lines: Sequence[Text], words: str) -> list[int]:
    """The lines where these words begin, in whatever case; they may stand across wrapped lines."""
    parts = ["\r?".join(map(re.escape, part)) for part in words.casefold().split()]
    if not parts:
        return []
    told: list[str] = []
    starts: list[int] = []
    size = 0
    for line in lines:
        plain = line.plain.rstrip().casefold()
        piece = f"\r{plain.lstrip(' │')}" if told and continues(line) else f"\n{plain}"
        starts.append(size)
        told.append(piece)
        size += len(piece)
    found = re.finditer(r"[^\S\n]+".join(parts), "".join(told))
    return sorted({bisect_right(starts, one.start()) - 1 for one in found})


def has_words(block: Block, words: str) -> bool:
    """Whether a block may have these words: its letters do, whatever the signs between them."""
    wanted = _letters(words)
    return any(wanted in _letters(text) for text in _texts(block))


def _letters(text: str) -> str:
    return _SIGNS.sub("", text.casefold())


def _texts(block: Block) -> Iterator[str]:
    match block:
        case Person() | Words():
            yield block.text
        case Work():
            yield block.call.tool
            yield from _strings(block.call.arguments)
            yield from (diff.diff for diff in block.diffs)
            if block.result is not None:
                yield block.result.message
                yield from _strings(block.result.output)
        case Request():
            yield block.request.reason
            yield str(block.request.actions)
        case Asked():
            yield block.question.text
            yield block.answer.text if block.answer else ""
        case Agent():
            yield block.spawn.task
            yield block.done.text if block.done else ""
        case Remark():
            yield str(block.body)


def _strings(value: Any) -> Iterator[str]:
    """Every text inside a JSON value."""
    left = [value]
    while left:
        one = left.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, dict):
            left += one.values()
        elif isinstance(one, list | tuple):
            left += one
