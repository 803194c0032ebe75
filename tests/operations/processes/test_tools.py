"""The four tools that run commands, as a model uses them."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from msgspec import Struct

from steersman.operations.journal.objects import Objects
from steersman.operations.running.command_result import CommandResult
from steersman.operations.running.command_run import Effects
from steersman.operations.running.containment import Containment
from steersman.operations.running.guardian import NO_VIEW
from steersman.operations.running.processes import Processes
from steersman.operations.tool import Malformed, Tool
from steersman.operations.tools import read_command_output, run_command, signal_process
from steersman.operations.tools.list_processes import ListProcesses, ProcessEntry, ProcessList
from steersman.operations.tools.read_command_output import OutputPart, ReadCommandOutput
from steersman.operations.tools.run_command import UNREACHED, RunCommand
from steersman.operations.tools.signal_process import Signalled, SignalProcess
from steersman.operations.workspace import Workspace
from steersman.records.action import Execute
from steersman.records.dialogue import Call
from steersman.records.errors import ToolProblem
from steersman.records.profile import PLAIN, Profile
from steersman.records.settings import Settings
from steersman.store.redactor import Redactor
from tests.operations.processes.kit import eventually, living_in, processes_in, run, sandbox
from tests.operations.workshop import not_asked

Use = Callable[..., Any]
WAITING = "until [ -e go ]; do sleep 0.02; done; "
ON = "continues in the background as p1; its output can be read by that name"


class Reach(Struct):
    """All that these tools use of a bench."""

    workspace: Workspace
    call: str
    progress: Callable[[str], None]
    lane: Any = SimpleNamespace(turn=1, log=SimpleNamespace(redactor=Redactor()))
    journal: Any = None
    profile: Profile = PLAIN
    typed: bool = False


class Bare:
    """Commands on the folder itself, with nothing recorded: the tools alone are tried here."""

    refused: tuple[str, ...] = ()
    granted: tuple[str, ...] = ()
    denials: tuple[str, ...] = ()
    unjudged = only_denied = False

    def __init__(
        self, launcher: Callable[[list[str]], list[str]] = list, questions: list[str] | None = None
    ) -> None:
        self._launcher = launcher
        self._questions = questions if questions is not None else []
        self._later: list[Any] = []
        self.environ: Mapping[str, str] = {}
        self.inherit: tuple[int, ...] = ()
        self.spaces: tuple[int, ...] = ()
        self.view = NO_VIEW

    async def containment(self) -> Containment:
        return Containment("none")

    async def over_view(self, bench: Any, *, copied: bool = False) -> "Bare":
        self.environ = bench.profile.environ
        return self

    directly = over_mirror = over_view

    def argv(self, command: list[str], cwd: str) -> list[str]:
        return self._launcher(command)

    def unmade(self, unseen: int) -> bool:
        return False

    def stumbled(self, exit_code: int, output: str) -> bool:
        return False

    @property
    def asking(self) -> bool:
        return bool(self._questions)

    async def answered(self) -> None:
        self._questions.clear()

    async def too_late(self) -> list[str]:
        return []

    async def remains(self, bench: Any) -> str:
        return ""

    def give_up(self, bench: Any) -> None:
        """Nobody is asked."""

    def dropped(self) -> tuple[str, ...]:
        return ()

    async def settle(self, bench: Any) -> Effects:
        return Effects()

    def sweep(self) -> None:
        """Nothing is left behind."""

    def settle_later(self, running: Any, run: Any, bench: Any, tidy: Any, *, job: bool) -> None:
        self._later.append(asyncio.ensure_future(running.wait()))

    async def discard(self) -> None:
        pass


@asynccontextmanager
async def tools_in(folder: Path, **more: Any) -> AsyncIterator[tuple[Use, Processes, list[str]]]:
    """The tools in a workspace, how to use one, and what was told live."""
    told: list[str] = []
    workspace = Workspace.open(folder)
    patience = more.pop("patience", 600)
    async with processes_in(folder.parent / "state", patience=patience) as processes:
        tools: list[Tool[Any]] = [
            RunCommand(
                {"PATH": os.environ["PATH"], **more.pop("environ", {})}, processes, Bare(**more)
            ),
            ReadCommandOutput(processes),
            ListProcesses(processes),
            SignalProcess(processes),
        ]
        names = {tool.name.removeprefix("workspace_"): tool for tool in tools}
        objects = Objects(folder.parent / "objects")
        planning = workspace.planning(not_asked)
        bench: Any = Reach(workspace, "c1", told.append, journal=SimpleNamespace(objects=objects))

        async def use(name: str, **arguments: Any) -> Any:
            tool = names[name]
            args = tool.parse(Call("c1", tool.name, arguments))
            return await tool.perform(await tool.plan(args, planning), bench)

        yield use, processes, told


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A workspace."""
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


