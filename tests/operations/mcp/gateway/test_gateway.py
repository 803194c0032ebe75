"""Servers start when used, are listed once, stop when idle; a failing one blocks nobody."""

import asyncio

import pytest

from steersman.operations.mcp.cache import Listing
from steersman.operations.mcp.gateway import MOST_SELECTED
from steersman.records.errors import ToolProblem
from steersman.records.mcp_server import Server
from steersman.records.mcp_tools import Condition, ServerProblem
from tests.operations.mcp.gateway.kit import remote

OFFERED = [
    "echo", "sum_numbers", "delete_note", "create_issue", "fail", "variable", "slow", "crash",
    "grow",
]  # fmt: skip


def names(found):
    return [tool.name for tool in found.tools]


def test_looking_starts_a_server_once_and_its_list_is_kept_for_later(world):
    async def first():
        gateway = world.gateway(world.plain())
        assert world.starts() == 0
        assert gateway.conditions() == [Condition("plain", "idle")]
        found = await gateway.find()
        assert names(found) == OFFERED
        assert gateway.conditions() == [
            Condition("plain", "running", tools=10, version="plain 1.2")
        ]

    async def second():
        gateway = world.gateway(world.plain())
        found = await gateway.find("issue tracker")
        assert names(found) == ["create_issue"]
        assert found.ages == {"plain": 3600.0}
        assert gateway.conditions()[0].state == "idle"

    world.run(first)
    world.clock.now += 3600
    world.run(second)
    assert world.starts() == 1


def test_many_who_look_at_the_same_time_ask_once(world):
    async def look():
        gateway = world.gateway(world.plain())
        found = await asyncio.gather(*(gateway.find() for _ in range(10)))
        assert {tuple(names(one)) for one in found} == {tuple(OFFERED)}

    world.run(look)
    assert world.starts() == 1


def test_only_servers_that_may_have_it_are_asked_and_the_others_when_nothing_is_found(world):
    async def look():
        servers = [
            world.plain("mail", about="Send and read mail."),
            world.plain("tracker", about="Issues of our tracker."),
            world.plain("rest"),
        ]
        gateway = world.gateway(*servers)
        found = await gateway.find("open an issue")
        assert found.tools[0].full_name == "tracker__create_issue"
        assert found.unasked == ("mail", "rest")
        assert [world.starts(server.name) for server in servers] == [0, 1, 0]
        found = await gateway.find("echo")  # it is known where there is one
        assert (found.tools[0].server, found.unasked) == ("tracker", ("mail", "rest"))
        found = await gateway.find("weather")
        assert (found.tools, found.unasked) == ((), ())
        assert [world.starts(server.name) for server in servers] == [1, 1, 1]

    world.run(look)


def test_refresh_asks_the_server_anew(world):
    async def look():
        server = world.plain()
        world.cache.listed(server, Listing((remote("gone"),), world.clock.now))
        gateway = world.gateway(server)
        assert names(await gateway.find()) == ["gone"]
        assert world.starts() == 0
        assert names(await gateway.find(refresh=True)) == OFFERED

    world.run(look)


def test_another_definition_is_another_server_but_another_secret_is_not(world):
    world.cache.listed(world.plain(environ={"TOKEN": "a"}), Listing((remote("old"),)))

    async def look():
        same = world.gateway(world.plain(environ={"TOKEN": "b"}))
        assert names(await same.find()) == ["old"]
        other = world.gateway(world.plain("plain", "--mark", "x", environ={"TOKEN": "a"}))
        assert names(await other.find()) == OFFERED

    world.run(look)


def test_a_list_that_changed_is_asked_for_when_it_is_needed(world):
    async def grow():
        gateway = world.gateway(world.plain())
        before = await gateway.find()
        await gateway.call("plain", "grow", {})
        await told(gateway)
        after = await gateway.find()
        assert set(names(after)) - set(names(before)) == {"grown_10"}
        assert world.cache.kept(world.plain()).listing.tools[-1].name == "grown_10"

    async def told(gateway):
        """The notification has come."""
        while world.cache.kept(world.plain()).listing is not None:
            await asyncio.sleep(0.01)

    world.run(grow)
    assert world.starts() == 1


# Stopping


