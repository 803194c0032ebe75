"""What the doctor found: one record for each thing, and short sentences for it."""

from typing import Literal

from msgspec import Struct

from steersman.records.errors import SteersmanError


class Finding(Struct, frozen=True, omit_defaults=True):
    """One thing that was looked at; `fix` is what to do about it."""

    subject: str
    state: Literal["ok", "note", "bad"]
    found: str
    fix: str = ""


def trouble(subject: str, problem: SteersmanError) -> Finding:
    """A finding for what went wrong."""
    return Finding(subject, "bad", f"{problem.what} {problem.why}".strip(), problem.try_this)


def brief(text: str, most: int) -> str:
    """A text on one line, cut."""
    flat = " ".join(text.split())
    return flat if len(flat) <= most else f"{flat[: most - 1]}…"
