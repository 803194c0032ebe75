"""Claude Code's permission modes as our settings, and back."""

from collections.abc import Mapping
from typing import Literal

from steersman.records.errors import UsageProblem

# What each is called there; here it is a mode and a level of approvals.
MODES: Mapping[str, Mapping[str, str]] = {
    "default": {"approvals": "on-request"},
    "acceptEdits": {"approvals": "review"},
    "plan": {"mode": "plan"},
    "dontAsk": {"approvals": "on-request"},
    "bypassPermissions": {"approvals": "review"},
}
# What becomes of a question: it is allowed, denied, or put to the program that wants to be asked.
Answering = Literal["allow", "deny", "ask"]
_FIXED: Mapping[str, Answering] = {"bypassPermissions": "allow", "dontAsk": "deny"}


def answering(mode: str, *, asks: bool) -> Answering:
    """What becomes of questions in a permission mode; `asks`: a program answers them."""
    return _FIXED.get(mode, "ask" if asks else "deny")


def settings_of(mode: str) -> Mapping[str, str]:
    """The settings that a permission mode stands for."""
    if mode not in MODES:
        raise UsageProblem(
            f"There is no permission mode “{mode}”.", f"There are: {', '.join(MODES)}."
        )
    return MODES[mode]


def mode_name(settings: Mapping[str, str], answers: Answering = "ask") -> str:
    """The permission mode that some settings come nearest to."""
    if answers == "allow":
        return "bypassPermissions"
    if settings.get("mode") == "plan":
        return "plan"
    return "default" if settings.get("approvals", "on-request") == "on-request" else "acceptEdits"
