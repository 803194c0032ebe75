"""Child processes of commands: started in a session of their own, ended with all they started."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path

MARK = "STEERSMAN_CALL"
_QUIET = {
    "GIT_EDITOR": "true",
    "EDITOR": "true",
    "GIT_TERMINAL_PROMPT": "0",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "TERM": "dumb",
    "NO_COLOR": "1",
    "DEBIAN_FRONTEND": "noninteractive",
}


def quiet_environment(environ: Mapping[str, str], call: str) -> dict[str, str]:
    """The environment of a command nobody watches; the mark tells whose it is."""
    return {**environ, **_QUIET, MARK: call}


@asynccontextmanager
async def running(
    command: str, cwd: str, environ: Mapping[str, str], call: str
) -> AsyncIterator[asyncio.subprocess.Process]:
    """A command with its output as one stream; leaving the block ends everything it started."""
    process = await asyncio.create_subprocess_exec(
        "bash", "--norc", "--noprofile", "-c", command,
        cwd=cwd,
        env=quiet_environment(environ, call),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        start_new_session=True,
    )  # fmt: skip
    try:
        yield process
    finally:
        end_tree(process.pid, call)
        await process.wait()


def end_tree(root: int, call: str) -> None:
    """Kill a process, its session, its descendants and whatever carries its mark."""
    for _ in range(20):
        found = _members(root, call)
        if not found:
            return
        for pid in found:
            try:
                os.kill(pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                continue


def _members(root: int, call: str) -> set[int]:
    """Living processes of a tree; falls back to the group where there is no /proc."""
    table = _processes()
    if table is None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(root, signal.SIGKILL)
        return set()
    mark = f"{MARK}={call}".encode()
    members = {pid for pid, (_, session) in table.items() if root in (session, pid)}
    members |= {pid for pid in table if mark in _environ_of(pid)}
    grew = True
    while grew:
        below = {pid for pid, (parent, _) in table.items() if parent in members} - members
        members |= below
        grew = bool(below)
    return members


def _processes() -> dict[int, tuple[int, int]] | None:
    """Parent and session of every living process."""
    if not Path("/proc/self/stat").exists():
        return None
    table = {}
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            try:
                fields = Path(entry.path, "stat").read_text().rsplit(")", 1)[1].split()
            except (OSError, IndexError):
                continue
            if fields[0] not in "ZX":
                table[int(entry.name)] = (int(fields[1]), int(fields[3]))
    return table


def _environ_of(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return b""
