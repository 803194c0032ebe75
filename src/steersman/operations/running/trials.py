"""Things that are tried once in a process: no lock is held while something is being tried."""

import threading
from collections.abc import Callable, Hashable
from concurrent.futures import Future


class Trials:
    """What came of trying, by what was tried.

    Whoever asks for something that is being tried waits for that, and for nothing else. A trial
    that raises says nothing about the thing: it is tried again for the next who asks.
    """

    def __init__(self) -> None:
        self._looking = threading.Lock()  # at the table
        self._tried: dict[Hashable, Future[bool]] = {}

    def outcome(self, what: Hashable, attempt: Callable[[], bool]) -> bool:
        """Whether an attempt succeeded, now or before."""
        with self._looking:
            tried = self._tried.get(what)
            found = tried or self._tried.setdefault(what, Future())
        if tried is None:
            try:
                found.set_result(attempt())
            except BaseException as error:
                with self._looking:
                    del self._tried[what]
                found.set_exception(error)
        return found.result()
