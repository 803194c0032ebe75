"""Whether a block has the words that a person looks for; without drawing it."""

from collections.abc import Iterator
from typing import Any

from steersman.views.blocks import Agent, Asked, Block, Person, Remark, Request, Words, Work


def has_words(block: Block, words: str) -> bool:
    """Whether a block has these words, in whatever case."""
    wanted = words.casefold()
    return any(wanted in text.casefold() for text in _texts(block))


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
