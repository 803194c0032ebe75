"""Commands that a person types, beside what the agent does."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from steersman.host import Host
from steersman.records.message import ConfirmRequest, ConfirmResponse, ToolCall, ToolResult
from steersman.records.settings import Settings
from steersman.threads.handle import ThreadHandle
from tests.cli.kit import DONE, outside
from tests.world import call

RUN = "workspace_run_command"
Scenario = Callable[[Host, ThreadHandle], Awaitable[Any]]
Play = Callable[[str, Scenario], Any]


@pytest.fixture
def play(environ: dict[str, str], workspace: Path) -> Play:
    """Play a scenario in a thread of a person who is there."""

    def played(model: str, scenario: Scenario) -> Any:
        async def whole() -> Any:
            async with Host.at(Path(environ["STEERSMAN_HOME"]), environ) as host:
                settings = Settings(model=model, approvals="on-request")
                thread = await host.start(str(workspace), "a task", settings, attended=True)
                return await scenario(host, thread)

        return asyncio.run(asyncio.wait_for(whole(), 120))

    return played


async def typed(thread: ThreadHandle, command: str, **how: Any) -> ToolResult:
    """What comes of a command that a person types."""
    result = (await thread.call(RUN, {"command": command, **how}, typed=True)).body
    assert isinstance(result, ToolResult)
    return result


async def request(thread: ThreadHandle) -> str:
    """The next thing that someone is asked."""
    async for message in thread.events(0):
        if isinstance(message.body, ConfirmRequest):
            return message.corr or ""
    raise AssertionError("nobody was asked")


def test_a_typed_command_runs_beside_the_agents_and_both_can_be_undone(
    play, workspace, script, gate
):
    """Whoever ends first is in the log first; an undo takes the later one back first."""
    line = f"{gate.wait['arguments']['command']}; echo agent > agent.txt; echo agent >> both.txt"
    model = script({"tool_calls": [call(RUN, command=line, wait_timeout=600)]}, DONE)
    before = {one.name for one in workspace.iterdir()}

    def added() -> set[str]:
        return {one.name for one in workspace.iterdir()} - before

    async def scenario(host, thread):
        await thread.send("go")
        await asyncio.to_thread(gate.waiting)
        assert (await typed(thread, "echo a > own.txt")).status == "ok"
        assert added() == {"own.txt"}
        gate.open()
        await thread.wait()
        assert added() == {"own.txt", "agent.txt", "both.txt"}
        await thread.undo(await thread.plan_undo())
        assert added() == {"own.txt"}
        await thread.undo(await thread.plan_undo())
        assert added() == set()

    play(model, scenario)


def test_a_typed_command_runs_while_an_agents_waits_for_an_answer(play, script):
    model = script({"tool_calls": [outside("cat /etc/hosts")]}, DONE)

    async def scenario(host, thread):
        await thread.send("go")
        corr = await request(thread)
        assert "def add" in (await typed(thread, "cat calc.py")).output["output"]
        await thread.answer(corr, ConfirmResponse("deny"))
        await thread.wait()

    play(model, scenario)


def test_typed_commands_run_beside_one_another(play, script, gate):
    async def scenario(host, thread):
        first = asyncio.create_task(typed(thread, gate.wait["arguments"]["command"]))
        await asyncio.to_thread(gate.waiting)
        assert (await typed(thread, "echo second")).output["output"] == "second\n"
        gate.open()
        assert (await first).status == "ok"

    play(script(DONE), scenario)


def test_the_log_says_which_commands_were_typed(play, script):
    model = script({"tool_calls": [call(RUN, command="cat calc.py")]}, DONE)

    async def scenario(host, thread):
        await thread.send("go")
        await thread.wait()
        await typed(thread, "cat calc.py")
        found = [m.body for m in host.messages(thread.id, kinds={"tool_call", "tool_result"})]
        assert [one.typed for one in found if isinstance(one, ToolCall)] == [False, True]
        agents, own = [one.output for one in found if isinstance(one, ToolResult)]
        assert agents["note"].startswith("workspace_read_file")  # advice for a model
        assert "note" not in own

    play(model, scenario)


def test_the_sandbox_question_also_comes_while_a_job_runs(play, environ, script):
    """The command spoke to nobody, so that nothing would be done twice."""
    profile = Path(environ["HOME"], ".bashrc")

    async def scenario(host, thread):
        await typed(thread, "sleep 600", background=True, wait_timeout=0.1)
        result = asyncio.create_task(typed(thread, f"echo x >> {profile}"))
        await thread.answer(await request(thread), ConfirmResponse("allow"))
        assert (await result).output["success"]

    play(script(DONE), scenario)
    assert profile.read_text().endswith("x\n")


def test_a_command_that_spoke_to_someone_on_the_loopback_is_not_run_again(play, environ, script):
    profile = Path(environ["HOME"], ".bashrc")

    async def scenario(host, thread):
        await typed(thread, "sleep 600", background=True, wait_timeout=0.1)
        result = await typed(thread, f"echo hi > /dev/udp/127.0.0.1/9; echo x >> {profile}")
        assert "not run again, because it may have reached servers" in result.output["note"]

    play(script(DONE), scenario)


def test_a_script_of_a_typed_line_is_asked_about_what_the_line_only_names(play, workspace, script):
    """The line shows a file and looks at the folder; its script writes both."""
    tasks = workspace / ".vscode/tasks.json"
    tasks.parent.mkdir()
    tasks.write_text("{}\n")
    (workspace / "t.sh").write_text("echo evil > .vscode/tasks.json\n")
    (workspace / "m.sh").write_text("chmod 777 .\n")
    workspace.chmod(0o755)

    async def scenario(host, thread):
        denied = asyncio.create_task(deny_all(thread))
        for line in LINES:
            await typed(thread, line)
            assert (tasks.read_text(), workspace.stat().st_mode & 0o777) == ("{}\n", 0o755), line
        assert (await typed(thread, "echo mine > .vscode/tasks.json")).status == "ok"
        denied.cancel()

    play(script(DONE), scenario)
    assert tasks.read_text() == "mine\n"


LINES = (
    "cat .vscode/tasks.json; sh t.sh",
    "git diff -- .vscode/tasks.json; sh t.sh",
    "sh t.sh # not .vscode/tasks.json",
    "ls . && sh m.sh",
)


async def deny_all(thread: ThreadHandle) -> None:
    """Someone who says no to all that they are asked."""
    async for message in thread.events(0):
        if isinstance(message.body, ConfirmRequest):
            await thread.answer(message.corr or "", ConfirmResponse("deny"))
