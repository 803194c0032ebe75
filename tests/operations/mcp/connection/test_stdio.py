"""Servers that are programs: started when used, and however they behave, a turn goes on."""

import asyncio
import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from steersman.operations.mcp import patience
from steersman.records.mcp_server import Server
from steersman.records.mcp_tools import Outcome, ServerProblem, Wishes
from tests.operations.mcp.connection.kit import TOKEN, World, below, lives, read, rough
from tests.store.elsewhere import ROOT

ERAS = pytest.mark.parametrize("era", [(), ("modern",)], ids=["legacy", "modern"])


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


def started(record: Path) -> list[int]:
    """The processes of a server, one for each start."""
    return [int(line) for line in record.read_text().split()] if record.exists() else []


@ERAS
def test_a_server_is_started_listed_called_and_stopped(world, era):
    async def use(world: World) -> None:
        connection = world.connection(rough(*era))
        assert not connection.alive
        await connection.start()
        assert connection.alive
        assert connection.version == ("rough 2.0" if era else "rough 1.0")
        assert connection.protocol == ("2026-07-28" if era else "2025-11-25")
        assert connection.instructions == ("" if era else "Use it gently.")
        tools = await connection.tools()
        assert [tool.full_name for tool in tools] == ["rough__echo", "rough__die", "rough__hang"]
        assert tools[0].hints == {"readOnlyHint": True}
        assert tools[0].description == "Does echo."
        assert tools[0].parameters["properties"] == {"text": {"type": "string"}}
        assert read(await connection.call("echo", {"text": "hello"})) == Outcome("hello")
        pid = connection.pid
        assert lives(pid)
        await connection.stop()
        assert not connection.alive
        assert not lives(pid)
        assert read(await connection.call("echo", {"text": "anew"})) == Outcome("anew")

    world.run(use)


def test_calls_are_made_at_the_same_time(world):
    async def use(world: World) -> None:
        connection = world.connection(rough())
        words = [f"word {number}" for number in range(50)]
        outcomes = await asyncio.gather(*(connection.call("echo", {"text": one}) for one in words))
        assert [outcome.text for outcome in outcomes] == words

    world.run(use)


@ERAS
def test_a_server_that_dies_in_a_call_is_named_with_its_last_words(world, era, tmp_path):
    record = tmp_path / "record"

    async def use(world: World) -> None:
        connection = world.connection(rough(*era, environ={"RECORD": str(record)}))
        with pytest.raises(ServerProblem) as caught:
            await connection.call("die", {"code": 3})
        assert caught.value.what == "The MCP server “rough” was lost while it worked on “die”."
        assert caught.value.why == (
            "It ended with exit code 3. Its last output: dying now, with [redacted]"
        )
        assert "not known" in caught.value.try_this
        assert not connection.alive
        assert connection.problem is not None
        assert read(await connection.call("echo", {"text": "back"})) == Outcome("back")
        assert connection.problem is None
        assert len(started(record)) == 2

    world.run(use)


def test_a_call_in_flight_when_its_server_is_killed_fails_at_once(world, tmp_path):
    record = tmp_path / "record"

    async def use(world: World) -> None:
        connection = world.connection(rough(environ={"RECORD": str(record)}, timeout=100.0))
        await connection.start()
        hanging = asyncio.create_task(connection.call("hang", {}))
        await asyncio.sleep(0)
        assert (await connection.call("echo", {"text": "a"})).text == "a"
        assert connection.pid is not None
        kill = await asyncio.create_subprocess_exec("kill", "-9", str(started(record)[0]))
        await kill.wait()
        with pytest.raises(ServerProblem, match="SIGKILL"):
            await hanging

    world.run(use)


def test_a_call_is_never_sent_twice(world, tmp_path):
    heard = tmp_path / "heard"

    async def use(world: World) -> None:
        connection = world.connection(rough(environ={"HEARD": str(heard)}))
        await connection.call("echo", {"text": "first"})
        with pytest.raises(ServerProblem):
            await connection.call("die", {})
        await connection.call("echo", {"text": "second"})

    world.run(use)
    calls = [json.loads(line) for line in heard.read_text().splitlines()]
    said = [call["params"]["arguments"] for call in calls if call.get("method") == "tools/call"]
    assert said == [{"text": "first"}, {"text": "second"}]


def test_a_server_found_dead_is_started_before_the_call(world, tmp_path):
    record = tmp_path / "record"

    async def use(world: World) -> None:
        connection = world.connection(rough(environ={"RECORD": str(record)}))
        await connection.start()
        kill = await asyncio.create_subprocess_exec("kill", "-9", str(started(record)[0]))
        await kill.wait()
        while connection.alive:
            await asyncio.sleep(0.01)
        assert (await connection.call("echo", {"text": "a"})).text == "a"
        assert len(started(record)) == 2

    world.run(use)


