"""The decision itself: a pure function from an action and its circumstances to a verdict.

Order, first match wins: trust ceiling, mode, paths, effects of what was let through, approvals
level.
"""

from typing import Literal

from msgspec import Struct

from steersman.action import (
    Action,
    ChangeMany,
    Delete,
    Execute,
    List,
    Read,
    Search,
    SpawnAgent,
    Verdict,
    Write,
)

Mode = Literal["ask", "code"]
Trust = Literal["restricted", "sandboxed"]
Approvals = Literal["on-request", "never"]


class Circumstances(Struct, frozen=True):
    """What a decision depends on besides the action. `workspace` is a resolved path."""

    workspace: str
    mode: Mode = "code"
    trust: Trust = "sandboxed"
    approvals: Approvals = "on-request"


def decide(action: Action, where: Circumstances) -> Verdict:
    """The verdict on one action."""
    for rule in (_trust_ceiling, _mode, _paths, _effects):
        verdict = rule(action, where)
        if verdict is not None:
            return verdict
    return _approvals(action, where)


def inside(path: str, folder: str) -> bool:
    """True when a resolved path is the folder or below it."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _trust_ceiling(action: Action, where: Circumstances) -> Verdict | None:
    if where.trust == "restricted" and isinstance(action, Write | Delete | ChangeMany | Execute):
        return Verdict(
            "deny",
            "trust.restricted",
            "this folder is open with restricted trust: nothing may be written or run",
            "say what you would change; the person can raise the trust with --trust sandboxed",
        )
    return None


def _mode(action: Action, where: Circumstances) -> Verdict | None:
    if where.mode == "ask" and isinstance(
        action, Write | Delete | ChangeMany | Execute | SpawnAgent
    ):
        return Verdict(
            "deny",
            "mode.ask",
            "ask mode only looks",
            "answer from what you can read; the person can switch with --mode code",
        )
    return None


def _paths(action: Action, where: Circumstances) -> Verdict | None:
    match action:
        case (
            Read(path=path)
            | List(path=path)
            | Search(path=path)
            | Write(path=path)
            | Delete(path=path)
            | ChangeMany(path=path)
            | Execute(cwd=path)
        ):
            if not inside(path, where.workspace):
                return Verdict(
                    "deny",
                    "paths.outside",
                    f"{path} is outside the workspace {where.workspace}",
                    "use paths inside the workspace",
                )
        case SpawnAgent():
            return Verdict("allow", "agents.gated", "everything the agent does is gated itself")
    if isinstance(action, Read | List | Search):
        return Verdict("allow", "paths.inside", "looking inside the workspace")
    return None


def _effects(action: Action, where: Circumstances) -> Verdict | None:
    """What follows from a word that was already given."""
    match action:
        case Write(origin="command") | Delete(origin="command") | ChangeMany(origin="command"):
            return Verdict("allow", "command.effect", "the command that did it was let through")
        case Write(origin="person") | Delete(origin="person") | ChangeMany(origin="person"):
            return Verdict("allow", "person.undo", "the person takes back a change")
    return None


def _approvals(action: Action, where: Circumstances) -> Verdict:
    what = "a command" if isinstance(action, Execute) else "a change of a file"
    if where.approvals == "never":
        return Verdict("allow", "approvals.never", f"{what} inside the workspace, unattended")
    return Verdict("ask", "approvals.on-request", f"{what} needs a person's word")
