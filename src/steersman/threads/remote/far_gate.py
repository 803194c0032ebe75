"""The gate as an agent has it: everything is put to the host's gate, with what is found here.

Nothing is decided here; `bound.py` has a gate that does so first. What the host allows holds for
the actions of one request and no others.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from types import NoneType

from steersman.governance.approvals import Desk
from steersman.governance.cases import judged, load_guard
from steersman.governance.confinement import Confinement
from steersman.governance.gate import Gate, Permit
from steersman.governance.policy import Approvals, Circumstances, Containment, Mode, Trust
from steersman.governance.secret_finder import Finder
from steersman.records.action import Action, Delete, Execute, Read, Search, Verdict, Write
from steersman.records.errors import SteersmanError
from steersman.records.message import Answer, Question
from steersman.records.protection import protected
from steersman.store.log import Lane
from steersman.systems import Edited
from steersman.threads.remote.far_log import FarLog
from steersman.threads.remote.line import Line
from steersman.threads.remote.words import (
    Admit,
    Admitted,
    Asking,
    Facts,
    Flagged,
    Spoken,
    heard,
    spoken,
)


class FarGate(Gate):
    """Asks the host, and finds out here what the host must know for its decision."""

    def __init__(
        self,
        where: Circumstances,
        finder: Finder,
        confinement: Confinement,
        line: Line,
        log: FarLog,
        contain: Callable[[], Awaitable[tuple[Containment, str]]] | None = None,
    ) -> None:
        super().__init__(
            where, Desk(attended=False), confinement=confinement, contain=contain, finder=finder
        )
        self._far = line
        self._log = log
        self._said: str | None = None  # what the host was last told to be secret
        self.kept_back: dict[str, Verdict] = {}  # tools of calls that the mode does not have

    async def admit(
        self,
        call: str,
        tool: str,
        actions: Sequence[Action],
        lane: Lane,
        *,
        edited: bool = False,
        whole: bool = False,
    ) -> Permit | Edited | Verdict:
        """What the host's gate says; calls are counted there before they are made."""
        if not actions:
            return Permit(())
        asked = await self._about(call, tool, actions, lane, edited=edited, whole=whole)
        said = await self._far.ask("admit", asked, Admitted)
        self._log.reached(said.head)
        if said.leave is not None:
            return Permit(tuple(actions), said.leave.profile, said.leave.secret)
        if (answer := said.edited or said.verdict) is None:
            raise SteersmanError("The host's gate gave no answer.")
        return answer

    async def glance(
        self, call: str, tool: str, actions: Sequence[Action], lane: Lane
    ) -> Permit | None:
        """Permission to look at what a plan needs, where nobody must be asked about that."""
        asked = await self._about(call, tool, actions, lane)
        said = await self._far.ask("glance", asked, Admitted)
        self._log.reached(said.head)
        if said.leave is None:
            return None
        return Permit(tuple(actions), secret=said.leave.secret)

    async def foresee(self, call: str, tool: str, actions: Sequence[Action], lane: Lane) -> None:
        """Have people asked about a call before its turn has come."""
        await self._far.ask("expect", await self._about(call, tool, actions, lane), NoneType)

    async def _about(
        self,
        call: str,
        tool: str,
        actions: Sequence[Action],
        lane: Lane,
        *,
        edited: bool = False,
        whole: bool = False,
    ) -> Admit:
        facts = await self._facts(actions) if actions else Facts()
        return Admit(
            call, tool, tuple(actions), lane.path, lane.turn, facts, edited=edited, whole=whole
        )

    async def _facts(self, actions: Sequence[Action]) -> Facts:
        kinds = Execute if self._looked else Execute | Read | Search
        deep = any(isinstance(action, kinds) for action in actions)
        secret_files, hidden = await self._lookout.look(deep=deep)
        self._looked |= deep
        news = secret_files.lines if secret_files.lines != self._said else None
        self._said = secret_files.lines
        guarded, brought = tuple[str, ...](), tuple[tuple[str, ...], ...]()
        if any(isinstance(action, Write | Delete) for action in actions):
            guarded = await asyncio.to_thread(self._protected, actions)
        if any(isinstance(action, Execute) and action.outside for action in actions):
            await load_guard()
            brought = await asyncio.to_thread(self._brought, actions)
        return Facts(guarded, brought, news, hidden if deep else None)

    def _protected(self, actions: Sequence[Action]) -> tuple[str, ...]:
        root = self.where.workspace
        return tuple(
            protected(one, root) if isinstance(one, Write | Delete) else "" for one in actions
        )

    def _brought(self, actions: Sequence[Action]) -> tuple[tuple[str, ...], ...]:
        assert self._confinement is not None
        return tuple(
            self._confinement.brought_along(one, judged(one, self.where), self.where.workspace)
            if isinstance(one, Execute)
            else ()
            for one in actions
        )

    # What is only told, or asked of the user

    def over(self, call: str) -> None:
        """Nothing: whoever asked for the call says when it is over."""

    def hold(self, call: str, why: str) -> None:
        """Have the user asked about what a call does even where it is allowed."""
        self._far.tell("hold", Flagged(call, why))

    def mark_hook(self, call: str) -> None:
        """Have a call judged as that of a hook."""
        self._far.tell("hook", Flagged(call))

    def ask_nobody(self, call: str) -> None:
        """Have a call denied where people would have to be asked about it."""
        self._far.tell("unasked", Flagged(call))

    def mark_own(self, call: str, typed: str = "", cwd: str = ".") -> None:
        """Nothing: the host knows whose call it is."""

    async def question(self, asked: Question, lane: Lane) -> Answer:
        """Ask the user something."""
        said = await self._far.ask("question", Asking(spoken(asked), lane.path, lane.turn), Spoken)
        answer = heard(said)
        assert isinstance(answer, Answer)
        return answer

    def check_budget(self, tokens: int = 0, cost: float = 0.0) -> None:
        """Nothing: the host counts, and every call is put to its gate first."""

    # What the mode has is the host's to say

    def withheld(self) -> Mapping[str, Verdict]:
        """The tools of calls under way that the mode does not have."""
        return self.kept_back

    def forbids(self, action: Action) -> bool:
        """False: the host offers tools, and judges each call."""
        return False

    @property
    def asks_early(self) -> bool:
        """False: the host begins calls."""
        return False

    @property
    def attended(self) -> bool:
        """Whether someone can answer: the host knows, and is asked."""
        return True

    def apply(
        self,
        mode: Mode,
        trust: Trust,
        approvals: Approvals,
        *,
        bare: bool,
        readable: tuple[str, ...],
    ) -> None:
        """Nothing: the host judges."""