def test_many_who_find_it_dead_start_it_once(world, tmp_path):
    record = tmp_path / "record"

    async def use(world: World) -> None:
        connection = world.connection(rough(environ={"RECORD": str(record)}))
        with pytest.raises(ServerProblem):
            await connection.call("die", {})
        calls = (connection.call("echo", {"text": str(number)}) for number in range(20))
        outcomes = await asyncio.gather(*calls)
        assert [outcome.text for outcome in outcomes] == [str(number) for number in range(20)]
        assert len(started(record)) == 2

    world.run(use)


def test_nothing_is_printed_and_nothing_is_logged(world, capfd, caplog):
    async def use(world: World) -> None:
        connection = world.connection(rough("sloppy", "banner"))
        await connection.tools()
        await connection.call("garbage", {"count": 5})
        await connection.call("progress", {})
        for tool in ("die", "garbage"):
            with pytest.raises(ServerProblem):
                await connection.call(tool, {"count": 2000})
        with pytest.raises(ServerProblem):
            await connection.call("hang", {}, timeout=0.1)

    caplog.set_level(0)
    world.run(use)
    assert capfd.readouterr() == ("", "")
    assert [one for one in caplog.records if one.name != "asyncio"] == []


def test_without_the_library_it_is_said_what_to_install(tmp_path):
    code = f"""
import sys, asyncio, pathlib
sys.modules["mcp"] = None
from tests.operations.mcp.connection.kit import World, rough
try:
    World(pathlib.Path({str(tmp_path)!r})).run(lambda world: world.connection(rough()).start())
except Exception as error:
    print(type(error).__name__, error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, cwd=ROOT, check=False)
    assert done.stdout.startswith(b"ServerProblem MCP servers need the package")


def test_a_server_that_closes_its_output_and_lives_is_ended(world, tmp_path):
    record = tmp_path / "record"

    async def use(world: World) -> None:
        connection = world.connection(rough(environ={"RECORD": str(record)}))
        with pytest.raises(ServerProblem, match="closed the connection"):
            await connection.call("close", {})
        await connection.stop()
        assert not lives(started(record)[0])

    world.run(use)


def test_a_server_that_does_not_answer_costs_its_time_and_no_more(world, tmp_path):
    record = tmp_path / "record"

    async def use(world: World) -> None:
        connection = world.connection(rough(environ={"RECORD": str(record)}))
        await connection.start()
        with pytest.raises(ServerProblem, match="did not answer within"):
            await connection.call("hang", {}, timeout=0.2)
        assert connection.alive
        assert (await connection.call("echo", {"text": "a"})).text == "a"
        for _ in range(2):  # one that is silent twice in a row is started anew
            with pytest.raises(ServerProblem, match="did not answer"):
                await connection.call("hang", {}, timeout=0.2)
        assert not connection.alive
        assert (await connection.call("echo", {"text": "a"})).text == "a"
        assert len(started(record)) == 2

    world.run(use)


def test_a_server_that_never_greets_is_given_up(world):
    async def use(world: World) -> None:
        connection = world.connection(rough("mute", timeout=0.5))
        with pytest.raises(ServerProblem, match="did not answer the first message within"):
            await connection.start()
        assert not connection.alive
        assert connection.pid is None

    world.run(use)


def test_a_server_that_cannot_start_says_why_and_is_left_alone_after_a_while(world, tmp_path):
    record = tmp_path / "record"

    async def use(world: World) -> None:
        connection = world.connection(rough("grumpy", environ={"RECORD": str(record)}))
        for _ in range(patience.FREE):
            with pytest.raises(ServerProblem, match="could not be started") as caught:
                await connection.tools()
            assert (
                "exit code 7. Its last output: config file is missing [redacted]"
                in caught.value.why
            )
        tries = len(started(record))
        with pytest.raises(ServerProblem, match="failed repeatedly") as caught:
            await connection.tools()
        assert "config file is missing" in caught.value.why
        assert len(started(record)) == tries

    world.run(use)


def test_a_program_that_is_not_there_is_named(world):
    async def use(world: World) -> None:
        gone = Server(name="gone", transport="stdio", command="no-such-program-here")
        with pytest.raises(ServerProblem) as caught:
            await world.connection(gone).start()
        assert caught.value.what == "The MCP server “gone” could not be started."
        assert "no-such-program-here" in caught.value.why

    world.run(use)


def test_garbage_is_passed_over_until_there_is_too_much_of_it(world):
    async def use(world: World) -> None:
        connection = world.connection(rough("banner"))
        assert (await connection.call("garbage", {"count": 900})).text == "after garbage"
        with pytest.raises(ServerProblem, match="1,000 lines in a row that are not messages"):
            await connection.call("garbage", {"count": 5000})
        assert (await connection.call("echo", {"text": "a"})).text == "a"

    world.run(use)


def test_a_flood_of_words_nobody_asked_for_is_dammed(world):
    async def use(world: World) -> None:
        connection = world.connection(rough())
        assert (await connection.call("flood", {"count": 10_000})).text == "still here"
        with pytest.raises(ServerProblem, match="unrequested messages"):
            await connection.call("flood", {"count": 10_000_000})
        assert (await connection.call("echo", {"text": "a"})).text == "a"

    world.run(use)


def test_a_message_that_is_too_large_is_refused(world):
    async def use(world: World) -> None:
        connection = world.connection(rough())
        outcome = await connection.call("huge", {"size": 5_000_000})
        assert outcome.cut == 4_900_000
        with pytest.raises(ServerProblem, match="larger than 16 MB"):
            await connection.call("huge", {"size": 17 * 2**20})
        assert (await connection.call("echo", {"text": "a"})).text == "a"

    world.run(use)


def test_progress_is_told(world):
    async def use(world: World) -> list[str]:
        told: list[str] = []
        outcome = await world.connection(rough()).call("progress", {}, progress=told.append)
        assert outcome.text == "done"
        return told

    assert world.run(use) == ["1 of 3: on", "2 of 3: on", "3 of 3: on"]


def test_progress_gives_a_call_more_time_and_a_flood_of_it_is_thinned(world):
    async def use(world: World) -> int:
        told: list[str] = []
        connection = world.connection(rough())
        await connection.call("progress", {"steps": 5000}, progress=told.append)
        return len(told)

    assert 0 < world.run(use) < 1000


@pytest.mark.parametrize("era", [(), ("modern", "noisy")], ids=["legacy", "modern"])
def test_a_change_of_the_list_is_told(world, era):
    async def use(world: World) -> None:
        changes: list[str] = []
        changed = asyncio.Event()

        def note(server: str) -> None:
            changes.append(server)
            changed.set()

        connection = world.connection(rough(*era), Wishes(changed=note))
        await connection.start()
        if not era:
            await connection.call("change", {})
        await changed.wait()
        assert changes == ["rough"]
        assert len(await connection.tools()) == (3 if era else 4)

    world.run(use)


def test_one_sloppy_tool_does_not_lose_the_server(world):
    async def use(world: World) -> None:
        connection = world.connection(rough("sloppy"))
        tools = {tool.name: tool for tool in await connection.tools()}
        assert list(tools) == [
            "good", "empty", "bare", "string", "listed", "shouting", "hinting", "promising",
            "decorated", "odd",
        ]  # fmt: skip
        assert tools["empty"].parameters == {"type": "object", "properties": {}}
        assert tools["bare"].repaired == "it has no schema"
        assert tools["hinting"].hints == {"destructiveHint": False}
        assert connection.remarks[""] == "a tool without a name was left out"
        assert connection.version == "rough 1"
        assert (await connection.call("good", {"text": "works"})).text == "works"

    world.run(use)


def test_sloppy_results_are_read(world):
    async def use(world: World) -> None:
        connection = world.connection(rough("sloppy"))

        async def call(result: object) -> Outcome:
            return await connection.call("blocks", {"result": json.dumps(result)})

        assert read(await call({})) == Outcome("")
        assert read(await call({"content": "plain"})) == Outcome("plain")
        assert read(await call({"content": [{"type": "chart", "text": "x"}, None]})) == Outcome(
            "x\nnull"
        )
        assert read(await call({"structuredContent": [1]})) == Outcome("[1]")
        refused = await connection.call("odd_error", {})
        assert read(refused) == Outcome("just a string (-32603)", failed=True)

    world.run(use)


def test_all_pages_of_a_list_are_read_and_a_list_without_end_ends(world):
    async def use(world: World) -> None:
        tools = await world.connection(rough("pages")).tools()
        assert [tool.name for tool in tools] == [f"tool{number}" for number in range(50)]
        endless = await world.connection(rough("endless")).tools()
        assert [tool.name for tool in endless] == ["same"]

    world.run(use)


def test_an_error_of_a_tool_is_an_outcome(world):
    async def use(world: World) -> None:
        connection = world.connection(rough())
        assert read(await connection.call("nothing", {})) == Outcome(
            "no tool nothing (-32602)", failed=True
        )
        assert read(await connection.call("refuse", {})) == Outcome(
            "not today (-32000)", failed=True
        )
        assert connection.alive

    world.run(use)


def test_a_server_gets_little_of_our_environment_and_all_of_its_own(world):
    async def use(world: World) -> None:
        server = rough(environ={"MODE": "production", "LC_ALL": "C"})
        text = (await world.connection(server).call("environ", {})).text
        seen = json.loads(text)
        assert seen["MODE"] == "production"
        assert seen["LC_ALL"] == "C"
        assert "PATH" in seen
        assert "UNRELATED_SECRET" not in seen
        assert seen["API_TOKEN"] == "[redacted]"
        assert TOKEN not in text

    world.run(use)


@ERAS
def test_nothing_is_left_of_a_server_that_was_stopped(world, era):
    async def use(world: World) -> None:
        connection = world.connection(rough(*era))
        child = int((await connection.call("child", {})).text)
        pid = connection.pid
        assert lives(child)
        await connection.stop()
        assert not lives(child)
        assert not lives(pid)

    world.run(use)


def test_a_call_whose_caller_goes_away_leaves_the_server_usable(world):
    async def use(world: World) -> None:
        connection = world.connection(rough())
        await connection.start()
        hanging = asyncio.create_task(connection.call("hang", {}))
        await asyncio.sleep(0.05)
        hanging.cancel()
        with pytest.raises(asyncio.CancelledError):
            await hanging
        assert not connection.busy
        assert (await connection.call("echo", {"text": "a"})).text == "a"

    world.run(use)


def test_a_start_whose_caller_goes_away_leaves_nothing(world, tmp_path):
    async def use(world: World) -> None:
        connection = world.connection(rough("mute"))
        starting = asyncio.create_task(connection.start())
        while connection.pid is None and not starting.done():
            await asyncio.sleep(0.05)
            starting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await starting
        assert not connection.alive

    world.run(use)


def test_a_start_can_be_given_up(world, tmp_path):
    record = tmp_path / "record"

    async def use(world: World) -> None:
        connection = world.connection(rough("mute", environ={"RECORD": str(record)}))
        starting = asyncio.create_task(connection.start())
        while not record.exists():
            await asyncio.sleep(0.01)
        await connection.stop()
        with pytest.raises(ServerProblem, match="It was stopped"):
            await starting

    world.run(use)


def test_a_server_that_no_longer_listens_holds_nobody_up(world):
    async def use(world: World) -> None:
        connection = world.connection(rough())
        await connection.start()
        with pytest.raises(ServerProblem, match="did not answer"):
            await connection.call("doze", {}, timeout=0.2)
        with pytest.raises(ServerProblem, match="did not answer"):
            await connection.call("echo", {"text": "x" * 1_000_000}, timeout=0.2)
        assert (await connection.call("echo", {"text": "anew"})).text == "anew"

    world.run(use)


def test_no_server_outlives_a_host_that_is_killed(tmp_path):
    record = tmp_path / "record"
    host = f"""
