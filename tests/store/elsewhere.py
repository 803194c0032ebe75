"""The same store in another process: `python -m tests.store.elsewhere URL DEED [WORDS]`.

A new kind of store is one more entry of `FACTORIES`.
"""

import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from steersman.records.errors import RequestSettled, StorageProblem, ThreadBusy
from steersman.records.inbox import Cancel, Request, Settled
from steersman.store.contract import Store
from steersman.store.sqlite import SqliteStore
from tests.store.made import START, a_thread, some_rows

FACTORIES: dict[str, Callable[[str], Store]] = {
    "sqlite": lambda place: SqliteStore(Path(place)),
    "postgres": lambda place: _postgres(*place.split(" ")),
}
ROOT = Path(__file__).parents[2]
PATIENCE = 60


def _postgres(home: str, url: str) -> Store:
    from steersman.store.postgres import PostgresStore

    return PostgresStore(url, Path(home))


def open_store(url: str) -> Store:
    """The store that a URL means."""
    kind, _, place = url.partition(":")
    return FACTORIES[kind](place)


def start(url: str, *words: str) -> "subprocess.Popen[str]":
    """Begin a deed in another process and go on; it waits for a line before it acts."""
    return subprocess.Popen(
        [sys.executable, "-m", "tests.store.elsewhere", url, *words],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(processes: Sequence["subprocess.Popen[str]"]) -> list[str]:
    """Let processes act at the same time; the answer is what each of them said last."""
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    said = []
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in processes:
        out, err = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, err
        said.append(out.strip())
    return said


def _wait() -> None:
    print("ready", flush=True)
    sys.stdin.readline()


def _own(url: str, thread_id: str) -> None:
    """Own a thread until told to stop."""
    store = open_store(url)
    store.lease(thread_id)
    _wait()


def _hold(url: str, thread_id: str, ttl: str) -> None:
    """Own a thread, and write to it when told to."""
    store = open_store(url)
    lease = store.lease(thread_id, float(ttl))
    _wait()
    try:
        store.append(thread_id, some_rows(3), sync=True, lease=lease)
        print("written")
    except StorageProblem as problem:
        print(type(problem).__name__)


def _settle(url: str, thread_id: str, *requests: str) -> None:
    """Take requests, each with a message; say which ones were not taken before."""
    store = open_store(url)
    _wait()
    for request in requests:
        with suppress(RequestSettled):
            store.append(thread_id, [], sync=False, settled=[Settled(request, "taken")])
            print(request, end=" ")


def _post(url: str, thread_id: str, request_id: str) -> None:
    """Ask something of a thread."""
    store = open_store(url)
    _wait()
    store.post(Request(request_id, thread_id, "elsewhere", START, Cancel()))


def _show(url: str, thread_id: str, size: str) -> None:
    """Show live pieces."""
    store = open_store(url)
    _wait()
    store.show(thread_id, bytes(range(256)) * (int(size) // 256))
    store.close()


def _storm(url: str, thread_id: str) -> None:
    """Own a thread and write to it, again and again, until killed."""
    store = open_store(url)
    print("ready", flush=True)
    while True:
        try:
            lease = store.lease(thread_id)
        except ThreadBusy:
            continue
        thread = store.thread(thread_id)
        assert thread is not None
        newest = next(iter(store.read_back(thread_id)), None)
        store.append(thread_id, some_rows(2, after=newest), sync=False, lease=lease)
        store.release(lease)


def _write(url: str, thread_id: str, count: str) -> None:
    """Make a thread and append messages to it one by one."""
    store = open_store(url)
    rows = some_rows(int(count))
    _wait()
    store.create_thread(a_thread(thread_id))
    for row in rows:
        store.append(thread_id, [row], sync=False)
    store.close()


def _claim(url: str, value: str) -> None:
    """Give a name to a value; what has it."""
    store = open_store(url)
    _wait()
    print(store.claim("elsewhere", value))
    store.close()


def _remember(url: str, name: str) -> None:
    """Open the store, from nothing if need be, and keep a value."""
    _wait()
    store = open_store(url)
    store.remember("elsewhere", name, "here")
    store.close()


def _begin(url: str, name: str, count: str) -> None:
    """Open many stores that may not be there yet, and keep a value in each."""
    _wait()
    for number in range(int(count)):
        time.sleep(0.05 - time.time() % 0.05)  # so that all processes meet
        store = open_store(f"{url}{number}")
        store.remember("elsewhere", name, "here")
        store.close()


if __name__ == "__main__":
    address, deed, *rest = sys.argv[1:]
    deeds = {
        "own": _own, "hold": _hold, "settle": _settle, "post": _post, "show": _show,
        "storm": _storm, "write": _write, "remember": _remember, "claim": _claim, "begin": _begin,
    }  # fmt: skip
    deeds[deed](address, *rest)
