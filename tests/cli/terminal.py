"""A person at a real terminal: sees what the program prints, types, presses Ctrl-C."""

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time
from types import TracebackType

from tests.cli.kit import assert_civil
from tests.world import STEER, Steer

_ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
ASKED = {"STEERSMAN_APPROVALS": "on-request"}  # most of what is tested here is asking
CTRL_C, CTRL_D = "\x03", "\x04"


class Terminal:
    """`steer` in a terminal of 100 columns; `seen` is everything it has printed, as it came."""

    def __init__(self, steer: Steer, *arguments: str) -> None:
        self.seen = ""
        self._read_to = 0
        self._here, there = pty.openpty()
        fcntl.ioctl(there, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
        self.process = subprocess.Popen(
            [*STEER, *arguments],
            cwd=steer.folder,
            env={**ASKED, **steer.environ, "TERM": "xterm-256color"},
            stdin=there,
            stdout=there,
            stderr=there,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(there)

    @property
    def text(self) -> str:
        """What a person reads: without colours and cursor movements."""
        return _ESCAPE.sub("", self.seen).replace("\r\n", "\n")

    def until(self, text: str, seconds: float = 60) -> None:
        """Wait until something is printed, after what was waited for before."""
        end = time.monotonic() + seconds
        while text not in self.text[self._read_to :]:
            assert time.monotonic() < end, f"no {text!r} in {self.text!r}"
            assert self._take(end), f"it ended without {text!r}: {self.text!r}"
        self._read_to = self.text.index(text, self._read_to) + len(text)

    def listen(self, seconds: float) -> None:
        """Watch for a while, whatever comes."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and self._take(end):
            pass

    def press(self, text: str) -> None:
        """Press keys."""
        os.write(self._here, text.encode())

    def end(self, seconds: float = 60) -> int:
        """Wait for the end; the answer is the exit code."""
        end = time.monotonic() + seconds
        while self._take(end):
            assert time.monotonic() < end, f"it does not end: {self.text!r}"
        code = self.process.wait(timeout=60)
        assert_civil(self.seen)
        return code

    def _take(self, end: float) -> bool:
        ready, _, _ = select.select([self._here], [], [], max(end - time.monotonic(), 0))
        if not ready:
            return True
        try:
            piece = os.read(self._here, 65536)
        except OSError:  # the other end is closed
            return False
        self.seen += piece.decode(errors="replace")
        return bool(piece)

    def close(self) -> None:
        """The window is closed."""
        if self._here >= 0:
            os.close(self._here)
            self._here = -1

    def __enter__(self) -> "Terminal":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.close()
