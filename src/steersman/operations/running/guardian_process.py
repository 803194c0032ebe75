"""A program of its own, started once by the host: it starts commands and ends all they leave.

For every command it forks a guard. On Linux both are subreapers: an orphan, whatever it did to get
away from its parent, session and environment, becomes a child of its command's guard. The guard's
socket is the command's lifeline. When the host closes it or dies, the guard kills all below it.

Runs as `python -I -S`, which imports it and calls `main`, with the host's socket as standard input.
So it imports nothing of Steersman and little else: of what it imports every guard has a copy. What
is said on the sockets is described in `guardian.py`.
"""

import ctypes
import errno
import gc
import os
import resource
import select
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    import socket
    from collections.abc import Callable
    from contextlib import suppress
else:  # the same, without enumerations and tools that take longer to import than all of Python
    import _signal as signal
    import _socket as socket

    class suppress:
        """As that of `contextlib`."""

        def __init__(self, *kinds):
            self._kinds = kinds

        def __enter__(self):
            return self

        def __exit__(self, kind, error, trace):
            return kind is not None and issubclass(kind, self._kinds)


LIBC = ctypes.CDLL(None, use_errno=True)  # opened once, and not by each guard
PR_SET_CHILD_SUBREAPER = 36
CLONE_NEWNS = 0x20000
MS_NOSUID, MS_NODEV, MS_REC, MS_SLAVE = 2, 4, 16384, 1 << 19
UNSEEN = 125  # how a command ends that was not started, because its view cannot be mounted
SANDBOX = "bwrap"
TAKEN, GONE = b"+", b"-"  # what a spare guard shows the guardian: a command came, the host is gone
MOST = 18  # descriptors that come with a command
INT = 4  # bytes of one
COUNTING = 200  # milliseconds between two looks at how many processes there are
ROUNDS = 50  # looks for processes that were made while others were being stopped
RARELY = 50  # looks that may pass without counting each
SACRIFICE = 500  # added to the score by which Linux chooses whom to end for want of memory
SPARED = {signal.SIGUSR1, signal.SIGUSR2, signal.SIGHUP}
DEFAULTS = {signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGPIPE, signal.SIGXFSZ, *SPARED}


class Process:
    """What the system says about a process."""

    def __init__(self, pid: str, stat: bytes) -> None:
        before, _, after = stat.decode(errors="replace").rpartition(")")
        state, parent, _, session = after.split()[:4]
        self.pid = int(pid)
        self.name = before.partition("(")[2]
        self.parent = int(parent)
        self.session = int(session)
        self.lives = state not in "ZX"

    def catches(self, number: int) -> bool:
        """True when the process has a handler for a signal."""
        with suppress(OSError), open(f"/proc/{self.pid}/status", encoding="utf-8") as status:
            for line in status:
                if line.startswith("SigCgt:"):
                    return bool(int(line.split()[1], 16) >> (number - 1) & 1)
        return False


def below(root: int) -> list[Process]:
    """The living descendants of a process, parents first; none where there is no /proc."""
    children: dict[int, list[Process]] = {}
    for pid in filter(str.isdigit, os.listdir("/proc") if os.path.exists("/proc") else ()):
        with suppress(OSError), open(f"/proc/{pid}/stat", "rb") as stat:
            process = Process(pid, stat.read())
            if process.lives:
                children.setdefault(process.parent, []).append(process)
    found = children.get(root, []).copy()
    for process in found:
        found += children.get(process.pid, ())
    return found


def send(pid: int, number: int) -> None:
    """Signal a process, if it is there and may be signalled."""
    with suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def receivers(processes: list[Process], number: int) -> list[Process]:
    """Whom a signal is meant for.

    Not the sandbox round a command: its end would kill the command before it could tidy up. And a
    signal that informs rather than ends goes to those who listen; it would end the shell above.
    """
    wrappers: set[int] = {processes[0].parent} if processes else set()
    for process in processes:
        if process.name == SANDBOX and process.parent in wrappers:
            wrappers.add(process.pid)
    meant = [process for process in processes if process.pid not in wrappers]
    if number in SPARED:
        return [process for process in meant if process.catches(number)] or meant
    return meant


