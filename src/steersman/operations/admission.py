"""One call before the gate: what its plan looks at, what it will do, what it turned out to do."""

import asyncio
from collections.abc import Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from steersman.operations.changes import accepted
from steersman.operations.tool import Arguments, Plan, Tool, changing
from steersman.operations.workspace import Look, Workspace
from steersman.records.action import Action, ChangeMany, Delete, Origin, Verdict, Write
from steersman.records.dialogue import Call
from steersman.records.errors import NeedsAnswer, ToolProblem
from steersman.records.hunks import misfit
from steersman.records.profile import PLAIN, Profile
from steersman.store.log import Lane
from steersman.systems import Edited, Governance, Permit


class Refused(ToolProblem):
    """The gate said no; the reason, and what to do instead, go to whoever asked."""


class Nothing(Struct, frozen=True):
    """Permission for nothing, which needs nobody's."""

    actions: tuple[Action, ...] = ()
    profile: Profile = PLAIN
    secret: str = ""


NONE = Nothing()


class Ready(Struct, frozen=True):
    """A plan that may be performed, and where; `left_out` says what the user did not
    accept, or what is done instead of what was asked."""

    plan: Plan[Any]
    workspace: Workspace
    profile: Profile
    left_out: str = ""


class Admission:
    """Puts everything about one call to the gate."""

    def __init__(
        self, gate: Governance, workspace: Workspace, tool: Tool[Any], call: Call, lane: Lane
    ) -> None:
        self.call = call
        self.lane = lane
        self._gate = gate
        self._workspace = workspace
        self._tool = tool
        self.unanswered: NeedsAnswer | None = None  # a tool may continue without it, a turn may not

    async def ready(self, args: Arguments, *, edited: bool = False) -> Ready:
        """The plan of the call, with permission for exactly what it will do.

        The user may have changed the arguments; what they made of them is planned and judged
        like any other.
        """
        plan = await self._tool.plan(args, self._workspace.planning(self._look))
        answer = await self._judge(plan.actions, edited=edited)
        if not isinstance(answer, Edited):
            return self._permitted(plan, answer)
        if answer.safer:
            made = await self.ready(replace(plan.args, command=answer.safer))
            note = f"ran a safer form of the command: {answer.safer}"
            return replace(made, left_out="; ".join(filter(None, (note, made.left_out))))
        if answer.arguments is None:
            return await self._partly(plan, answer)
        changed = replace(self.call, arguments=answer.arguments, malformed=None)
        return await self.ready(self._tool.parse(changed), edited=True)

    async def also(self, actions: Sequence[Action], workspace: Workspace) -> Permit:
        """Put what the call turned out to do before the gate.

        It is a command's effect only where a command was allowed; a tool cannot say so itself.
        """
        origin: Origin = "command" if workspace.may_execute else "tool"
        try:
            answer = await self._judge(actions, origin, whole=True)
        except NeedsAnswer as needs:
            self.unanswered = needs
            raise
        if isinstance(answer, Edited):
            raise Refused("What a call turned out to do can only be allowed or denied as it is.")
        return answer

    async def past(self, actions: Sequence[Action]) -> None:
        """Tell the gate what a command did that was allowed on the folder itself."""
        await self._judge(actions, "past", whole=True)

    async def _look(self, looks: Sequence[Look]) -> Permit:
        """Put what a plan must look at before the gate."""
        answer = await self._judge(looks, whole=True)
        if isinstance(answer, Edited):
            raise Refused("Only what is about to be done can be changed.")
        return answer

    async def _partly(self, plan: Plan[Any], edited: Edited) -> Ready:
        """The plan with only the accepted hunks, judged once more."""
        hunks = edited.hunks or ()
        asked = [change.action for change in plan.changes if change.path in edited.asked]
        why = misfit(asked, hunks) if plan.changes else "This call cannot be accepted in part."
        if why:
            raise Refused(why, "Nothing was done.")
        kept, left_out = await asyncio.to_thread(accepted, plan.changes, edited.asked, hunks)
        if not kept:
            raise Refused("Denied: the user accepted none of the changes.")
        partly = changing(plan.args, kept)
        answer = await self._judge(partly.actions, edited=True, whole=True)
        assert not isinstance(answer, Edited)  # what is left is not cut again
        return self._permitted(partly, answer, left_out)

    def _permitted(self, plan: Plan[Any], permit: Permit, left_out: str = "") -> Ready:
        workspace = self._workspace.granted(permit.actions, permit.secret)
        return Ready(plan, workspace, permit.profile, left_out)

    async def _judge(
        self,
        actions: Sequence[Action],
        origin: Origin = "tool",
        *,
        edited: bool = False,
        whole: bool = False,
    ) -> Permit | Edited:
        if not actions:
            return NONE
        wanted = [stamped(action, origin) for action in actions]
        answer = await self._gate.admit(
            self.call.id, self._tool.name, wanted, self.lane, edited=edited, whole=whole
        )
        if isinstance(answer, Verdict):
            raise refused(answer)
        return answer


def refused(verdict: Verdict) -> Refused:
    """A verdict against a call, for whoever asked."""
    return Refused(f"Denied: {verdict.reason.rstrip('.')}.", verdict.source, verdict.instead)


def stamped(action: Action, origin: Origin) -> Action:
    """An action as the effect of whoever really causes it."""
    if isinstance(action, Write | Delete | ChangeMany):
        return replace(action, origin=origin)
    return action
