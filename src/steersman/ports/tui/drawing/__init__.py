"""Blocks as lines: `draw(block, width, look)`, pure, for any width from one cell up.

A line is a `rich.text.Text` that is never wider than it may be and holds nothing that a terminal
would follow. The same block drawn twice gives the same lines; lines that did not change are often
the very same objects, so do not change them.
"""

import sys
from collections.abc import Callable

from rich.text import Text

from steersman.ports.tui.drawing.lines import cut
from steersman.ports.tui.drawing.look import DARK, MONO, Look, Palette, coloured
from steersman.ports.tui.drawing.remarks import draw_remark
from steersman.ports.tui.drawing.talk import (
    draw_agent,
    draw_asked,
    draw_person,
    draw_request,
    draw_words,
)
from steersman.ports.tui.drawing.work import draw_work
from steersman.records.message import Compaction, DiffReady, GuardBlock
from steersman.views.blocks import (
    Agent,
    Asked,
    Block,
    Person,
    Remark,
    Request,
    Words,
    Work,
)

__all__ = [
    "DARK",
    "MONO",
    "Look",
    "Palette",
    "coloured",
    "draw",
    "estimate",
    "foldable",
    "gap",
    "unfolded",
    "warm_up",
]


def draw(block: Block, width: int, look: Look) -> list[Text]:
    """The lines of a block, none of them wider than `width` cells."""
    width = max(width, 1)
    match block:
        case Person():
            lines = draw_person(block, width, look)
        case Words():
            return draw_words(block, width, look)  # cut already, as it is drawn again and again
        case Work():
            lines = [] if block.by_agent else draw_work(block, width, look)
        case Request():
            lines = draw_request(block, width, look)
        case Asked():
            lines = draw_asked(block, width, look)
        case Agent():
            lines = draw_agent(block, width, look)
        case Remark():
            lines = draw_remark(block, width, look)
        case _:
            lines = []
    return [cut(line, width) for line in lines]


def unfolded(block: Block) -> Callable[[int, Palette], list[Text]]:
    """What draws all of a block, however long it is."""
    return lambda width, palette: draw(block, width, Look(palette, open=True, most=sys.maxsize))


def gap(before: Block | None, block: Block) -> int:
    """How many blank lines are before a block: calls are close together."""
    if before is None:
        return 0
    close = (Work, Agent)
    if isinstance(block, close) and isinstance(before, close):
        return 0
    blocked = isinstance(block, Remark) and isinstance(block.body, GuardBlock)
    if isinstance(before, Work) and (blocked or isinstance(block, Request)):
        return 0
    return 1


def foldable(block: Block) -> bool:
    """Whether a block may have more to show than it does."""
    match block:
        case Words():
            return block.thought
        case Remark():
            return isinstance(block.body, Compaction | DiffReady)
        case Asked():
            return False
    return True


def estimate(block: Block, width: int) -> int:
    """About how many lines a block has, for those that were not shown yet."""
    match block:
        case Words() if not block.thought:
            text = block.text
            return max(1, text.count("\n") + len(text) // max(width, 1) // 2 + 1)
        case Person():
            return min(14, max(1, block.text.count("\n") + len(block.text) // max(width, 1) + 1))
        case Work():
            return 0 if block.by_agent else 3 + min(16, 10 * len(block.diffs))
        case Request() | Agent():
            return 2
    return 1


def warm_up() -> None:
    """Import what drawing needs the first time, so that no frame has to wait for it."""
    from steersman.ports.tui.drawing import code, markdown

    markdown.chunk_lines("`warm`", 20, MONO)
    code.highlighted(["pass"], "python", MONO)