class Waker:
    """Waits for descriptors and for the end of children at the same time."""

    def __init__(self) -> None:
        self._waker, waking = os.pipe()
        os.set_blocking(self._waker, False)
        os.set_blocking(waking, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(waking, warn_on_full_buffer=False)

    def wait(self, *descriptors: int, milliseconds: int | None = None) -> set[int]:
        """The descriptors that are ready; none when a child ended or time is up."""
        poll = select.poll()
        for descriptor in (self._waker, *descriptors):
            poll.register(descriptor, select.POLLIN)
        ready = {descriptor for descriptor, _ in poll.poll(milliseconds)}
        with suppress(BlockingIOError):
            while os.read(self._waker, 4096):
                pass
        return ready - {self._waker}


def end_below(waker: Waker, reap: "Callable[[], bool]") -> None:
    """Kill all below until nobody is left to reap: orphans come back to this process.

    What may not be killed, such as a program of another user, is tried again ever more rarely.
    """
    pause = 5
    while reap():
        for process in below(os.getpid()):
            send(process.pid, signal.SIGKILL)
        waker.wait(milliseconds=pause)
        pause = min(2 * pause, 1000)


def fell(root: int) -> None:
    """Kill a process and all below it, and it last; whoever looks for its end sees that of all.

    First all are stopped, parents before children: a shell would go on to its next command.
    """
    stopped: list[int] = []
    for _ in range(ROUNDS):
        known = set(stopped)
        fresh = [pid for pid in (root, *(one.pid for one in below(root))) if pid not in known]
        for pid in fresh:
            send(pid, signal.SIGSTOP)
        stopped += fresh
        if not fresh:
            break
    for pid in reversed(stopped):
        send(pid, signal.SIGKILL)


class Crowd:
    """Counts the processes below this one, and looks at all of the machine only when it must."""

    def __init__(self) -> None:
        self._own = self._all = self._unseen = 0

    def more_than(self, most: int) -> int:
        """How many there are, if they are more than that; else 0."""
        with suppress(OSError, ValueError, IndexError), open("/proc/loadavg", "rb") as load:
            everybody = int(load.read().split()[3].split(b"/")[1])
            self._unseen += 1
            if self._own + max(everybody - self._all, 0) <= most and self._unseen < RARELY:
                return 0
            self._own, self._all, self._unseen = len(below(os.getpid())), everybody, 0
        return self._own if self._own > most else 0


class Guard:
    """Starts one command and stays until everything below it has ended."""

    def __init__(self) -> None:
        self._leader = 0
        self._most = 0
        self._crowd = Crowd()
        self._adopts = adopt_orphans()
        self._waker = Waker()

    def run(self, lifeline: socket.socket, output: int, given: list[int]) -> None:
        """Start what the host orders, and report until the end."""
        self._lifeline = lifeline
        try:
            length = int.from_bytes(self._hear_all(8), "big")
            order = self._hear_all(length).split(b"\0")
            self._most, largest, nice, spaces = map(int, order.pop(2).split())
            place, options = order.pop(2), order.pop(2)
            if largest:
                bound_files(largest)
            os.nice(nice)
            for _ in range(spaces):  # users before the network that is theirs
                join(given[-spaces])
                os.close(given.pop(-spaces))
                spaces -= 1
            if place and (problem := shows(place, options)):
                self._say(f"pid {os.getpid()}")
                self._say(f"unseen {problem}")
                self._say(f"exit {UNSEEN}")
                return
            own = rated(SACRIFICE)  # it is ended before the host where memory runs out
            try:
                self._leader = spawn(order, output, given)
            finally:
                rated(own)
        except OSError as error:
            where = f": {os.fsdecode(error.filename)}" if error.filename else ""
            self._say(f"failed {error.strerror}{where}")
            return
        finally:
            for descriptor in (output, *given):
                os.close(descriptor)
            os.chdir("/")
        group = self._leader
        self._say(f"pid {group}")
        while self._reap():
            self._heed()
        if not self._adopts:  # orphans are out of sight, except those still in the group
            with suppress(OSError):
                os.killpg(group, signal.SIGKILL)

    def _hear_all(self, length: int) -> bytes:
        heard = b""
        while len(heard) < length:
            piece = self._lifeline.recv(length - len(heard))
            if not piece:
                raise SystemExit
            heard += piece
        return heard

    def _say(self, word: str) -> None:
        with suppress(OSError):  # a host that is gone gets nothing
            self._lifeline.sendall(word.replace("\n", " ").encode() + b"\n")

    def _reap(self) -> bool:
        """Bury the dead; False when nobody is left."""
        with suppress(ChildProcessError):
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if not pid:
                    return True
                if pid == self._leader:
                    self._leader = 0
                    self._say(f"exit {os.waitstatus_to_exitcode(status)}")
        return False

    def _heed(self) -> None:
        """Wait for a child to end or for a word of the host, and count who is there meanwhile."""
        pause = COUNTING if self._most else None
        if not self._waker.wait(self._lifeline.fileno(), milliseconds=pause):
            if self._most and (found := self._crowd.more_than(self._most)):
                self._say(f"many {found}")
                self._end()
            return
        try:
            signals = self._lifeline.recv(64)
        except ConnectionError:
            signals = b""
        if not signals:
            self._end()
        for number in signals:
            for process in receivers(below(os.getpid()), number):
                send(process.pid, number)

    def _end(self) -> None:
        """End everything; processes that outlived the command are counted."""
        if self._leader:
            send(self._leader, signal.SIGKILL)
        else:
            left = [process for process in below(os.getpid()) if process.name != SANDBOX]
            self._say(f"left {len(left)}")
        end_below(self._waker, self._reap)


def spawn(order: list[bytes], output: int, given: list[int]) -> int:
    """Start a command in a session of its own, with nothing to read and one stream to write.

    Descriptors that were given come to it under the numbers they have in the host.
    """
    cwd, numbers, count = order[0], [int(number) for number in order[1].split()], int(order[2])
    argv, rest = order[3 : 3 + count], order[3 + count :]
    environ = dict(pair.split(b"=", 1) for pair in rest)
    if len(given) != len(numbers):
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
    for place in range(len(numbers)):
        while (taken := given[place]) in numbers:  # another is to have this number
            given[place] = os.dup(taken)
            given.append(taken)
    os.chdir(cwd)
    os.environb[b"PATH"] = environ.get(b"PATH", os.fsencode(os.defpath))
    return os.posix_spawnp(
        argv[0],
        argv,
        environ,
        file_actions=[
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_DUP2, output, 1),
            (os.POSIX_SPAWN_DUP2, output, 2),
            *((os.POSIX_SPAWN_DUP2, *pair) for pair in zip(given, numbers, strict=False)),
        ],
        setsid=True,
        setsigmask=(),
        setsigdef=DEFAULTS,
    )


