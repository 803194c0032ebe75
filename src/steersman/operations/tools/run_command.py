"""`workspace_run_command`, in the foreground or in the background."""

import asyncio
import os
from collections.abc import Awaitable, Mapping
from enum import Enum, auto
from functools import partial
from typing import Annotated, TypeVar

from msgspec import Meta, Struct
from msgspec.structs import replace

from steersman.operations.running.command_line import looking, started
from steersman.operations.running.command_result import (
    CommandResult,
    blame,
    result_of,
    with_artifact,
)
from steersman.operations.running.command_run import SERVED, CommandRun, Effects
from steersman.operations.running.command_runs import CommandRuns
from steersman.operations.running.copied import NoCopy
from steersman.operations.running.failing import fails_by_assertion, failure
from steersman.operations.running.guardian import Handed
from steersman.operations.running.processes import Processes, Running
from steersman.operations.running.quieting import note_for
from steersman.operations.running.refusals import put_in_place, take_away
from steersman.operations.running.repeating import Repeats
from steersman.operations.running.second_chance import (
    LATER,
    ROUNDS,
    Ended,
    More,
    Refused,
    SecondChances,
    either,
    too_late,
)
from steersman.operations.running.terminal import Size
from steersman.operations.tool import Arguments, Bench, Family, Plan, Tool
from steersman.operations.workspace import PlanningWorkspace, Workspace
from steersman.records.action import Execute
from steersman.records.call_ids import only_looks
from steersman.records.errors import ToolProblem
from steersman.records.wording import OUTSIDE
from steersman.store.log import unbroken

T = TypeVar("T")
BACKGROUND = 1.0  # how long one in the background is waited for when nobody says
GRACE = 2.0
TWICE = "so what it did there would be done twice"
UNREACHED = "other commands cannot reach its ports: start servers with background"


class Again(Enum):
    """Why a command has no result yet: the view did not serve it, or an answer came too late."""

    COPIED = auto()
    LATER = auto()


class RunCommandArgs(Arguments, frozen=True):
    """What to run, where, and how long to wait for it."""

    command: Annotated[str, Meta(description="a bash command", min_length=1)]
    cwd: Annotated[str, Meta(description="folder, relative to the workspace")] = "."
    background: Annotated[bool, Meta(description="for servers and watchers")] = False
    wait_timeout: (
        Annotated[
            float,
            Meta(
                gt=0,
                le=3600,
                description="seconds to wait for its end (default 10, in background 1)",
            ),
        ]
        | None
    ) = None
    kill_on_timeout: Annotated[bool, Meta(description="end it when that time is up")] = False
    outside_sandbox: Annotated[
        bool,
        Meta(
            description="ask the user for what the sandbox refused, or to run it outside; "
            "only after it failed inside because of it"
        ),
    ] = False


class Given(Struct, frozen=True):
    """What a command was given because it had failed without; the `last` time asks for no more."""

    what: Refused | None = None
    last: bool = False


NOT_GIVEN = Given()


class Attempt(Struct, frozen=True):
    """A command to be run, for whom, and what there is to say of it so far.

    One that is to `talk` reads from a file and prints to another; one with a `size` has a terminal.
    """

    args: RunCommandArgs
    bench: Bench
    given: Given
    line: list[str]
    notes: list[str]
    talk: tuple[int, ...] = ()
    size: Size | None = None


