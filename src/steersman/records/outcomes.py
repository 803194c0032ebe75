"""How work ended, as exit codes and as the log says it."""

from typing import Literal

from steersman.records.errors import Exit

Status = Literal["done", "failed", "denied", "needs_answer", "budget", "interrupted"]

STATUS: dict[Exit, Status] = {
    Exit.DONE: "done",
    Exit.FAILED: "failed",
    Exit.USAGE: "failed",
    Exit.DENIED: "denied",
    Exit.NEEDS_ANSWER: "needs_answer",
    Exit.BUDGET_SPENT: "budget",
    Exit.INTERRUPTED: "interrupted",
}

ENDINGS: dict[str, Exit] = {
    "done": Exit.DONE,
    "failed": Exit.FAILED,
    "cancelled": Exit.INTERRUPTED,
    "interrupted": Exit.INTERRUPTED,
    "needs_answer": Exit.NEEDS_ANSWER,
    "limit": Exit.BUDGET_SPENT,
    "blocked": Exit.DENIED,
}