def rated(score: int) -> int:
    """Change this process's own score by so much; the answer is what undoes that."""
    with suppress(OSError), open("/proc/self/oom_score_adj", "r+b", 0) as rating:
        before = int(rating.read())
        after = max(min(before + score, 1000), -1000)
        rating.write(b"%d" % after)
        return before - after
    return 0


def bound_files(largest: int) -> None:
    """Let no file become larger than that, or than what this process may write itself."""
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    most = min(largest, sys.maxsize, *([] if hard == resource.RLIM_INFINITY else [hard]))
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))


def join(space: int) -> None:
    """Enter a namespace; what is started from now on starts in it."""
    if LIBC.setns(space, 0) != 0:
        problem = ctypes.get_errno()
        raise OSError(problem, f"the thread's network cannot be joined: {os.strerror(problem)}")


def shows(place: bytes, options: bytes) -> int:
    """Mount a view that this process and its command see, and nobody else; it goes with them.

    The answer is the number of what went wrong, 0 for nothing.
    """
    seen = (
        LIBC.unshare(CLONE_NEWNS) == 0
        and LIBC.mount(None, b"/", None, MS_REC | MS_SLAVE, None) == 0
        and LIBC.mount(b"overlay", place, b"overlay", MS_NOSUID | MS_NODEV, options) == 0
    )
    return 0 if seen else ctypes.get_errno()


