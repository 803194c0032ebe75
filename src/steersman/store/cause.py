"""Why something is written: a request from the thread's inbox, or nothing but this process.

What a request causes and what became of it are stored together, so that it is carried out once.
"""

from typing import Any

import msgspec
from msgspec import Struct

from steersman.records.errors import SteersmanError, TooLate
from steersman.records.inbox import Outcome, Request, Settled
from steersman.records.message import RequestReceipt
from steersman.records.problem import Problem
from steersman.store.log import Draft, Lane


class Cause(Struct, frozen=True):
    """What made someone write; without a request there is nothing to say about it."""

    request: Request | None = None

    def taken(self, lane: Lane) -> list[Draft]:
        """The receipt that goes in front of what is written."""
        return self.receipt(lane, "taken")

    def refused(self, lane: Lane, problem: SteersmanError) -> list[Draft]:
        """The receipt for what cannot be done, and why."""
        return self.receipt(lane, _kind(problem), str(problem))

    def settled_refused(self, problem: SteersmanError) -> tuple[Settled, ...]:
        """The same for the store."""
        told = msgspec.to_builtins(Problem.of(problem))
        return self.outcome(_kind(problem), problem.what, told)

    def receipt(self, lane: Lane, outcome: Outcome, reason: str = "") -> list[Draft]:
        """What became of the request, as the log says it."""
        if self.request is None:
            return []
        what = type(self.request.body).__struct_config__.tag
        said = RequestReceipt(str(what), self.request.sender, outcome, reason)
        return [lane.draft(said, self.request.id)]

    def settled(self, result: Any = None) -> tuple[Settled, ...]:
        """The same for the store: whoever asked gets it from there."""
        return self.outcome("taken", result=result)

    def outcome(
        self, outcome: Outcome, reason: str = "", result: Any = None
    ) -> tuple[Settled, ...]:
        """What became of the request, for the store."""
        if self.request is None:
            return ()
        return (Settled(self.request.id, outcome, reason, result),)


NO_CAUSE = Cause()


def _kind(problem: SteersmanError) -> Outcome:
    return "too_late" if isinstance(problem, TooLate) else "refused"
