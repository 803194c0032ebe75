"""The world of a test: the `steer` command in processes of its own."""

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

STEER = [sys.executable, "-m", "steersman"]


def call(name: str, **arguments: Any) -> dict[str, Any]:
    """A tool call in a script."""
    return {"name": name, "arguments": arguments}


class Steer:
    """The command line in its own process."""

    def __init__(self, environ: dict[str, str], folder: Path) -> None:
        self.environ = environ
        self.folder = folder

    def __call__(self, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        """Run to the end."""
        return subprocess.run(
            [*STEER, *arguments],
            cwd=self.folder,
            env=self.environ,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

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