class RunCommand(Tool[RunCommandArgs]):
    """Run a bash command in the workspace. Standard input is closed.

    Waits 10 seconds for its end unless wait_timeout says otherwise: give builds and tests more. One
    that takes longer continues in the background, and the answer has what it printed so far; read
    the rest with workspace_read_command_output. What a command leaves running when it ends is ended
    too: start servers with background, not with &.
    """

    name = "workspace_run_command"
    family = Family.RUN
    Args = RunCommandArgs

    def __init__(self, environ: Mapping[str, str], processes: Processes, runs: CommandRuns) -> None:
        self._environ = environ
        self._processes = processes
        self._runs = runs
        self._home = environ.get("HOME", "")
        self._placed: dict[str, dict[str, int]] = {}  # files put in place, by the call
        self._repeats = Repeats()
        self._chances = SecondChances(self._home)

    async def plan(
        self, args: RunCommandArgs, workspace: PlanningWorkspace
    ) -> Plan[RunCommandArgs]:
        """Execute that command."""
        if "\0" in args.command:
            raise ToolProblem("A command must not contain a NUL character.")
        if "push" not in args.command:  # nothing is read for it, and no thread is needed
            return Plan(args, [self._wanted(args, workspace)])
        return Plan(args, [await asyncio.to_thread(self._planned, args, workspace)])

    async def perform(self, plan: Plan[RunCommandArgs], bench: Bench) -> CommandResult:
        """Run it; again if it failed and the user wants that, with what the sandbox refused it.

        The user must agree to exactly that; where it cannot be named, to run it outside. A test
        that fails by its own assertion is no reason to leave the sandbox.
        """
        if only_looks(bench.call, bench.lane.turn):
            bench = looking(bench, self._environ)
        while True:
            result = await self._run(plan.args, bench)
            if isinstance(result, More):
                return await self._with_more(plan.args, result, bench)
            said = await _tried_again(plan.args, result, bench)
            if said is not None:
                return replace(result, note="; ".join(filter(None, (result.note, said))))

    async def _with_more(self, args: RunCommandArgs, more: More, bench: Bench) -> CommandResult:
        """Run a command again with what the user gives it, and with what they give it then."""
        again = replace(args, outside_sandbox=True)
        for left in reversed(range(ROUNDS)):
            given = Given(more.refused, last=not left)
            result = await self._run(again, replace(bench, profile=more.profile), given)
            if isinstance(result, CommandResult):
                break
            more = result
        assert isinstance(result, CommandResult), "the last round asks for no more"
        return replace(result, note="; ".join(filter(None, (more.note(), result.note))))

    async def _offer(
        self, args: RunCommandArgs, refused: Refused, bench: Bench, remains: str
    ) -> More | ToolProblem:
        """Ask the user for what was refused, so that the command can be run again.

        The question says what `remains` of it, and so may be done twice.
        """
        again = replace(args, outside_sandbox=True)
        wanted = await asyncio.to_thread(self._wanted, again, bench.workspace, direct=True)
        if remains:
            wanted = replace(wanted, refused=(*wanted.refused, f"{remains}, {TWICE}"))
        try:
            permit = await bench.admit([wanted])
        except ToolProblem as no:
            self._chances.deny(refused, bench)
            return no
        return More(wanted, permit.profile, refused)

    def _planned(self, args: RunCommandArgs, workspace: Workspace) -> Execute:
        """The command; a plain push comes with what it needs, so that one approval is enough."""
        wanted = self._wanted(args, workspace)
        if wanted.wants or "git push" not in args.command:
            return wanted
        from steersman.operations.running.pushing import aim

        folder = aim(args.command, wanted.cwd, self._environ, workspace.root).place
        return replace(wanted, outside=False, writes=(folder,)) if folder else wanted

    def _wanted(
        self, args: RunCommandArgs, workspace: Workspace, *, direct: bool = False
    ) -> Execute:
        """The command, with exactly what was refused to it where that is known.

        Of a push, with what it means by the settings of its repository.
        """
        plain = _execute(args, workspace, direct=direct)
        wanted = self._chances.wanted(plain) if args.outside_sandbox else plain
        if "push" not in args.command:
            return wanted
        from steersman.operations.running.push_settings import meant

        found = meant(args.command, wanted.cwd, self._environ, workspace.root)
        told = (*wanted.refused, *found.told)
        return replace(wanted, refused=told, means=found.line, hosts=found.hosts)

    async def _note(
        self, args: RunCommandArgs, running: Running, run: CommandRun, bench: Bench
    ) -> Refused | None:
        """Remember what the sandbox refused a command, if that may be why it failed."""
        cwd, root = bench.workspace.locate(args.cwd), bench.workspace.root
        code, output = running.state.exit_code or 0, running.output.text()
        ended = Ended(args.command, cwd, code, output, run.refused, run.dropped, run.only_denied)
        level = (await self._runs.containment()).level
        return await self._chances.note(ended, root, bench.profile, level)

    async def _run(
        self,
        args: RunCommandArgs,
        bench: Bench,
        given: Given = NOT_GIVEN,
        talk: tuple[int, ...] = (),
        size: Size | None = None,
    ) -> CommandResult | More:
        """Run it, and remove what was put in place for it."""
        self._placed[bench.call] = {}
        try:
            cwd = bench.workspace.locate(args.cwd)
            bench, line = await started(
                args.command, cwd, bench, self._environ, terminal=size is not None
            )
            return await self._run_somewhere(Attempt(args, bench, given, line, [], talk, size))
        finally:
            await _take_away(self._placed.pop(bench.call, {}))

    async def _run_somewhere(self, attempt: Attempt) -> CommandResult | More:
        """Run it over a view of the workspace; directly where there are no views.

        A command that a view could not serve is run over a copy: what it prints never decides
        whether it runs on the workspace itself. One that gave up before a connection was allowed
        is run once more; what it did in the view until then is thrown away.
        """
        args, bench = attempt.args, attempt.bench
        advice = [] if bench.typed else [note_for(args.command)]
        attempt.notes[:] = advice
        view = await _or_refuse(self._begun(args, bench), bench)
        if not isinstance(view, str):
            result = await self._run_on(view, attempt)
            if result is Again.LATER:
                attempt.notes[:] = [*advice, LATER]
                view = await _or_refuse(self._begun(args, bench), bench)
                assert not isinstance(view, str)
                result = await self._run_on(view, attempt, once=True)
            if result is Again.COPIED:
                view = await _or_refuse(self._runs.over_copy(bench), bench)
                result = await self._run_on(view, attempt, once=True)
        else:
            attempt.notes.append(view)
            if bench.profile.sandbox and bench.profile.files == "write":
                inside = replace(args, outside_sandbox=False)
                await bench.admit([_execute(inside, bench.workspace, direct=True)])
            direct = await self._runs.directly(bench)
            result = await self._run_on(direct, attempt, once=True)
        assert not isinstance(result, Again)
        return result

    async def _begun(self, args: RunCommandArgs, bench: Bench) -> CommandRun | str:
        """A run over a view or a copy, or why there is none."""
        if args.background:
            return await self._runs.over_mirror(bench)
        copied = self._repeats.needs_copy((args.command, args.cwd))
        return await self._runs.over_view(bench, copied=copied)

    async def _run_on(
        self, run: CommandRun, attempt: Attempt, *, once: bool = False
    ) -> CommandResult | More | Again:
        """The result on some run, or how it must be run again; `once` it was, it is not late."""
        args, bench, notes = attempt.args, attempt.bench, attempt.notes
        cwd = bench.workspace.locate(args.cwd)
        kept, running = False, None
        try:
            if run.granted:
                from steersman.operations.running.loosening import loosen

                made = self._placed[bench.call]
                await unbroken(asyncio.to_thread(put_in_place, run.granted, made))
                await unbroken(asyncio.to_thread(loosen, run.granted, args.command))
            _begin_again(attempt.talk)
            running = await self._processes.start(
                await unbroken(asyncio.to_thread(run.argv, attempt.line, cwd)),
                cwd,
                run.environ,
                call=bench.call,
                command=args.command,
                progress=bench.progress,
                redactor=bench.lane.log.redactor,
                handed=Handed(run.inherit, run.spaces, run.view, attempt.talk, attempt.size),
            )
            self._runs.sweep()
            try:
                kept = await self._wait(running, run, args, notes)
            finally:
                if not kept:
                    await unbroken(running.end())
            if kept:
                self._continue(running, run, bench)
                if not (args.background or run.spaces) and bench.profile.sandbox:
                    notes.append(UNREACHED)
                return result_of(running, [*notes, *run.denials], Effects())
            if self._repeats.wanted((args.command, args.cwd), run, running, notes):
                return Again.COPIED
            late = await too_late(running, run, bench, once=once)
            if late.again:
                return Again.LATER
            notes.append(late.note)
            return await self._settled(running, run, attempt)
        except asyncio.CancelledError:
            if running is not None and run.unjudged:
                kept = True
                self._continue(running, run, bench, job=False)
            raise
        finally:
            if not kept:
                await unbroken(run.discard())

    async def _settled(
        self, running: Running, run: CommandRun, attempt: Attempt
    ) -> CommandResult | More:
        """What a command that ended did, made real; unless the user wants it run again with more.

        They are asked before: what the failed run did is thrown away then. Where that is not
        possible, it is not run again by itself.
        """
        args, bench, notes = attempt.args, attempt.bench, attempt.notes
        refused = await self._note(args, running, run, bench)
        told = (refused and refused.unpushed) or blame(running, bench.profile, run)
        own = not run.refused and fails_by_assertion(running.output.text())
        given = attempt.given
        if refused and not (own or given.last) and self._chances.asks(refused, bench, given.what):
            told = told.removesuffix(OUTSIDE)
            remains = await run.remains(bench)
            if remains and not (remains == SERVED and refused.exactly.reaches):
                told = (
                    "; ".join(filter(None, (told, f"not run again, because {remains}"))) + OUTSIDE
                )
            else:
                more = await self._offer(args, refused, bench, remains)
                if isinstance(more, More):
                    return more
                told = "; ".join(filter(None, (told, f"not run again: {more.what}", more.try_this)))
        result = result_of(running, [*notes, *run.denials, told], await run.settle(bench))
        result = replace(result, refused=list(dict.fromkeys(run.refused)))
        return await with_artifact(result, running, bench)

    def _continue(
        self, running: Running, run: CommandRun, bench: Bench, *, job: bool = True
    ) -> None:
        """Settle a command when it has ended, and remove then what was put in place for it."""
        made = self._placed.pop(bench.call, {})
        self._runs.settle_later(running, run, bench, partial(_take_away, made), job=job)

    async def _wait(
        self, running: Running, run: CommandRun, args: RunCommandArgs, notes: list[str]
    ) -> bool:
        """Wait for the end; True when the command continues without being waited for.

        The time in which the user is asked about a host does not count.
        """
        if running.terminal:
            self._processes.adopt(running)
            return True
        patience = args.wait_timeout or (
            BACKGROUND if args.background else self._processes.patience
        )
        while not await running.wait(patience):
            if not run.asking:
                break
            await either(running.wait(), run.answered())
        else:
            return False
        if args.kill_on_timeout and not args.background:
            notes.append(f"ended after {running.seconds:.0f} seconds, its time limit")
            running.signal("TERM")
            await running.wait(GRACE)
            return False
        self._processes.adopt(running)
        return True


