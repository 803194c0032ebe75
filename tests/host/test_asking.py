"""Several asks of one answer: asked at once, answered together, and for the rest of the turn."""

import asyncio
from pathlib import Path

import pytest

from steersman.host import Host, policy
from steersman.records.message import (
    Audit,
    ConfirmRequest,
    ConfirmResponse,
    JobEnd,
    ToolProgress,
    ToolResult,
    TurnEnd,
)
from steersman.records.settings import Settings
from tests.cli.kit import BROKEN, DONE, FIX, FIXED, WRITE, Gate, outside
from tests.operations.network.kit import saying, server
from tests.world import call

OTHER = call("workspace_write_file", path="other.txt", content="other\n")
AGAIN = call("workspace_write_file", path="again.txt", content="again\n")
SAME_FILE = call(
    "workspace_edit_files",
    files=[{"path": "calc.py", "edits": [{"search": "add(a, b)", "replace": "plus(a, b)"}]}],
)
ASKING = {"approvals": "on-request"}
RUN = "workspace_run_command"
PAGE = b"HTTP/1.1 200 OK\r\nContent-Length: 8\r\nConnection: close\r\n\r\nmachine\n"
ENDED = "It has ended without the connection."


@pytest.fixture
def gate():
    """A command that waits until the test lets it go on."""
    gate = Gate()
    yield gate
    gate.release()


def play(environ, workspace, model, scenario):
    async def whole():
        async with Host.at(Path(environ["STEERSMAN_HOME"]), environ) as host:
            settings = Settings(model=model, **ASKING)
            thread = await host.start(str(workspace), "a task", settings, attended=True)
            await thread.send("go")
            return await scenario(host, thread)

    return asyncio.run(asyncio.wait_for(whole(), 60))


async def requests(thread, count):
    """The first requests of a thread."""
    found = []
    async for message in thread.events(0):
        if isinstance(message.body, ConfirmRequest):
            found.append(message)
        if len(found) == count:
            return found
    raise AssertionError("it ended")


def behind(command):
    """A call that runs a command in the background."""
    return call("workspace_run_command", command=command, background=True, wait_timeout=0.1)


async def ended_without(thread):
    """What is asked about hosts, by the host, once the command has ended without an answer."""
    corrs = {}
    async for message in thread.events(0):
        if isinstance(message.body, ConfirmRequest):
            corrs[message.body.actions[0].host] = message.corr
        if isinstance(message.body, ToolProgress) and ENDED in message.body.text:
            return corrs
    raise AssertionError("it ended")


def bodies(host, thread, *kinds):
    return [m.body for m in host.messages(thread.id) if isinstance(m.body, kinds)]


def test_all_asks_of_an_answer_wait_at_once_and_effects_keep_their_order(
    environ, workspace, script
):
    """A command may depend on what goes before it, so it is asked about when its turn has come."""
    model = script({"tool_calls": [FIX, WRITE, outside("cat calc.py new.txt > seen")]}, DONE)

    async def scenario(host, thread):
        first, second = await requests(thread, 2)
        assert not bodies(host, thread, ConfirmResponse, ToolResult)
        state = await thread.state()
        assert [one.what for one in state.activity.waiting] == [
            "change `calc.py`",
            "create `new.txt`",
        ]
        for message in (second, first):  # in any order
            await thread.answer(message.corr, ConfirmResponse("allow"))
        *_, third = await requests(thread, 3)
        assert bodies(host, thread, ToolResult)
        await thread.answer(third.corr, ConfirmResponse("allow"))
        await thread.wait()
        assert len(bodies(host, thread, ConfirmRequest)) == 3

    play(environ, workspace, model, scenario)
    assert (workspace / "seen").read_text() == FIXED + "new\n"


def test_the_like_in_this_turn_covers_what_waits_and_comes_and_ends_with_the_turn(
    environ, workspace, script
):
    both = {"tool_calls": [FIX, WRITE]}
    model = script(both, {"tool_calls": [OTHER]}, DONE, {"tool_calls": [AGAIN]}, DONE)

    async def scenario(host, thread):
        first, second = await requests(thread, 2)
        await thread.answer(first.corr, ConfirmResponse("allow", scope="turn", lasting="edits"))
        held = []
        async for message in thread.events(0):
            if isinstance(message.body, ToolResult):
                held = held or [
                    policy.rules(host, str(workspace), Settings(**ASKING), place)
                    for place in (thread.id, "another", None)
                ]
            if isinstance(message.body, TurnEnd):
                break
        await thread.wait()
        given = {m.corr: m.body for m in host.messages(thread.id, kinds={"confirm_response"})}
        assert given[second.corr] == ConfirmResponse("allow", by="earlier")
        assert len(given) == 2  # what came later in the turn was not asked about
        assert [[one.stands for one in listed] for listed in held] == [
            ["an answer for this turn"], [], [f"an answer for thread {thread.id}"],
        ]  # fmt: skip
        assert policy.rules(host, str(workspace), Settings(**ASKING)) == []

        await thread.send("more")
        third = (await requests(thread, 3))[2]
        await thread.answer(third.corr, ConfirmResponse("deny"))
        await thread.wait()

    play(environ, workspace, model, scenario)
    assert (workspace / "other.txt").exists()
    assert not (workspace / "again.txt").exists()


