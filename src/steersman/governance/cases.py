"""One action before the gate with what was found out about it, and what is said of several."""

import asyncio
import os
import sys
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from steersman.governance.policy import Circumstances, Evidence, decide, unconfined
from steersman.records.action import (
    PERSON,
    Action,
    ChangeMany,
    Delete,
    Execute,
    List,
    McpCall,
    Network,
    Read,
    Search,
    Verdict,
    Write,
)
from steersman.records.far_disk import far_disk
from steersman.records.judgement import CommandPlace, Judgement
from steersman.records.message import ConfirmResponse, GuardBlock
from steersman.records.names import shown
from steersman.records.protection import git_bookkeeping

T = TypeVar("T")


class Case(Struct, frozen=True):
    """One action with what was found out about it and what was decided."""

    action: Action
    judgement: Judgement | None
    verdict: Verdict


def decided(action: Action, tool: str, where: Circumstances) -> Case:
    """The verdict on an action, and what it rests on."""
    judgement = judged(action, where)
    return Case(action, judgement, decide(action, where, Evidence(tool, judgement)))


async def decide_all(actions: Sequence[Action], tool: str, where: Circumstances) -> list[Case]:
    """The verdict on each action; reading a command or git's configs is not for the loop."""

    def judge() -> list[Case]:
        return [decided(action, tool, where) for action in actions]

    reads = any(lines_of(one) or isinstance(one, Write | Delete) for one in actions)
    if far_disk() is not None:  # where the names in a call's arguments lead is asked there
        reads = reads or any(isinstance(one, McpCall) for one in actions)
    return await aside(judge) if reads else judge()


async def aside(work: Callable[..., T], *given: Any) -> T:
    """Do what asks the disk off the event loop; where that is another machine's, it may take as
    long as the line there is cut, and nothing else waits for it."""
    there = far_disk()
    if there is None:
        return await asyncio.to_thread(work, *given)
    return await there.aside(partial(work, *given))


def held(case: Case, why: str, approvals: str) -> Case:
    """A case that a hook wants a person to be asked about; denied where nobody is asked."""
    if case.verdict.decision != "allow":
        return case
    verdict = Verdict("deny" if approvals == "never" else "ask", "hook", why)
    return msgspec.structs.replace(case, verdict=verdict)


def beside(cases: Sequence[Case], asked: Sequence[Case]) -> str:
    """What else a yes keeps of what a command did: files that nobody is asked about.

    What git changes as it works is not named: nobody thinks of it as a change.
    """
    losses = [case.action for case in asked if isinstance(case.action, ChangeMany)]
    paths = [
        one.path
        for one in (case.action for case in cases if case not in asked)
        if isinstance(one, Write | Delete)
        and one.origin == "command"
        and not git_bookkeeping(one.path)
        and not any(_may_be_lost(one, loss) for loss in losses)
    ]
    if not paths:
        return ""
    names = ", ".join(shown(os.path.basename(path)) for path in paths[:3])
    more = f" and {len(paths) - 3} more" if len(paths) > 3 else ""
    return f"approving also keeps the other changes of this command: {names}{more}"


def _may_be_lost(change: Write | Delete, loss: ChangeMany) -> bool:
    """Whether a change is a part of a loss, as far as it names them; a new file never is."""
    if isinstance(change, Write) and not change.before:
        return False
    all_named = len(loss.examples) >= loss.lost + loss.discarded
    return not all_named or os.path.relpath(change.path, loss.path) in loss.examples


def is_effect(action: Action) -> bool:
    return isinstance(action, Write | Delete | ChangeMany) and action.origin == "command"


def is_deed(actions: Sequence[Action]) -> bool:
    """Whether any of them is more than a look at what a plan needs."""
    return not all(isinstance(one, Read | List | Search) for one in actions)


def denied(response: ConfirmResponse) -> Verdict:
    """The verdict of a person who said no."""
    return Verdict("deny", PERSON, "the user said no", response.guidance)


def refusing(case: Case, no: Verdict | None) -> Case:
    """A case with what a person said against it, if they did."""
    return case if no is None else msgspec.structs.replace(case, verdict=no)


def lines_of(action: Action) -> list[str]:
    """The command lines of an action: its own, also written out, or those for a server."""
    match action:
        case Execute(command=command, means=means):
            return [means, command] if means else [command]
        case McpCall(tool=tool, arguments=arguments):
            from steersman.governance.carried import commands_in

            return commands_in(tool, arguments)
    return []


def judged(action: Action, where: Circumstances) -> Judgement | None:
    """What the guard reads in a command; of several the gravest; None for other actions.

    A server has programs of its own: that the guard does not know one says nothing.
    """
    lines = lines_of(action)
    if not lines:
        return None
    from steersman.governance.guard.judge import judge

    cwd = action.cwd if isinstance(action, Execute) else where.workspace
    place = CommandPlace(where.workspace, where.home, cwd)
    found = [judge(line, place) for line in lines]
    if isinstance(action, Execute):
        from steersman.governance.ground import Ground

        free = unconfined(where)
        outside = action.outside or free
        if (there := far_disk()) is not None:
            secret = where.secret_files.lines
            found = [
                there.grounded(one, place, secret, shared=not free, outside=outside)
                for one in found
            ]
        else:
            ground = Ground(place, where.secret_files, shared=not free)
            found = [ground.under(one, outside=outside) for one in found]
    if isinstance(action, McpCall):
        found = [one for one in found if one.rule not in _FOREIGN]
    return max(found, key=lambda one: (one.breaker, _GRAVITY.index(one.verdict)), default=None)


GUARD = "steersman.governance.guard.judge"
_GRAVITY = ("allow", "ask", "block")
_FOREIGN = ("program.unknown", "program.hidden", "shape.syntax", "shape.control", "code.unknown")


def is_blocked(case: Case) -> bool:
    judgement = case.judgement
    return (
        judgement is not None
        and judgement.verdict == "block"
        and case.verdict.decision == "deny"
        and case.verdict.rule == judgement.rule
    )


def incident(case: Case, tool: str) -> GuardBlock:
    assert case.judgement is not None
    told = case.judgement
    return GuardBlock(tool, "\n".join(lines_of(case.action)), told.rule, told.reason, told.breaker)


def host_asked(action: Action) -> tuple[str, ...]:
    """The host, or all hosts of an installation, that is asked about; empty for anything else."""
    if not isinstance(action, Network):
        return ()
    return action.registries or (f"{action.host}:{action.port}",)


def covered(case: Case, where: Circumstances) -> tuple[str, ...]:
    """The hosts of a push that the user has approved with it: they are not asked about again.

    Where a rule or an earlier answer speaks of a host, that decides when it is reached.
    """
    if not isinstance(case.action, Execute) or case.verdict.decision != "ask":
        return ()
    from steersman.governance.rule_ready import host_of

    found = [(name, Network(*host_of(name))) for name in case.action.hosts]
    return tuple(name for name, one in found if decide(one, where).rule == "network.unknown")


def matter(case: Case) -> tuple[object, ...]:
    """What a person is asked about, without its words: an answer that changes those covers it."""
    if isinstance(case.action, Execute):
        wanted = case.action
        return (case.verdict.rule, wanted.outside, wanted.online, wanted.writes, wanted.reaches)
    return (case.verdict.rule, getattr(case.action, "path", ""))


async def load_guard() -> None:
    """Import what reads commands without holding up the loop: it brings a parser."""
    if GUARD not in sys.modules:
        await asyncio.to_thread(import_module, GUARD)
