"""A small world round a workspace, with all that an escape would reach, and proof that none did.

Outside lie a home with keys, precious files, listening sockets and a running process of the same
user. After each attempt all of it is looked at from outside: words are not believed.
"""

import importlib.readers  # noqa: F401  # an ordinary user may be unable to read it later
import os
import select
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal

from msgspec.structs import replace

from steersman.operations.journal.changeset import Changeset
from steersman.operations.journal.objects import Objects
from steersman.operations.running import door, landlock
from steersman.operations.running.bubblewrap import Bubblewrap, find
from steersman.operations.running.confine import Sandbox, ran
from steersman.operations.running.copied import Copied, Original
from steersman.operations.running.overlay import Overlay, to_be_read
from steersman.operations.running.scratch import Scratch
from steersman.records.profile import Profile
from steersman.records.secret_files import PLAIN_SIGHT
from tests.operations.transactions.tree import Node, tree

Ground = Literal["view", "read", "beside", "copy", "landlock", "none"]
SECRET = "s3cret-" + "words-nobody-may-read"
SHELL = ("bash", "--norc", "--noprofile", "-c")
PATIENCE = 20
# The interpreter itself, not one of the scripts that some people have in its place: those are slow.
PATH = f"{os.path.dirname(os.path.realpath(sys.executable))}:{os.environ['PATH']}"
ORDINARY = 1000


class World:
    """A folder with a workspace in it and much to be attacked outside of it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.root = folder / "work"
        self.home = folder / "home"
        self.outside = folder / "outside"
        self.scratch = folder / "state" / "scratch"
        for made in (self.root / "sub", self.home / ".ssh", self.outside, self.scratch):
            made.mkdir(parents=True)
        for path in (self.root / ".env", self.root / "sub/key.pem", self.home / ".ssh/id",
                     self.home / ".netrc", self.outside / "also"):  # fmt: skip
            path.write_text(SECRET)
        (self.outside / "precious").write_text("precious")
        (self.root / "open.txt").write_text("open")
        os.symlink("../outside/precious", self.root / "link")
        os.symlink(self.outside / "also", self.root / "secret link")
        (self.root / ".git/hooks").mkdir(parents=True)
        (self.root / ".git/config").write_text("[core]\n\tbare = false\n")
        self.objects = Objects(folder / "objects")
        self.profile = Profile(
            hidden=(
                str(self.root / ".env"), str(self.root / "sub/key.pem"), str(self.home / ".ssh"),
                str(self.home / ".netrc"), str(self.root / "secret link"), str(folder / "missing"),
                str(folder / "state"),
            ),
            environ={"PATH": PATH, "HOME": str(self.home), "LANG": "C.UTF-8"},
        )  # fmt: skip
        self.done: subprocess.CompletedProcess[str]

    def bubblewrap(self) -> Bubblewrap:
        """The program; these tests need one."""
        found = find(str(self.root), str(self.scratch))
        assert isinstance(found, Bubblewrap), found
        return found

    def try_out(
        self, script: str | Sequence[str], ground: Ground = "view", profile: Profile | None = None
    ) -> Changeset | None:
        """Run a script on some ground; over a view the answer is what it would change."""
        profile = profile or self.profile
        command = [*SHELL, script] if isinstance(script, str) else list(script)
        if ground == "view":
            with Overlay(self.bubblewrap()).begin(str(self.root), str(self.scratch)) as run:
                self._run(run.argv(command, str(self.root), profile), run.descriptors)
                assert run.ran(), self.done.stderr
                return run.changes(self.objects)
        if ground == "copy":
            original = Original(str(self.root), profile.hidden, PLAIN_SIGHT)
            copy = Copied(self.bubblewrap(), original, os.path.realpath(self.scratch))
            try:
                self._run(copy.argv(command, str(self.root), profile), copy.descriptors)
                assert copy.ran(), self.done.stderr
                return copy.changes(self.objects)
            finally:
                copy.discard()
        scratch = Scratch(os.path.realpath(self.scratch))
        try:
            if ground == "none":
                self._run(["env", *(f"{k}={v}" for k, v in profile.environ.items()), *command])
                return None
            if ground == "landlock":
                self._run(landlock.argv(command, profile, str(self.root), scratch))
                return None
            root = str(self.root)
            sandbox = Sandbox(self.bubblewrap())
            place = to_be_read(root, profile, sandbox, scratch, live=ground == "beside")
            line = sandbox.argv(command, root, profile, place, scratch)
            self._run(line, scratch.descriptors)
            assert ran(scratch), self.done.stderr
        finally:
            scratch.discard()
        return None

    def _run(self, line: list[str], descriptors: tuple[int, ...] = ()) -> None:
        self.done = subprocess.run(
            line, capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL,
            timeout=PATIENCE, check=False, cwd=self.root, env={"HOST_KEY": ""},
            pass_fds=descriptors,
        )  # fmt: skip

    @property
    def said(self) -> str:
        """Everything the last command printed."""
        return self.done.stdout + self.done.stderr

    def outer(self) -> dict[str, Node]:
        """All that lies outside the workspace, without what is the host's own."""
        return {**tree(self.home), **tree(self.outside)}


