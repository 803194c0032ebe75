"""Threads as files, and what was said in them before."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from steersman.intelligence.earlier import KINDS, Found, search
from steersman.monitoring.bundle import export_lines, import_lines
from steersman.records.thread import Thread

if TYPE_CHECKING:
    from steersman.host.application import Host


def exported(host: "Host", thread: Thread) -> Iterator[bytes]:
    """A thread as lines of a file that `imported` reads on any machine."""
    return export_lines(thread, host.rows(thread), host.store.blob)


def imported(host: "Host", lines: Iterable[bytes]) -> Thread:
    """A thread out of a file, if every hash in it is right."""
    return import_lines(host.store, lines)


def said_before(host: "Host", thread_id: str, words: str) -> list[Found]:
    """The newest messages of a thread that hold every word."""
    return search(host.messages(thread_id, kinds=KINDS), words)
