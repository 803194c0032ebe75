"""The terminal application over a workspace on another machine: a diff, an answer, an undo."""

from collections.abc import Callable

from tests.cli.kit import BROKEN, FIX, FIXED, READ
from tests.remote.conftest import Box
from tests.tui.conftest import open_window as open_window
from tests.tui.test_end_to_end import ASKED, ENOUGH, READY, answer
from tests.tui.tmux import NEEDED, Window

pytestmark = NEEDED


def test_from_a_task_to_an_undo(
    box: Box, script: Callable[..., str], open_window: Callable[..., Window]
) -> None:
    model = script(
        {"text": "Looking.", "tool_calls": [READ]},
        {"text": "It subtracts.", "tool_calls": [FIX]},
        {"text": "add() now adds."},
    )
    window = open_window("--workspace", box.address, "--model", model, size=ENOUGH)
    window.until(READY)
    window.say("mend add()")
    window.until("-     return a - b", "+     return a + b", ASKED)
    assert (box.project / "calc.py").read_text() == BROKEN
    answer(window, "y")
    window.until("add() now adds.", READY)
    assert (box.project / "calc.py").read_text() == FIXED
    window.say("/undo")
    window.until("Undo 1 change?", "+    return a - b")
    window.press("y")
    window.until("1 change undone")
    assert (box.project / "calc.py").read_text() == BROKEN
    window.say("/quit")
    assert window.end() == 0