def _begin_again(talk: tuple[int, ...]) -> None:
    """Have what is read begin at its beginning, and what was printed by an earlier try be gone."""
    for file in talk:
        os.lseek(file, 0, os.SEEK_SET)
    for file in talk[1:]:
        os.ftruncate(file, 0)


async def _take_away(made: Mapping[str, int]) -> None:
    if made:
        await unbroken(asyncio.to_thread(take_away, made))


async def _tried_again(args: RunCommandArgs, result: CommandResult, bench: Bench) -> str | None:
    """None when a person wants a failed command run again; else a note for the model."""
    failed = failure(args.command, result.exit_code, result.output) if bench.profile.retry else ""
    if not failed:
        return ""
    again = _execute(args, bench.workspace, direct=False)
    try:
        await bench.admit([replace(again, failed=failed)])
    except ToolProblem as no:
        return " ".join(filter(None, ("The user chose not to run it again.", no.try_this)))
    return None


async def _or_refuse(beginning: Awaitable[T], bench: Bench) -> T:
    try:
        return await beginning
    except NoCopy as problem:
        raise ToolProblem(
            "The command could not be run: there is no view of the workspace that serves it.",
            f"{problem.what} {problem.why}".strip(),
            "If it renames a folder, copy the folder and delete the old one."
            + " Or try again with outside_sandbox."
            * (bench.profile.escalate in ("new", "anything")),
        ) from problem


def _execute(args: RunCommandArgs, workspace: Workspace, *, direct: bool) -> Execute:
    return Execute(args.command, workspace.locate(args.cwd), args.outside_sandbox, direct)
