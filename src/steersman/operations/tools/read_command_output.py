"""`workspace_read_command_output`."""

import asyncio
import os
from typing import Annotated

from msgspec import Meta, Struct

from steersman.operations.journal.objects import Objects
from steersman.operations.running.output import whole_characters
from steersman.operations.running.processes import Processes, Running
from steersman.operations.tool import Arguments, Bench, Family, Plan, Tool
from steersman.operations.workspace import PlanningWorkspace
from steersman.records.call_ids import only_looks
from steersman.records.counting import counted
from steersman.records.errors import ToolProblem
from steersman.records.exits import exit_words
from steersman.records.patterns import pattern

ARTIFACT = pattern(r"[0-9a-f]{64}")


class OutputPart(Struct, frozen=True, omit_defaults=True):
    """Bytes `offset` to `next_offset` of the `size` bytes a command has printed so far.

    `success` unless the command ended with an `error`.
    """

    success: bool
    process_id: str
    state: str
    output: str
    offset: int
    next_offset: int
    size: int
    exit_code: int | None = None
    error: str = ""
    note: str = ""


class ReadCommandOutputArgs(Arguments, frozen=True):
    """Whose output, which part, and how long to wait for it."""

    process_id: Annotated[
        str,
        Meta(description="as workspace_run_command gave it, such as p1; or an artifact it named"),
    ]
    offset: Annotated[
        int | None,
        Meta(
            description="first byte, 0-based; negative counts from the end; "
            "without it, what follows the part shown last"
        ),
    ] = None
    limit: Annotated[int, Meta(ge=1, le=32768, description="bytes at most")] = 16384
    wait_timeout: Annotated[
        float,
        Meta(ge=0, le=600, description="seconds to wait for output past the offset, or the end"),
    ] = 10


class ReadCommandOutput(Tool[ReadCommandOutputArgs]):
    """Read any part of what a command printed, also of one that has ended.

    Waits for news, 10 seconds unless wait_timeout says otherwise, then shows what there is.
    """

    name = "workspace_read_command_output"
    family = Family.READ
    Args = ReadCommandOutputArgs

    def __init__(self, processes: Processes) -> None:
        self._processes = processes

    async def plan(
        self, args: ReadCommandOutputArgs, workspace: PlanningWorkspace
    ) -> Plan[ReadCommandOutputArgs]:
        """None: the command was judged when it was started."""
        return Plan(args)

    async def perform(self, plan: Plan[ReadCommandOutputArgs], bench: Bench) -> OutputPart:
        """Wait for it if asked to, and read."""
        args = plan.args
        if ARTIFACT.fullmatch(args.process_id):
            return await asyncio.to_thread(_read_kept, args, bench.journal.objects)
        running = self._processes.get(args.process_id)
        offset = _first(args.offset, running)
        await running.wait_for_output(offset, args.wait_timeout)
        complete = running.ended
        part = _read(running, offset, args.limit)
        text, torn = whole_characters(part)
        if torn and (torn == len(part) or (complete and offset + len(part) == running.output.size)):
            text, torn = part.decode(errors="replace"), 0
        following = offset + len(part) - torn
        if not only_looks(bench.call, bench.lane.turn):  # which leaves the model's place alone
            running.seen = following
        code = running.state.exit_code
        return OutputPart(
            success=not code,
            process_id=running.id,
            state=str(running.state),
            output=text,
            offset=offset,
            next_offset=following,
            size=running.output.size,
            exit_code=code,
            error=exit_words(code) if code else "",
            note=_note(running, offset),
        )


def _read_kept(args: ReadCommandOutputArgs, objects: Objects) -> OutputPart:
    """A part of an output that was kept; the command ended long ago."""
    with objects.open(args.process_id) as kept:
        size = kept.seek(0, os.SEEK_END)
        wanted = args.offset or 0
        offset = wanted if wanted >= 0 else max(size + wanted, 0)
        kept.seek(offset)
        part = kept.read(args.limit)
    text, torn = whole_characters(part)
    if torn and (torn == len(part) or offset + len(part) == size):
        text, torn = part.decode(errors="replace"), 0
    following = offset + len(part) - torn
    return OutputPart(True, args.process_id, "kept", text, offset, following, size)


def _first(offset: int | None, running: Running) -> int:
    if offset is None:
        return running.seen
    return offset if offset >= 0 else max(running.output.size + offset, 0)


def _read(running: Running, offset: int, limit: int) -> bytes:
    try:
        return running.output.read(offset, limit)
    except OSError as error:
        raise ToolProblem(
            f"The output of {running.id} cannot be read.", error.strerror or str(error)
        ) from error


def _note(running: Running, offset: int) -> str:
    output = running.output
    if output.problem and offset >= output.spooled:
        return f"kept are {counted(output.spooled, 'byte')}, the rest is lost: {output.problem}"
    if offset > output.size:
        return f"there are only {counted(output.size, 'byte')}"
    return ""
