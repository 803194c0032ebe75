"""Mode, approvals, trust and model change between two model calls; everything that runs goes on."""

import asyncio
from pathlib import Path

from steersman.host import Host
from steersman.identity.settings import Settings
from steersman.records.message import ToolProgress, ToolResult, UsageReport
from tests.world import call

# On the workspace itself, so that the command sees a file that appears.
WAIT = call(
    "workspace_run_command",
    command="echo begun; while [ ! -e go ]; do sleep 0.02; done",
    background=True,
    wait_timeout=600,
)
STAYS = call("workspace_run_command", command="echo begun; sleep 600", background=True)
RUN = call("workspace_run_command", command="echo hi")
TODO = call("workspace_update_todo", items=[{"text": "x", "state": "pending"}])
LIST = call("workspace_list_processes")


def play(environ, scenario):
    """Play a scenario against a host of its own."""

    async def whole():
        async with asyncio.timeout(120), Host.at(Path(environ["STEERSMAN_HOME"]), environ) as host:
            return await scenario(host)

    return asyncio.run(whole())


def systems(host, thread):
    """The systems of an open thread."""
    return host.session(thread.id)._systems


def offered(host, thread):
    """The names of the tools that the model is offered now."""
    return {spec.name for spec in systems(host, thread).toolbox.specs()}


async def heard(thread, wanted):
    """Wait for a message of a kind."""
    async for message in thread.events():
        if isinstance(message.body, wanted):
            return


def bodies(host, thread, kind):
    return [message.body for message in host.messages(thread.id) if isinstance(message.body, kind)]


def test_a_mode_holds_from_the_next_model_call_and_programs_go_on(environ, workspace, script):
    settings = Settings(
        model=script({"tool_calls": [WAIT]}, {"tool_calls": [RUN, TODO, LIST]}, {"text": "Done."}),
        approvals="never",
    )

    async def scenario(host):
        thread = await host.start(str(workspace), "a task", settings)
        before = systems(host, thread).capsule.identity.instructions(), offered(host, thread)
        await thread.send("go")
        await heard(thread, ToolProgress)
        await thread.set(mode="ask")
        (workspace / "go").touch()
        assert (await thread.wait()).ending == "done"
        asked = systems(host, thread).capsule.identity.instructions(), offered(host, thread)
        await thread.set(mode="code")
        after = systems(host, thread).capsule.identity.instructions(), offered(host, thread)
        return before, asked, after, bodies(host, thread, ToolResult)

    before, asked, after, results = play(environ, scenario)
    assert after == before
    assert "You may only read" in asked[0]
    assert before[1] - asked[1] >= {"workspace_run_command", "workspace_update_todo"}
    assert [result.status for result in results] == ["ok", "denied", "denied", "ok"]
    assert all("mode.ask" in result.message for result in results[1:3])


def test_background_processes_outlive_a_change_of_everything(environ, workspace, script):
    first = script({"tool_calls": [STAYS]}, {"text": "Started."}, name="first.json")
    second = script({"tool_calls": [LIST]}, {"text": "Seen."}, name="second.json")
    settings = Settings(model=first, approvals="never")

    async def scenario(host):
        thread = await host.start(str(workspace), "a task", settings)
        await thread.send("go")
        await thread.wait()
        await thread.set(model=second, mode="debug", trust="restricted")
        await thread.send("what runs?")
        await thread.wait()
        return bodies(host, thread, ToolResult), bodies(host, thread, UsageReport)

    results, usage = play(environ, scenario)
    assert [process["state"] for process in results[-1].output["processes"]] == ["running"]
    assert [report.model for report in usage] == [first, first, second, second]


def test_another_model_answers_in_the_middle_of_a_turn(environ, workspace, script):
    first = script({"tool_calls": [WAIT]}, {"text": "From the first."}, name="first.json")
    second = script({"tool_calls": [LIST]}, {"text": "From the second."}, name="second.json")
    settings = Settings(model=first, approvals="never")

    async def scenario(host):
        thread = await host.start(str(workspace), "a task", settings)
        await thread.send("go")
        await heard(thread, ToolProgress)
        await thread.set(model=second)
        (workspace / "go").touch()
        assert (await thread.wait()).ending == "done"
        return await thread.last_words(), bodies(host, thread, UsageReport)

    words, usage = play(environ, scenario)
    assert words == "From the second."
    assert [report.model for report in usage] == [first, second]


def test_what_was_asked_about_is_done_at_once_when_approvals_change(environ, workspace, script):
    edit = {"path": "calc.py", "edits": [{"search": "a - b", "replace": "a + b"}]}
    model = script({"tool_calls": [call("workspace_edit_files", files=[edit])]}, {"text": "Done."})
    settings = Settings(model=model, approvals="on-request")

    async def scenario(host):
        thread = await host.start(str(workspace), "a task", settings)
        await thread.set(approvals="never")
        await thread.send("go")
        return (await thread.wait()).ending

    assert play(environ, scenario) == "done"
    assert "a + b" in (workspace / "calc.py").read_text()
