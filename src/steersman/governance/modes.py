"""What each mode lets an agent do; a mode is a gate, not a prompt. The modes are in `modes.json`.

There `actions` says what becomes of each kind of action: `deny`, `ask` (a person is asked), `look`
(a command runs where the workspace is read-only for it, or not at all), or `named` (left to what
comes after where a rule of the user allows it, else denied). A kind that is not
named is left to the rules and the approvals level. The first of `except` that fits counts more:
`paths` are regular expressions for the whole path below the workspace, with `{plan}` for the
thread's own plan; `new` fits what replaces nothing. `without` names tools that are not offered and
not possible. `hooks` is none that a person chooses: it holds for hooks in modes without commands.
It is JSON because every run reads it, and reading TOML takes longer to import.
"""

import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Literal, cast

import msgspec
from msgspec import Struct

from steersman.governance.levels import asked
from steersman.records.action import Action, ChangeMany, Execute, McpCall, Network, Verdict, Write
from steersman.records.judgement import Judgement
from steersman.records.tool_names import ASK_USER, MCP_TOOLS

FILE = Path(__file__).with_name("modes.json")
PLAN = "{plan}"
HOOKS = "hooks"  # the mode of hooks where the thread's own runs no commands
NOBODY = Verdict(
    "deny",
    "unattended",
    "nobody is there to answer",
    "decide yourself, go on, and say at the end what you decided and why",
)

Kind = Literal[
    "read", "list", "search", "write", "delete", "change_many", "execute", "network", "fetch",
    "mcp_call", "mcp_read", "spawn_agent", "setting",
]  # fmt: skip


class Exemption(Struct, frozen=True, forbid_unknown_fields=True):
    """Actions that a mode judges otherwise: allows, or leaves to what comes after."""

    actions: tuple[Kind, ...]
    paths: tuple[str, ...] = ()
    origin: Literal["", "tool", "command"] = ""
    new: bool = False
    decision: Literal["", "allow"] = ""
    rule: str = ""
    reason: str = ""

    def fits(self, action: Action, kind: Kind, name: str, plan: str) -> bool:
        """Whether it speaks of an action; `name` is the path below the workspace."""
        return (
            kind in self.actions
            and self.origin in ("", getattr(action, "origin", ""))
            and (not self.new or _is_new(action))
            and (not self.paths or any(_matches(one, name, plan) for one in self.paths))
        )


class ModeRules(Struct, frozen=True, forbid_unknown_fields=True, rename={"exceptions": "except"}):
    """One mode: what becomes of each kind of action, and which tools there are not."""

    actions: Mapping[Kind, Literal["deny", "ask", "look", "named"]] = {}
    exceptions: tuple[Exemption, ...] = ()
    without: frozenset[str] = frozenset()
    reason: str = ""
    instead: str = ""
    asks: str = ""


@cache
def modes() -> Mapping[str, ModeRules]:
    """All modes by name, read once and checked."""
    read = msgspec.json.decode(FILE.read_bytes(), type=dict[str, ModeRules])
    for mode in read.values():
        for one in mode.exceptions:
            for pattern in one.paths:
                re.compile(pattern.replace(PLAN, ""))
    return read


def looks_only(mode: str) -> bool:
    """Whether commands see the workspace read-only."""
    return modes()[mode].actions.get("execute") == "look"


def runs_commands(mode: str) -> bool:
    """Whether commands may be run at all."""
    return modes()[mode].actions.get("execute") != "deny"


def of_hooks(mode: str) -> str:
    """The mode by which hooks are judged: they run in each, and change no more than it does."""
    return mode if runs_commands(mode) else HOOKS


@cache
def withheld(
    mode: str,
    *,
    heard: bool = True,
    servers: bool = True,
    runs: tuple[tuple[str, bool], ...] = (),
) -> Mapping[str, Verdict]:
    """The tools that a mode does not have, and why; where nobody is heard, no questions.

    `servers`: a rule of the user allows tools of MCP servers. `runs` are further tools that are
    commands, and whether each of them changes files.
    """
    rules = modes()[mode]
    may = {"deny": (), "look": (False,)}.get(rules.actions.get("execute", ""), (False, True))
    names = [*rules.without, *(name for name, writes in runs if writes not in may)]
    if rules.actions.get("mcp_read") == "named" and not servers:
        names += MCP_TOOLS
    without = dict.fromkeys(names, _denied(mode))
    return without if heard else {**without, ASK_USER: NOBODY}


def verdict(
    action: Action,
    mode: str,
    workspace: str,
    plan: str,
    containment: str,
    judgement: Judgement | None,
    approvals: str,
    named: Callable[[], bool] = lambda: False,
) -> Verdict | None:
    """The mode's verdict on an action; None when it leaves it to what comes after.

    `named` shows whether a rule of the user allows it.
    """
    rules = modes()[mode]
    if not rules.actions or getattr(action, "origin", "") in ("person", "past"):
        return None
    kind = _kind(action)
    top = len(workspace.rstrip("/")) + 1
    name, plan = getattr(action, "path", "")[top:], plan[top:]
    for one in rules.exceptions:
        if one.fits(action, kind, name, plan):
            return Verdict(one.decision, one.rule, one.reason) if one.decision else None
    match rules.actions.get(kind):
        case "deny":
            return _denied(mode)
        case "ask":
            return asked(approvals, f"mode.{mode}", rules.asks, contained=False)
        case "named" if not named():
            return _denied(mode)
        case "look":
            return _look_by_command(action, mode, containment, judgement)
    return None


def _look_by_command(
    action: Action, mode: str, containment: str, judgement: Judgement | None
) -> Verdict | None:
    """A command that only looks runs where the workspace is read-only, or not at all."""
    outside = isinstance(action, Execute) and action.wants
    if outside or (judgement and any(fact.remote for fact in judgement.facts)):
        return _denied(mode)
    if containment != "full":
        return Verdict(
            "deny",
            f"mode.{mode}.sandbox",
            f"{_named(mode)} only where the workspace can be made read-only for them",
            "use the reading tools",
        )
    return None


def _named(mode: str) -> str:
    return "hooks are run in this mode" if mode == HOOKS else f"{mode} mode runs commands"


def _kind(action: Action) -> Kind:
    if isinstance(action, McpCall) and action.effect == "reads":
        return "mcp_read"
    if isinstance(action, Network) and action.url:
        return "fetch"
    return cast(Kind, type(action).__struct_config__.tag)


def _is_new(action: Action) -> bool:
    if isinstance(action, ChangeMany):  # each is judged by itself as well, or none was there before
        return action.named or not (action.changed or action.deleted)
    return isinstance(action, Write) and not action.before


def _matches(pattern: str, name: str, plan: str) -> bool:
    if PLAN in pattern:
        pattern = pattern.replace(PLAN, re.escape(plan) if plan else r"(?!)")
    return re.fullmatch(pattern, name) is not None


def _denied(mode: str) -> Verdict:
    rules = modes()[mode]
    return Verdict("deny", f"mode.{mode}", rules.reason, rules.instead)