def timeless(result: CommandResult) -> CommandResult:
    """A result without how long it took."""
    return msgspec.structs.replace(result, wall_ms=0)


def test_a_command_runs_to_its_end(folder):
    async def work():
        async with tools_in(folder, environ={"GREETING": "hi"}) as (use, _, told):
            (folder / "sub").mkdir()
            command = "echo $GREETING $PAGER; basename $PWD; echo wrong >&2; exit 3"
            result = await use("run_command", command=command, cwd="sub")
            return timeless(result), "".join(told)

    output = "hi cat\nsub\nwrong\n"
    assert run(work()) == (CommandResult(False, 0, output, exit_code=3, error="exit 3"), output)


def test_a_background_command_is_not_left_alone_while_someone_is_asked_about_its_hosts(folder):
    """Whoever leaves it takes the question from the screen."""

    async def work():
        questions = ["a.invalid:80"]
        async with tools_in(folder, questions=questions) as (use, _, _):
            arguments = {"command": "sleep 600", "background": True, "wait_timeout": 0.01}
            assert (await use("run_command", **arguments)).background_process_id == "p1"
        return questions

    assert run(work()) == []


def test_the_action_is_the_command_where_it_runs(folder):
    tool = RunCommand({}, Processes(folder), Bare())
    args = tool.parse(Call("c", tool.name, {"command": "ls", "cwd": "sub"}))
    workspace = Workspace.open(folder).planning(not_asked)
    assert run(tool.plan(args, workspace)).actions == [Execute("ls", str(folder / "sub"))]
    with pytest.raises(ToolProblem, match="NUL"):
        run(tool.plan(tool.parse(Call("c", tool.name, {"command": "a\0b"})), workspace))


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"command": ""},
        {"command": "ls", "wait_timeout": 0},
        {"command": "ls", "wait_timeout": 3601},
        {"command": "ls", "background": "yes"},
        {"command": "ls", "timeout": 3},
    ],
)
def test_arguments_that_do_not_fit_are_refused(folder, arguments):
    tool = RunCommand({}, Processes(folder), Bare())
    with pytest.raises(Malformed):
        tool.parse(Call("c", tool.name, arguments))


def test_a_command_past_its_time_goes_on_in_the_background(folder):
    async def work():
        async with tools_in(folder) as (use, _, told):
            command = f"echo one; {WAITING} echo two; exit 5"
            moved = await use("run_command", command=command, wait_timeout=0.5)
            (folder / "go").touch()
            while (await use("read_command_output", process_id="p1", wait_timeout=60)).output:
                pass
            whole = await use("read_command_output", process_id="p1", offset=0)
            return timeless(moved), whole, told

    assert run(work()) == (
        CommandResult(True, 0, "one\n", background_process_id="p1", note=f"{UNREACHED}; {ON}"),
        OutputPart(False, "p1", "exited 5", "one\ntwo\n", 0, 8, 8, 5, "exit 5"),
        ["one\n"],
    )


def test_a_command_has_ten_seconds_when_nobody_says_how_long(folder):
    assert (Processes(folder).patience, Settings().command_wait) == (10, 10)
    assert "Waits 10 seconds" in RunCommand({}, Processes(folder), Bare()).description()

    async def work():
        async with tools_in(folder, patience=0.1) as (use, processes, _):
            moved = await use("run_command", command=f"{WAITING} echo two")
            (folder / "go").touch()
            news = await use("read_command_output", process_id="p1", wait_timeout=60)
            await processes.close()
            return timeless(moved), news.output

    assert run(work()) == (
        CommandResult(True, 0, "", background_process_id="p1", note=f"{UNREACHED}; {ON}"),
        "two\n",
    )


def test_what_is_unread_comes_without_an_offset(folder):
    async def work():
        async with tools_in(folder) as (use, processes, _):
            command = f"echo one; {WAITING} echo two; sleep 600"
            await use("run_command", command=command, wait_timeout=0.5)
            nothing = await use("read_command_output", process_id="p1", wait_timeout=0.01)
            (folder / "go").touch()
            news = await use("read_command_output", process_id="p1", wait_timeout=60)
            await processes.close()
            return nothing, news

    assert run(work()) == (
        OutputPart(True, "p1", "running", "", 4, 4, 4),
        OutputPart(True, "p1", "running", "two\n", 4, 8, 8),
    )


