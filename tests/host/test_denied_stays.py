"""A no to one edit of an answer: nothing that is said later of others makes it."""

import asyncio
from pathlib import Path

import pytest

from steersman.host import Host
from steersman.records.message import ConfirmRequest, ConfirmResponse, ToolResult
from steersman.records.settings import Settings
from tests.cli.kit import DONE
from tests.host.owner import owned
from tests.world import call

NAMES = ("a.txt", "b.txt", "c.txt")
EDITS = {
    "tool_calls": [call("workspace_write_file", path=name, content=f"{name}\n") for name in NAMES]
}
WORDS = "Leave b.txt alone."
NO = ("b.txt", ConfirmResponse("deny", guidance=WORDS))
ONCE = ConfirmResponse("allow")
TURN, THREAD, FOLDER = (
    ConfirmResponse("allow", scope=scope, lasting="edits") for scope in ("turn", "thread", "here")
)
SETTINGS = {"approvals": "on-request"}


def play(environ, scenario):
    async def whole():
        async with Host.at(Path(environ["STEERSMAN_HOME"]), environ) as host:
            return await scenario(host)

    return asyncio.run(asyncio.wait_for(whole(), 120))


async def waiting(thread):
    """The requests about all edits, by the name of the file."""
    found = {}
    async for message in thread.events(0):
        if isinstance(message.body, ConfirmRequest):
            found[Path(message.body.actions[0].path).name] = message.corr
        if len(found) == len(NAMES):
            return found
    raise AssertionError("it ended")


async def say(thread, corrs, *said):
    """Answer in this order."""
    for name, response in said:
        await thread.answer(corrs[name], response)


def results(host, thread_id):
    return [m.body for m in host.messages(thread_id) if isinstance(m.body, ToolResult)]


def check(workspace, ended):
    """The edit was denied with the person's words, and was not made; the others were."""
    assert [one.status for one in ended] == ["ok", "denied", "ok"]
    assert WORDS in str(ended[1])
    assert [(workspace / name).exists() for name in NAMES] == [True, False, True]


@pytest.mark.parametrize(
    "said",
    [
        pytest.param((NO, ("a.txt", TURN)), id="then for the turn"),
        pytest.param((NO, ("a.txt", THREAD)), id="then for the thread"),
        pytest.param((NO, ("a.txt", FOLDER)), id="then for the folder"),
        pytest.param((NO, ("c.txt", TURN)), id="then for the turn, of a later one"),
        pytest.param((NO, ("c.txt", THREAD)), id="then for the thread, of a later one"),
        pytest.param((("c.txt", ONCE), NO, ("a.txt", TURN)), id="between"),
        pytest.param((NO, ("c.txt", ONCE), ("a.txt", ONCE)), id="without any that lasts"),
    ],
)
def test_a_denied_edit_is_not_made_whatever_is_said_later(environ, workspace, script, said):
    async def scenario(host):
        settings = Settings(model=script(EDITS, DONE), **SETTINGS)
        thread = await host.start(str(workspace), "a task", settings, attended=True)
        await thread.send("go")
        await say(thread, await waiting(thread), *said)
        await thread.wait()
        return results(host, thread.id)

    check(workspace, play(environ, scenario))


def test_nor_when_less_is_asked_about_from_then_on(environ, workspace, script):
    async def scenario(host):
        settings = Settings(model=script(EDITS, DONE), **SETTINGS)
        thread = await host.start(str(workspace), "a task", settings, attended=True)
        await thread.send("go")
        corrs = await waiting(thread)
        await say(thread, corrs, NO)
        await thread.set(approvals="on-failure")
        await say(thread, corrs, ("a.txt", ONCE))
        await thread.wait()
        return results(host, thread.id)

    check(workspace, play(environ, scenario))


def test_nor_when_another_process_answers(environ, workspace, script):
    settings = Settings(model=script(EDITS, DONE), **SETTINGS)

    async def scenario(host, thread_id):
        thread = await host.attach(thread_id)
        await thread.send("go")
        await say(thread, await waiting(thread), NO, ("a.txt", TURN))
        await thread.wait()
        return results(host, thread_id)

    with owned(environ, workspace, settings) as (_, thread_id):
        ended = play(environ, lambda host: scenario(host, thread_id))
    check(workspace, ended)


def test_nor_when_its_process_died_after_the_no(environ, workspace, script):
    """The next one takes the turn up, and asks only about what nobody has answered."""
    settings = Settings(model=script(EDITS, DONE), **SETTINGS)

    async def begun(host, thread_id):
        thread = await host.attach(thread_id)
        await thread.send("go")
        corrs = await waiting(thread)
        await say(thread, corrs, NO)
        return corrs

    async def taken_over(host, thread_id, corrs):
        thread = await host.attach(thread_id, attended=True)
        left = {one.corr for one in (await thread.state()).activity.waiting}
        assert left == {corrs["a.txt"], corrs["c.txt"]}
        await say(thread, corrs, ("a.txt", TURN))
        await thread.wait()
        assert len(list(host.messages(thread_id, kinds={"confirm_request"}))) == len(NAMES)
        return results(host, thread_id)

    with owned(environ, workspace, settings) as (process, thread_id):
        corrs = play(environ, lambda host: begun(host, thread_id))
        process.kill()
        process.wait()
    check(workspace, play(environ, lambda host: taken_over(host, thread_id, corrs)))


def test_nor_is_more_made_of_what_was_changed_or_accepted_in_part(environ, workspace, script):
    changed = {"path": "b.txt", "content": "what the person made of it\n"}

    async def scenario(host):
        settings = Settings(model=script(EDITS, DONE), **SETTINGS)
        thread = await host.start(str(workspace), "a task", settings, attended=True)
        await thread.send("go")
        made = ("b.txt", ConfirmResponse("allow", arguments=changed))
        await say(thread, await waiting(thread), made, ("a.txt", TURN))
        await thread.wait()

    play(environ, scenario)
    assert (workspace / "b.txt").read_text() == changed["content"]
