"""The world of a test: the `steer` command in processes of its own."""

import json
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tests import nursery

PATIENCE = 120
STEER = [sys.executable, "-m", "steersman"]


def call(name: str, **arguments: Any) -> dict[str, Any]:
    """A tool call in a script."""
    return {"name": name, "arguments": arguments}


def run_steer(
    words: Sequence[str],
    folder: Path,
    environ: dict[str, str],
    stdin: str = "",
    before: Callable[[], None] | None = None,
) -> "subprocess.CompletedProcess[str]":
    """Run `steer` to the end; `before` runs in the new process before the command does."""
    if before is None and nursery.fits(environ, stdin):
        return nursery.run(words, str(folder), environ, stdin, PATIENCE)
    return subprocess.run(
        [*STEER, *words],
        cwd=folder,
        env=environ,
        input=stdin,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        timeout=PATIENCE,
        check=False,
        preexec_fn=before,
    )


class Steer:
    """The command line in its own process."""

    def __init__(self, environ: dict[str, str], folder: Path) -> None:
        self.environ = environ
        self.folder = folder

    def __call__(self, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        """Run to the end."""
        return run_steer(arguments, self.folder, self.environ, stdin)

    def start(self, *arguments: str) -> "subprocess.Popen[str]":
        """Run and go on."""
        return subprocess.Popen(
            [*STEER, *arguments],
            cwd=self.folder,
            env=self.environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def messages(self, *arguments: str) -> list[dict[str, Any]]:
        """Run with --json and read the messages."""
        done = self(*arguments, "--json")
        return [json.loads(line) for line in done.stdout.split("\n") if line]


def kill(process: "subprocess.Popen[str]") -> None:
    """End a process as a power cut would."""
    process.send_signal(signal.SIGKILL)
    process.communicate()
