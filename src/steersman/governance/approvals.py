"""Requests that wait for a person: one desk for a whole thread, however many capsules ask."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager

from msgspec import Struct

from steersman.records.call_ids import ASK, fresh
from steersman.records.errors import NeedsAnswer, TooLate, UsageProblem
from steersman.records.hunks import misfit
from steersman.records.message import (
    Answer,
    ConfirmRequest,
    ConfirmResponse,
    Message,
    Question,
    encode_body,
)
from steersman.records.tool_names import plainly
from steersman.store.cause import NO_CAUSE, Cause
from steersman.store.log import Lane, ThreadLog, unbroken

Given = ConfirmResponse | Answer


class Expected(Struct, frozen=True):
    """An answer to come: to what, where that was written, and who waits for it.

    `then` is done at once where nobody waits yet.
    """

    asked: ConfirmRequest | Question
    lane: Lane
    answer: asyncio.Future[Given | None]
    then: Callable[[ConfirmResponse], Awaitable[None]] | None = None


class Desk:
    """Puts requests to the user and waits for the answers.

    `attended` says that someone can answer; `yes` answers every permission with allow. `questions`:
    whoever answers also answers what an agent asks, and not only permissions.
    """

    def __init__(self, *, attended: bool, yes: bool = False, questions: bool = True) -> None:
        self._attended = attended
        self._questions = questions
        self._yes = yes
        self._waiting: dict[str, Expected] = {}
        self._answered: set[str] = set()
        self._before: dict[str, Expected] = {}
        self._early: dict[str, Expected] = {}
        self._writing: dict[str, asyncio.Future[None]] = {}  # answers that are not yet in the log

    @property
    def attended(self) -> bool:
        """Whether someone can answer."""
        return self._attended

    @property
    def heard(self) -> bool:
        """Whether someone answers what an agent asks."""
        return self._attended and self._questions

    @property
    def by_person(self) -> bool:
        """Whether a person answers what is asked now."""
        return self._attended and not self._yes

    def recall(
        self,
        requests: Iterable[Message],
        log: ThreadLog,
        said: Mapping[str | None, ConfirmResponse] | None = None,
    ) -> None:
        """Requests of a process that died; asked again, they keep their names, and what was `said`.

        They can be answered at once. Whoever answers is not kept waiting: what must be answered
        before this one is asked again may come after it.
        """
        for message in requests:
            if message.corr and isinstance(message.body, ConfirmRequest | Question):
                lane = Lane(log, message.path, message.turn)
                self._before[message.corr] = Expected(message.body, lane, asyncio.Future())
                if said and message.corr in said:
                    self._answered.add(message.corr)
                    self._before[message.corr].answer.set_result(said[message.corr])
                else:
                    self._waiting[message.corr] = self._before[message.corr]

    def forget(self) -> None:
        """What has not been asked again by now never will be."""
        for corr in (*self._before, *self._early):
            self._waiting.pop(corr, None)
        self._before.clear()
        self._early.clear()

    async def ask_early(
        self,
        request: ConfirmRequest,
        lane: Lane,
        then: Callable[[ConfirmResponse], Awaitable[None]],
    ) -> None:
        """Ask before the call's turn has come; the same request then finds its answer."""
        before = self._asked_before(request)
        corr = before[0] if before else fresh(ASK)
        answer = before[1].answer if before else asyncio.Future()
        self._early[corr] = Expected(request, lane, answer, then)
        if corr not in self._answered:
            self._waiting[corr] = self._early[corr]
        if not before:
            await lane.append(request, corr=corr)

    def over(self, call: str) -> None:
        """A call has ended, or needs nobody's answer: what was asked about it early is moot."""
        for corr, _ in self._asked_early(call):
            self._before.pop(corr, None)
            self._early.pop(corr, None)
            self._waiting.pop(corr, None)

    def _asked_early(self, call: str) -> list[tuple[str, Expected]]:
        """What a process that died asked about a call, or was asked before its turn had come."""
        asked = [*self._before.items(), *self._early.items()]
        return [(corr, one) for corr, one in asked if getattr(one.asked, "call", "") == call]

    async def said_early(self, call: str) -> tuple[ConfirmRequest, ConfirmResponse] | None:
        """What was asked about a call before its turn had come, and the answer, if there is one.

        What is said later of other calls changes nothing about it. An answer that is being written
        is one; whoever continues without any says `over` at once, so that none comes afterwards.
        """
        for corr, one in self._asked_early(call):
            if corr in self._writing:
                await asyncio.wait([self._writing[corr]])
            said = one.answer.result() if one.answer.done() else None
            if isinstance(one.asked, ConfirmRequest) and isinstance(said, ConfirmResponse):
                return one.asked, said
        return None

    def open_requests(self) -> list[tuple[str, ConfirmRequest, int]]:
        """The permissions that wait for an answer, and the turns that they are for."""
        return [
            (corr, one.asked, one.lane.turn) for corr, one in self._waiting.items()
            if isinstance(one.asked, ConfirmRequest) and not one.answer.done()
        ]  # fmt: skip

    async def confirm(self, request: ConfirmRequest, lane: Lane) -> ConfirmResponse:
        """Ask for permission; the answer is in the log before it is returned."""
        with self._expecting(request, lane) as (corr, known, answer):
            if not known:
                await lane.append(request, corr=corr)
            if self._yes and corr not in self._answered:
                response = ConfirmResponse("allow", by="yes-flag")
                await lane.append(response, corr=corr)
                return response
            received = await answer if self._attended or corr in self._answered else None
            if received is None:
                raise NeedsAnswer(
                    f"“{plainly(request.tool)}” needs an answer, but there is no one to ask.",
                    request.reason,
                    "Run it in a terminal, or pass --yes or --approvals never.",
                )
        assert isinstance(received, ConfirmResponse)
        return received

    async def ask(self, question: Question, lane: Lane) -> Answer:
        """Ask something that has a default."""
        with self._expecting(question, lane) as (corr, known, answer):
            if not known:
                await lane.append(question, corr=corr)
            received = await answer if self._attended or corr in self._answered else None
            if received is None:
                received = Answer(question.default, by="default")
                await lane.append(received, corr=corr)
        assert isinstance(received, Answer)
        return received

    async def answer(self, corr: str, answer: Given, cause: Cause = NO_CAUSE) -> None:
        """Give the answer to a waiting request; it is stored before anything follows from it."""
        expected = self._waiting.get(corr)
        if expected is None or expected.answer.done():
            if corr in self._answered:
                raise TooLate(f"The request {corr} was already answered.")
            raise UsageProblem(f"No request {corr} is waiting for an answer.")
        asked = expected.asked
        kind = ConfirmResponse if isinstance(asked, ConfirmRequest) else Answer
        if not isinstance(answer, kind):
            raise UsageProblem(f"The answer to {corr} must be a {kind.kind}, not a {answer.kind}.")
        if isinstance(asked, ConfirmRequest) and isinstance(answer, ConfirmResponse):
            check_hunks(asked, answer)
        del self._waiting[corr]
        self._answered.add(corr)
        self._writing[corr] = asyncio.Future()
        # Whoever answers may be cancelled by the very message that says so.
        await unbroken(self._give(expected, corr, answer, cause))

    async def _give(self, expected: Expected, corr: str, answer: Given, cause: Cause) -> None:
        lane = expected.lane
        try:
            drafts = [*cause.taken(lane), lane.draft(answer, corr)]
            await lane.log.append(*drafts, settled=cause.settled())
        except BaseException:
            self._answered.discard(corr)
            self._waiting[corr] = expected
            raise
        else:
            if not expected.answer.done():
                expected.answer.set_result(answer)
        finally:
            self._writing.pop(corr).set_result(None)
        if expected.then is not None and isinstance(answer, ConfirmResponse):
            await expected.then(answer)

    def leave(self) -> None:
        """The user is gone: whatever waits for them now, or later, has nobody to answer it."""
        self._attended = False
        for expected in self._waiting.values():
            if not expected.answer.done():
                expected.answer.set_result(None)

    @contextmanager
    def _expecting(
        self, request: ConfirmRequest | Question, lane: Lane
    ) -> Iterator[tuple[str, bool, asyncio.Future[Given | None]]]:
        """A request's name, whether the log has it, and its answer to come.

        All is known before anyone can read of it.
        """
        before = self._asked_before(request)
        corr, expected = before or (
            fresh(ASK),
            Expected(request, lane, asyncio.Future()),
        )
        if corr not in self._answered:
            self._waiting[corr] = expected
        try:
            yield corr, before is not None, expected.answer
        finally:
            self._waiting.pop(corr, None)

    def _asked_before(self, request: ConfirmRequest | Question) -> tuple[str, Expected] | None:
        """The same request of a process that died, or one that was asked early.

        What it asked else about the call is moot.
        """
        asked, call = encode_body(request), getattr(request, "call", "")
        for corr, before in self._asked_early(call):
            self._before.pop(corr, None)
            self._early.pop(corr, None)
            if encode_body(before.asked) == asked:
                return corr, before
            self._waiting.pop(corr, None)
        return None


def check_hunks(request: ConfirmRequest, response: ConfirmResponse) -> None:
    """Raise when an answer names hunks that the request does not have; it continues waiting."""
    if response.hunks is None:
        return
    if response.arguments is not None:
        raise UsageProblem("An answer can change the arguments or choose hunks, not both.")
    why = misfit(request.actions, response.hunks, whole=request.whole)
    if why:
        raise UsageProblem(why, try_this="Allow or deny the whole change, or name other hunks.")
