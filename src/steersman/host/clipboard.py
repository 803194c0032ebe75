"""The image in the system's clipboard, by the small program that each system has for it."""

import asyncio
import shutil
import subprocess
from collections.abc import Mapping

from msgspec import Struct

from steersman.children import run

SECONDS = 3.0
PNG = b"\x89PNG\r\n\x1a\n"


class Source(Struct, frozen=True):
    """A program that prints the image as PNG; it is of use where a variable is set."""

    argv: tuple[str, ...]
    variable: str = ""


SOURCES = (
    Source(("wl-paste", "--no-newline", "--type", "image/png"), "WAYLAND_DISPLAY"),
    Source(("xclip", "-selection", "clipboard", "-t", "image/png", "-o"), "DISPLAY"),
    Source(("pngpaste", "-")),
)


def sources(environ: Mapping[str, str]) -> list[Source]:
    """The programs that can be asked here."""
    return [
        one
        for one in SOURCES
        if (not one.variable or environ.get(one.variable))
        and shutil.which(one.argv[0], path=environ.get("PATH"))
    ]


async def picture(environ: Mapping[str, str]) -> bytes:
    """The image in the clipboard as PNG; empty when there is none."""
    return await asyncio.to_thread(_picture, environ)


def _picture(environ: Mapping[str, str]) -> bytes:
    for one in sources(environ):
        program = shutil.which(one.argv[0], path=environ.get("PATH"))
        try:
            done = run([program or one.argv[0], *one.argv[1:]], seconds=SECONDS, environ=environ)
        except (OSError, subprocess.TimeoutExpired):
            continue
        if done.returncode == 0 and done.stdout.startswith(PNG):
            return done.stdout
    return b""
