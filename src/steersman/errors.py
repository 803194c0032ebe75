"""The one error tree: what happened, why, and what to do; each error knows its exit code."""

from enum import IntEnum


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

    def __str__(self) -> str:
        return "\n".join(line for line in (self.what, self.why, self.try_this) if line)


class UsageProblem(SteersmanError):
    """The request itself cannot be right: a wrong name, path or setting."""

    exit = Exit.USAGE


class StorageProblem(SteersmanError):
    """The data folder or database cannot be used."""


class ThreadBusy(SteersmanError):
    """Another process is working on this thread."""


class ScriptProblem(SteersmanError):
    """A scripted model's file is missing, broken, or does not fit the conversation."""


class ToolProblem(SteersmanError):
    """A tool cannot do what it was asked; the text goes back to whoever asked."""


class Denied(SteersmanError):
    """The gate said no."""

    exit = Exit.DENIED


class NeedsAnswer(SteersmanError):
    """An answer is needed and nobody can give one."""

    exit = Exit.NEEDS_ANSWER


class DriverProblem(SteersmanError):
    """A model call failed; `retry_after` says when another try is worth it."""

    def __init__(
        self,
        what: str,
        why: str = "",
        try_this: str = "",
        *,
        status: int | None = None,
        retry_after: float | None = None,
        retryable: bool = False,
    ) -> None:
        super().__init__(what, why, try_this)
        self.status = status
        self.retry_after = retry_after
        self.retryable = retryable
