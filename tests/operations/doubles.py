"""Tools made up for tests, and a toolbox that carries out their calls."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

from steersman.governance.approvals import Desk
from steersman.governance.budgets import Budget
from steersman.governance.gate import Gate
from steersman.governance.policy import Circumstances
from steersman.operations.tool import Arguments, Bench, Family, Plan, Tool
from steersman.operations.workspace import PlanningWorkspace, Workspace
from steersman.records.action import Action
from steersman.records.dialogue import Call
from steersman.records.errors import BudgetSpent, NeedsAnswer
from steersman.records.message import ConfirmResponse, Message, ToolResult
from steersman.store.log import Lane
from tests.operations.workshop import PATIENCE, Answer, toolbox_of
from tests.store.logs import a_lane, stored


class NumberArgs(Arguments, frozen=True):
    """Which call it is."""

    n: int = 0


Run = Callable[[int, Bench], Awaitable[Any]]
Needs = Callable[[Workspace], Sequence[Action]]


class Double(Tool[NumberArgs]):
    """Does what it is told."""

    Args = NumberArgs

    def __init__(
        self, name: str, family: Family, run: Run, needs: Needs = lambda workspace: ()
    ) -> None:
        self.name = name
        self.family = family
        self._run = run
        self._needs = needs

    async def plan(self, args: NumberArgs, workspace: PlanningWorkspace) -> Plan[NumberArgs]:
        """What the test says it needs."""
        return Plan(args, self._needs(workspace))

    async def perform(self, plan: Plan[NumberArgs], bench: Bench) -> Any:
        """What the test says it does."""
        return await self._run(plan.args.n, bench)


class Turnstile:
    """Counts how many are inside at the same time, and lets them out when it is told to."""

    def __init__(self) -> None:
        self.most = 0
        self.order: list[tuple[str, int]] = []
        self._inside = 0

    async def __call__(self, n: int, bench: Bench) -> int:
        """Go in, stay a while, go out; the later a call, the sooner it is done."""
        self._inside += 1
        self.most = max(self.most, self._inside)
        self.order.append(("in", n))
        for _ in range(40 - 4 * n):
            await asyncio.sleep(0)
        self.order.append(("out", n))
        self._inside -= 1
        return n


class Rig:
    """Calls of such tools through a real gate into a real log."""

    def __init__(
        self,
        folder: Path,
        tools: Sequence[Double],
        *,
        answer: Answer | None = None,
        secrets: Sequence[str] = (),
        approvals: Any = "never",
        budget: Budget | None = None,
    ) -> None:
        self.messages: list[Message] = []
        self.told: list[Message] = []
        self.stopped: BaseException | None = None
        self._folder = folder
        self._tools = tools
        self._answer = answer
        self._secrets = secrets
        self._budget = budget
        self._approvals = "on-request" if answer else approvals

    def do(self, *calls: Call | tuple[str, dict[str, Any]]) -> list[ToolResult]:
        """Carry out the calls of one answer; the results in the order of the calls."""
        made = [
            given if isinstance(given, Call) else Call(f"call_{number}", *given)
            for number, given in enumerate(calls, 1)
        ]
        with a_lane(secrets=self._secrets) as lane:
            asyncio.run(asyncio.wait_for(self._work(made, lane), PATIENCE))
            self.messages = stored(lane.log)
        results = {m.corr: m.body for m in self.messages if isinstance(m.body, ToolResult)}
        return [results[call.id] for call in made]

    def one(self, tool: str, **arguments: Any) -> ToolResult:
        """Carry out one call."""
        (result,) = self.do((tool, arguments))
        return result

    def kinds(self) -> list[str]:
        """The kinds of what was logged."""
        return [message.kind for message in self.messages]

    async def during(self, work: Any) -> None:
        """What happens while the calls are carried out."""
        await work

    async def _work(self, calls: list[Call], lane: Lane) -> None:
        desk = Desk(attended=self._answer is not None)
        root = Workspace.open(self._folder).root
        gate = Gate(Circumstances(root, approvals=self._approvals), desk, budget=self._budget)
        toolbox = toolbox_of(self._folder, self._tools, gate)
        listening = asyncio.create_task(self._listen(lane, desk))
        await asyncio.sleep(0)
        await lane.log.append(*(toolbox.announce(call, lane) for call in calls))
        try:
            await self.during(toolbox.execute(calls, lane, lambda call: ""))
        except (NeedsAnswer, BudgetSpent) as problem:
            self.stopped = problem
        finally:
            lane.log._bus.end(lane.log.thread)
            await listening

    async def _listen(self, lane: Lane, desk: Desk) -> None:
        with lane.log._bus.subscribe(lane.log.thread) as news:
            while (message := await news.next()) is not None:
                assert isinstance(message, Message)
                self.told.append(message)
                if message.kind == "confirm_request" and self._answer is not None:
                    decision: Any = self._answer(message)
                    await desk.answer(message.corr or "", ConfirmResponse(decision))
