"""What the tests in a real terminal share: a window that is always closed."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from tests.tui.settling import at_once
from tests.tui.tmux import Window
from tests.world import Steer

at_once()


@pytest.fixture
def open_window(steer: Steer) -> Iterator[Callable[..., Window]]:
    """Open `steer` in a window; all of them are closed at the end."""
    with ExitStack() as windows:

        def opened(*arguments: str, **how: Any) -> Window:
            return windows.enter_context(Window(steer, *arguments, **how))

        yield opened
