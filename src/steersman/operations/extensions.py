"""What a tool file is, learned by running it in a sandbox, and kept by the digest of its text.

How it is called is in `tools/run_extension.py`.
"""

import asyncio
import sys
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import msgspec

from steersman import __version__
from steersman.operations.mcp.plain_schema import plain
from steersman.operations.running.command_run import CommandRun
from steersman.operations.running.guardian import Handed, Limits
from steersman.operations.running.processes import Processes
from steersman.records.extensions import Extension, Learned, ToolFile
from steersman.records.private_files import replace_file

LINE = (sys.executable, "-I", "-c", "from steersman.extension import main; main()")
LIMITS = Limits(256, 64 << 20)  # processes of a tool, and bytes of a file that it writes
ERRORS = 1 << 20  # bytes of what it prints that are kept on disk
ANSWER = 1 << 20  # bytes of an answer; a longer one is not read
PATIENCE = 20.0  # seconds for a file to say what it is
MOST_TEXT = 1_000  # of a description: some providers take no more than 1,024 characters
TOLD = 2_000  # characters of what a tool printed, where it gave no answer

Beside = Callable[[Mapping[str, str]], Awaitable[CommandRun]]


class Kept:
    """What tool files said of themselves, in the data folder."""

    def __init__(self, state: str) -> None:
        self._folder = Path(state, "extensions")

    def of(self, file: ToolFile) -> Learned | None:
        """What is known of a file with this text."""
        try:
            return msgspec.json.decode(self._path(file).read_bytes(), type=Learned)
        except (OSError, msgspec.MsgspecError, RecursionError):
            return None

    def keep(self, file: ToolFile, learned: Learned) -> None:
        """Remember it, as far as that can be."""
        with suppress(OSError):
            replace_file(self._path(file), msgspec.json.encode(learned).decode())

    def _path(self, file: ToolFile) -> Path:
        return self._folder / f"{__version__}-{file.digest}.json"


async def learn(
    file: ToolFile, root: str, environ: Mapping[str, str], processes: Processes, beside: Beside
) -> Learned:
    """Run a file in a sandbox that only reads and reaches nobody, and hear what it is."""
    run = await beside(environ)
    try:
        with TemporaryFile() as asked, TemporaryFile() as said:
            await asyncio.to_thread(asked.write, request(file))
            asked.flush()
            asked.seek(0)
            argv = await asyncio.to_thread(run.argv, list(LINE), root)
            talk = asked.fileno(), said.fileno()
            handed = Handed(run.inherit, run.spaces, run.view, talk)
            running = await processes.start(argv, root, run.environ, call="learn", handed=handed)
            try:
                late = not await running.wait(PATIENCE)
            finally:
                await running.end()
            said.seek(0)
            printed = await asyncio.to_thread(said.read, ANSWER + 1)
    finally:
        await run.discard()
    reply = answer(printed)
    if reply is None:
        code = running.state.exit_code
        why = silence(code, PATIENCE if late else 0, running.output.text())
        return Learned(problems=(f"It gave no answer: {why}",))
    return _learned(reply)


def request(file: ToolFile, **more: Any) -> bytes:
    """What a tool's process reads."""
    return msgspec.json.encode({"code": file.code, "path": Path(file.path).name, **more})


def answer(printed: bytes) -> Mapping[str, Any] | None:
    """What a tool's process printed, if that is an answer."""
    if len(printed) > ANSWER:
        return None
    try:
        return msgspec.json.decode(printed, type=dict[str, Any]) or None
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None


def silence(code: int | None, seconds: float, printed: str) -> str:
    """Why there is no answer, with the end of what was printed."""
    why = f"it took longer than {seconds:g} s." if seconds else f"it ended with exit code {code}."
    told = printed.strip()[-TOLD:]
    return f"{why}\nIt printed: {told}" if told else why


def problems(reply: Mapping[str, Any]) -> tuple[str, ...]:
    """What an answer says is wrong; empty when nothing is."""
    said = reply.get("problems")
    if said is None:
        return ()
    listed = said if isinstance(said, list) and said else ["It failed."]
    return tuple(str(one)[:TOLD] for one in listed[:20])


def _learned(reply: Mapping[str, Any]) -> Learned:
    if wrong := problems(reply):
        return Learned(problems=wrong)
    try:
        tool = msgspec.convert(reply, Extension)
    except msgspec.ValidationError:
        return Learned(problems=("It gave no answer that describes a tool.",))
    text = tool.description if len(tool.description) <= MOST_TEXT else tool.description[:MOST_TEXT]
    return Learned(
        msgspec.structs.replace(tool, description=text, parameters=plain(tool.parameters))
    )
