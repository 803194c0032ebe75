"""The command you set for the status line: what it gets, and the first line it prints.

It is run as the user, with their rights and outside the gate, so it is taken from their own
`config.toml` alone.
"""

import asyncio
import os
import subprocess
from collections.abc import Mapping
from typing import Any

import msgspec

from steersman.children import run_whole

SECONDS = 2.0
LONGEST = 4_000  # bytes of the line


async def first_line(
    command: str, told: Mapping[str, Any], folder: str, environ: Mapping[str, str]
) -> str:
    """What the command prints first; empty when it fails, is slow, or prints nothing."""
    data = msgspec.json.encode(told)
    return await asyncio.to_thread(_run, command, data, folder, environ)


def _run(command: str, data: bytes, folder: str, environ: Mapping[str, str]) -> str:
    try:
        done = run_whole(
            ["/bin/sh", "-c", command],
            seconds=SECONDS,
            cwd=folder if os.path.isdir(folder) else None,
            environ=environ,
            said=data,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    lines = done.stdout[:LONGEST].decode("utf-8", "replace").splitlines()
    return lines[0] if lines and done.returncode == 0 else ""
