"""Keys that a shell's line has: they do here what they do there."""

from tests.cli.kit import DONE
from tests.tui.app.bridge import at_the_terminal, live
from tests.tui.app.test_keys import written


def test_ctrl_b_moves_in_a_draft_and_detaches_where_nothing_is_written(environ, workspace, script):
    async def scene():
        async with at_the_terminal(environ, workspace, script(DONE)) as me:
            await me.press(*"ac", "ctrl+b", "b")
            assert written(me) == "abc"
            assert me.app.is_running
            await me.press("ctrl+u", "delete", "ctrl+b")
            await me.until(lambda: not me.app.is_running)

    live(scene)
