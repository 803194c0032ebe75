"""The one error tree: what happened, why, and what to do; each error knows its exit code."""

from enum import IntEnum
from typing import Literal


class Exit(IntEnum):
    """What a `steer` process says when it ends."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    DENIED = 3
    NEEDS_ANSWER = 4
    BUDGET_SPENT = 5
    INTERRUPTED = 130


class SteersmanError(Exception):
    """Something a person should read as sentences, never as a traceback."""

    exit = Exit.FAILED

    def __init__(self, what: str, why: str = "", try_this: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.why = why
        self.try_this = try_this

    @property
    def facts(self) -> str:
        """All of it but the advice."""
        return "\n".join(filter(None, (self.what, self.why)))

    def __str__(self) -> str:
        return "\n".join(filter(None, (self.facts, self.try_this)))


class UsageProblem(SteersmanError):
    """The request itself cannot be right: a wrong name, path or setting."""

    exit = Exit.USAGE


class Missing(UsageProblem):
    """There is no such thing, or it is none of the caller's business."""


class TooLate(UsageProblem):
    """Someone else was first, or what was meant has passed."""


class StorageProblem(SteersmanError):
    """The data folder or database cannot be used."""


class ThreadBusy(SteersmanError):
    """Another process is working on this thread."""


class LeaseLost(StorageProblem):
    """Another process has taken the thread over; this one may not write to it any more."""


class RequestSettled(StorageProblem):
    """Someone has settled this request already, or its time is over."""


class ScriptProblem(SteersmanError):
    """A scripted model's file is missing, broken, or does not fit the conversation."""


class ToolProblem(SteersmanError):
    """A tool cannot do what it was asked; the text goes back to whoever asked."""


class NothingToUndo(ToolProblem):
    """Nothing was changed there, or all of it was undone before."""


class Denied(SteersmanError):
    """The gate said no."""

    exit = Exit.DENIED


class Halted(Denied):
    """A command was blocked in an unattended run: the work stops."""


class BudgetSpent(SteersmanError):
    """A limit was reached; the turn ends, and what was done stays."""

    exit = Exit.BUDGET_SPENT


class NeedsAnswer(SteersmanError):
    """An answer is needed, and there is no one to ask."""

    exit = Exit.NEEDS_ANSWER


Trouble = Literal[
    "auth", "model_not_found", "rate_limit", "overloaded", "server", "network", "timeout", "stall",
    "dropped", "context_length", "refusal", "bad_request", "not_an_api", "unsupported_image",
    "empty",
]  # fmt: skip


class DriverProblem(SteersmanError):
    """A model call failed: `kind` says how, `retry_after` when another try is worth it.

    `retryable` is about the same request; another model may do what this one cannot.
    """

    def __init__(
        self,
        what: str,
        why: str = "",
        try_this: str = "",
        *,
        status: int | None = None,
        retry_after: float | None = None,
        retryable: bool = False,
        kind: Trouble = "server",
    ) -> None:
        super().__init__(what, why, try_this)
        self.kind = kind
        self.status = status
        self.retry_after = retry_after
        self.retryable = retryable
