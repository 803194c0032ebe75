"""Claude Code's permission modes as our settings, and back."""

from collections.abc import Mapping

from steersman.records.errors import UsageProblem

# What each is called there; here it is a mode and a level of approvals. `yes` answers everything.
MODES: Mapping[str, Mapping[str, str]] = {
    "default": {"approvals": "on-request"},
    "acceptEdits": {"approvals": "review"},
    "plan": {"mode": "plan"},
    "dontAsk": {"approvals": "on-request"},
    "bypassPermissions": {"approvals": "review"},
}
ANSWERS_ALL = "bypassPermissions"
ANSWERS_NONE = "dontAsk"


def settings_of(mode: str) -> Mapping[str, str]:
    """The settings that a permission mode stands for."""
    if mode not in MODES:
        raise UsageProblem(
            f"There is no permission mode “{mode}”.", f"There are: {', '.join(MODES)}."
        )
    return MODES[mode]


def mode_name(settings: Mapping[str, str]) -> str:
    """The permission mode that some settings come nearest to."""
    if settings.get("mode") == "plan":
        return "plan"
    return "default" if settings.get("approvals", "on-request") == "on-request" else "acceptEdits"
