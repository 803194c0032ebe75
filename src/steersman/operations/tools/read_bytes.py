"""`read_bytes`."""

import asyncio
from base64 import b64encode
from typing import Annotated, Literal

from msgspec import Meta, Struct

from steersman.operations.running.output import Cleaner
from steersman.operations.tool import Arguments, Bench, Family, Plan, Tool
from steersman.operations.workspace import PlanningWorkspace
from steersman.records.action import Read
from steersman.records.errors import ToolProblem
from steersman.store.redactor import Redactor

LARGEST = 8 << 20  # bytes of a file
MOST = 64 * 1024


class FileBytes(Struct, frozen=True):
    """Bytes `offset` to `next_offset` of the `size` that a file has; secrets in it are masked.

    What is not text is `content` in base64.
    """

    size: int
    offset: int
    next_offset: int
    content: str
    encoding: Literal["utf-8", "base64"]


class ReadBytesArgs(Arguments, frozen=True):
    """Which bytes of which file."""

    path: Annotated[str, Meta(description="file, relative to the workspace")]
    offset: Annotated[int, Meta(ge=0, description="first byte, 0-based")] = 0
    limit: Annotated[int, Meta(ge=1, le=MOST, description="bytes at most")] = MOST


class ReadBytes(Tool[ReadBytesArgs]):
    """Read bytes of a file in the workspace, as text or, where they are none, in base64."""

    name = "read_bytes"
    family = Family.READ
    Args = ReadBytesArgs
    offered = False

    async def plan(self, args: ReadBytesArgs, workspace: PlanningWorkspace) -> Plan[ReadBytesArgs]:
        """Read that file."""
        return Plan(args, [Read(workspace.locate(args.path))])

    async def perform(self, plan: Plan[ReadBytesArgs], bench: Bench) -> FileBytes:
        """The part, of what is left when secrets are masked: half of one would not be known."""
        args, (judged,) = plan.args, plan.actions
        assert isinstance(judged, Read)
        with bench.workspace.open_file(judged.path) as file:
            data = await asyncio.to_thread(file.read, LARGEST + 1)
        if len(data) > LARGEST:
            raise ToolProblem(
                f"{args.path} is larger than {LARGEST >> 20} MB.",
                try_this="Read lines of it with workspace_read_file.",
            )
        clean = await asyncio.to_thread(_clean, data, bench.lane.log.redactor)
        return _part(clean, args.offset, args.limit)


def _clean(data: bytes, redactor: Redactor) -> bytes:
    cleaner = Cleaner(redactor)
    return cleaner.feed(data) + cleaner.flush()


def _part(data: bytes, offset: int, limit: int) -> FileBytes:
    part = data[offset : offset + limit]
    for torn in range(min(4, len(part) or 1)):  # a character may go on in the next part
        whole = part[: len(part) - torn]
        try:
            return FileBytes(len(data), offset, offset + len(whole), whole.decode(), "utf-8")
        except UnicodeDecodeError:
            continue
    after = offset + len(part)
    return FileBytes(len(data), offset, after, b64encode(part).decode(), "base64")
