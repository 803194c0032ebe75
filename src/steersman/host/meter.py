"""What a server counts while it runs: turns, models, tools; and what threads wait for now.

Counts begin with the process, and are of what this process did; the log has all of it.
"""

from collections import Counter
from typing import TYPE_CHECKING

from msgspec import Struct

from steersman.records.clock import now
from steersman.records.message import Message, ToolResult, TurnEnd, UsageReport

if TYPE_CHECKING:
    from steersman.host.application import Host

MOST_NAMES = 200  # of models, and of tools: a model may make up any
OTHER = "other"


class Now(Struct, frozen=True):
    """What all threads of the store are doing, what nobody has taken yet, and its bytes."""

    states: Counter[str]
    waiting: Counter[str]
    here: int
    requests: int
    size: int


class Meter:
    """Counts what is stored by the threads that run here."""

    def __init__(self) -> None:
        self.since = now().timestamp()
        self.turns: Counter[str] = Counter()
        self.requests: Counter[str] = Counter()
        self.tokens: Counter[tuple[str, str]] = Counter()
        self.cost: dict[str, float] = {}
        self.calls: Counter[tuple[str, str]] = Counter()
        self.milliseconds: Counter[str] = Counter()

    def hear(self, message: Message) -> None:
        """Count a message that was published."""
        match message.body:
            case TurnEnd(ending=ending):
                self.turns[ending] += 1
            case UsageReport() as used:
                model = _bounded(used.model, self.requests)
                self.requests[model] += 1
                self.cost[model] = self.cost.get(model, 0.0) + used.cost
                for kind in ("input", "cached", "output", "reasoning"):
                    self.tokens[model, kind] += getattr(used, kind)
            case ToolResult() as result if message.seq:
                tool = _bounded(result.tool, self.milliseconds)
                self.calls[tool, result.status] += 1
                self.milliseconds[tool] += result.ms


def _bounded(name: str, known: Counter[str]) -> str:
    return name if name in known or len(known) < MOST_NAMES else OTHER


def state_of(host: "Host") -> Now:
    """What the store says at the moment; it is asked beside the event loop."""
    states = host.states(host.threads())
    waiting = (one.kind for state in states.values() for one in state.activity.waiting)
    store = host.store.status()
    return Now(
        Counter(state.state for state in states.values()),
        Counter(waiting),
        len(host.running()),
        store.requests,
        store.size,
    )
