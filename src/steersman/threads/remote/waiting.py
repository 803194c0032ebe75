"""Threads that wait for what was asked over a line: not on the event loop, and not for ever."""

import asyncio
from collections.abc import Coroutine
from concurrent.futures import CancelledError, Future
from typing import Any, TypeVar

from steersman.records.errors import SteersmanError

T = TypeVar("T")
LONGEST = 900.0  # seconds; a line that is cut may be taken up again for so long


class Waiting:
    """Waits in threads for answers that come on the event loop."""

    def __init__(self, longest: float = LONGEST) -> None:
        self._loop = asyncio.get_running_loop()
        self._longest = longest
        self._answers: set[Future[Any]] = set()
        self._over = False

    def on_loop(self) -> bool:
        """Whether this is the event loop, which must not wait."""
        try:
            return asyncio.get_running_loop() is self._loop
        except RuntimeError:
            return False

    def wait(self, asked: Coroutine[Any, Any, T]) -> T:
        """The answer; ends with the line, with `end`, and when none comes."""
        answer = asyncio.run_coroutine_threadsafe(asked, self._loop)
        self._answers.add(answer)
        if self._over:
            answer.cancel()
        try:
            return answer.result(self._longest)
        except CancelledError:
            raise SteersmanError("It was stopped.") from None
        except TimeoutError:
            answer.cancel()
            raise SteersmanError(
                "The machine at the other end of the line does not answer.",
                f"It was asked something {self._longest / 60:.0f} minutes ago.",
                "Continue the thread when the machine can be reached.",
            ) from None
        finally:
            self._answers.discard(answer)

    def end(self) -> None:
        """Let go of whoever waits, and of whoever would."""
        self._over = True
        for answer in list(self._answers):
            answer.cancel()
