"""How much may be spent: tokens, money, time, calls and agents, of one run and of a whole thread.

A budget reads the log like any other reader, so it counts a whole tree of agents, and what was
spent before the thread was resumed.
"""

import time
from collections.abc import Iterable

from steersman.records.errors import BudgetSpent
from steersman.records.limits import NO_LIMITS, Limits
from steersman.records.message import AgentSpawn, Message, ToolCall, UsageReport

_UNITS = {
    "tokens": ("tokens", "{:,}"),
    "cost": ("dollars", "{:.4g}"),
    "seconds": ("seconds", "{:.4g}"),
    "calls": ("tool calls", "{:,}"),
    "agents": ("agents", "{:,}"),
}


class Account:
    """What was spent, and what of it is too much."""

    def __init__(self, limits: Limits, name: str) -> None:
        self.limits = limits
        self.tokens = 0
        self.cost = 0.0
        self.seconds = 0.0
        self.calls = 0
        self.agents = 0
        self._name = name
        self._limited = [unit for unit in _UNITS if getattr(limits, unit) is not None]

    def add(self, message: Message) -> None:
        """Count what a message shows."""
        match message.body:
            case UsageReport() as usage:
                self.tokens += usage.input + usage.output
                self.cost += usage.cost
            case AgentSpawn():
                self.agents += 1

    def over(self, tokens: int = 0, cost: float = 0.0) -> BudgetSpent | None:
        """The limit that was passed, if one was, or would be with what comes next."""
        ahead = {"tokens": tokens, "cost": cost}
        for name in self._limited:
            unit, shape = _UNITS[name]
            limit, spent = getattr(self.limits, name), getattr(self, name)
            unit = unit.removesuffix("s") if limit == 1 else unit
            if spent < limit < spent + ahead.get(name, 0):
                told = shape.format(spent + ahead[name])
                return BudgetSpent(
                    f"The budget of {shape.format(limit)} {unit} for this {self._name} is too "
                    "small for the next request.",
                    f"It has used {shape.format(spent)}, and would come to about {told}.",
                    f"Raise the limit ({self._flag(name)}), then continue with `steer resume`.",
                )
            # Calls and agents are announced before they begin: the last one allowed may still run.
            if spent > limit if name in ("calls", "agents") else spent >= limit:
                told = shape.format(spent)
                return BudgetSpent(
                    f"The budget of {shape.format(limit)} {unit} for this {self._name} is spent.",
                    f"It has used {told}.",
                    f"Raise the limit ({self._flag(name)}), then continue with `steer resume`.",
                )
        return None

    def _flag(self, name: str) -> str:
        return f"--max-{name}" if self._name == "run" else f"`{name}` in [budget.thread]"


class Budget:
    """The accounts of a session: this run's, and the whole thread's."""

    def __init__(self, run: Limits = NO_LIMITS, thread: Limits = NO_LIMITS) -> None:
        self._accounts = (Account(run, "run"), Account(thread, "thread"))
        self._mark: float | None = None  # what of the turn that runs is counted; none between turns
        self._called: set[str] = set()
        self._admitted: set[str] = set()

    @property
    def counts_thread(self) -> bool:
        """True when the past of the thread matters."""
        return self._accounts[1].limits != NO_LIMITS

    def recall(self, messages: Iterable[Message]) -> None:
        """Count what happened in earlier sessions."""
        for message in messages:
            self._accounts[1].add(message)
            self._accounts[1].calls += isinstance(message.body, ToolCall)

    def resume(self, messages: Iterable[Message]) -> None:
        """Count what a run has used that another process began; its thread is counted already."""
        times = []
        for message in messages:
            times.append(message.time)
            self._accounts[0].add(message)
            if isinstance(message.body, ToolCall) and message.corr not in self._called:
                self._called.add(message.corr or "")
                self._accounts[0].calls += 1
        if times:
            self._accounts[0].seconds += (max(times) - min(times)).total_seconds()

    def observe(self, messages: Iterable[Message]) -> None:
        """Count what happens now."""
        for message in messages:
            for account in self._accounts:
                account.add(message)

    def call(self, name: str) -> None:
        """Count a call that is about to begin; raise when it is one too many.

        One that was not may do all that it asks for, whatever begins beside it.
        """
        if name in self._admitted:
            return
        if name not in self._called:
            self._called.add(name)
            for account in self._accounts:
                account.calls += 1
        self.check()
        self._admitted.add(name)

    def begin_turn(self) -> None:
        """Time is counted while turns run."""
        self._mark = time.monotonic()

    def end_turn(self) -> None:
        """What a person does until the next one begins takes their own time."""
        self._count_time()
        self._mark = None

    def remaining_seconds(self) -> float | None:
        """How long the turn may still take."""
        self._count_time()
        left = [
            account.limits.seconds - account.seconds
            for account in self._accounts
            if account.limits.seconds is not None
        ]
        return max(0.0, min(left)) if left else None

    def check(self, tokens: int = 0, cost: float = 0.0) -> None:
        """Raise when a limit was passed, or would be with what the next request takes."""
        self._count_time()
        for account in self._accounts:
            if problem := account.over(tokens, cost):
                raise problem

    def _count_time(self) -> None:
        if self._mark is None:
            return
        now = time.monotonic()
        for account in self._accounts:
            account.seconds += now - self._mark
        self._mark = now
