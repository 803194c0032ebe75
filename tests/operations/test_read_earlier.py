"""`read_earlier` and `read_skill`: what is not in the conversation, when the model asks for it."""

import asyncio
from typing import Any

import pytest

from steersman.intelligence.earlier import search, text_of
from steersman.operations.tool import Bench, Malformed, Tool
from steersman.operations.tools.read_earlier import ReadEarlier
from steersman.operations.tools.read_skill import ReadSkill
from steersman.operations.workspace import Workspace
from steersman.records.dialogue import Call
from steersman.records.errors import UsageProblem
from steersman.records.message import Assistant, ToolCall, ToolResult, User
from steersman.store.log import Lane
from tests.operations.workshop import not_asked
from tests.store.logs import a_lane

LONG = "".join(f"line {n}\n" for n in range(5_000))


async def said(root: Lane) -> None:
    """A short conversation, one of a helper below, and one of somebody else."""
    read = root.at("operations", "workspace_read_file")
    await root.at("coordination").append(User("Look for the blue whale"))
    await root.at("intelligence").append(Assistant("Looking.", calls=("c1",)))
    await read.append(ToolCall("workspace_read_file", {"path": "whale.txt"}), corr="c1")
    await read.append(ToolResult("workspace_read_file", "ok", LONG), corr="c1")
    await root.at("operations", "helper", "intelligence").append(Assistant("A whale, below."))
    await Lane(root.log, "other/intelligence").append(Assistant("A whale, elsewhere."))
    await read.append(ToolResult("workspace_read_file", "ok", "read again"), corr="c1")


def used(tool: Tool[Any], **arguments: Any) -> Any:
    """What a call of a tool gives."""

    async def run(root: Lane) -> Any:
        await said(root)
        args = tool.parse(Call("c9", tool.name, arguments))
        workspace = Workspace("/")
        plan = await tool.plan(args, workspace.planning(not_asked))
        assert list(plan.actions) == []
        lane = root.at("operations", tool.name)
        bench = Bench(workspace, None, lane, "c9", print, None, None)
        return await tool.perform(plan, bench)

    with a_lane() as root:
        return asyncio.run(run(root))


EARLIER = ReadEarlier(text_of, search)


def test_a_message_is_read_by_its_number_part_by_part():
    whole = used(EARLIER, message=4, limit=100)
    assert (whole.message, whole.kind, whole.size) == (4, "tool_result", len(LONG))
    assert (whole.offset, whole.next_offset, whole.text) == (0, 100, LONG[:100])
    assert used(EARLIER, message=4, offset=100, limit=50).text == LONG[100:150]
    assert used(EARLIER, message=4, offset=10**6).text == ""


def test_a_result_is_read_by_its_call_and_the_newest_of_a_name_counts():
    found = used(EARLIER, call="c1")
    assert (found.message, found.text) == (7, "read again")


def test_words_are_found_in_ones_own_lane_and_below():
    found = used(EARLIER, words="WHALE")
    assert [one.message for one in found] == [5, 3, 1]
    assert found[-1].excerpt == "Look for the blue whale"
    assert used(EARLIER, words="line 4999")[0].excerpt.startswith("…")


@pytest.mark.parametrize("arguments", [{"message": 99}, {"call": "c7"}, {"message": 6}])
def test_what_is_not_there_or_not_ones_own_is_told(arguments):
    with pytest.raises(Exception, match="There is no"):
        used(EARLIER, **arguments)


@pytest.mark.parametrize("arguments", [{}, {"message": 1, "words": "x"}])
def test_exactly_one_thing_is_asked_for(arguments):
    with pytest.raises(Exception, match="not clear"):
        used(EARLIER, **arguments)


def test_a_call_that_does_not_fit_is_refused():
    with pytest.raises(Malformed):
        used(EARLIER, message=0)


def test_a_skill_is_read_by_name_and_file():
    def load(name: str, file: str) -> str:
        if name != "leap":
            raise UsageProblem(f"There is no skill “{name}”.")
        return f"{name}/{file}"

    assert used(ReadSkill(load), name="leap") == "leap/SKILL.md"
    assert used(ReadSkill(load), name="leap", file="a.md") == "leap/a.md"
    with pytest.raises(Exception, match="There is no skill"):
        used(ReadSkill(load), name="fly")
