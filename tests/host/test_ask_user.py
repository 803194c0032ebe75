"""The model asks the user something: in every mode, across a crash, and with nobody there."""

import asyncio

import pytest

from steersman.records.message import Answer, ConfirmRequest, Question, ToolResult, TurnEnd
from steersman.records.settings import Settings
from tests.cli.kit import DONE
from tests.host.owner import owned
from tests.host.test_planned import asked, play
from tests.host.test_settings_by_turn import offered
from tests.world import call

TWO = [{"label": "Postgres", "description": "a server"}, {"label": "SQLite"}]
STORE = {"question": "Which store?", "header": "Store", "options": TWO}
TESTS = {"question": "Which tests?", "header": "Tests", "options": TWO, "multiple": True}
ASK = {"tool_calls": [call("ask_user", questions=[STORE, TESTS])]}


def results(host, thread):
    """What the model got."""
    return [m.body for m in host.messages(thread) if isinstance(m.body, ToolResult)]


async def asking(host, workspace, script, mode="code", **how):
    """A thread whose model asks two questions."""
    settings = Settings(model=script(ASK, DONE), mode=mode)
    thread = await host.start(str(workspace), "a task", settings, **how)
    await thread.send("go")
    return thread


@pytest.mark.parametrize("mode", ["ask", "plan", "spec", "code", "debug"])
def test_the_answers_reach_the_model_in_every_mode(environ, workspace, script, mode):
    async def scenario(host):
        thread = await asking(host, workspace, script, mode, attended=True)
        question = await asked(thread)
        waiting = (await thread.state()).activity.waiting
        assert [(one.corr, one.what) for one in waiting] == [(question.corr, "Which store?")]
        await thread.answer(question.corr, Answer("SQLite"))
        await thread.answer((await asked(thread, 2)).corr, Answer("Postgres, SQLite"))
        assert (await thread.wait()).ending == "done"
        (result,) = results(host, thread.id)
        assert (result.status, result.output) == ("ok", {"answers": [
            {"question": "Which store?", "answer": "SQLite"},
            {"question": "Which tests?", "answer": "Postgres, SQLite"},
        ]})  # fmt: skip
        kinds = [m.body for m in host.messages(thread.id) if isinstance(m.body, ConfirmRequest)]
        assert kinds == []  # it is no effect, so nobody is asked for permission

    play(environ, scenario)


def test_who_declines_is_asked_no_more_and_the_turn_goes_on(environ, workspace, script):
    async def scenario(host):
        thread = await asking(host, workspace, script, attended=True)
        await thread.answer((await asked(thread)).corr, Answer("", by="declined"))
        assert (await thread.wait()).ending == "done"
        (result,) = results(host, thread.id)
        assert result.output["answers"] == []
        assert result.output["note"].startswith("The user declined to answer.")

    play(environ, scenario)


@pytest.mark.parametrize("how", [{"attended": False}, {"attended": True, "questions": False}])
def test_where_nobody_answers_it_is_not_offered_and_the_model_goes_on(
    environ, workspace, script, how
):
    async def scenario(host):
        thread = await asking(host, workspace, script, **how)
        assert (await thread.wait()).ending == "done"
        (result,) = results(host, thread.id)
        assert result.status == "denied"
        assert "nobody is there to answer" in result.message
        assert "decide yourself" in result.message
        assert not any(isinstance(m.body, Question) for m in host.messages(thread.id))
        assert "ask_user" not in offered(host, thread)

    play(environ, scenario)


def test_a_question_that_is_stopped_waits_no_more(environ, workspace, script):
    async def scenario(host):
        thread = await asking(host, workspace, script, attended=True)
        await asked(thread)
        assert "ask_user" in offered(host, thread)
        await thread.cancel()
        assert (await thread.wait()).ending == "cancelled"
        assert (await thread.state()).activity.waiting == ()

    play(environ, scenario)


def test_a_question_outlives_its_process_and_those_before_it_are_not_asked_again(
    environ, workspace, script
):
    settings = Settings(model=script(ASK, DONE))

    async def begun(host, thread_id):
        handle = await host.attach(thread_id)
        await handle.send("go")
        await handle.answer((await asked(handle)).corr, Answer("SQLite"))
        return (await asked(handle, 2)).corr

    async def taken_over(host, thread_id, corr):
        thread = await host.attach(thread_id, attended=True)
        assert [one.corr for one in (await thread.state()).activity.waiting] == [corr]
        await thread.answer(corr, Answer("Postgres"))
        async with asyncio.timeout(30):
            await thread.wait()
        bodies = [message.body for message in host.messages(thread_id)]
        assert sum(isinstance(body, Question) for body in bodies) == 2
        (result,) = results(host, thread_id)
        assert [one["answer"] for one in result.output["answers"]] == ["SQLite", "Postgres"]
        assert [body.ending for body in bodies if isinstance(body, TurnEnd)] == ["done"]

    with owned(environ, workspace, settings) as (process, thread_id):
        corr = play(environ, lambda host: begun(host, thread_id))
        process.kill()
        process.wait()
    play(environ, lambda host: taken_over(host, thread_id, corr))
