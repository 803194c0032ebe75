"""What fits on a screen of a size: pure, so that every size can be tried."""

from collections.abc import Collection

from msgspec import Struct

WIDE = 100  # columns from which panes stand beside the conversation
SIDE = ("status", "log", "diff")


class Layout(Struct, frozen=True):
    """What is shown. `side` are the panes beside the conversation, `over` the one instead of it."""

    wide: bool
    side: tuple[str, ...]
    side_width: int
    over: str
    title: bool
    status: bool
    footer: bool
    todo: int
    queued: int
    composer: int
    asking: int


def lay_out(width: int, height: int, panes: Collection[str], over: str = "") -> Layout:
    """The layout for a size, with the panes a person wants.

    `over` is the pane that a person opened on a narrow screen, where it takes the place of the
    conversation until it is closed.
    """
    wide = width >= WIDE
    side = tuple(name for name in SIDE if name in panes) if wide else ()
    room = height
    footer = room >= 8
    status = room >= 10
    title = room >= 16
    return Layout(
        wide=wide,
        side=side,
        side_width=min(64, max(36, width * 3 // 10)) if side else 0,
        over=over if not wide and over in SIDE else "",
        title=title,
        status=status,
        footer=footer,
        todo=(0 if room < 14 or "todo" not in panes else min(6, room // 5)),
        queued=0 if room < 9 else min(5, room // 6),
        composer=max(1, min(10, room // 4)),
        asking=max(2, room * 2 // 3),
    )