def test_a_server_that_was_called_stops_when_it_was_idle_for_its_time(world):
    async def work():
        gateway = world.gateway(world.plain(idle=600.0))
        await gateway.call("plain", "echo", {"text": "hi"})
        assert world.clock.waiting == [600.0]
        world.clock.pass_(599)
        await gateway.call("plain", "echo", {"text": "hi"})
        assert world.clock.waiting == [600.0]
        world.clock.pass_(600)
        await stopped(gateway)
        assert (await gateway.call("plain", "echo", {"text": "again"})).text == "again"

    world.run(work)
    assert world.starts() == 2


def test_a_server_that_was_only_listed_stops_soon(world):
    async def work():
        gateway = world.gateway(world.plain(idle=600.0))
        await gateway.find()
        assert world.clock.waiting == [60.0]
        world.clock.pass_(60)
        await stopped(gateway)

    world.run(work)


async def stopped(gateway):
    while gateway.conditions()[0].state == "running":
        await asyncio.sleep(0.01)
    assert gateway.conditions()[0].state == "idle"


# Servers that fail


def test_a_server_that_fails_is_left_out_with_its_reason_and_the_others_are_there(world):
    async def look():
        gateway = world.gateway(
            world.plain("good"),
            world.plain("broken", "--die", "initialize"),
            Server("missing", "stdio", command="no-such-program"),
        )
        found = await gateway.find("echo")
        assert [tool.full_name for tool in found.tools] == ["good__echo"]
        assert list(found.skipped) == ["broken", "missing"]
        assert "cannot initialize" in found.skipped["broken"]
        assert "no-such-program" in found.skipped["missing"]
        states = {one.server: one.state for one in gateway.conditions()}
        assert states == {"good": "running", "broken": "failed", "missing": "failed"}
        again = world.gateway(Server("missing", "stdio", command="no-such-program"))
        (condition,) = again.conditions()  # another session tries it again
        assert condition.state == "idle"
        assert "no-such-program" in condition.reason
        kept = world.cache.kept(Server("missing", "stdio", command="no-such-program"))
        assert "no-such-program" in kept.failure.reason

    world.run(look)


def test_nobody_waits_for_a_server_that_never_answers(world):
    async def look():
        hanging = world.plain("hanging", "--hang", "tools/list")
        gateway = world.gateway(world.plain("good"), hanging, patience=2.0)
        await gateway.find(server="good")
        found = await gateway.find()
        assert {tool.server for tool in found.tools} == {"good"}
        assert found.skipped == {
            "hanging": "It has not listed its tools within 2 s; ask again later."
        }

    world.run(look)


def test_a_server_whose_tool_is_named_is_waited_for_as_long_as_it_may_take(world):
    async def work():
        gateway = world.gateway(world.plain(), patience=0.0)  # nobody is waited for otherwise
        described = await gateway.describe(["plain__echo"])
        assert [tool.name for tool in described.tools] == ["echo"]
        assert described.problems == {}

    world.run(work)


def test_a_server_that_dies_in_a_call_is_started_again_by_the_next_one(world):
    async def work():
        gateway = world.gateway(world.plain())
        with pytest.raises(ServerProblem) as caught:
            await gateway.call("plain", "crash", {})
        assert "out of ink" in str(caught.value)
        assert gateway.conditions()[0].state == "failed"
        assert (await gateway.call("plain", "echo", {"text": "back"})).text == "back"
        assert gateway.conditions()[0].state == "running"

    world.run(work)
    assert world.starts() == 2


def test_whoever_looks_may_be_cancelled_and_the_server_is_still_ended(world):
    async def work():
        gateway = world.gateway(world.plain("plain", "--hang", "tools/list"))
        looking = asyncio.create_task(gateway.find())
        while world.starts() == 0:
            await asyncio.sleep(0.01)
        looking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await looking

    world.run(work)


# Describing and choosing


def test_tools_are_described_in_full_and_chosen_in_order(world):
    async def work():
        gateway = world.gateway(world.plain())
        found = await gateway.describe(["plain__echo", "plain__absent", "elsewhere__x", "plain"])
        (echo,) = found.tools
        assert echo.parameters["required"] == ["text"]
        assert found.problems == {
            "plain__absent": "plain has no such tool.",
            "elsewhere__x": "Tools are named server__tool; servers: plain.",
            "plain": "Tools are named server__tool; servers: plain.",
        }
        assert gateway.selected() == ()
        gateway.select(["plain__slow"])
        gateway.select(["plain__echo", "plain__slow"])
        assert [tool.name for tool in gateway.selected()] == ["slow", "echo"]
        with pytest.raises(ServerProblem, match="not known"):
            gateway.select(["plain__absent"])

    world.run(work)


