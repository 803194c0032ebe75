"""News between the processes of one machine: a datagram socket in the data folder per listener.

A writer tells every socket there which thread it wrote to. Nothing depends on it: a listener also
looks now and then whether the database has changed, so a signal that is lost costs a second.
"""

import os
import socket
import threading
import time
from array import array
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, asynccontextmanager, suppress
from pathlib import Path

from steersman.store.contract import News

_STORED, _LIVE, _FILE = b"s", b"l", b"f"
_MOST = 50_000  # bytes of live pieces in a datagram; more are handed over as an open file
_LOOK_EVERY = 1.0
_LOOK_EVERY_WITHOUT_SOCKET = 0.1
_SETTLED = 50_000_000  # nanoseconds after which a folder's time surely reports a new file
_DESCRIPTORS = "/proc/self/fd"
_QUEUE = "/proc/sys/net/unix/max_dgram_qlen"


class Signals:
    """Shows the listeners of other processes what this one does."""

    def __init__(self, folder: Path, own: str) -> None:
        self._folder = str(folder)
        self._own = own
        self._socket: socket.socket | None = None
        self._descriptor = -1
        self._listed = -1
        self._names: list[str] = []
        self._lock = threading.Lock()

    def heard(self) -> bool:
        """Whether there is anyone to tell."""
        return bool(self._listeners())

    def stored(self, thread_id: str) -> None:
        """Something was stored or asked in a thread."""
        if names := self._listeners():
            self._send(names, _STORED + thread_id.encode())

    def shown(self, thread_id: str, pieces: bytes) -> None:
        """Live pieces of a thread."""
        names = self._listeners()
        if names and len(pieces) <= _MOST:
            self._send(names, b"%b%b %b" % (_LIVE, thread_id.encode(), pieces))
        elif names:
            from tempfile import TemporaryFile

            with TemporaryFile() as file:
                file.write(pieces)
                file.flush()
                self._send(names, _FILE + thread_id.encode(), file.fileno())

    def close(self) -> None:
        """Say nothing more."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _listeners(self) -> list[str]:
        """The sockets of others; the folder is read again only after it has changed."""
        with self._lock:
            return self._listing()

    def _listing(self) -> list[str]:
        try:
            if self._descriptor < 0:
                if not os.access(self._folder, os.R_OK):
                    return []
                self._descriptor = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY)
            changed = os.fstat(self._descriptor).st_mtime_ns
            if changed != self._listed:
                names = os.listdir(self._descriptor)
                self._names = [name for name in names if not name.startswith(self._own)]
                self._listed = changed if time.time_ns() - changed > _SETTLED else -1
        except OSError:
            return []
        return self._names

    def _send(self, names: list[str], data: bytes, *files: int) -> None:
        if self._socket is None:
            self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            self._socket.setblocking(False)
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array("i", files))] if files else []
        for name in names:
            try:
                address = _address(self._descriptor, self._folder, name)
                self._socket.sendmsg([data], rights, 0, address)
            except (ConnectionRefusedError, FileNotFoundError):
                # Its process is gone; no other ever listens under the same name.
                with suppress(OSError):
                    os.unlink(name, dir_fd=self._descriptor)
                self._listed = -1
            except OSError:
                continue


@asynccontextmanager
async def listen(folder: Path, name: str, changes: Callable[[], int | None]) -> AsyncIterator[News]:
    """Collect what other processes do until the end."""
    import asyncio

    from steersman.store.listening import Collected, nowhere

    collected = Collected()
    loop = asyncio.get_running_loop()
    ear = _ear(folder, name)
    every = _LOOK_EVERY if ear else _LOOK_EVERY_WITHOUT_SOCKET
    seen = changes()

    def look() -> None:
        nonlocal seen
        now = changes()
        if now is not None and now != seen:
            collected.anything()
            seen = now
        timers[0] = loop.call_later(every if now is not None else every / 10, look)

    timers = [loop.call_later(every, look)]
    if ear:
        hear = _Hearing(ear, collected.stored, collected.shown, collected.anything)
        loop.add_reader(ear.fileno(), hear)
        collected.look = hear
    try:
        yield collected
    finally:
        timers[0].cancel()
        if ear:
            collected.look = nowhere
            loop.remove_reader(ear.fileno())
            ear.close()
            with suppress(OSError):
                os.unlink(folder / name)


_LARGEST = 16 << 20  # bytes of live pieces; more is nobody's answer


class _Hearing:
    """Reads all that has arrived at a socket."""

    def __init__(
        self,
        ear: socket.socket,
        stored: Callable[[str], None],
        shown: Callable[[str, bytes], None],
        anything: Callable[[], None],
    ) -> None:
        self._ear = ear
        self._stored = stored
        self._shown = shown
        self._anything = anything
        self._room = _queue_length()

    def __call__(self) -> None:
        heard = 0
        with suppress(BlockingIOError):
            while True:
                data, files, _, _ = socket.recv_fds(self._ear, _MOST + 1000, 1)
                self._take(data, files)
                heard += 1
        if heard >= self._room:
            self._anything()  # the queue was full, so a sender may have been turned away

    def _take(self, data: bytes, files: list[int]) -> None:
        kind, rest = data[:1], data[1:]
        # Anyone who may write to the folder may send; what is not a message is ignored.
        with suppress(ValueError, OSError), ExitStack() as opened:
            received = [opened.enter_context(open(file, "rb")) for file in files]
            if kind == _STORED:
                self._stored(rest.decode())
            elif kind == _LIVE:
                thread_id, _, pieces = rest.partition(b" ")
                self._shown(thread_id.decode(), pieces)
            elif kind == _FILE and received:
                received[0].seek(0)
                self._shown(rest.decode(), received[0].read(_LARGEST))


def _ear(folder: Path, name: str) -> socket.socket | None:
    """A socket to listen at, or None where there can be none."""
    try:
        folder.mkdir(exist_ok=True, mode=0o700)
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        return None
    ear = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        ear.bind(_address(descriptor, str(folder), name))
        ear.setblocking(False)
    except OSError:
        ear.close()
        return None
    finally:
        os.close(descriptor)
    return ear


def _address(descriptor: int, folder: str, name: str) -> str:
    """A socket's path, by way of the open folder: the path of a socket must be short."""
    if os.path.isdir(_DESCRIPTORS):
        return f"{_DESCRIPTORS}/{descriptor}/{name}"
    return os.path.join(folder, name)


def _queue_length() -> int:
    try:
        return int(Path(_QUEUE).read_text())
    except (OSError, ValueError):
        return 10
