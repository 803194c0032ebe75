"""The one gate: judges actions, writes every verdict to the log, asks a person where needed."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import chain

import msgspec
from msgspec import Struct

from steersman.governance import levels, modes
from steersman.governance.added import Lookout, Looks
from steersman.governance.approvals import Desk
from steersman.governance.budgets import Budget
from steersman.governance.cases import (
    Case,
    aside,
    beside,
    covered,
    decide_all,
    denied,
    held,
    host_asked,
    incident,
    is_blocked,
    is_deed,
    is_effect,
    lines_of,
    load_guard,
    matter,
    refusing,
)
from steersman.governance.confinement import Confines
from steersman.governance.policy import (
    Approvals,
    Book,
    Circumstances,
    Containment,
    Mode,
    Trust,
    forbids,
)
from steersman.governance.remembering import Forgetful, Memory
from steersman.governance.said_no import SaidNo
from steersman.governance.secret_finder import Finder, unreadable
from steersman.governance.typed import Typed, answered, said_by
from steersman.records.action import (
    Action,
    Delete,
    Execute,
    Network,
    Read,
    Search,
    Verdict,
    Write,
)
from steersman.records.addresses import is_near
from steersman.records.errors import Halted, TooLate, UsageProblem
from steersman.records.far_disk import FarDisk, looking
from steersman.records.message import (
    Answer,
    Audit,
    Body,
    ConfirmRequest,
    ConfirmResponse,
    JobEnd,
    Message,
    Policy,
    Question,
)
from steersman.records.profile import PLAIN, Profile
from steersman.records.secret_files import SecretFiles
from steersman.store.log import Lane
from steersman.systems import Edited

_PERHAPS_YOURS = (
    "it was done while a command worked on the folder itself, so it may be your own change; "
    "denied, it is undone and a copy is kept"
)
_UNASKED = "it needs your approval, and nobody is asked about this"


class Permit(Struct, frozen=True):
    """The gate's permission for certain actions, and nothing else; commands run under the profile.

    `secret` says, as lines of a `.gitignore`, which files below the paths are left out.
    """

    actions: tuple[Action, ...]
    profile: Profile = PLAIN
    secret: str = ""


class Gate:
    """Decides for every capsule of a thread."""

    def __init__(
        self,
        where: Circumstances,
        desk: Desk,
        *,
        memory: Memory | None = None,
        confinement: Confines | None = None,
        contain: Callable[[], Awaitable[tuple[Containment, str]]] | None = None,
        budget: Budget | None = None,
        finder: Looks | None = None,
        there: FarDisk | None = None,
    ) -> None:
        self._there = there
        self.where = where
        self._desk = desk
        self._memory = memory or Forgetful()
        self._confinement = confinement
        self._contain = contain
        self._budget = budget or Budget()
        also = unreadable(where.rules)
        self._lookout = Lookout(where.workspace, finder or Finder(where.workspace, also), also)
        self._lookout.add(where.readable)
        self._looked = False  # deeply, for this thread
        self._books: dict[int, asyncio.Task[Book]] = {}  # the answers that hold, by turn
        self._own: set[str] = set()  # calls that the user made
        self._typed: dict[str, Typed] = {}  # what they typed of these
        self._hosts: dict[str, dict[object, Verdict | None]] = {}  # a no or a yes, for a call
        self._said_no = SaidNo()
        self.runs: tuple[tuple[str, bool], ...] = ()  # tools that are commands; which change files
        self._held: dict[str, str] = {}  # calls that a hook wants asked about, and why
        self._hooks: set[str] = set()  # calls that run hooks
        self._unasked: set[str] = set()  # calls about which nobody is to be asked
        self._answered: dict[str, set[object]] = {}  # about calls that the answers changed

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
        """Permission for all of the actions, or the verdict against one of them.

        `edited`: a person has just changed or cut the call to this, and is only asked about what
        was not in their question.
        `whole`: they can only allow or deny it as it is.
        """
        self._budget.call(call)
        await self._get_ready(actions, lane)
        if self.where.safer and not edited and not whole:
            better = await self._safer(call, actions, lane)
            if better is not None:
                return better
        hidden = await self._refresh(actions)
        where = await self._in_turn(lane.turn, hook=call in self._hooks)
        own = None if lane.turn else self._typed.get(call)  # ids are the model's in a turn
        self._said_no.begin(call, actions)
        cases = await self._judged(call, tool, actions, where, own, fresh=not (whole or edited))
        if call not in self._own:
            cases = [self._said_no.judged(case, lane.turn) for case in cases]
        if isinstance(no := await self._said_early(call, actions), Verdict):
            cases = [refusing(case, no) for case in cases]
        await self._tell(call, tool, cases, lane, alone=where.approvals == "never" and own is None)
        for case in cases:
            if case.verdict.decision == "deny":
                return case.verdict
        asked = [case for case in cases if case.verdict.decision == "ask"]
        if edited:
            asked = [case for case in asked if matter(case) not in self._answered.get(call, ())]
        if asked and call in self._unasked:
            return Verdict("deny", asked[0].verdict.rule, _UNASKED)
        if asked:
            request = self._request(call, tool, cases, asked, lane.turn, whole=whole)
            answer = await self._ask(request, asked, lane)
            if answer is not None:
                return answer
            book = (await self._in_turn(lane.turn)).answers  # the answer may be in it
            where = msgspec.structs.replace(where, answers=book)
        profile = await self._profile(cases, hidden, where, call)
        said = await self._said_early(call, actions)
        if is_deed(actions):
            self._desk.over(call)  # before anyone can say no to what is being done
        return said or Permit(tuple(actions), profile, self.where.secret_files.lines)

    async def _tell(
        self, call: str, tool: str, cases: Sequence[Case], lane: Lane, *, alone: bool
    ) -> None:
        """Write the verdicts to the log; what the guard blocks ends a run that is `alone`."""
        told: list[Body] = [Policy(case.action, case.verdict) for case in cases]
        blocks = [incident(case, tool) for case in cases if is_blocked(case)]
        if any(one.flushed for one in told):
            await lane.append(*told, *blocks, corr=call)
        else:  # changes that are allowed: they begin with their checkpoint
            lane.later(*told, corr=call)
        if blocks and alone:
            first = blocks[0]
            raise Halted(
                f"The guard blocked a command: {first.reason.rstrip('.')}.",
                "No one is watching this run, so it stops here.",
                f"`steer guard` explains the rule {first.rule}.",
            )

    async def _said_early(self, call: str, actions: Sequence[Action]) -> Edited | Verdict | None:
        """What a person said of a call before its turn had come, unless that is a plain yes.

        It holds although a later answer, or another level, covers the call as it was.
        """
        known = await self._desk.said_early(call) if is_deed(actions) else None
        if known is None:
            return None
        request, response = known
        if response.decision == "deny":
            return denied(response)
        if response.arguments is None and response.hunks is None:
            return None
        paths = (one.path for one in request.actions if isinstance(one, Write | Delete))
        return Edited(response.arguments, response.hunks, tuple(paths))

    async def _judged(
        self,
        call: str,
        tool: str,
        actions: Sequence[Action],
        where: Circumstances,
        own: Typed | None,
        *,
        fresh: bool,
    ) -> list[Case]:
        """The verdicts; `own` is what the user typed. As hooks want it while it is `fresh`."""
        if own is not None:
            level = "on-request" if where.approvals == "never" else where.approvals
            here = msgspec.structs.replace(where, approvals=level)  # whoever types is there
            cases = await self._decide(actions, tool, here)
            if any(case.verdict.decision == "ask" for case in cases):
                said = await asyncio.to_thread(said_by, own, where)
                cases = [answered(case, said) for case in cases]
        else:
            cases = await self._decide(actions, tool, where)
        if nos := self._hosts.get(call):  # a yes to another call is none to this one
            cases = [refusing(case, nos.get(host_asked(case.action))) for case in cases]
        why = self._held.get(call) if fresh else None
        return [held(case, why, where.approvals) for case in cases] if why else cases

    async def foresee(self, call: str, tool: str, actions: Sequence[Action], lane: Lane) -> None:
        """Ask about a call before its turn has come, with the others of the same answer.

        Nothing is decided yet: it is judged when its turn comes, and if it would do something else
        by then, asked about again.
        """
        if await self._desk.said_early(call):
            return  # by whoever answered a process that died
        await self._get_ready(actions, lane)
        await self._refresh(actions)
        cases = await self._decide(actions, tool, await self._in_turn(lane.turn))
        cases = [self._said_no.judged(case, lane.turn) for case in cases]
        asked = [case for case in cases if case.verdict.decision == "ask"]
        if not asked or any(case.verdict.decision == "deny" for case in cases):
            return

        await lane.append(*(Policy(case.action, case.verdict) for case in cases), corr=call)

        async def then(response: ConfirmResponse) -> None:
            await self._keep(tool, asked, response, lane.turn)

        await self._desk.ask_early(self._request(call, tool, cases, asked, lane.turn), lane, then)

    @property
    def asks_early(self) -> bool:
        """Whether people are asked about calls before their turn has come."""
        return self._desk.by_person and not self.where.safer

    async def glance(
        self, call: str, tool: str, actions: Sequence[Action], lane: Lane
    ) -> Permit | None:
        """Permission to look at what a plan needs, where nobody must be asked about that."""
        await self._get_ready(actions, lane)
        await self._refresh(actions)
        cases = await self._decide(actions, tool, await self._in_turn(lane.turn))
        if any(case.verdict.decision != "allow" for case in cases):
            return None
        if cases:
            await lane.append(*(Policy(case.action, case.verdict) for case in cases), corr=call)
        return Permit(tuple(actions), secret=self.where.secret_files.lines)

    async def _decide(
        self, actions: Sequence[Action], tool: str, where: Circumstances
    ) -> list[Case]:
        """The verdict on each action, by what is found where its files are."""
        with looking(self._there):
            return await decide_all(actions, tool, where)

    def over(self, call: str) -> None:
        """A call has ended: what was asked about it early is moot."""
        self._own.discard(call)
        self._typed.pop(call, None)
        self._hooks.discard(call)
        self._unasked.discard(call)
        self._held.pop(call, None)
        self._answered.pop(call, None)
        self._hosts.pop(call, None)
        self._desk.over(call)

    def observe(self, messages: Iterable[Message]) -> None:
        """A job has ended: it asks for no more hosts, and its call was over before."""
        for message in messages:
            if isinstance(message.body, JobEnd):
                self._hosts.pop(message.corr or "", None)

    def hold(self, call: str, why: str) -> None:
        """Have the user asked about what a call does even where it is allowed, until it is over."""
        self._held[call] = why

    def mark_hook(self, call: str) -> None:
        """Judge a call as that of a hook, which runs in every mode, until it is over."""
        self._hooks.add(call)

    def ask_nobody(self, call: str) -> None:
        """Deny a call where people would have to be asked about it, until it is over."""
        self._unasked.add(call)

    def mark_own(self, call: str, typed: str = "", cwd: str = ".") -> None:
        """Remember until it is over that the user makes this call, what they typed, and where."""
        self._own.add(call)
        if typed:
            self._typed[call] = Typed(typed, cwd)

    def end_turn(self) -> None:
        """What was answered for the turn only holds no more."""
        self._memory.end_turn()
        self._books = {}

    async def _get_ready(self, actions: Sequence[Action], lane: Lane) -> None:
        """Know what judging takes: the sandbox, the guard."""
        if any(isinstance(action, Execute) for action in actions):
            await self._find_containment(lane)
        if any(map(lines_of, actions)):
            await load_guard()

    async def _safer(self, call: str, actions: Sequence[Action], lane: Lane) -> Edited | None:
        """The safer form of a command, where there is one; the log says that it was taken."""
        match actions:
            case [Execute(command=command, means=means)]:
                from steersman.governance.guard.safer import safer

                made = await asyncio.to_thread(safer, means or command)
                if made:
                    what = f"A safer form is used: {made}"
                    await lane.append(Audit("guard", what, f"Instead of: {command}"), corr=call)
                    return Edited(safer=made)
        return None

    def _request(
        self,
        call: str,
        tool: str,
        cases: Sequence[Case],
        asked: Sequence[Case],
        turn: int,
        *,
        whole: bool = False,
    ) -> ConfirmRequest:
        """What a person is asked about a call."""
        with looking(self._there):
            offer = self._memory.offer(
                tool, [(case.action, case.judgement) for case in asked], self.where.rules, turn
            )
        reasons = [reason for case in asked for reason in self._why(case)]
        others = beside(cases, asked)
        of_hosts = all(host_asked(case.action) for case in asked)
        return ConfirmRequest(
            call=call,
            tool=tool,
            actions=tuple(case.action for case in asked),
            reason="; ".join(dict.fromkeys([*reasons, *([others] if others else [])])),
            facts=tuple(
                msgspec.to_builtins(fact)
                for case in asked
                if case.judgement
                for fact in case.judgement.facts
            ),
            lasting=offer.lasting,
            only_once=offer.only_once,
            whole=whole,
            own=call in self._own,
            command=self._said_no.command(call) if of_hosts else "",
        )

    async def _ask(
        self, request: ConfirmRequest, asked: Sequence[Case], lane: Lane
    ) -> Edited | Verdict | None:
        """Put it to the user; None when they approve it as it is.

        What they said of a host holds until the call or its job is over, however often it tries.
        """
        hosts = self._hosts.get(request.call, {})
        wanted = [host_asked(action) for action in request.actions]
        said = [hosts[one] for one in wanted if one in hosts]
        if any(said) or len(said) == len(wanted):
            return next(filter(None, said), None)
        response = await self._desk.confirm(request, lane)
        await self._keep(request.tool, asked, response, lane.turn)
        if response.decision == "deny":
            no = denied(response)
            self._said_of_hosts(request.call, wanted, no)
            if request.call not in self._own and any(wanted):
                places = chain.from_iterable(wanted)
                self._said_no.note(request.call, lane.turn, places, response.guidance)
            return no
        if response.arguments is not None or response.hunks is not None:
            self._answered.setdefault(request.call, set()).update(map(matter, asked))
            paths = (case.action.path for case in asked if isinstance(case.action, Write | Delete))
            return Edited(response.arguments, response.hunks, tuple(paths))
        self._said_of_hosts(request.call, wanted, None)
        if any(wanted):
            await self._cover()
        return None

    def _said_of_hosts(self, call: str, wanted: Iterable[object], said: Verdict | None) -> None:
        if places := list(filter(None, wanted)):
            self._hosts.setdefault(call, {}).update(dict.fromkeys(places, said))

    def _why(self, case: Case) -> tuple[str, ...]:
        """Why a person is asked, and what the words of a command do not show."""
        why = (case.verdict.reason,)
        if self.where.containment == "weaker" and is_effect(case.action):
            return (*why, _PERHAPS_YOURS)
        if not isinstance(case.action, Execute) or self._confinement is None:
            return why
        return why + self._confinement.brought_along(
            case.action, case.judgement, self.where.workspace
        )

    async def _keep(
        self, tool: str, asked: Sequence[Case], response: ConfirmResponse, turn: int
    ) -> None:
        """Remember a lasting answer."""
        if response.by != "person":
            return
        with looking(self._there):
            await aside(self._remember, tool, asked, response, turn)
        self._books = {}  # nor is one of use that is being read meanwhile
        if response.decision == "allow" and response.scope != "once":
            await self._cover()

    def _remember(
        self, tool: str, asked: Sequence[Case], response: ConfirmResponse, turn: int
    ) -> None:
        hosts = [case.action for case in asked if isinstance(case.action, Network)]
        cases = [(case.action, case.judgement) for case in asked]
        if response.decision == "deny":
            for host in hosts if response.scope == "thread" else ():
                self._memory.refuse(host)
        elif response.scope != "once" and response.hunks is None:
            self._memory.keep(tool, cases, response.lasting, response.scope, turn)
        elif any(host.registries for host in hosts):  # packages come in several calls
            self._memory.keep(tool, cases, "same", "thread")

    async def _cover(self) -> None:
        """Answer what waits and is covered by an answer that was just given."""
        for corr, request, turn in self._desk.open_requests():
            cases = await self._decide(request.actions, request.tool, await self._in_turn(turn))
            said = self._hosts.get(request.call, {})
            if request.call in self._held or any(said.get(host_asked(c.action)) for c in cases):
                continue
            hosts = [host for host, no in said.items() if no is None]
            if cases and all(
                case.verdict.decision == "allow" or host_asked(case.action) in hosts
                for case in cases
            ):
                with suppress(TooLate, UsageProblem):  # someone answered it meanwhile
                    await self._desk.answer(corr, ConfirmResponse("allow", by="earlier"))

    async def _refresh(self, actions: Sequence[Action]) -> tuple[str, ...]:
        """See which files are secret now; the answer names them where a command could read them."""
        kinds = Execute if self._looked else Execute | Read | Search
        deep = any(isinstance(action, kinds) for action in actions)
        secret_files, hidden = await self._lookout.look(deep=deep)
        self._looked |= deep
        if secret_files != self.where.secret_files:
            self.where = msgspec.structs.replace(self.where, secret_files=secret_files)
        return hidden

    async def _find_containment(self, lane: Lane) -> None:
        """Find out once how well commands are confined here, and say so where that is not well."""
        if self._contain is None:
            return
        level, reason = await self._contain()
        self._contain = None
        self.where = msgspec.structs.replace(self.where, containment=level)
        if level == "weaker":
            what = "Commands are confined less well than they should be."
            await lane.append(
                Audit("sandbox", what, reason, "`steer doctor` shows what is missing.")
            )
        if level == "none" and self.where.bare:
            what = "Commands run without a sandbox here, because the settings allow it."
            await lane.append(Audit("sandbox", what, reason))

    async def _in_turn(self, turn: int, *, hook: bool = False) -> Circumstances:
        """The circumstances now, with the answers that hold in a turn."""
        known = self._books.get(turn)
        if known is None or (known.done() and (known.cancelled() or known.exception())):
            known = asyncio.create_task(asyncio.to_thread(self._memory.book, turn))
            self._books[turn] = known  # those who come meanwhile wait for the same
        book = await asyncio.shield(known)
        mode = modes.of_hooks(self.where.mode) if hook else self.where.mode
        return msgspec.structs.replace(self.where, answers=book, mode=mode)

    async def _profile(
        self, cases: Sequence[Case], hidden: tuple[str, ...], where: Circumstances, call: str
    ) -> Profile:
        for case in cases:
            if isinstance(case.action, Execute) and self._confinement is not None:
                made = self._confinement.profile  # it looks at every path that is to be hidden
                with looking(self._there):
                    profile = await aside(made, case.action, where, case.judgement, hidden)
                hosts = covered(case, where)
                return msgspec.structs.replace(
                    profile,
                    reaches=(*profile.reaches, *hosts),
                    nearby=(*profile.nearby, *filter(is_near, hosts)),
                    retry=where.approvals == "on-failure" and self._desk.by_person,
                    escalate=levels.escalates(
                        where.approvals,
                        own=call in self._own,
                        person=self._desk.by_person,
                        looks_only=modes.looks_only(where.mode),
                    ),
                )
            if isinstance(case.action, Network) and case.action.near:
                place = f"{case.action.host}:{case.action.port}"  # a rule named it
                return Profile(files="read", nearby=(place,))
        return PLAIN

    async def secret_files(self) -> SecretFiles:
        """Which files are secret now."""
        await self._refresh(())
        return self.where.secret_files

    def apply(
        self,
        mode: Mode,
        trust: Trust,
        approvals: Approvals,
        *,
        bare: bool,
        readable: tuple[str, ...],
    ) -> None:
        """Judge by other settings from the next action on."""
        if readable != self.where.readable:
            self._lookout.add(readable)
            self._looked = False
        self.where = msgspec.structs.replace(
            self.where, mode=mode, trust=trust, approvals=approvals, bare=bare, readable=readable
        )

    async def close(self) -> None:
        """Wait for what is being looked at for this thread alone."""
        await self._lookout.close()

    def withheld(self) -> Mapping[str, Verdict]:
        """The tools that the mode which holds now does not have, and why; the same each time."""
        servers = self.where.rules.allows_servers()
        return modes.withheld(
            self.where.mode, heard=self._desk.heard, servers=servers, runs=self.runs
        )

    def forbids(self, action: Action) -> bool:
        """Whether the mode which holds now denies what a tool does, whatever its arguments are."""
        return forbids(action, self.where)

    def check_budget(self, tokens: int = 0, cost: float = 0.0) -> None:
        """Raise when too much was spent to continue, or would be after the next request."""
        self._budget.check(tokens, cost)

    @property
    def attended(self) -> bool:
        """Whether someone can answer."""
        return self._desk.attended

    async def question(self, asked: Question, lane: Lane) -> Answer:
        """Ask the user something; the default when there is no one to ask."""
        return await self._desk.ask(asked, lane)
