"""How often a server that fails is tried again: at once at first, then after a growing while."""

from collections.abc import Callable

WINDOW = 120.0  # seconds; a server that lived longer than this starts again
FREE = 3  # failures within the window after which there is a pause
FIRST = 2.0
LONGEST = 300.0


class Patience:
    """Counts the failures of one server. `clock` gives seconds."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._failures: list[float] = []
        self._pauses = 0
        self._until = 0.0
        self._begun = 0.0

    @property
    def failures(self) -> int:
        """How many there were within the window."""
        now = self._clock()
        return sum(now - when < WINDOW for when in self._failures)

    def begin(self) -> None:
        """A start is tried."""
        self._begun = self._clock()

    def fail(self) -> None:
        """It could not be started, or has ended by itself."""
        now = self._clock()
        if now - self._begun > WINDOW:
            self._failures, self._pauses, self._until = [], 0, 0.0
        self._failures = [*(when for when in self._failures if now - when < WINDOW), now]
        if len(self._failures) >= FREE:
            self._until = now + min(LONGEST, FIRST * 2**self._pauses)
            self._pauses += 1

    def remaining(self) -> float:
        """Seconds until the next try; 0 when it may be tried now."""
        return max(0.0, self._until - self._clock())
