"""Five systems wired together: an agent. A capsule can be a tool of another one, to any depth."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Literal

from msgspec import Meta, Struct

from steersman.intelligence.compaction import Compactor
from steersman.intelligence.context import Context
from steersman.operations.tool import Arguments, Bench, Family, Plan, Tool
from steersman.operations.workspace import PlanningWorkspace
from steersman.records.action import SpawnAgent
from steersman.records.dialogue import AssistantItem, Call, Prompt
from steersman.records.errors import ToolProblem
from steersman.records.message import (
    AgentDone,
    AgentSpawn,
    Message,
    Question,
    TurnEnd,
    TurnEnding,
    User,
)
from steersman.store.log import Draft, Lane
from steersman.systems import (
    Coordination,
    Governance,
    Identity,
    Intelligence,
    Left,
    Note,
    Operations,
)


class Capsule(Struct, frozen=True):
    """An agent: who it is, what it may, whose turn it is, what it uses, what it does.

    `finished` says, when its model has nothing more to do, whether the turn continues anyway.
    """

    identity: Identity
    governance: Governance
    coordination: Coordination
    intelligence: Intelligence
    operations: Operations
    compactor: Compactor | None = None
    estimate: Callable[[int], float | None] | None = None
    finished: Callable[[Lane], Awaitable[bool]] | None = None

    async def turn(self, lane: Lane, context: Context, left: Left | None = None) -> TurnEnd:
        """Work on what the context holds until there is nothing more to do.

        The context watches the log: whatever is stored in the capsule's lane enters it.
        """
        return await self.intelligence.turn(CapsuleDeck(self, lane, context), left)


class CapsuleDeck:
    """What a capsule's thinking builds on: its only way to the other four systems."""

    def __init__(self, capsule: Capsule, lane: Lane, context: Context) -> None:
        self.lane = lane.at("intelligence")
        self._root = lane
        self._capsule = capsule
        self._context = context

    @property
    def _instructions(self) -> str:
        """They may change between two model calls, with the mode."""
        return self._capsule.identity.instructions()

    def prompt(self) -> Prompt:
        """Everything the model gets for its next answer, if there is enough left to spend."""
        self._capsule.governance.check_budget(*self._estimate())
        return Prompt(self._instructions, self._capsule.operations.specs(), self._context.view)

    def _estimate(self) -> tuple[int, float]:
        """About how many tokens the next prompt has, and what it will cost."""
        capsule = self._capsule
        if capsule.compactor is None:
            return 0, 0.0
        specs = capsule.operations.specs()
        tokens = capsule.compactor.tokens(self._context, self._instructions, specs)
        return tokens, (capsule.estimate(tokens) or 0.0) if capsule.estimate else 0.0

    async def fit(self, cause: Literal["window", "context_length"]) -> bool:
        """Bring the next prompt into the model's window; True when something was compacted."""
        if self._capsule.compactor is None:
            return False
        return await self._capsule.compactor.fit(
            self._context,
            self.lane,
            system=self._instructions,
            tools=self._capsule.operations.specs(),
            cause=cause,
        )

    def learn(self, reported: int) -> None:
        """Take note of how many input tokens the last prompt really had."""
        if self._capsule.compactor is not None:
            self._capsule.compactor.learn(self._context, reported)

    async def deliver(self) -> bool:
        """Hear what the user said meanwhile; False when there was nothing."""
        return bool(await self._capsule.coordination.deliver(self._root.at("coordination")))

    async def continues(self) -> bool:
        """Whether there is more to do where the model is done: the user is asked about a plan."""
        finished = self._capsule.finished
        return finished is not None and await finished(self._root)

    def announce(self, call: Call) -> Draft:
        """The `tool_call` message for a call."""
        return self._capsule.operations.announce(call, self._root)

    async def execute(self, calls: Sequence[Call], note: Note) -> list[Message]:
        """Carry out announced calls; results say what is to be known about what was touched."""
        return await self._capsule.operations.execute(calls, self._root, self._remarks(note))

    async def resume(self, announced: Sequence[Message], note: Note) -> list[Message]:
        """Carry out calls that an earlier process announced and did not begin."""
        return await self._capsule.operations.resume(announced, self._root, self._remarks(note))

    def _remarks(self, note: Note) -> Note:
        def remarks(call: Call) -> str:
            return "\n".join(filter(None, (note(call), self._capsule.identity.remark(call))))

        return remarks

    @property
    def attended(self) -> bool:
        """Whether someone is there who can stop the turn."""
        return self._capsule.governance.attended

    async def question(self, asked: Question) -> str:
        """Ask the user."""
        return (await self._capsule.governance.question(asked, self.lane)).text


class Unsteered:
    """The coordination of a capsule nobody talks to but its parent."""

    async def deliver(self, lane: Lane) -> list[Message]:
        """Nothing: there is nobody to say anything."""
        return []


class AgentArgs(Arguments, frozen=True):
    """What the agent is to do."""

    task: Annotated[str, Meta(description="the whole task; the agent knows nothing else")]


class CapsuleTool(Tool[AgentArgs]):
    """A capsule offered to its parent: a call is a task, its result the capsule's last words."""

    family = Family.AGENTS
    Args = AgentArgs

    def __init__(self, capsule: Capsule, purpose: str) -> None:
        self.name = capsule.identity.name
        self._capsule = capsule
        self._purpose = purpose
        self._runs = 0

    def description(self) -> str:
        """What the agent is for."""
        return self._purpose

    async def plan(self, args: AgentArgs, workspace: PlanningWorkspace) -> Plan[AgentArgs]:
        """Let the agent work; what it does is gated itself."""
        return Plan(args, [SpawnAgent(self.name, args.task)])

    async def perform(self, plan: Plan[AgentArgs], bench: Bench) -> str:
        """Let the capsule work in a lane of its own below the parent's."""
        self._runs += 1
        name = self.name if self._runs == 1 else f"{self.name}:{self._runs}"
        path = f"{bench.lane.path.rpartition('/')[0]}/{name}"
        lane = Lane(bench.lane.log, path, bench.lane.turn)
        context = Context(lane.path)
        ending: TurnEnding = "cancelled"
        await bench.lane.append(AgentSpawn(self.name, lane.path, plan.args.task), corr=bench.call)
        try:
            with lane.log.watched_by(context.observe):
                await lane.at("coordination").append(User(plan.args.task), corr=bench.call)
                end = await self._capsule.turn(lane, context)
            ending = end.ending
        finally:
            done = AgentDone(self.name, lane.path, ending, last_words(context))
            await bench.lane.append(done, corr=bench.call)
        if ending != "done":
            raise ToolProblem(f"The agent {self.name} did not finish: {end.reason or ending}.")
        return last_words(context)


def last_words(context: Context) -> str:
    """The last text the model said."""
    answers = (item.text for item in reversed(context.items) if isinstance(item, AssistantItem))
    return next((text for text in answers if text), "")