def test_output_is_waited_for_ten_seconds_when_nobody_says_how_long(folder):
    assert ReadCommandOutput(Processes(folder)).parse(
        Call("c", "workspace_read_command_output", {"process_id": "p1"})
    ) == read_command_output.ReadCommandOutputArgs("p1", wait_timeout=10)

    async def work():
        async with tools_in(folder) as (use, processes, _):
            await use("run_command", command=f"{WAITING} echo two; sleep 600", wait_timeout=0.1)
            reading = asyncio.ensure_future(use("read_command_output", process_id="p1"))
            (folder / "go").touch()
            news = await reading
            await processes.close()
            return news

    assert run(work()) == OutputPart(True, "p1", "running", "two\n", 0, 4, 4)


def test_a_time_limit_ends_a_command_when_asked_to(folder, monkeypatch):
    monkeypatch.setattr(run_command, "GRACE", 0.2)

    async def work():
        async with tools_in(folder) as (use, _, _):
            tidy = "trap 'echo tidied; exit 4' TERM; while :; do sleep 0.02; done"
            stubborn = "trap '' TERM; setsid sleep 600 & while :; do sleep 0.02; done"
            return [
                timeless(
                    await use("run_command", command=c, wait_timeout=0.5, kill_on_timeout=True)
                )
                for c in (tidy, stubborn)
            ]

    tidied, killed = run(work())
    assert tidied.output.endswith("tidied\n")
    assert tidied.exit_code == 4
    assert (killed.exit_code, killed.background_process_id) == (137, "")
    assert "its time limit" in tidied.note
    assert "its time limit" in killed.note
    assert living_in(folder) == set()


def test_a_background_command_is_started_and_left(folder):
    async def work():
        async with tools_in(folder) as (use, _, _):
            started = await use("run_command", command="echo up; sleep 600", background=True)
            failed = await use("run_command", command="no-such-server", background=True)
            entries = (await use("list_processes")).processes
            return timeless(started), failed.exit_code, [(e.process_id, e.state) for e in entries]

    started, failed, entries = run(work())
    assert started == CommandResult(True, 0, "up\n", background_process_id="p1", note=ON)
    assert failed == 127
    assert entries == [("p1", "running"), ("p2", "exited 127")]
    assert living_in(folder) == set()


def test_what_was_left_out_or_left_running_is_said(folder):
    async def work():
        async with tools_in(folder) as (use, _, _):
            many = await use("run_command", command="seq 100000")
            left = await use("run_command", command="sleep 600 & sleep 600 & echo x")
            file = await use("run_command", command="cat nothing-here")
            middle = await use("read_command_output", process_id="p1", offset=300000, limit=14)
            tail = await use("read_command_output", process_id="p1", offset=-7)
            beyond = await use("read_command_output", process_id="p1", offset=10**9)
            return many, left, file, middle, tail, beyond

    many, left, file, middle, tail, beyond = run(work())
    whole = "".join(f"{n}\n" for n in range(1, 100001))
    assert many.truncated
    assert many.output.startswith("1\n2\n")
    assert many.output.endswith("\n100000\n")
    assert f"[… {len(whole) - 32768:,} bytes left out …]" in many.output
    assert many.note == (
        f"all {len(whole):,} bytes can be read with process_id p1, or later with the artifact"
    )
    assert left.note == "stopped 2 processes that it left running"
    assert file.note.startswith('workspace_read_file {"path": "nothing-here"}')
    assert middle.output == whole[300000:300014]
    assert (tail.output, tail.next_offset, tail.size) == ("100000\n", len(whole), len(whole))
    assert (beyond.output, beyond.note) == ("", f"there are only {len(whole):,} bytes")


def test_parts_are_cut_between_characters(folder):
    async def work():
        async with tools_in(folder) as (use, _, _):
            await use("run_command", command=r"printf 'a€😀b\xe2\x82'")
            parts = [await use("read_command_output", process_id="p1", limit=2)]
            while parts[-1].next_offset < parts[-1].size:
                parts.append(await use("read_command_output", process_id="p1", limit=5))
            return [(part.output, part.offset, part.next_offset) for part in parts]

    assert run(work()) == [("a", 0, 1), ("€", 1, 4), ("😀b", 4, 9), ("\ufffd", 9, 11)]


def test_a_lost_spool_is_said(folder):
    async def work():
        async with tools_in(folder) as (use, processes, _):
            await use("run_command", command="echo x")
            processes.get("p1").output.problem = "No space left on device"
            lost = await use("read_command_output", process_id="p1", offset=2)
            processes.get("p1").output.path.unlink()
            with pytest.raises(ToolProblem, match="The output of p1 cannot be read") as problem:
                await use("read_command_output", process_id="p1")
            return lost.note, problem.value.why

    assert run(work()) == (
        "kept are 2 bytes, the rest is lost: No space left on device",
        "No such file or directory",
    )


