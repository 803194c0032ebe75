"""The circuit breaker: what no setting, rule or answer lifts."""

from steersman.records.action import Action, ChangeMany, Delete, Execute, McpCall, Verdict, Write
from steersman.records.judgement import Judgement
from steersman.records.protection import inside

_MACHINE = ("/boot", "/dev", "/proc", "/sys", "/etc/passwd", "/etc/shadow", "/etc/group",
            "/etc/sudoers", "/etc/sudoers.d", "/etc/fstab", "/etc/pam.d")  # fmt: skip


def verdict(
    action: Action, judgement: Judgement | None, workspace: str, home: str
) -> Verdict | None:
    """A final verdict, or None where the breaker has nothing to say."""
    match action:
        case Execute() | McpCall() if judgement is not None and judgement.breaker:
            return Verdict("deny", judgement.rule, judgement.reason, judgement.instead)
        case Write(path=path) | Delete(path=path) | ChangeMany(path=path):
            if any(inside(path, place) for place in _MACHINE):
                return _stop(f"{path} belongs to the system")
    if isinstance(action, Delete):
        if inside(workspace, action.path):
            return _stop(f"{action.path} contains the whole workspace")
        if action.path.count("/") <= 1 or (home and inside(home, action.path)):
            return _stop(f"{action.path} contains far more than a task would delete")
    return None


def _stop(reason: str) -> Verdict:
    return Verdict("deny", "breaker.paths", reason, "name the exact files you mean")
