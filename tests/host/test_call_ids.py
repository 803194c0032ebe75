"""Models that choose the ids of their calls, to pass for someone else's."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from steersman.host import Host
from steersman.records.message import ConfirmRequest, ConfirmResponse, ToolCall, ToolResult
from steersman.records.settings import Settings
from steersman.threads.handle import ThreadHandle
from steersman.views.blocks import Work
from steersman.views.story import Story
from tests.cli.kit import DONE, outside
from tests.hooks.kit import hook
from tests.host.wires import talking
from tests.world import call

RUN = "workspace_run_command"
Scenario = Callable[[Host, ThreadHandle], Awaitable[Any]]
Play = Callable[..., Any]


def under(id: str, made: dict[str, Any]) -> dict[str, Any]:
    """A turn with a call that the model gives an id."""
    return {"tool_calls": [{**made, "id": id}]}


@pytest.fixture
def play(environ: dict[str, str], workspace: Path) -> Play:
    """Play a scenario in a thread of a person who is there."""

    def played(model: str, scenario: Scenario, **settings: Any) -> Any:
        async def whole() -> Any:
            async with Host.at(Path(environ["STEERSMAN_HOME"]), environ) as host:
                chosen = Settings(**{"model": model, "approvals": "on-request", **settings})
                thread = await host.start(str(workspace), "a task", chosen, attended=True)
                return await scenario(host, thread)

        return asyncio.run(asyncio.wait_for(whole(), 120))

    return played


async def said(thread: ThreadHandle, text: str = "go") -> None:
    """Send a message, and wait until its turn is over."""
    await thread.send(text)
    await thread.wait()


def ids(host: Host, thread: ThreadHandle, kind: str = "tool_call") -> list[str]:
    """The ids of the calls of a thread, in order."""
    return [m.corr or "" for m in host.messages(thread.id, kinds={kind})]


@pytest.mark.parametrize("id", ["look_1", "commit_1", "hook_PreToolUse_x_0", "call_owner-1"])
@pytest.mark.parametrize("made", [
    call(RUN, command="cat calc.py"),
    call(RUN, command="sleep 600", background=True, wait_timeout=0.1),
    call("workspace_read_file", path="calc.py"),
])  # fmt: skip
def test_nothing_that_a_model_does_is_left_out_of_the_story(play, script, id, made):
    async def scenario(host, thread):
        await said(thread)
        story = Story()
        for message in host.messages(thread.id):
            story.feed(message)
        (work,) = [one for one in story.blocks if isinstance(one, Work)]
        assert work.call == ToolCall(made["name"], made["arguments"])
        assert work.result is not None
        assert work.corr != id

    play(script(under(id, made), {"text": "Nothing done."}), scenario)


def test_a_thread_from_before_shows_what_a_model_did_under_such_an_id(play, script):
    """Only calls between turns inform what a person is shown."""

    async def scenario(host, thread):
        await said(thread)
        story = Story()
        for message in host.messages(thread.id):
            if message.corr:
                message = type(message)(**{**_fields(message), "corr": "look_1"})
            story.feed(message)
        assert [one.call.tool for one in story.blocks if isinstance(one, Work)] == [RUN]

    play(script({"tool_calls": [call(RUN, command="cat calc.py")]}, DONE), scenario)


def _fields(message: Any) -> dict[str, Any]:
    return {name: getattr(message, name) for name in message.__struct_fields__}


def test_a_model_under_the_id_of_a_typed_command_asks_as_a_model(play, script, gate):
    async def scenario(host, thread):
        line = gate.wait["arguments"]["command"]
        typing = asyncio.create_task(thread.call(RUN, {"command": line}, typed=True))
        await asyncio.to_thread(gate.waiting)
        (own,) = ids(host, thread)
        await thread.set(model=script(under(own, outside("cat /etc/hosts")), DONE, name="sly.json"))
        await thread.send("go")
        async for message in thread.events(0):
            if isinstance(message.body, ConfirmRequest):
                assert not message.body.own
                assert message.body.call != own
                await thread.answer(message.corr or "", ConfirmResponse("deny"))
                break
        await thread.wait()
        gate.open()
        assert (await typing).body.status == "ok"
        assert len(set(ids(host, thread))) == 2

    play(script(DONE), scenario)


def test_an_id_of_an_earlier_turn_is_another_call(play, script):
    """A job may still run under it, with hosts that it was allowed."""
    job = call(RUN, command="sleep 600", background=True, wait_timeout=0.1)
    model = script(under("c1", job), DONE, under("c1", call(RUN, command="cat calc.py")), DONE)

    async def scenario(host, thread):
        await said(thread)
        await said(thread, "again")
        first, second = ids(host, thread)
        assert first == "c1"
        assert second != "c1"
        assert ids(host, thread, "tool_result") == [first, second]

    play(model, scenario)


def test_an_id_is_remembered_in_the_next_process(environ, workspace, script):
    def settings() -> Settings:
        read = under("c1", call("workspace_read_file", path="calc.py"))
        return Settings(model=script(read, DONE, read, DONE), approvals="never")

    async def whole() -> list[str]:
        async with Host.at(Path(environ["STEERSMAN_HOME"]), environ) as host:
            thread = await host.start(str(workspace), "a task", settings())
            await said(thread)
            await thread.close()
        async with Host.at(Path(environ["STEERSMAN_HOME"]), environ) as host:
            thread = await host.attach(thread.id, settings())
            await said(thread, "again")
            return ids(host, thread)

    first, second = asyncio.run(asyncio.wait_for(whole(), 120))
    assert first == "c1"
    assert second != "c1"


def test_hooks_of_a_call_are_not_the_models_to_name(play, script):
    """While a hook runs, a command under its name would run in every mode."""
    hooks = hook("PreToolUse", "true", "Read")
    read = {**call("workspace_read_file", path="calc.py"), "id": "a"}
    run = {**call(RUN, command="sh made.sh"), "id": "hook_PreToolUse_a_0"}

    async def scenario(host, thread):
        await said(thread)
        assert ids(host, thread, "hook_run") == ["hook_PreToolUse_a_0"]
        assert "hook_PreToolUse_a_0" not in ids(host, thread)
        results = [m.body for m in host.messages(thread.id, kinds={"tool_result"})]
        ended = {one.tool: one.status for one in results if isinstance(one, ToolResult)}
        assert ended == {"workspace_read_file": "ok", RUN: "denied"}

    play(script({"tool_calls": [read, run]}, DONE), scenario, mode="ask", hooks=hooks)


def test_a_provider_is_handed_back_one_id_for_a_call_and_its_result(online, workspace, stage, wire):
    """In each format, whatever the provider had called it."""
    read = call("workspace_read_file", path="calc.py")
    stage.play(under("look_1", read), under("c1", read), under("c1", read), {"text": "Done."})

    async def scenario(line):
        await line.say("go")
        return [m.corr for m in line.messages if m.kind == "tool_call"]

    made = talking(online, workspace, scenario, model=f"{wire}:m-1")
    last = stage.bodies[-1].decode()
    assert '"look_1"' not in last
    assert made[1].endswith("c1")  # some ids begin as their provider's do
    assert [last.count(f'"{one}"') for one in made] == [2, 2, 2]