def test_what_depends_on_the_call_before_is_asked_again_as_it_then_is(environ, workspace, script):
    model = script({"tool_calls": [FIX, SAME_FILE]}, DONE)

    async def scenario(host, thread):
        first, early = await requests(thread, 2)
        await thread.answer(first.corr, ConfirmResponse("allow"))
        anew = (await requests(thread, 3))[2]
        assert anew.body.call == early.body.call
        assert [one.corr for one in (await thread.state()).activity.waiting] == [anew.corr]
        await thread.answer(anew.corr, ConfirmResponse("allow"))
        await thread.wait()

    play(environ, workspace, model, scenario)
    assert (workspace / "calc.py").read_text() == FIXED.replace("add(", "plus(")
    assert BROKEN != FIXED


def test_a_turn_that_is_stopped_leaves_nothing_waiting(environ, workspace, script):
    model = script({"tool_calls": [FIX, WRITE]}, DONE)

    async def scenario(host, thread):
        await requests(thread, 2)
        await thread.cancel()
        await thread.wait()
        assert not (await thread.state()).activity.waiting
        assert [one.status for one in bodies(host, thread, ToolResult)] == ["cancelled"] * 2

    play(environ, workspace, model, scenario)
    assert (workspace / "calc.py").read_text() == BROKEN


def test_a_command_that_gave_up_before_the_answer_is_run_again_once(environ, workspace, script):
    """What it did until then is thrown away; hosts that it wants at the same time all wait."""
    curl = "curl -sS -m 0.3 http://{}.invalid"
    line = f"echo run >> runs; {curl.format('a')} & {curl.format('b')}; wait; exit 3"
    model = script({"tool_calls": [call("workspace_run_command", command=line)]}, DONE)

    async def scenario(host, thread):
        corrs = await ended_without(thread)
        assert len((await thread.state()).activity.waiting) == len(corrs) == 2
        await thread.answer(corrs["a.invalid"], ConfirmResponse("allow"))
        await thread.answer(corrs["b.invalid"], ConfirmResponse("deny"))
        await thread.wait()
        (result,) = bodies(host, thread, ToolResult)
        assert result.output["note"].startswith("run again: the connection was allowed after")
        assert result.output["refused"] == ["b.invalid:80"]
        assert len(bodies(host, thread, ConfirmRequest)) == 2

    play(environ, workspace, model, scenario)
    assert (workspace / "runs").read_text() == "run\n"


@pytest.mark.parametrize("decision", ["allow", "deny"])
def test_a_command_that_gave_up_and_succeeded_waits_for_the_answer_too(
    environ, workspace, script, decision
):
    """In a pipe nobody sees that curl failed."""
    line = "echo run >> runs; curl -sS -m 0.3 http://a.invalid 2>&1 | head -c 9; exit 0"
    model = script({"tool_calls": [call("workspace_run_command", command=line)]}, DONE)

    async def scenario(host, thread):
        corrs = await ended_without(thread)
        assert [one.what for one in (await thread.state()).activity.waiting]
        await thread.answer(corrs["a.invalid"], ConfirmResponse(decision))
        await thread.wait()
        (result,) = bodies(host, thread, ToolResult)
        assert result.output["exit_code"] == 0
        assert len(bodies(host, thread, ConfirmRequest)) == 1
        return result.output["note"]

    note = play(environ, workspace, model, scenario)
    assert note.startswith(
        "run again: the connection was allowed after it had given up"
        if decision == "allow"
        else "a.invalid:80 was not reached: the user said no"
    )
    assert (workspace / "runs").read_text() == "run\n"


def test_a_job_that_ends_before_the_answer_says_which_host_it_was(environ, workspace, script, gate):
    """There is nobody left who could be allowed anything; nothing waits any more."""
    line = f"{gate.wait['arguments']['command']}; curl -sS -m 0.3 http://a.invalid; exit 0"
    model = script({"tool_calls": [behind(line)]}, DONE)

    async def scenario(host, thread):
        await thread.wait()
        await asyncio.to_thread(gate.open)
        await requests(thread, 1)
        async for message in thread.events(0):
            if isinstance(message.body, JobEnd):
                break
        assert "a.invalid:80 was not reached: it ended before you answered" in str(
            bodies(host, thread, Audit)
        )
        assert not (await thread.state()).activity.waiting

    play(environ, workspace, model, scenario)