def adopt_orphans() -> bool:
    """Become the parent of every orphan below; False where the system does not know that."""
    try:
        return bool(LIBC.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0)
    except AttributeError:
        return False


class GuardianProcess:
    """Keeps a guard ready for the next command, so that no command waits for one to be made."""

    def __init__(self) -> None:
        self._waker = Waker()
        self._told, self._telling = os.pipe()
        os.set_blocking(self._told, False)

    def run(self) -> None:
        """Make guards until the host is gone; then end everything."""
        word = TAKEN
        while word != GONE:
            spare = os.fork()
            if spare == 0:
                wait_and_guard(self._telling)
            word = self._heed(spare)
        with suppress(ChildProcessError):  # it ends by itself, sooner than all could be looked at
            os.waitpid(spare, 0)
        end_below(self._waker, lambda: self._bury() is not None)

    def _heed(self, spare: int) -> bytes:
        """What became of the spare guard."""
        while True:
            self._waker.wait(self._told)
            lost = spare in (self._bury() or ())
            try:
                return os.read(self._told, 1)
            except BlockingIOError:
                if lost:
                    return TAKEN

    def _bury(self) -> list[int] | None:
        """Bury the dead; if a guard was killed, end what it guarded. None if nobody was there."""
        dead: list[int] = []
        killed = False
        try:
            while (found := os.waitpid(-1, os.WNOHANG))[0]:
                dead.append(found[0])
                killed = killed or found[1] != 0
        except ChildProcessError:
            return dead or None
        if killed:
            here, own = os.getpid(), os.getsid(0)
            for process in below(here):
                if process.parent == here and process.session != own:
                    fell(process.pid)
        return dead


def wait_for_order() -> tuple[bytes, list[int]]:
    """Wait for the host's word on standard input, which is closed then, and what came with it."""
    host = socket.socket(fileno=0)
    word, sent, _, _ = host.recvmsg(1, socket.CMSG_LEN(MOST * INT))
    host.close()
    rights = b"".join(data[: len(data) // INT * INT] for _, _, data in sent)
    numbers = range(0, len(rights), INT)
    return word, [int.from_bytes(rights[at : at + INT], sys.byteorder) for at in numbers]


def wait_and_guard(telling: int) -> None:
    """The life of a guard, which begins with waiting for a command; it never returns."""
    code = 1
    try:
        guard = Guard()
        order, descriptors = wait_for_order()
        os.open(os.devnull, os.O_RDONLY)  # in place of the host's socket
        os.write(telling, TAKEN if order else GONE)
        if order:
            for descriptor in descriptors:
                os.set_inheritable(descriptor, False)
            lifeline, output, *given = descriptors
            line = socket.socket(fileno=lifeline)
            guard.run(line, output, given)
            line.close()  # the host waits for this, and need not for the end of a copy of Python
        code = 0
    finally:
        os._exit(code)


def main() -> None:
    """Serve the host until it is gone."""
    for number in DEFAULTS:  # meant for commands: `pkill python` must not reach their guards
        signal.signal(number, signal.SIG_IGN)
    adopt_orphans()
    gc.freeze()  # guards are copies of this process: to look through its memory copies that, too
    GuardianProcess().run()
    os._exit(0)  # the host waits for the end, and taking Python apart first helps nobody
