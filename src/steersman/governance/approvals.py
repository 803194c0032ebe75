"""Requests that wait for a person: one desk for a whole thread, however many capsules ask."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from secrets import token_hex

from steersman.records.errors import NeedsAnswer, UsageProblem
from steersman.records.hunks import misfit
from steersman.records.message import Answer, ConfirmRequest, ConfirmResponse, Question
from steersman.store.log import Lane

Reply = asyncio.Future[ConfirmResponse | Answer | None]


class Desk:
    """Puts requests to the person and waits for the answers.

    `attended` says that somebody can answer; `yes` answers every permission with allow.
    """

    def __init__(self, *, attended: bool, yes: bool = False) -> None:
        self._attended = attended
        self._yes = yes
        self._waiting: dict[str, tuple[ConfirmRequest | Question, Reply]] = {}

    async def confirm(self, request: ConfirmRequest, lane: Lane) -> ConfirmResponse:
        """Ask for permission; the answer is in the log before it is returned."""
        with self._expecting(request) as (corr, answer):
            await lane.append(request, corr=corr)
            if self._yes:
                response = ConfirmResponse("allow", by="yes-flag")
            else:
                received = await answer if self._attended else None
                if received is None:
                    raise NeedsAnswer(
                        f"{request.tool} needs an answer and nobody can give one.",
                        request.reason,
                        "Run it in a terminal, or pass --yes or --approvals never.",
                    )
                assert isinstance(received, ConfirmResponse)
                response = received
        await lane.append(response, corr=corr)
        return response

    async def ask(self, question: Question, lane: Lane) -> Answer:
        """Ask something that has a default."""
        with self._expecting(question) as (corr, answer):
            await lane.append(question, corr=corr)
            received = await answer if self._attended else None
            assert received is None or isinstance(received, Answer)
            reply = received or Answer(question.default, by="default")
        await lane.append(reply, corr=corr)
        return reply

    def answer(self, corr: str, answer: ConfirmResponse | Answer) -> None:
        """Give the answer to a waiting request."""
        asked, waiting = self._waiting.get(corr, (None, None))
        if asked is None or waiting is None or waiting.done():
            raise UsageProblem(f"No request {corr} is waiting for an answer.")
        kind = ConfirmResponse if isinstance(asked, ConfirmRequest) else Answer
        if not isinstance(answer, kind):
            raise UsageProblem(f"The answer to {corr} must be a {kind.kind}, not a {answer.kind}.")
        if isinstance(asked, ConfirmRequest) and isinstance(answer, ConfirmResponse):
            check_hunks(asked, answer)
        waiting.set_result(answer)

    def leave(self) -> None:
        """The person is gone: whatever waits for them now, or later, has nobody to answer it."""
        self._attended = False
        for _, waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_result(None)

    @contextmanager
    def _expecting(self, asked: ConfirmRequest | Question) -> Iterator[tuple[str, Reply]]:
        """A new request's name and its answer to come; known before anybody can read of it."""
        corr = f"ask_{token_hex(4)}"
        answer: Reply = asyncio.Future()
        self._waiting[corr] = (asked, answer)
        try:
            yield corr, answer
        finally:
            del self._waiting[corr]


def check_hunks(request: ConfirmRequest, response: ConfirmResponse) -> None:
    """Raise when an answer names hunks that the request does not have; it goes on waiting."""
    if response.hunks is None:
        return
    if response.arguments is not None:
        raise UsageProblem("An answer changes the arguments or names hunks, not both.")
    why = misfit(request.actions, response.hunks, whole=request.whole)
    if why:
        raise UsageProblem(why, try_this="Allow or deny the whole change, or name other hunks.")
