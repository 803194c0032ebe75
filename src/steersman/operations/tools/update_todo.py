"""`workspace_update_todo`: the list of steps that the user watches while a task continues."""

from collections import Counter
from typing import Annotated, Literal

from msgspec import Meta, Struct

from steersman.operations.tool import Arguments, Bench, Family, Plan, Tool
from steersman.operations.workspace import PlanningWorkspace
from steersman.records.errors import ToolProblem

MOST_ITEMS, LONGEST = 50, 300
State = Literal["pending", "doing", "done", "dropped"]


class Item(Struct, frozen=True, forbid_unknown_fields=True):
    """One step and how far it is."""

    text: Annotated[
        str, Meta(description="the step, in a few words", min_length=1, max_length=LONGEST)
    ]
    state: State = "pending"


class Counts(Struct, frozen=True):
    """How many steps are in each state."""

    pending: int = 0
    doing: int = 0
    done: int = 0
    dropped: int = 0


class TodoList(Struct, frozen=True):
    """The list as it is now."""

    items: tuple[Item, ...]
    counts: Counts


class UpdateTodoArgs(Arguments, frozen=True):
    """The list, whole."""

    items: Annotated[
        list[Item],
        Meta(description="every step in order, also those that are done", max_length=MOST_ITEMS),
    ]


class UpdateTodo(Tool[UpdateTodoArgs]):
    """Keep the list of steps that the user sees beside the conversation. Send the whole list
    each time: as soon as a task has several steps, and whenever one begins, ends, is added or is
    dropped. One step is being done at a time. An empty list takes it away."""

    name = "workspace_update_todo"
    family = Family.READ
    Args = UpdateTodoArgs

    async def plan(
        self, args: UpdateTodoArgs, workspace: PlanningWorkspace
    ) -> Plan[UpdateTodoArgs]:
        """None: the list is only in the log."""
        return Plan(args)

    async def perform(self, plan: Plan[UpdateTodoArgs], bench: Bench) -> TodoList:
        """Give the list back, counted; the log is where it is kept."""
        items = tuple(Item(" ".join(item.text.split()), item.state) for item in plan.args.items)
        if not all(item.text for item in items):
            raise ToolProblem("A step has no text.", try_this="Say what to do, or drop it.")
        counted: Counter[str] = Counter(item.state for item in items)
        return TodoList(items, Counts(**counted))
