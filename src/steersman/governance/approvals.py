"""Requests that wait for a person: one desk for a whole thread, however many capsules ask."""

import asyncio
from secrets import token_hex

from steersman.errors import NeedsAnswer, UsageProblem
from steersman.message import Answer, ConfirmRequest, ConfirmResponse, Question
from steersman.store.log import Lane


class Desk:
    """Puts requests to the person and waits for the answers.

    `attended` says that somebody can answer; `yes` answers every permission with allow.
    """

    def __init__(self, *, attended: bool, yes: bool = False) -> None:
        self._attended = attended
        self._yes = yes
        self._waiting: dict[str, asyncio.Future[ConfirmResponse | Answer]] = {}

    async def confirm(self, request: ConfirmRequest, lane: Lane) -> ConfirmResponse:
        """Ask for permission; the answer is in the log before it is returned."""
        corr = f"ask_{token_hex(4)}"
        await lane.append(request, corr=corr)
        if self._yes:
            response = ConfirmResponse("allow", by="yes-flag")
        elif not self._attended:
            raise NeedsAnswer(
                f"{request.tool} needs an answer and nobody can give one.",
                request.reason,
                "Run it in a terminal, or pass --yes or --approvals never.",
            )
        else:
            answer = await self._wait(corr)
            assert isinstance(answer, ConfirmResponse)
            response = answer
        await lane.append(response, corr=corr)
        return response

    async def ask(self, question: Question, lane: Lane) -> Answer:
        """Ask something that has a default."""
        corr = f"ask_{token_hex(4)}"
        await lane.append(question, corr=corr)
        if self._attended:
            received = await self._wait(corr)
            assert isinstance(received, Answer)
            answer = received
        else:
            answer = Answer(question.default, by="default")
        await lane.append(answer, corr=corr)
        return answer

    def answer(self, corr: str, answer: ConfirmResponse | Answer) -> None:
        """Give the answer to a waiting request."""
        waiting = self._waiting.get(corr)
        if waiting is None or waiting.done():
            raise UsageProblem(f"No request {corr} is waiting for an answer.")
        waiting.set_result(answer)

    async def _wait(self, corr: str) -> ConfirmResponse | Answer:
        future: asyncio.Future[ConfirmResponse | Answer] = asyncio.Future()
        self._waiting[corr] = future
        try:
            return await future
        finally:
            del self._waiting[corr]
