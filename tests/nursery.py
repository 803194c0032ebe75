"""A process that has read all modules, from which `steer` commands are forked.

Reading those of one command takes a third of a second, those of one with MCP servers more than a
whole one, and the tests start thousands of commands. What is forked is the same command, in a
process of its own with its own folder, environment and pipes. `python -m tests.nursery DESCRIPTOR`
is that process; it ends with the one that started it.
"""

import array
import gc
import json
import os
import pkgutil
import selectors
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import NoReturn

import steersman

_NUMBER = 8  # bytes of a number in a report
_ROOM = 65_536  # bytes that a pipe takes before anybody reads


def fits(environ: Mapping[str, str], said: str) -> bool:
    """Whether a command can be forked; Python obeys some variables only when it starts."""
    early = ("LANG", "LC_", "PYTHON")
    obeyed = {name: value for name, value in environ.items() if name.startswith(early)}
    return obeyed == {"LANG": "C.UTF-8"} and len(said.encode()) < _ROOM


def run(
    words: Sequence[str], folder: str, environ: Mapping[str, str], said: str, seconds: float
) -> subprocess.CompletedProcess[str]:
    """What `steer` does with these words, from its beginning to its end."""
    (given, give), (out, outer), (err, errer) = (os.pipe() for _ in range(3))
    report, reporter = socket.socketpair()
    report.settimeout(seconds)
    with report, reporter:
        try:
            os.write(give, said.encode())
            asked = json.dumps([words, folder, dict(environ)]).encode()
            fds = array.array("i", [given, outer, errer, reporter.fileno()])
            _line().sendmsg([len(asked).to_bytes(4, "big")],
                            [(socket.SOL_SOCKET, socket.SCM_RIGHTS, fds)])  # fmt: skip
            _line().sendall(asked)
        finally:
            reporter.close()
            for end in (given, give, outer, errer):
                os.close(end)
        child = _number(report)
        try:
            told = _read(out, err, time.monotonic() + seconds)
            code = _number(report)
        except TimeoutError:
            os.kill(child, signal.SIGKILL)
            raise subprocess.TimeoutExpired(["steer", *words], seconds) from None
        finally:
            os.close(out)
            os.close(err)
    return subprocess.CompletedProcess(["steer", *words], code, *told)


def _number(report: socket.socket) -> int:
    said = report.recv(_NUMBER, socket.MSG_WAITALL)
    assert len(said) == _NUMBER, "the command's watcher is gone"
    return int.from_bytes(said, "big", signed=True)


def _read(out: int, err: int, end: float) -> tuple[str, str]:
    """Everything that comes out of two pipes."""
    told = {out: b"", err: b""}
    with selectors.DefaultSelector() as ready:
        for pipe in told:
            ready.register(pipe, selectors.EVENT_READ)
        while ready.get_map():
            found = ready.select(max(0, end - time.monotonic()))
            if not found:
                raise TimeoutError
            for one, _ in found:
                piece = os.read(one.fd, _ROOM)
                told[one.fd] += piece
                if not piece:
                    ready.unregister(one.fd)
    return told[out].decode(errors="replace"), told[err].decode(errors="replace")


@cache
def _line() -> socket.socket:
    """The line to a nursery of this process's own."""
    ours, theirs = socket.socketpair()
    environ = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "TZ": "UTC"}
    subprocess.Popen(
        [sys.executable, "-m", "tests.nursery", str(theirs.fileno())],
        pass_fds=[theirs.fileno()],
        env=environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        cwd=os.path.dirname(os.path.dirname(__file__)),
    )
    theirs.close()
    return ours


def read_all() -> None:
    """Read every module but those that draw: what is forked has no terminal."""
    drawing = "steersman.ports.tui."
    for module in pkgutil.walk_packages(steersman.__path__, "steersman."):
        if not module.name.startswith(drawing) or module.name.startswith(f"{drawing}plain"):
            import_module(module.name)
    gc.freeze()  # to look through it for garbage would copy it into each command


def serve(line: socket.socket) -> None:
    """Fork a command for each request, until nobody is there to ask."""
    read_all()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        head, fds, _, _ = socket.recv_fds(line, 4, 4)
        if not head:
            return
        asked = b""
        while len(asked) < int.from_bytes(head, "big"):
            asked += line.recv(int.from_bytes(head, "big") - len(asked))
        if os.fork() == 0:
            line.close()
            _watch(fds, *json.loads(asked))
        for end in fds:
            os.close(end)


def _watch(fds: Sequence[int], words: list[str], folder: str, environ: dict[str, str]) -> NoReturn:
    """Start a command, and report its number and how it ended."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    *pipes, reporter = fds
    child = os.fork()
    if child == 0:
        os.close(reporter)
        for number, pipe in enumerate(pipes):
            os.dup2(pipe, number)
            os.close(pipe)
        sys.stdin, sys.stdout = os.fdopen(0, closefd=False), os.fdopen(1, "w", closefd=False)
        sys.stderr = os.fdopen(2, "w", 1, errors="backslashreplace", closefd=False)
        os.environ.clear()
        os.environ.update(environ)
        time.tzset()
        os.chdir(folder)
        sys.argv = ["steer", *words]
        from steersman.__main__ import steer

        steer()
        os._exit(0)
    for pipe in (0, 1, 2, *pipes):
        os.close(pipe)
    os.write(reporter, child.to_bytes(_NUMBER, "big"))
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    os.write(reporter, code.to_bytes(_NUMBER, "big", signed=True))
    os._exit(0)


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))
