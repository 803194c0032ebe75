"""Logs of threads in a store of their own, for tests of whatever writes to one."""

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from steersman.bus import Bus
from steersman.records.message import Message
from steersman.store.chain import Flaw, flaws
from steersman.store.contract import Store
from steersman.store.log import Lane, ThreadLog, read_messages
from steersman.store.redactor import Redactor
from steersman.store.sqlite import SqliteStore
from tests.store.made import a_thread


class Place:
    """A store, a bus and a writer: all that logs need."""

    def __init__(self, store: Store, writer: ThreadPoolExecutor, bus: Bus) -> None:
        self.store = store
        self.bus = bus
        self._writer = writer
        self._made = 0

    def new_log(self, secrets: Iterable[str] = ()) -> ThreadLog:
        """The log of a new thread."""
        self._made += 1
        self.store.create_thread(a_thread(f"t{self._made}"))
        return self.open_log(f"t{self._made}", secrets)

    def open_log(self, thread_id: str, secrets: Iterable[str] = ()) -> ThreadLog:
        """The log of a thread as a process that opens it gets it."""
        thread = self.store.thread(thread_id)
        assert thread is not None
        return ThreadLog(
            self.store, self.bus, thread, redactor=Redactor(secrets), executor=self._writer
        )


@contextmanager
def a_place(store: type[SqliteStore] = SqliteStore, bus: Bus | None = None) -> Iterator[Place]:
    """A place to write logs in, gone afterwards."""
    with TemporaryDirectory() as folder, ThreadPoolExecutor(1) as writer:
        opened = store(Path(folder))
        yield Place(opened, writer, bus or Bus())
        opened.close()


@contextmanager
def a_lane(path: str = "steersman", secrets: Iterable[str] = ()) -> Iterator[Lane]:
    """A lane of a new thread."""
    with a_place() as place:
        yield Lane(place.new_log(secrets), path)


def stored(log: ThreadLog) -> list[Message]:
    """What a log has on disk."""
    return list(read_messages(log.store, log.thread))


def proven(log: ThreadLog) -> list[Flaw]:
    """What is wrong with a log on disk."""
    thread = log.store.thread(log.thread)
    assert thread is not None
    return list(flaws(thread, log.store.read_raw(log.thread)))
