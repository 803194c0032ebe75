"""`workspace_update_todo`: the whole list each time, counted, and no effect on anything."""

import asyncio

import pytest

from steersman.operations.tool import Malformed
from steersman.operations.tools.update_todo import (
    LONGEST,
    MOST_ITEMS,
    Counts,
    Item,
    TodoList,
    UpdateTodo,
)
from steersman.operations.workspace import Workspace
from steersman.records.dialogue import Call
from steersman.records.errors import ToolProblem
from tests.operations.workshop import not_asked

TOOL = UpdateTodo()


def updated(items):
    """What a call gives; it needs no bench, for it touches nothing."""
    args = TOOL.parse(Call("c1", TOOL.name, {"items": items}))
    plan = asyncio.run(TOOL.plan(args, Workspace("/").planning(not_asked)))
    assert list(plan.actions) == []
    return asyncio.run(TOOL.perform(plan, None))


@pytest.mark.parametrize(
    ("items", "listed", "counts"),
    [
        ([], (), Counts()),
        ([{"text": "read"}], (Item("read"),), Counts(pending=1)),
        (
            [
                {"text": "read", "state": "done"},
                {"text": "  mend\n it ", "state": "doing"},
                {"text": "test"},
                {"text": "guess", "state": "dropped"},
            ],
            (
                Item("read", "done"),
                Item("mend it", "doing"),
                Item("test"),
                Item("guess", "dropped"),
            ),
            Counts(pending=1, doing=1, done=1, dropped=1),
        ),
        (
            [{"text": "x" * LONGEST, "state": "done"}] * MOST_ITEMS,
            (Item("x" * LONGEST, "done"),) * MOST_ITEMS,
            Counts(done=MOST_ITEMS),
        ),
    ],
)
def test_the_list_comes_back_counted(items, listed, counts):
    assert updated(items) == TodoList(listed, counts)


@pytest.mark.parametrize(
    "items",
    [
        [{"text": "x", "state": "begun"}],
        [{"text": ""}],
        [{"text": "x" * (LONGEST + 1)}],
        [{"state": "done"}],
        [{"text": "x", "note": "y"}],
        [{"text": "x"}] * (MOST_ITEMS + 1),
        ["x"],
        "x",
        None,
    ],
)
def test_what_does_not_fit_is_refused(items):
    with pytest.raises(Malformed, match="are not valid"):
        updated(items)


def test_a_step_has_words():
    with pytest.raises(ToolProblem, match="has no text"):
        updated([{"text": " \n "}])


def test_its_schema_names_the_states():
    item = TOOL.spec().parameters["properties"]["items"]["items"]
    assert sorted(item["properties"]["state"]["enum"]) == ["doing", "done", "dropped", "pending"]
