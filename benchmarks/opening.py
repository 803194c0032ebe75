"""How long a person waits for a prompt: `steer` against a bare Textual application, in one run.

Both are started in a terminal of their own, in turns. The prompt is there when its words are on the
screen; how usable it is shows a key that is pressed then and comes back as a letter.
"""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time
from pathlib import Path
from shutil import rmtree

from benchmarks.measure import PYTHON, STEER, Figure, script, world

RUNS = 7
BARE = """
from textual.app import App
from textual.widgets import TextArea

class Bare(App):
    def compose(self):
        yield TextArea(placeholder="Say what to do")

Bare().run()
"""
_ESCAPES = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|[@-Z\\-_])")


def figures() -> list[Figure]:
    """The least time of several runs, taken in turns so that both meet the same machine."""
    with world() as (folder, environ):
        model = script(folder, [{"text": "Done."}])
        environ = {**environ, "TERM": "xterm-256color", "LANG": "C.UTF-8"}
        ours = [STEER, "--model", model]
        bare = [PYTHON, "-c", BARE]
        times: dict[str, list[float]] = {"ours": [], "bare": []}
        for _ in range(RUNS):
            times["bare"].append(waited(bare, environ, folder / "work"))
            times["ours"].append(waited(ours, environ, folder / "work"))
            rmtree(folder / "data" / "terminal", ignore_errors=True)  # what was left unsent
    best, least = min(times["ours"]), min(times["bare"])
    note = f"{best * 1000:.0f} ms, bare {least * 1000:.0f} ms"
    what = "a usable prompt, against a bare Textual application"
    return [Figure(what, best / least, 1.8, "×", note)]


def waited(command: list[str], environ: dict[str, str], cwd: Path) -> float:
    """Seconds from the start of a command until a key that is pressed at its prompt comes back."""
    began = time.perf_counter()
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(cwd)
        os.execvpe(command[0], command, environ)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    try:
        _until(terminal, b"what to do")
        os.write(terminal, b"\xc2\xb6")  # a letter that is nowhere else on the screen
        _until(terminal, b"\xc2\xb6")
        return time.perf_counter() - began
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(terminal)


def _until(terminal: int, wanted: bytes, seconds: float = 30) -> None:
    seen, end = b"", time.monotonic() + seconds
    while wanted not in _ESCAPES.sub(b"", seen):
        ready, _, _ = select.select([terminal], [], [], max(0, end - time.monotonic()))
        if not ready:
            raise SystemExit(f"{wanted!r} did not come: {_ESCAPES.sub(b'', seen)[-400:]!r}")
        seen += os.read(terminal, 65536)
