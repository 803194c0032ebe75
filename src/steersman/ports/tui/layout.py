"""What fits on a screen of a size: pure, so that every size can be tried."""

from collections.abc import Collection

from msgspec import Struct

from steersman.ports.tui.memory import ROOMY

WIDE = 100  # columns from which panes are beside the conversation
LITTLE = 32  # lines below which what a turn changed is one line: the answer comes first
SIDE = ("status", "log", "diff")


class Layout(Struct, frozen=True):
    """What is shown; numbers are lines, at most.

    `side` are the panes beside the conversation, `over` the one instead of it. With `left`, the
    task log has a column of its own at the left.
    """

    wide: bool
    left: bool
    side: tuple[str, ...]
    side_width: int
    over: str
    title: bool
    status: bool
    footer: bool
    mentioned: bool
    todo: int
    queued: int
    review: int
    composer: int
    asking: int
    passing: int


def lay_out(
    width: int,
    height: int,
    panes: Collection[str],
    over: str = "",
    *,
    asking: bool = False,
    listing: bool = True,
) -> Layout:
    """The layout for a size, with the panes a person wants.

    What is asked, the composer and the status always fit: while something is asked (`asking`), the
    todo list is one line, and so is what is queued. Without `listing` that list is always
    one line: it is not of the turn that runs. `over` is the pane that a person opened on a narrow
    screen, where it takes the place of the conversation until it is closed.
    """
    wide = width >= WIDE
    left = width >= ROOMY and "log" in panes
    side = tuple(name for name in SIDE if name in panes) if wide else ()
    side = tuple(name for name in side if name != "log" or not left)
    room = height
    footer = room >= 8
    status = room >= 10
    title = room >= 16
    todo = 0 if room < 14 or "todo" not in panes else min(6, room // 5)
    todo = todo if listing and not asking else min(todo, 1)
    queued = 0 if room < 9 else 1 if asking else min(5, room // 6)
    composer = max(1, min(3, room // 4)) if asking else max(2, min(11, room // 4 + 1))
    around = footer + status + title + queued + composer + (todo + 1 if todo else 0)
    return Layout(
        wide=wide,
        left=left,
        side=side,
        side_width=min(64, max(36, width * (2 if left else 3) // 10)) if side or left else 0,
        over=over if not wide and over in SIDE else "",
        title=title,
        status=status,
        footer=footer,
        mentioned=room >= 12 and not asking,
        todo=todo,
        queued=queued,
        review=0 if room < 9 else 1 if room < LITTLE else min(8, room // 5),
        composer=composer,
        asking=max(2, room - around - 1),  # a line is left of the conversation
        passing=max(1, min(6, room // 4)),
    )
