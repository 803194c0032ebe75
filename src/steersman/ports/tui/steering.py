"""What a person does to a thread with keys: say, queue, stop, undo, try again, run a command.

Everything here is asked of the seat, one thing after the other; what goes wrong is reported.
"""

from collections.abc import Callable, Coroutine, Iterable, Sequence
from time import monotonic
from typing import Any

from steersman.ports.tui.following import Running, Spawn
from steersman.records.dialogue import Image
from steersman.records.errors import SteersmanError
from steersman.records.in_context import typed
from steersman.records.message import Answer, ConfirmResponse
from steersman.views.blocks import Person
from steersman.views.seat import Seat

TWICE = 1.0  # seconds within which a key counts as pressed twice


class Twice:
    """Whether something was done twice in a row, within some seconds."""

    def __init__(self, clock: Callable[[], float] = monotonic, seconds: float = TWICE) -> None:
        self.clock = clock
        self.seconds = seconds
        self._last = float("-inf")

    def again(self) -> bool:
        """Note that it was done; True when it was done just before."""
        now = self.clock()
        twice = now - self._last <= self.seconds
        self._last = float("-inf") if twice else now
        return twice

    def forget(self) -> None:
        """Something else was done in between."""
        self._last = float("-inf")


class Steering:
    """Carries out what a person wants; `tell` says what came in the way."""

    def __init__(
        self,
        seat: Seat,
        tell: Callable[[str, str], None],
        spawn: Spawn,
        back: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.seat = seat
        self._back = back  # gets words that could not be said
        self._tell = tell
        self._spawn = spawn
        self._calls: dict[object, Running] = {}  # commands that the user runs
        self._stopped: set[object] = set()  # those of them that are being stopped, and turns
        self.saying: list[str] = []  # words on their way, as while a hook looks at them

    def say(self, text: str, images: Iterable[Image] = ()) -> None:
        """Begin a turn, or steer the one that runs."""
        self._do(self.seat.say(text, tuple(images)), text)

    def queue(self, text: str) -> None:
        """Queue a message for the next turn."""
        self._do(self.seat.queue(text), text)

    def run(self, command: str) -> None:
        """Run a command oneself, through the gate."""
        key = object()
        self._calls[key] = self._spawn(self._run(command, key))

    async def _run(self, command: str, key: object) -> None:
        try:
            await self._done(self.seat.run(command))
        finally:
            self._stopped.discard(key)
            del self._calls[key]

    @property
    def running(self) -> bool:
        """Whether a command of the user's own runs."""
        return bool(self._calls)

    def stop(self) -> bool:
        """Stop what the user runs; else, or when they ask again, the turn. False: nothing ran."""
        own = self._calls.keys() - self._stopped
        self._stopped |= own
        for key in own:
            self._calls[key].cancel()
        working = self.seat.doing == "working"
        if working and not own:
            key = object()
            self._stopped.add(key)
            self._spawn(self._stop_turn(key))
        return working or self.running

    async def _stop_turn(self, key: object) -> None:
        try:
            await self._done(self.seat.handle.cancel())
        finally:
            self._stopped.discard(key)

    @property
    def stopping(self) -> bool:
        """Whether something is being stopped and has not ended yet."""
        return bool(self._stopped)

    def hasten(self, waiting: Sequence[Person]) -> None:
        """The oldest words that are queued go to the model now."""
        queued = next((one.corr for one in waiting if one.receipt == "queued"), None)
        if queued is not None:
            self._do(self.seat.handle.hasten(queued))

    def answer(
        self, corr: str, answer: ConfirmResponse | Answer, lost: Callable[[str], None]
    ) -> None:
        """Answer a request or a question; `lost` is called when the answer did not arrive."""
        self._spawn(self._answered(corr, answer, lost))

    async def _answered(
        self, corr: str, answer: ConfirmResponse | Answer, lost: Callable[[str], None]
    ) -> None:
        try:
            await self.seat.handle.answer(corr, answer)
        except SteersmanError as problem:
            self._tell(problem.facts, problem.try_this)
            lost(corr)

    def withdraw(self, corr: str, then: Callable[[], None] | None = None) -> None:
        """Withdraw words that were not delivered."""
        self._do(self._withdrawn(corr, then))

    async def _withdrawn(self, corr: str, then: Callable[[], None] | None) -> None:
        await self.seat.handle.withdraw(corr)
        if then is not None:
            then()

    def _do(self, wanted: Coroutine[Any, Any, Any], words: str = "") -> None:
        self._spawn(self._done(wanted, words))

    async def _done(self, wanted: Coroutine[Any, Any, Any], words: str = "") -> None:
        said = [typed(words)] if words else []
        self.saying += said
        try:
            await wanted
        except SteersmanError as problem:
            self._tell(problem.facts, problem.try_this)
            for one in said:
                self._back(one)
        finally:
            for one in said:
                self.saying.remove(one)
