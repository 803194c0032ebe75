"""What a story is read for: what to try again. Pure."""

from steersman.records.message import TurnEnd
from steersman.views.blocks import Person, Remark
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
    said = next((one.sent for one in reversed(story.blocks) if isinstance(one, Person)), "")
    if not said or story.working:
        return ""
    if isinstance(ending, TurnEnd) and ending.ending != "done":
        return GO_ON if story.steps or ending.steps else said
    return said
