"""Hunks to choose from: keys go from one to the next, and the current one is on the screen."""

import asyncio
import re

import pytest

from steersman.operations.matching import unified_diff
from steersman.ports.tui.diff_pane import REVIEWING, DiffScreen
from steersman.ports.tui.diff_view import DiffView
from steersman.views.hunks import FileDiff, read_diff
from tests.tui.approvals.kit import Stand
from tests.tui.snapshots import screen_text

BOX = re.compile(r"\[(.)\] (@@ .* @@)")
OLD = [f"line {n}\n" for n in range(90)]


def two_files() -> list[FileDiff]:
    """Three hunks of some lines each, then one that is longer than a screen, and another."""
    short = [f"new {n}\n" if n % 30 in (5, 6, 7) else line for n, line in enumerate(OLD)]
    long = [f"new {n}\n" if n < 40 else line for n, line in enumerate(OLD[:80])]
    texts = [("cart.py", OLD, short), ("long.py", OLD, long)]
    return [read_diff(unified_diff(name, "".join(old).encode(), "".join(new).encode()), name)
            for name, old, new in texts]  # fmt: skip


@pytest.mark.parametrize(("down", "up"), [("j", "k"), ("down", "up")])
def test_the_hunk_that_space_marks_is_on_the_screen(down: str, up: str) -> None:
    async def story() -> None:
        files, app = two_files(), Stand()
        async with app.run_test(size=(80, 24)) as pilot:
            await app.push_screen(DiffScreen(files, choosing=True, choice=REVIEWING))
            view = app.screen.query_one(DiffView)
            parts = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1)]

            def boxes() -> dict[str, str]:
                return {found[2]: found[1] for found in BOX.finditer(screen_text(app))}

            async def marks(part: tuple[int, int]) -> None:
                """Space changes the box of this hunk, which is seen, and no other."""
                assert view.cursor == part
                head = files[part[0]].hunks[part[1]].text().splitlines()[0]
                for sign in " x":
                    before = boxes()
                    assert head in before
                    await pilot.press("space")
                    assert boxes() == {**before, head: sign}

            for part in parts:
                await marks(part)
                await pilot.press(down)
            await pilot.press("end", down)
            for part in reversed(parts):
                await pilot.press(up) if view.cursor != part else None
                await marks(part)
            await pilot.press("pagedown")
            await marks((0, 2))
            await pilot.press("tab")
            await pilot.resize_terminal(70, 12)
            await pilot.pause()
            await marks((1, 0))

    asyncio.run(story())
