"""The one gate: judges actions, writes every verdict to the log, asks a person where told to."""

from collections.abc import Sequence

from msgspec import Struct

from steersman.action import Action, Verdict
from steersman.governance.approvals import Desk
from steersman.governance.policy import Circumstances, decide
from steersman.message import ConfirmRequest, Policy, Question
from steersman.store.log import Lane


class Leave(Struct, frozen=True):
    """The gate's leave for certain actions, and nothing else."""

    actions: tuple[Action, ...]


class Gate:
    """Decides for every capsule of a thread."""

    def __init__(self, where: Circumstances, desk: Desk) -> None:
        self._where = where
        self._desk = desk

    async def admit(
        self, call: str, tool: str, actions: Sequence[Action], lane: Lane
    ) -> Leave | Verdict:
        """Leave for all of the actions, or the verdict that stands against one of them."""
        verdicts = [decide(action, self._where) for action in actions]
        pairs = list(zip(actions, verdicts, strict=True))
        if pairs:
            await lane.append(*(Policy(action, verdict) for action, verdict in pairs), corr=call)
        for verdict in verdicts:
            if verdict.decision == "deny":
                return verdict
        asked = tuple(action for action, verdict in pairs if verdict.decision == "ask")
        if asked:
            reason = next(v.reason for v in verdicts if v.decision == "ask")
            request = ConfirmRequest(call=call, tool=tool, actions=asked, reason=reason)
            response = await self._desk.confirm(request, lane)
            if response.decision == "deny":
                return Verdict("deny", "person", "the person said no", response.guidance)
        return Leave(tuple(actions))

    async def question(self, text: str, options: tuple[str, ...], default: str, lane: Lane) -> str:
        """Ask the person something; the default when nobody can answer."""
        return (await self._desk.ask(Question(text, options, default), lane)).text