import asyncio, pathlib
from tests.operations.mcp.connection.kit import World, rough

async def use(world):
    await world.connection(rough(environ={{"RECORD": {str(record)!r}}})).call("child", {{}})
    print("ready", flush=True)
    await asyncio.sleep(600)

World(pathlib.Path({str(tmp_path)!r})).run(use)
"""
    with subprocess.Popen(
        [sys.executable, "-c", host], stdout=subprocess.PIPE, cwd=ROOT
    ) as program:
        assert program.stdout is not None
        assert program.stdout.readline() == b"ready\n"
        server = started(record)[0]
        children = below(server)
        assert children
        program.kill()
    for pid in (server, *children):
        while lives(pid):
            time.sleep(0.01)


def test_no_secret_is_in_a_representation(world):
    async def use(world: World) -> None:
        connection = world.connection(rough())
        await connection.start()
        assert TOKEN not in repr(connection)
        assert repr(connection) == "<Connection rough alive>"

    world.run(use)


def test_the_library_is_loaded_with_the_first_start_and_not_before(tmp_path):
    code = (
        "import sys, steersman.operations.mcp.connection\n"
        "print([name for name in ('mcp', 'mcp_types', 'pydantic') if name in sys.modules])"
    )

    async def loaded() -> bytes:
        program = await asyncio.create_subprocess_exec(
            sys.executable, "-c", code, stdout=asyncio.subprocess.PIPE
        )
        return (await program.communicate())[0]

    assert asyncio.run(loaded()) == b"[]\n"
