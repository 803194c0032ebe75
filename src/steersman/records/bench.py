"""What came of a benchmark: one task tried by one model, and a model over its tasks."""

from datetime import datetime
from typing import Literal

from msgspec import Struct

Kind = Literal["bugfix", "feature", "refactor", "tests", "question"]


class Result(Struct, frozen=True, omit_defaults=True):
    """One task tried by one model. `cost` is None when nobody knows the price.

    `first_token_ms` is the median over the requests, `why` what the checks or the turn said when
    it did not pass.
    """

    model: str
    task: str
    kind: Kind
    passed: bool
    time: datetime
    thread: str = ""
    ending: str = ""
    why: str = ""
    seconds: float = 0.0
    first_token_ms: float = 0.0
    requests: int = 0
    input: int = 0
    cached: int = 0
    output: int = 0
    cost: float | None = None


class Row(Struct, frozen=True):
    """A model over its tasks; the middle columns are means for one task."""

    model: str
    passed: int
    tried: int
    seconds: float
    first_token_ms: float
    input: float
    cached: float
    output: float
    cost: float | None

    @property
    def share(self) -> float:
        """The part of the tasks that passed."""
        return self.passed / self.tried