def test_a_chosen_tool_that_the_server_has_no_more_is_not_offered(world):
    async def work():
        server = world.plain()
        world.cache.listed(server, Listing((remote("gone"), remote("echo"))))
        gateway = world.gateway(server)
        gateway.select(["plain__gone", "plain__echo"])
        await gateway.find(refresh=True)
        assert [tool.name for tool in gateway.selected()] == ["echo"]

    world.run(work)


def test_only_so_many_tools_are_chosen(world):
    tools = tuple(remote(f"t{number}") for number in range(MOST_SELECTED + 1))
    world.cache.listed(world.plain(), Listing(tools))
    gateway = world.gateway(world.plain())
    gateway.select([tool.full_name for tool in tools[:-1]])
    with pytest.raises(ServerProblem, match="selected already"):
        gateway.select([tools[-1].full_name])


def test_names_that_no_provider_takes_are_made_to_fit_and_found_again(world):
    odd = remote("files/read.all"), remote("files_read.all"), remote("x" * 100)
    world.cache.listed(world.plain(), Listing(odd))
    gateway = world.gateway(world.plain())
    called = [tool.call_name for tool in odd]
    assert len(set(called)) == 3
    assert gateway.select(called) == odd
    assert gateway.select([odd[0].full_name]) == odd


# What is not offered


def test_tools_that_change_code_are_hidden_from_models_but_not_from_the_host(world):
    async def work():
        gateway = world.gateway(world.plain())
        assert "replace_symbol_body" not in names(await gateway.find("symbol"))
        found = await gateway.describe(["plain__replace_symbol_body"])
        assert "not offered as it is" in found.problems["plain__replace_symbol_body"]
        assert gateway.tool("plain__replace_symbol_body") is None
        with pytest.raises(ServerProblem, match="not offered"):
            await gateway.call("plain", "replace_symbol_body", {})
        outcome = await gateway.call("plain", "replace_symbol_body", {}, internal=True)
        assert "was called" in outcome.text

    world.run(work)


def test_a_server_that_is_switched_off_is_not_there(world):
    async def work():
        gateway = world.gateway(world.plain(enabled=False))
        world.cache.listed(world.plain(), Listing((remote("echo"),)))
        assert gateway.conditions()[0].state == "disabled"
        assert (await gateway.find()).tools == ()
        assert gateway.tool("plain__echo") is None
        with pytest.raises(ToolProblem, match="disabled"):
            await gateway.call("plain", "echo", {})
        with pytest.raises(ToolProblem, match="There is no MCP server “other”"):
            await gateway.find(server="other")

    world.run(work)
    assert world.starts() == 0


# Calls


def test_a_call_gives_text_structure_progress_and_what_the_server_says_of_failing(world):
    async def work():
        heard = []
        gateway = world.gateway(world.plain(environ={"COLOUR": "blue"}))
        total = await gateway.call("plain", "sum_numbers", {"numbers": [1, 2]})
        assert (total.text, total.structured) == ("3", {"total": 3})
        failed = await gateway.call("plain", "fail", {})
        assert (failed.text, failed.failed) == ("the tracker is closed today", True)
        assert (await gateway.call("plain", "slow", {}, heard.append)).text == "done"
        assert any("half way" in text for text in heard)
        assert (await gateway.call("plain", "variable", {"text": "COLOUR"})).text == "blue"

    world.run(work)


@pytest.mark.parametrize(
    ("tool", "effect"),
    [
        ("echo", "reads"),
        ("delete_note", "writes"),
        ("create_issue", "writes"),
        ("nobody_knows", "writes"),
    ],
)
def test_what_a_call_counts_as(world, tool, effect):
    tools = (
        remote("echo", hints={"readOnlyHint": True}),
        remote("delete_note", hints={"readOnlyHint": True}),
        remote("create_issue"),
    )
    server = world.plain()
    world.cache.listed(server, Listing(tools))
    assert world.gateway(server).effect("plain", tool) == effect
    assert world.gateway(server).effect("other", tool) == "writes"


def test_the_word_of_a_server_that_the_folder_brought_is_not_believed(world):
    server = world.plain(source=str(world.folder / ".mcp.json"))
    world.cache.listed(server, Listing((remote("echo", hints={"readOnlyHint": True}),)))
    assert world.gateway(server).effect("plain", "echo") == "writes"
    named = world.plain(source=str(world.folder / ".mcp.json"), reads=("e*",))
    assert world.gateway(named).effect("plain", "echo") == "reads"
