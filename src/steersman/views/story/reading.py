"""What a story is read for: what to try again, what the last turn changed. Pure."""

from collections.abc import Sequence

from steersman.records.message import DiffReady, TurnEnd
from steersman.views.blocks import Block, Person, Remark, Work
from steersman.views.story import Story

GO_ON = "Continue where you stopped."


def again(story: Story) -> str:
    """What to say so that the last step is tried again; empty when there is nothing to try.

    A turn that broke off before the model answered gets its own words again.
    """
    ending = next(
        (one.body for one in reversed(story.blocks)
         if isinstance(one, Remark) and isinstance(one.body, TurnEnd)), None,
    )  # fmt: skip
    said = next((one.text for one in reversed(story.blocks) if isinstance(one, Person)), "")
    if not said or story.working:
        return ""
    if isinstance(ending, TurnEnd) and ending.ending != "done":
        return GO_ON if story.steps or ending.steps else said
    return said


def changes(blocks: Sequence[Block]) -> tuple[str, list[DiffReady]]:
    """The changes of the last turn that made any, and whose they are."""
    turn: int | None = None
    found: list[list[DiffReady]] = []
    for block in reversed(blocks):
        diffs = block.diffs if isinstance(block, Work) else ()
        if diffs and turn is None:
            turn = block.turn
        if turn is not None and block.turn < turn:
            break
        if diffs:
            found.append(list(diffs))
    told = f"changes of turn {turn}" if turn else "changes"
    return told, [diff for diffs in reversed(found) for diff in diffs]
