"""What is said of a command that ended, or that continues."""

import asyncio

from msgspec import Struct
from msgspec.structs import replace

from steersman.operations.running.command_run import CommandRun, Effects
from steersman.operations.running.processes import Running
from steersman.operations.running.symptoms import looks_confined
from steersman.operations.tool import Bench
from steersman.records.counting import counted
from steersman.records.exits import exit_words
from steersman.records.profile import Profile
from steersman.records.shell_words import leaves_behind
from steersman.records.wording import BY_NAME, BY_PROCESS, OUTSIDE

# In the sandbox nobody sees what a shell leaves behind: the kernel ends it with the shell.
ENDED_WITH_IT = (
    "what it started with & ended with it: what is to continue must be a background command itself"
)


class CommandResult(Struct, frozen=True, omit_defaults=True):
    """How a command ended, or continues; `output` is its standard output and error together.

    `success` unless it ended with an `error`. `lines` is how many lines it printed, when only a
    part of them is here. `refused` are hosts that it was not allowed to reach.
    `changes` are its effects on the workspace, which can be undone; `artifact` names the whole
    output when only a part of it is here.
    """

    success: bool
    wall_ms: int
    output: str
    exit_code: int | None = None
    error: str = ""
    truncated: bool = False
    lines: int = 0
    background_process_id: str = ""
    changes: list[str] = []
    refused: list[str] = []
    artifact: str = ""
    note: str = ""


def blame(running: Running, profile: Profile, run: CommandRun) -> str:
    """What of the sandbox a command seems to have failed at, and what can be done about it."""
    code, output = running.state.exit_code or 0, running.output.text()
    found = looks_confined(code, output, profile, run.refused, denied=run.only_denied)
    return f"it may have failed because {found}{OUTSIDE}" if found else ""


async def with_artifact(result: CommandResult, running: Running, bench: Bench) -> CommandResult:
    """The result with the name under which the whole of a long output is kept."""
    if not result.truncated:
        return result
    keep = bench.journal.objects.put_file
    digest, _ = await asyncio.to_thread(keep, str(running.output.path))
    return replace(result, artifact=digest)


def result_of(running: Running, notes: list[str], effects: Effects) -> CommandResult:
    """What there is to say now; a command that continues is not waited for."""
    output = running.output
    continues = not running.ended
    if continues:
        running.seen = output.size
        notes += [f"continues in the background as {running.id}", BY_NAME]
    elif output.truncated:
        size = counted(output.size, "byte")
        notes.append(BY_PROCESS.format(size=size, process=running.id))
    if running.left:
        notes.append(f"stopped {counted(running.left, 'process')} that it left running")
    elif not continues and leaves_behind(running.command):
        notes.append(ENDED_WITH_IT)
    code = None if continues else running.state.exit_code
    return CommandResult(
        success=not code,
        wall_ms=round(1000 * running.seconds),
        output=output.text(),
        exit_code=code,
        error=exit_words(code) if code else "",
        truncated=output.truncated,
        lines=output.lines if output.truncated else 0,
        background_process_id=running.id if continues else "",
        changes=effects.words,
        note="; ".join(filter(None, [*notes, *effects.notes])),
    )
