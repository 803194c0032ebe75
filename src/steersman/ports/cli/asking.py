"""Questions of the command line: the one way in which a line from the terminal becomes an answer.

Only what is typed after a question was shown is an answer to it, and only with Enter.
"""

import asyncio
import os
import select
import sys
import termios
from contextlib import suppress

import click

MOST = 64_000_000  # bytes of one paste, or of a file
QUIET = 0.4  # seconds before a question is put: what is typed then was meant for something else


def forget_typed() -> None:
    """Drop what was typed before a question was shown: nobody meant it as an answer to that."""
    with suppress(termios.error, OSError, ValueError):  # there is no terminal
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)


def with_paste(descriptor: int, data: bytes) -> bytes:
    """A line with those that came at once with it: a paste belongs together."""
    while data.endswith(b"\n") and len(data) < MOST:
        ready, _, _ = select.select([descriptor], [], [], 0)
        more = os.read(descriptor, 65536) if ready else b""
        if not more:
            break
        data += more
    return data


async def answer(prompt: str) -> str:
    """The answer to a question, whose last line is `prompt`; `EOFError` when there is none."""
    if sys.stdin.isatty():
        await asyncio.sleep(QUIET)
    forget_typed()
    return (await read_line(prompt)).strip()


def choose(question: str, keys: str, default: str) -> str:
    """The key that a person chooses; Ctrl+D chooses nothing and aborts."""
    while True:
        try:
            said = asyncio.run(answer(f"{question}: ")).lower()
        except EOFError as error:
            raise click.Abort from error
        if not said:
            return default
        if said in keys or said in ("yes", "no"):
            return said[0]


def confirm(question: str) -> None:
    """Ask whether to do something; anything but a yes aborts."""
    if choose(f"{question} [y/N]", "yn", "n") != "y":
        raise click.Abort


async def read_line(prompt: str) -> str:
    """A line from the terminal, without keeping a cancelled turn waiting for it.

    A line is one when Enter ends it: Ctrl+D after some letters only hands them over.
    """
    click.echo(prompt, nl=False)
    sys.stdout.flush()
    loop = asyncio.get_running_loop()
    ready: asyncio.Future[str] = loop.create_future()
    descriptor = sys.stdin.fileno()
    line = b""

    def take() -> None:
        nonlocal line
        data = with_paste(descriptor, os.read(descriptor, 65536))
        line += data
        if ready.done():
            return
        if not data and (not line or os.isatty(descriptor)):
            ready.set_exception(EOFError("the terminal was closed"))
        elif not data or line.endswith(b"\n"):
            ready.set_result(line.decode(errors="replace"))

    loop.add_reader(descriptor, take)
    try:
        return await ready
    finally:
        loop.remove_reader(descriptor)
