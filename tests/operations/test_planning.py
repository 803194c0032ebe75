"""A plan is worked out once, looks only where the gate let it, and leaves the event loop free."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from steersman.operations.admission import Nothing, Refused
from steersman.operations.matching import unified_diff
from steersman.operations.tool import Plan
from steersman.operations.tools.apply_patch import ApplyPatch
from steersman.operations.tools.edit_files import EditFiles
from steersman.operations.tools.write_file import WriteFile
from steersman.operations.workspace import Look, Workspace, digest
from steersman.records.action import List, Read, Write
from steersman.records.dialogue import Call
from steersman.records.errors import ToolProblem
from steersman.systems import Permit

LINES = [f"line {number}\n" for number in range(20_000)]
OLD = "".join(LINES).encode()
NEW = "".join(f"new {n}\n" if n % 40 == 0 else line for n, line in enumerate(LINES)).encode()
CALLS: list[tuple[Any, dict[str, Any]]] = [
    (WriteFile(), {"path": "f", "content": NEW.decode()}),
    (ApplyPatch(), {"patch": unified_diff("f", OLD, NEW)}),
    (EditFiles(), {"files": [{"path": "f", "edits": [
        {"search": f"line {n}\n", "replace": f"new {n}\n"} for n in range(0, 20_000, 400)]}]}),
]  # fmt: skip
NAMES = [tool.name for tool, _ in CALLS]


class Gate:
    """Remembers what was looked at, and allows it unless it was told otherwise."""

    def __init__(self, *, denies: bool = False) -> None:
        self.asked: list[Look] = []
        self._denies = denies

    async def __call__(self, looks: Sequence[Look]) -> Permit:
        """Give permission, or raise."""
        self.asked += looks
        if self._denies:
            raise Refused("Denied: a secret.")
        return Nothing(tuple(looks))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A workspace with one long file."""
    (tmp_path / "f").write_bytes(OLD)
    return tmp_path


async def planned(folder: Path, tool: Any, arguments: dict[str, Any], gate: Gate) -> Plan[Any]:
    """The plan of a call."""
    args = tool.parse(Call("c1", tool.name, arguments))
    plan: Plan[Any] = await tool.plan(args, Workspace.open(folder).planning(gate))
    return plan


@pytest.mark.parametrize(("tool", "arguments"), CALLS, ids=NAMES)
def test_a_plan_has_the_contents_that_its_actions_name(folder, tool, arguments):
    gate = Gate()
    plan = asyncio.run(planned(folder, tool, arguments, gate))
    path = str(folder.resolve() / "f")
    assert gate.asked == [Read(path)]
    (change,) = plan.changes
    assert change.before == OLD
    assert plan.actions == [
        Write(path, digest(OLD), digest(change.after), unified_diff("f", OLD, change.after))
    ]
    assert plan.contents == {path: change.after}
    assert (folder / "f").read_bytes() == OLD


@pytest.mark.parametrize(("tool", "arguments"), CALLS, ids=NAMES)
def test_what_may_not_be_looked_at_cannot_be_planned(folder, tool, arguments):
    with pytest.raises(Refused, match="a secret"):
        asyncio.run(planned(folder, tool, arguments, Gate(denies=True)))


def test_names_beside_a_missing_file_are_asked_for_as_well(folder):
    gate = Gate()
    edits = {"files": [{"path": "g", "edits": [{"search": "a", "replace": "b"}]}]}
    with pytest.raises(ToolProblem, match="g does not exist"):
        asyncio.run(planned(folder, EditFiles(), edits, gate))
    root = str(folder.resolve())
    assert gate.asked == [Read(f"{root}/g"), List(root)]


@pytest.mark.parametrize(("tool", "arguments"), CALLS, ids=NAMES)
def test_the_loop_goes_on_while_files_are_read_matched_and_compared(folder, tool, arguments):
    """On the loop a plan would let others have as many turns as it awaits something: a few."""

    async def work() -> int:
        planning = asyncio.create_task(planned(folder, tool, arguments, Gate()))
        turns = 0
        while not planning.done():
            await asyncio.sleep(0)
            turns += 1
        await planning
        return turns

    assert asyncio.run(work()) > 30
