"""A person who talks with `steer --plain`."""

import subprocess
from typing import Any

from tests.cli.terminal import Terminal
from tests.world import STEER, Steer

READY = "\n> "


class Talk(Terminal):
    """A conversation at a real terminal."""

    def __init__(self, steer: Steer, model: str, *more: str) -> None:
        chosen = ("--model", model) if model else ()
        super().__init__(steer, "--plain", *chosen, *more)

    def ready(self) -> None:
        """Wait for the prompt."""
        self.until(READY)

    def say(self, line: str) -> None:
        """Type a line."""
        self.press(f"{line}\n")

    def done(self, line: str) -> None:
        """Type a line and wait for the next prompt."""
        self.say(line)
        self.ready()


def piped(steer: Steer, model: str, **source: Any) -> "subprocess.CompletedProcess[str]":
    """A conversation from a pipe or a file."""
    return subprocess.run(
        [*STEER, "--plain", "--model", model],
        cwd=steer.folder,
        env=steer.environ,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        **source,
    )