def test_a_cancelled_command_is_gone_with_all_it_started(folder):
    async def work():
        async with tools_in(folder) as (use, processes, told):
            command = "setsid sleep 600 & echo up; sleep 600"
            running = asyncio.create_task(use("run_command", command=command))
            await asyncio.to_thread(eventually, lambda: bool(told))
            running.cancel()
            await asyncio.wait({running})
            return running.cancelled(), living_in(folder), str(processes.get("p1").state)

    assert run(work()) == (True, set(), "killed by SIGKILL")


def test_a_command_that_cannot_start_is_a_problem_of_the_tool(folder):
    async def work():
        async with tools_in(folder, environ={"PATH": "/nowhere"}) as (use, _, _):
            with pytest.raises(ToolProblem) as problem:
                await use("run_command", command="true")
            return str(problem.value)

    assert run(work()) == "The command cannot be started.\nNo such file or directory: bash"


def test_a_launcher_may_wrap_the_shell(folder):
    async def work():
        async with tools_in(folder, launcher=lambda argv: [*sandbox(), *argv]) as (use, _, _):
            return timeless(await use("run_command", command="echo $$; exit 6"))

    assert run(work()) == CommandResult(False, 0, "2\n", exit_code=6, error="exit 6")


def test_processes_are_listed(folder):
    async def work():
        async with tools_in(folder) as (use, processes, _):
            empty = await use("list_processes")
            await use("run_command", command="echo " + "y" * 300)
            await use("run_command", command="exit 3")
            pid = processes.get("p1").pid
            entry, failed = (await use("list_processes")).processes
            return empty, entry, pid, failed

    empty, entry, pid, failed = run(work())
    assert empty == ProcessList(True, [])
    assert entry == ProcessEntry(
        True, "p1", "echo " + "y" * 195 + "…", "exited 0", entry.seconds, 301, pid,
        background=False, exit_code=0,
    )  # fmt: skip
    assert (failed.success, failed.exit_code, failed.error) == (False, 3, "exit 3")


def test_signals_and_what_came_of_them(folder, monkeypatch):
    monkeypatch.setattr(signal_process, "GRACE", 1.0)

    async def work():
        async with tools_in(folder) as (use, _, _):
            stubborn = "trap '' TERM; trap 'echo told' USR1; while :; do sleep 0.02; done"
            await use("run_command", command=stubborn, background=True)
            say = [await use("signal_process", process_id="p1", signal=s) for s in ("USR1", "TERM")]
            heard = await use("read_command_output", process_id="p1", wait_timeout=60)
            say.append(await use("signal_process", process_id="p1", signal="KILL"))
            with pytest.raises(ToolProblem, match="p1 has ended: killed by SIGKILL"):
                await use("signal_process", process_id="p1", signal="KILL")
            return say, heard.output

    assert run(work()) == (
        [
            Signalled(True, "p1", "USR1", "running"),
            Signalled(
                False, "p1", "TERM", "running", error="still running 1 seconds later; KILL ends it"
            ),
            Signalled(True, "p1", "KILL", "killed by SIGKILL", 137),
        ],
        "told\n",
    )


@pytest.mark.parametrize("name", ["read_command_output", "signal_process"])
def test_an_unknown_process_is_answered_with_the_known_ones(folder, name):
    more = {"signal": "TERM"} if name == "signal_process" else {}

    async def work():
        async with tools_in(folder) as (use, _, _):
            with pytest.raises(ToolProblem) as none:
                await use(name, process_id="p9", **more)
            await use("run_command", command="exit 2")
            with pytest.raises(ToolProblem) as some:
                await use(name, process_id="p9", **more)
            return str(none.value), str(some.value)

    assert run(work()) == (
        "There is no process “p9”.\nNone was started since the thread was opened.\n"
        "Start one with background: true.",
        "There is no process “p9”.\nKnown processes: p1 (exited 2).\nUse one of these.",
    )


def test_looking_at_processes_needs_no_leave(folder):
    processes = Processes(folder)
    workspace = Workspace.open(folder).planning(not_asked)
    reading = read_command_output.ReadCommandOutputArgs("p1")
    assert run(ReadCommandOutput(processes).plan(reading, workspace)).actions == ()
    listing = ListProcesses(processes)
    assert run(listing.plan(listing.Args(), workspace)).actions == ()
    signalling = SignalProcess(processes)
    assert run(signalling.plan(signalling.Args("p1", "TERM"), workspace)).actions == ()


def test_a_long_output_is_kept_whole_and_read_later_by_its_name(folder):
    async def work():
        async with tools_in(folder) as (use, _, _):
            result = await use("run_command", command="seq 1 20000")
            name = result.artifact
            last = await use("read_command_output", process_id=name, offset=-12, limit=12)
            first = await use("read_command_output", process_id=name, limit=4)
            return result.truncated, last.output, first.output, last.size

    assert run(work()) == (True, "19999\n20000\n", "1\n2\n", 108894)