class Host:
    """Programs of the same user that run outside: listeners, and a process with a secret."""

    def __init__(self, world: World, folder: Path | None = None) -> None:
        self.path = str((folder or world.outside) / "socket")
        self.letters = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.letters.bind(f"{self.path}.letters")
        self.unix = self._listen(socket.AF_UNIX, self.path)
        self.tcp = self._listen(socket.AF_INET, ("127.0.0.1", 0))
        self.udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.udp.bind(("127.0.0.1", 0))
        self.name = f"steersman-{os.getpid()}-{id(self)}"
        self.abstract = self._listen(socket.AF_UNIX, f"\0{self.name}")
        self.process = subprocess.Popen(
            ["cat"], env={"API_KEY": SECRET, "PATH": PATH}, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip

    def _listen(self, family: socket.AddressFamily, address: object) -> socket.socket:
        listener = socket.socket(family)
        listener.bind(address)
        listener.listen()
        return listener

    @property
    def facts(self) -> dict[str, str]:
        """What an attacker would know."""
        return {
            "SOCKET": self.path,
            "LETTERS": f"{self.path}.letters",
            "ABSTRACT": self.name,
            "TCP": str(self.tcp.getsockname()[1]),
            "UDP": str(self.udp.getsockname()[1]),
            "VICTIM": str(self.process.pid),
            "SELF": str(os.getpid()),
        }

    def visited(self) -> list[str]:
        """Which listeners somebody came to."""
        listeners = {"unix": self.unix, "tcp": self.tcp, "udp": self.udp,
                     "abstract": self.abstract, "letters": self.letters}  # fmt: skip
        ready, _, _ = select.select(list(listeners.values()), [], [], 0)
        return [name for name, listener in listeners.items() if listener in ready]

    def answers(self) -> bool:
        """Whether the process lives and does its work."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        with suppress(BrokenPipeError):
            self.process.stdin.write("hello\n")
            self.process.stdin.flush()
            return self.process.stdout.readline() == "hello\n"
        return False

    def close(self) -> None:
        """End them."""
        for listener in (self.unix, self.tcp, self.udp, self.abstract, self.letters):
            listener.close()
        for path in (self.path, f"{self.path}.letters"):
            with suppress(FileNotFoundError):
                os.unlink(path)
        self.process.kill()
        with suppress(BrokenPipeError):
            self.process.communicate()


@contextmanager
def hosting(world: World, folder: Path | None = None) -> Iterator[Host]:
    """Programs outside, for the time of an attempt; their sockets lie in a folder."""
    host = Host(world, folder)
    try:
        yield host
    finally:
        host.close()


def attack(world: World, script: str, ground: Ground, *, within: bool = False) -> str:
    """Try something and prove that nothing came of it; the answer is what it printed.

    `within` when it may change the workspace as it likes.
    """
    before, inner = world.outer(), tree(world.root)
    with hosting(world) as host:
        facts = {**host.facts, "OUTSIDE": str(world.outside), "SCRATCH": str(world.scratch)}
        environ = {**world.profile.environ, **facts}
        socket_there = world.outer().keys() - before.keys()
        changed = world.try_out(script, ground, replace(world.profile, environ=environ))
        assert host.visited() == [], world.said
        assert host.answers(), world.said
    assert {k: v for k, v in world.outer().items() if k not in socket_there} == before, world.said
    assert SECRET not in world.said
    assert "ESCAPED" not in world.said, world.said
    if changed is not None:
        assert tree(world.root) == inner
        for change in changed.changes:
            if change.after.digest:
                with world.objects.open(change.after.digest) as file:
                    assert SECRET.encode() not in file.read(), change.path
    elif not within:
        assert tree(world.root, times=False) == {
            path: node._replace(mtime_ns=0) for path, node in inner.items()
        }, world.said
    return world.said


@contextmanager
def a_folder() -> Iterator[Path]:
    """A folder that a sandbox shows as it is: not a temporary one, which it would replace."""
    parent = "/var/cache" if os.access("/var/cache", os.W_OK) else str(Path.home())
    name = tempfile.mkdtemp(prefix="steersman-test-", dir=parent)
    try:
        yield Path(name)
    finally:
        subprocess.run(["chmod", "-R", "u+rwX", name], check=False)
        shutil.rmtree(name)


def as_somebody(who: str, do: Callable[[World], None]) -> None:
    """Do something in a world: as whoever runs the tests, or as an ordinary user."""
    with a_folder() as folder:
        if who == "me" or os.geteuid() != 0:
            do(World(folder))
            return
        os.chown(folder, ORDINARY, ORDINARY)
        child = os.fork()
        if child == 0:
            code = 1
            try:
                os.setgroups([])
                os.setgid(ORDINARY)
                os.setuid(ORDINARY)
                if not os.access(sys.executable, os.X_OK):
                    sys.executable = shutil.which("python3") or sys.executable
                if not os.access(door.PYTHON, os.X_OK):
                    door.PYTHON = sys.executable
                do(World(folder))
                code = 0
            except BaseException as error:
                os.write(2, f"{type(error).__name__}: {error}\n".encode())
                raise
            finally:
                os._exit(code)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


EVERYBODY = ["me", "an ordinary user"] if os.geteuid() == 0 else ["me"]
