"""What a person does to a thread with keys: say, queue, stop, take back, try again, run a command.

Everything here is asked of the seat, one thing after the other; what goes wrong is told.
"""

from collections.abc import Callable, Coroutine, Iterable, Sequence
from time import monotonic
from typing import Any

from steersman.ports.tui.following import Running, Spawn
from steersman.records.dialogue import Image
from steersman.records.errors import SteersmanError
from steersman.records.message import DiffReady, TurnEnd
from steersman.views.blocks import Block, Person, Remark, Work
from steersman.views.seat import Seat
from steersman.views.story import Story

TWICE = 1.0  # seconds within which a key counts as pressed twice
COMMAND = "workspace_run_command"
GO_ON = "Continue where you stopped."


class Twice:
    """Whether something was done twice in a row, quickly."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self.clock = clock
        self._last = float("-inf")

    def again(self) -> bool:
        """Note that it was done; True when it was done just before."""
        now = self.clock()
        twice = now - self._last <= TWICE
        self._last = float("-inf") if twice else now
        return twice


def again(story: Story) -> str:
    """What to say so that the last step is tried again; empty when there is nothing to try.

    A turn that broke off before the model answered gets its own words again.
    """
    ending = next(
        (one.body for one in reversed(story.blocks)
         if isinstance(one, Remark) and isinstance(one.body, TurnEnd)), None,
    )  # fmt: skip
    said = next((one.text for one in reversed(story.blocks) if isinstance(one, Person)), "")
    if not said or story.working:
        return ""
    if isinstance(ending, TurnEnd) and ending.ending != "done":
        return GO_ON if story.steps or ending.steps else said
    return said


def changes(blocks: Sequence[Block]) -> tuple[str, list[DiffReady]]:
    """The changes of the last turn that made any, and whose they are."""
    turn: int | None = None
    found: list[list[DiffReady]] = []
    for block in reversed(blocks):
        diffs = block.diffs if isinstance(block, Work) else ()
        if diffs and turn is None:
            turn = block.turn
        if turn is not None and block.turn < turn:
            break
        if diffs:
            found.append(list(diffs))
    told = f"changes of turn {turn}" if turn else "changes"
    return told, [diff for diffs in reversed(found) for diff in diffs]


class Steering:
    """Carries out what a person wants; `tell` says what came in the way."""

    def __init__(
        self,
        seat: Seat,
        tell: Callable[[str], None],
        spawn: Spawn,
        back: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.seat = seat
        self._back = back  # gets words that could not be said
        self._tell = tell
        self._spawn = spawn
        self._calls: list[Running] = []  # commands that the person runs
        self._stops = Twice()

    def say(self, text: str, images: Iterable[Image] = ()) -> None:
        """Begin a turn, or steer the one that runs."""
        self._do(self.seat.say(text, tuple(images)), text)

    def queue(self, text: str) -> None:
        """Say something for the next turn."""
        self._do(self.seat.queue(text), text)

    def run(self, command: str) -> None:
        """Run a command oneself, through the gate."""
        self._calls.append(self._spawn(self._run(command)))

    async def _run(self, command: str) -> None:
        try:
            await self._done(self.seat.call(COMMAND, {"command": command}))
        finally:
            self._calls.pop()

    def stop(self, waiting: Iterable[Person]) -> bool:
        """Stop what runs; the second time also take back what is queued. False: nothing ran."""
        twice = self._stops.again()
        queued = [person.corr for person in waiting] if twice else []
        calls = list(self._calls)
        for call in calls:
            call.cancel()
        if self.seat.doing == "working":
            self._do(self._stop(queued))
        elif queued:
            self._do(self._withdraw(queued))
        elif not calls:
            return False
        return True

    async def _stop(self, queued: Iterable[str]) -> None:
        await self.seat.stop()
        await self._withdraw(queued)

    async def _withdraw(self, queued: Iterable[str]) -> None:
        for corr in queued:
            await self.seat.withdraw(corr)

    def withdraw(self, corr: str, then: Callable[[], None] | None = None) -> None:
        """Take back words that were not delivered."""
        self._do(self._taken_back(corr, then))

    async def _taken_back(self, corr: str, then: Callable[[], None] | None) -> None:
        await self.seat.withdraw(corr)
        if then is not None:
            then()

    def _do(self, wanted: Coroutine[Any, Any, Any], words: str = "") -> None:
        self._spawn(self._done(wanted, words))

    async def _done(self, wanted: Coroutine[Any, Any, Any], words: str = "") -> None:
        try:
            await wanted
        except SteersmanError as problem:
            self._tell(str(problem))
            if words:
                self._back(words)
