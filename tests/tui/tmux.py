"""A person at a real terminal of a real size: `steer` in tmux, with a server of its own.

What is seen is what a terminal made of everything the program printed. `raw` is what it printed,
byte for byte. Waiting is always for something on the screen, never for time to pass.
"""

import itertools
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import pytest

from tests.cli.terminal import ASKED
from tests.world import STEER, Steer

PATIENCE = 60.0  # seconds; a test waits as long as it must, and fails only when nothing comes
LOOK = 0.05
SETTINGS = """
set -g default-terminal tmux-256color
set -g remain-on-exit on
set -g remain-on-exit-format ""
set -g status off
set -g set-clipboard on
set -g allow-rename off
set -s escape-time 0
set -g focus-events off
set -g history-limit 20000
"""
NEEDED = pytest.mark.skipif(
    shutil.which("tmux") is None,
    reason="These tests type into a real terminal and need tmux (`apt-get install tmux`).",
)
_numbers = itertools.count(1)


class Window:
    """`steer` in a terminal of `width` by `height`, until it is closed."""

    def __init__(
        self,
        steer: Steer,
        *arguments: str,
        size: tuple[int, int] = (100, 30),
        environ: dict[str, str] | None = None,
        program: Sequence[str] = STEER,
    ) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="steersman-tmux-"))
        self._socket = f"steersman-{os.getpid()}-{next(_numbers)}"
        settings = self._folder / "tmux.conf"
        settings.write_text(SETTINGS)
        self._raw = self._folder / "raw"
        self._raw.touch()
        self._environ = {**ASKED, **steer.environ, **(environ or {})}
        wide, high = map(str, size)
        # One line for tmux: what is printed is kept from the first byte on.
        self._tmux(
            "-f", str(settings), "new-session", "-d", "-x", wide, "-y", high,
            "-c", str(steer.folder), *program, *arguments,
            ";", "pipe-pane", f"cat > {self._raw}",
        )  # fmt: skip
        self.pid = int(self._told("#{pane_pid}"))

    # What is seen.

    @property
    def screen(self) -> str:
        """The lines of the screen."""
        return self._tmux("capture-pane", "-p", "-t", ":")

    @property
    def coloured(self) -> str:
        """The lines of the screen with their colours."""
        return self._tmux("capture-pane", "-p", "-e", "-t", ":")

    @property
    def raw(self) -> bytes:
        """Everything the program has printed."""
        return self._raw.read_bytes()

    @property
    def title(self) -> str:
        """The terminal's title."""
        return self._told("#{pane_title}")

    @property
    def clipboard(self) -> str:
        """What the program has put into the clipboard, by the terminal."""
        return self._tmux("list-buffers")

    def until(self, *texts: str, gone: str = "", seconds: float = PATIENCE) -> str:
        """The screen, as soon as all of this is on it, and `gone` is not."""
        end = time.monotonic() + seconds
        while True:
            screen, ended = self._look()
            if all(text in screen for text in texts) and not (gone and gone in screen):
                return screen
            told = " and ".join(map(repr, texts)) + (f" without {gone!r}" if gone else "")
            assert time.monotonic() < end, f"no {told} on the screen:\n{screen}"
            assert not ended, f"it ended before {told} was seen:\n{screen}"
            time.sleep(LOOK)

    # What is done.

    def write(self, text: str) -> None:
        """Type a line of text as it is, and wait until it stands on the screen."""
        self._tmux("send-keys", "-t", ":", "-l", text)
        self.until(text[-20:])

    def press(self, *keys: str) -> None:
        """Press keys, by the names tmux has for them: `Enter`, `Escape`, `C-p`, `y`."""
        self._tmux("send-keys", "-t", ":", *keys)

    def say(self, text: str) -> None:
        """Type a line and press Enter."""
        self.write(text)
        self.press("Enter")

    def paste(self, path: Path) -> None:
        """Paste what is in a file, as a terminal pastes: in brackets."""
        self._tmux("load-buffer", "-b", "pasted", str(path))
        self._tmux("paste-buffer", "-p", "-d", "-b", "pasted", "-t", ":")

    def resize(self, width: int, height: int) -> None:
        """Make the window another size."""
        self._tmux("resize-window", "-t", ":", "-x", str(width), "-y", str(height))

    def kill(self) -> None:
        """End the program as a power cut would."""
        os.kill(self.pid, signal.SIGKILL)
        self.end()

    def hang_up(self) -> None:
        """Close the window: the program loses its terminal."""
        self._tmux("kill-pane", "-t", ":")

    # How it ends.

    @property
    def ended(self) -> bool:
        """Whether the program is gone."""
        return self._told("#{pane_dead}") == "1"

    def end(self, seconds: float = PATIENCE) -> int:
        """Wait for the end; the answer is the exit code, or 128 and the signal's number."""
        end = time.monotonic() + seconds
        while not (told := self._told("#{pane_dead_status} #{pane_dead_signal}").strip()):
            assert time.monotonic() < end, f"it does not end:\n{self.screen}"
            if self.ended:  # tmux sometimes misses the signal that its child has ended
                os.kill(int(self._told("#{pid}")), signal.SIGCHLD)
            time.sleep(LOOK)
        return int(told) if self._told("#{pane_dead_status}") else 128 + int(told)

    def close(self) -> None:
        """Leave nothing behind: neither the program nor this tmux."""
        subprocess.run(
            ["tmux", "-L", self._socket, "kill-server"], capture_output=True, check=False
        )
        shutil.rmtree(self._folder, ignore_errors=True)

    def __enter__(self) -> "Window":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        self.close()

    def _look(self) -> tuple[str, bool]:
        """The lines of the screen, and whether the program is gone."""
        looked = ("capture-pane", "-p", "-t", ":", ";", "display-message", "-p", "-t", ":")
        screen, _, dead = self._tmux(*looked, "#{pane_dead}").rstrip("\n").rpartition("\n")
        return f"{screen}\n", dead == "1"

    def _told(self, format: str) -> str:
        return self._tmux("display-message", "-p", "-t", ":", format).rstrip("\n")

    def _tmux(self, *words: str) -> str:
        done = subprocess.run(
            ["tmux", "-u", "-L", self._socket, *words],
            env=self._environ,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=PATIENCE,
            check=False,
        )
        assert done.returncode == 0, f"tmux {words[0]}: {done.stderr}"
        return done.stdout


def gone(pid: int, seconds: float = PATIENCE) -> None:
    """Wait until a process has ended, whether tmux has taken notice of it or not."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        assert select.select([handle], [], [], seconds)[0], f"process {pid} does not end"
    finally:
        os.close(handle)


# What is in the log.


def threads(steer: Steer) -> list[str]:
    """The ids of all threads, the one last worked on first."""
    lines = steer("threads", "list", "--json").stdout.splitlines()
    return [json.loads(line)["id"] for line in lines]


def bodies(steer: Steer, thread: str, kind: str) -> list[dict[str, Any]]:
    """The bodies of one kind in a thread's log."""
    found = [json.loads(line) for line in steer("replay", thread).stdout.split("\n") if line]
    return [message["body"] for message in found if message["kind"] == kind]


def said(steer: Steer, thread: str) -> list[str]:
    """What the user said in a thread."""
    return [body["text"] for body in bodies(steer, thread, "user")]


def check_whole(steer: Steer, thread: str) -> None:
    """The log proves itself whole and unaltered."""
    verified = steer("ledger", "verify", thread)
    assert verified.returncode == 0, verified.stdout + verified.stderr
