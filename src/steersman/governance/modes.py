"""What each mode lets an agent do; a mode is a gate, not a prompt."""

import re

from steersman.governance.levels import asked
from steersman.records.action import (
    Action,
    ChangeMany,
    Delete,
    Execute,
    McpCall,
    Network,
    SpawnAgent,
    Verdict,
    Write,
)
from steersman.records.judgement import Judgement

_SPEC = re.compile(r"docs/specs/[^/]+/(?:requirements|design|tasks)\.md")
_GENERATED = re.compile(
    r"(?:^|/)(?:__pycache__|\.pytest_cache|\.mypy_cache|\.ruff_cache|node_modules|\.git|\.venv)/"
)
_WORDS = {
    "ask": (
        "ask mode only looks",
        "answer from what you can read; the person can switch with --mode code",
    ),
    "plan": (
        "plan mode changes nothing but its plan",
        "write it into the plan; the person can switch with --mode code",
    ),
    "spec": (
        "spec mode writes specifications",
        "write requirements.md, design.md or tasks.md below docs/specs/<name>/",
    ),
    "debug": ("debug mode finds causes", "propose a patch"),
}


def verdict(
    action: Action,
    mode: str,
    workspace: str,
    plan: str,
    containment: str,
    judgement: Judgement | None,
    approvals: str,
) -> Verdict | None:
    """The mode's word on an action; None when it leaves it to what comes after."""
    looks = isinstance(action, McpCall) and action.effect == "reads"
    if mode == "code" or looks or getattr(action, "origin", "") in ("person", "past"):
        return None
    name = getattr(action, "path", "")[len(workspace.rstrip("/")) + 1 :]
    if mode == "debug":
        return _debug(action, name, approvals)
    match action:
        case Write(path=path) if mode == "plan" and path == plan:
            return Verdict("allow", "mode.plan.file", "the plan is what plan mode writes")
        case Write() if mode == "spec" and _SPEC.fullmatch(name):
            return None
        case Execute() if mode == "plan":
            return _look_by_command(action, containment, judgement)
        case Write() | Delete() | ChangeMany() | Execute() | Network() | McpCall():
            return _deny(mode)
        case SpawnAgent() if mode == "ask":
            return _deny(mode)
    return None


def _look_by_command(
    action: Execute, containment: str, judgement: Judgement | None
) -> Verdict | None:
    """In plan mode a command runs where the workspace is read-only, or not at all."""
    if action.outside or (judgement and any(fact.remote for fact in judgement.facts)):
        return _deny("plan")
    if containment != "full":
        return Verdict(
            "deny",
            "mode.plan.sandbox",
            "plan mode runs commands only where the workspace can be made read-only for them",
            "look with the reading tools",
        )
    return None


def _debug(action: Action, name: str, approvals: str) -> Verdict | None:
    """In debug mode every patch is asked about, and so is what a command changes in files."""
    if isinstance(action, McpCall):
        return _deny("debug")
    if not isinstance(action, Write | Delete | ChangeMany):
        return None
    if isinstance(action, ChangeMany):  # each is judged by itself as well, or none was there before
        harmless = action.named or not (action.changed or action.deleted)
    else:
        harmless = isinstance(action, Write) and not action.before
    if action.origin != "tool" and (harmless or _GENERATED.search(name)):
        return None
    return asked(approvals, "mode.debug", "each change in debug mode", contained=False)


def _deny(mode: str) -> Verdict:
    does, instead = _WORDS[mode]
    return Verdict("deny", f"mode.{mode}", does, instead)