def test_an_answer_for_outside_covers_no_file_that_a_link_leads_to(environ, workspace, script):
    """A contained command makes the links, unasked; what goes through them is asked about."""
    home = Path(environ["HOME"])
    (home / ".aws").mkdir(exist_ok=True)
    (home / ".aws/credentials").write_text("AWS-zq-content\n")
    calls = [
        outside("cat /etc/hosts"),
        call("workspace_run_command", command=f"ln -s {home}/.bashrc l; ln -s {home} d"),
        outside("cat /etc/passwd"),
        outside("cat /etc/hosts > l"),
        outside("nice cat /etc/hosts > d/.profile"),
        outside("git diff --no-index /dev/null d/.aws/credentials"),
        outside("cat d/.aws/credentials"),
    ]
    model = script(*({"tool_calls": [one]} for one in calls), DONE)

    async def scenario(host, thread):
        answers = [ConfirmResponse("allow", scope="thread", lasting="same")]
        async for message in thread.events(0):
            if isinstance(message.body, ConfirmRequest):
                said = answers.pop() if answers else ConfirmResponse("deny")
                await thread.answer(message.corr, said)
            if isinstance(message.body, TurnEnd):
                break
        await thread.wait()
        asked = [one.actions[0].command for one in bodies(host, thread, ConfirmRequest)]
        return asked, str(bodies(host, thread, ToolResult))

    asked, seen = play(environ, workspace, model, scenario)
    assert asked == [one["arguments"]["command"] for one in (calls[0], *calls[3:6])]
    assert not (home / ".bashrc").exists()
    assert not (home / ".profile").exists()
    assert "AWS-zq-content" not in seen


def test_a_command_that_may_have_reached_a_server_of_the_thread_is_not_run_again(
    environ, workspace, script
):
    """It gave up before the answer, but what it did there would be done twice."""
    line = "echo run >> runs; curl -sS -m 0.3 http://a.invalid; exit 3"
    again = call("workspace_run_command", command=line)
    model = script({"tool_calls": [behind("sleep 600")]}, {"tool_calls": [again]}, DONE)

    async def scenario(host, thread):
        corrs = await ended_without(thread)
        await thread.answer(corrs["a.invalid"], ConfirmResponse("allow"))
        await thread.wait()
        _, result = bodies(host, thread, ToolResult)
        note = result.output["note"]
        assert "allowed after it had given up, so not reached: a.invalid:80" in note
        assert "because it may have reached servers that run in the background" in note

    play(environ, workspace, model, scenario)
    assert (workspace / "runs").read_text() == "run\n"


@pytest.mark.parametrize("typed", [False, True])
@pytest.mark.parametrize("said", ["allow", "deny"])
def test_a_server_of_the_machine_is_asked_about_beside_servers_of_the_thread(
    environ, workspace, script, typed, said
):
    """Whoever says yes is told what would be done twice; without them it is not run again."""

    async def scenario(host, thread, line):
        await thread.wait()
        if typed:
            running = asyncio.create_task(thread.call(RUN, {"command": line}, typed=True))
        else:
            await thread.set(model=script({"tool_calls": [call(RUN, command=line)]}, DONE))
            running = asyncio.create_task(send_and_wait(thread))
        (asked,) = await requests(thread, 1)
        assert asked.body.actions[0].reaches
        assert "it may have reached servers that run in the background" in asked.body.reason
        assert "would be done twice" in asked.body.reason
        await thread.answer(asked.corr, ConfirmResponse(said))
        await running
        return bodies(host, thread, ToolResult)[-1].output

    async def send_and_wait(thread):
        await thread.send("fetch it")
        await thread.wait()

    async def whole():
        async with server(saying(PAGE)) as port, asyncio.timeout(60):
            line = f"echo run >> runs; curl -sS http://127.0.0.1:{port}/"
            async with Host.at(Path(environ["STEERSMAN_HOME"]), environ) as host:
                first = script({"tool_calls": [behind("sleep 600")]}, DONE, name="first.json")
                settings = Settings(model=first, **ASKING)
                thread = await host.start(str(workspace), "a task", settings, attended=True)
                await thread.send("go")
                return await scenario(host, thread, line)

    output = asyncio.run(whole())
    assert (output["output"] == "machine\n") == (said == "allow"), output
    assert (workspace / "runs").read_text() == "run\n"
