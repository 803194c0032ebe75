"""After a plan: the user is asked whether it is to be carried out, and the turn goes on or ends."""

import asyncio
from functools import partial
from pathlib import Path

import pytest

from steersman.host import Host
from steersman.records.message import (
    Answer,
    Question,
    SettingsChanged,
    TurnEnd,
    TurnStart,
    User,
)
from steersman.records.settings import Settings
from tests.cli.kit import BROKEN, DONE, FIX, FIXED
from tests.host.owner import owned
from tests.world import call

SAID = {"text": "Planned."}


def play(environ, scenario):
    async def whole():
        async with Host.at(Path(environ["STEERSMAN_HOME"]), environ) as host:
            return await scenario(host)

    return asyncio.run(asyncio.wait_for(whole(), 60))


def plan_of(thread):
    return f".steersman/plans/{thread}.md"


def writes_plan(thread, content="# Plan\n"):
    return {"tool_calls": [call("workspace_write_file", path=plan_of(thread), content=content)]}


async def asked(thread, count=1):
    """The last of the first questions of a thread."""
    found = []
    async for message in thread.events(0):
        if isinstance(message.body, Question):
            found.append(message)
        if len(found) == count:
            return found[-1]
        assert not isinstance(message.body, TurnEnd)
    raise AssertionError("it ended")


def told(host, thread):
    """What matters here, as the log has it."""
    named = {Question: "asked", TurnStart: "begin"}
    found = []
    for message in host.messages(thread):
        match message.body:
            case SettingsChanged(mode=mode) if mode:
                found.append(f"mode {mode}")
            case Answer(text=text) | User(text=text):
                found.append(text)
            case TurnEnd(ending=ending):
                found.append(ending)
            case Question() | TurnStart() as body:
                found.append(named[type(body)])
    return found


async def planning(host, workspace, script, *steps, attended=True):
    """A thread in plan mode that gets the task to plan; steps are made from its id."""
    settings = Settings(model=script(DONE, name="first.json"), mode="plan", approvals="on-failure")
    thread = await host.start(str(workspace), "a task", settings, attended=attended)
    made = [step(thread.id) if callable(step) else step for step in steps]
    await thread.set(model=script(*made))
    await thread.send("plan it")
    return thread


@pytest.mark.parametrize(
    ("said", "asks"),
    [
        ("The plan:\n\n1. turn the sign\n2. test it", True),
        ("## Plan\n- turn the sign\n- test it\n\nThat is all.", True),
        ("Here is my plan:\n1. turn the sign\n2. test it\n\nShall I go on?", True),
        ("The plan:\n1. turn the sign\n2. test it\n3. Shall I commit it, too?", True),
        ("It adds two numbers.", False),
        ("It has two parts:\n- one adds\n- one tests that", False),
        ("Which do you want?\n1. a sign\n2. a test\n\nOr neither?", False),
        ("Which plan do you want?\n\n1. a sign\n2. a test", False),
        ("Before I plan:\n1. Which sign?\n2. Which test?", False),
    ],
)
def test_a_plan_that_is_only_said_is_asked_about_the_same(environ, workspace, script, said, asks):
    async def scenario(host):
        steps = ({"text": said}, {"tool_calls": [FIX]}, DONE)
        thread = await planning(host, workspace, script, *steps)
        if asks:
            await thread.answer((await asked(thread)).corr, Answer("yes"))
        await thread.wait()
        return told(host, thread.id)

    begun = ["asked", "yes", "mode code", "Carry out the plan you just gave."] if asks else []
    assert play(environ, scenario) == ["begin", "plan it", *begun, "done"]
    assert (workspace / "calc.py").read_text() == (FIXED if asks else BROKEN)


@pytest.mark.parametrize("word", ["yes", "Y"])
def test_a_plan_is_carried_out_in_code_mode(environ, workspace, script, word):
    async def scenario(host):
        steps = (writes_plan, SAID, {"tool_calls": [FIX]}, DONE)
        thread = await planning(host, workspace, script, *steps)
        question = await asked(thread)
        assert question.body.text.startswith("Carry out this plan?")
        assert (question.body.options, question.body.default) == (("yes", "no"), "no")
        waiting = (await thread.state()).activity.waiting
        assert [(one.corr, one.kind) for one in waiting] == [(question.corr, "question")]
        assert (workspace / "calc.py").read_text() == BROKEN
        await thread.answer(question.corr, Answer(word))
        await thread.wait()
        begin = f"Carry out the plan in {plan_of(thread.id)}."
        assert told(host, thread.id) == [
            "begin", "plan it", "asked", word, "mode code", begin, "done"
        ]  # fmt: skip
        assert host.kept(thread.id)["mode"] == "code"

    play(environ, scenario)
    assert (workspace / "calc.py").read_text() == FIXED


def test_no_ends_the_turn_and_other_words_change_the_plan(environ, workspace, script):
    async def scenario(host):
        again = partial(writes_plan, content="# Smaller\n")
        steps = (writes_plan, SAID, again, SAID, {"text": "No plan."})
        thread = await planning(host, workspace, script, *steps)
        await thread.answer((await asked(thread)).corr, Answer("make it smaller"))
        await thread.answer((await asked(thread, 2)).corr, Answer("no"))
        await thread.wait()
        assert (workspace / plan_of(thread.id)).read_text() == "# Smaller\n"
        await thread.send("why?")  # no plan is written in this turn
        await thread.wait()
        assert told(host, thread.id) == [
            "begin", "plan it", "asked", "make it smaller", "make it smaller", "asked", "no",
            "done", "begin", "why?", "done",
        ]  # fmt: skip
        assert host.kept(thread.id)["mode"] == "plan"

    play(environ, scenario)


def test_where_nobody_can_answer_nothing_is_asked(environ, workspace, script):
    async def scenario(host):
        thread = await planning(host, workspace, script, writes_plan, SAID, attended=False)
        await thread.wait()
        assert told(host, thread.id) == ["begin", "plan it", "done"]

    play(environ, scenario)


@pytest.mark.parametrize(("word", "text"), [("yes", FIXED), ("no", BROKEN)])
def test_the_question_outlives_its_process(environ, workspace, script, word, text):
    """Another one asks on under the same name, and does what the answer says."""
    settings = Settings(model=script(DONE, name="first.json"), mode="plan", approvals="on-failure")

    async def begun(host, thread_id):
        handle = await host.attach(thread_id)
        steps = (writes_plan(thread_id), SAID, {"tool_calls": [FIX]}, DONE)
        await handle.set(model=script(*steps))
        await handle.send("plan it")
        return (await asked(handle)).corr

    async def taken_over(host, thread_id, corr):
        thread = await host.attach(thread_id, attended=True)
        assert [one.corr for one in (await thread.state()).activity.waiting] == [corr]
        await thread.answer(corr, Answer(word))
        await thread.wait()
        assert told(host, thread_id).count("asked") == 1
        assert told(host, thread_id)[-1] == "done"

    with owned(environ, workspace, settings) as (process, thread_id):
        corr = play(environ, lambda host: begun(host, thread_id))
        process.kill()
        process.wait()
    play(environ, lambda host: taken_over(host, thread_id, corr))
    assert (workspace / "calc.py").read_text() == text
