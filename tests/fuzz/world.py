"""The world of a round on disk: a workspace, a home with secrets, and much to be harmed outside."""

import atexit
import errno
import hashlib
import os
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple

from tests.fuzz.plan import HARD, Entry, Plan

SMALL = 1 << 20  # bytes up to which the content of a file is looked through
SPARSE = 65 << 20
# The interpreter itself, not one of the scripts that some people have in its place: those are slow.
PATH = f"{os.path.dirname(os.path.realpath(sys.executable))}:{os.environ['PATH']}"


class Node(NamedTuple):
    """One path as it was found."""

    kind: int
    mode: int
    content: bytes
    mtime_ns: int


Tree = dict[bytes, Node]


class World:
    """The folders of one round."""

    def __init__(self, folder: Path, plan: Plan) -> None:
        self.folder = folder
        self.root, self.home, self.outside = (folder / n for n in ("work", "home", "outside"))
        self.state = folder / "state"
        for made in (self.root, self.home, self.outside, self.state):
            made.mkdir()
        self.secrets = dict(plan.secrets)
        for place in (".ssh/id_ed25519", ".netrc", ".aws/credentials"):
            word = f"fuzz-{hashlib.sha256(place.encode()).hexdigest()[:16]}-{plan.seed}-home"
            self.secrets[place.encode()] = word
            (self.home / place).parent.mkdir(exist_ok=True)
            (self.home / place).write_text(word + "\n")
        (self.outside / "precious").write_text("precious\n")
        (self.outside / "cached").write_text("cached content\n")
        (self.outside / "inner").mkdir()
        (self.outside / "inner" / "also").write_text("also\n")
        old = 10**9 * 10**9
        for path in self.outside.rglob("*"):
            os.utime(path, ns=(old, old))
        self.listeners = [self._listen(self.outside / "listen")]
        os.chdir("/")
        planted = [entry for entry in plan.entries if self._plant(entry)]
        for entry in planted:  # last, because it may keep its own owner out
            if entry.kind in ("file", "folder"):
                os.chmod(os.path.join(os.fsencode(self.root), entry.path), entry.mode)

    @property
    def environ(self) -> dict[str, str]:
        """What the host is started with."""
        return {"PATH": PATH, "LANG": "C.UTF-8", "HOME": str(self.home), "GIT_AUTHOR_NAME": "a"}

    def fill(self, command: str, number: int) -> str:
        """A command with the places that only this world knows."""
        within = len(self.listeners) > 1 and number % 2
        at = (self.root if within else self.outside) / "listen"
        known = {"outside": self.outside, "home": self.home, "socket": at}
        for name, place in known.items():
            command = command.replace(f"@{name}@", str(place))
        return command.replace("@person@", f"by-person-{number}.txt")

    def visited(self) -> bool:
        """Whether somebody came to a socket."""
        for listener in self.listeners:
            with suppress(BlockingIOError):
                listener.accept()
                return True
        return False

    def close(self) -> None:
        """End what listens."""
        for listener in self.listeners:
            listener.close()

    def _listen(self, place: Path) -> socket.socket:
        listener = socket.socket(socket.AF_UNIX)
        here = os.getcwd()
        os.chdir(place.parent)  # a socket's name must be short
        try:
            listener.bind(place.name)
        finally:
            os.chdir(here)
        listener.listen()
        listener.setblocking(False)
        return listener

    def _plant(self, entry: Entry) -> bool:
        """Make one path, unless something of another kind came first."""
        place = os.path.join(os.fsencode(self.root), entry.path)
        parent = os.path.dirname(place)
        if os.path.realpath(parent) != parent or os.path.lexists(place):
            return False
        try:
            os.makedirs(parent, exist_ok=True)
        except OSError as error:  # a link to itself stands where a folder should
            if error.errno not in (errno.EEXIST, errno.ENOTDIR, errno.ELOOP):
                raise
            return False
        match entry.kind:
            case "folder":
                os.mkdir(place)
            case "link":
                os.symlink(entry.content, place)
            case "hard":
                os.link(self.outside / "cached", os.path.join(os.fsencode(self.root), HARD))
            case "twin":
                os.link(os.fsencode(self.root) + b"/plain.txt", place)
            case "pipe":
                os.mkfifo(place)
            case "socket":
                self.listeners.append(self._listen(Path(os.fsdecode(place))))
            case "git":
                shutil.copytree(_repository(), os.fsdecode(place))
            case _:
                Path(os.fsdecode(place)).write_bytes(entry.content)
                if entry.kind == "sparse":
                    os.truncate(place, SPARSE)
        return True


@cache
def _repository() -> str:
    """The `.git` of a small repository, made once."""
    folder = tempfile.mkdtemp(prefix="fuzz-repository-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    os.chmod(folder, 0o755)
    Path(folder, "plain.txt").write_text("plain\n")
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    clean = {"PATH": PATH, "HOME": folder}
    for line in (("init", "-q", "--template=", "-b", "main"), ("add", "plain.txt"),
                 (*who, "commit", "-qm", "first")):  # fmt: skip
        subprocess.run(["git", *line], cwd=folder, check=True, env=clean)
    with open(f"{folder}/.git/config", "a") as config:
        config.write("[user]\n\tname = a\n\temail = a@example.org\n")
    return f"{folder}/.git"


def tree(root: Path) -> Tree:
    """Everything below a folder, and the folder; nothing is followed."""
    found: Tree = {}
    _look(os.fsencode(root), b"", found)
    return found


def _look(top: bytes, path: bytes, found: Tree) -> None:
    place = os.path.join(top, path) if path else top
    about = os.lstat(place)
    mode, content, time = stat.S_IMODE(about.st_mode), b"", 0
    if stat.S_ISLNK(about.st_mode):
        mode, content = 0, os.readlink(place)
    elif stat.S_ISREG(about.st_mode):
        time = about.st_mtime_ns
        with _lent(place, about, 0o400):
            content = _content(place)
    elif stat.S_ISDIR(about.st_mode):
        with _lent(place, about, 0o700):
            for name in os.listdir(place):
                _look(top, os.path.join(path, name), found)
    found[path] = Node(stat.S_IFMT(about.st_mode), mode, content, time)


def _content(place: bytes) -> bytes:
    with open(place, "rb") as file:
        if os.fstat(file.fileno()).st_size <= SMALL:
            return file.read()
        return hashlib.file_digest(file, "sha256").digest()


@contextmanager
def _lent(place: bytes, about: os.stat_result, needed: int) -> Iterator[None]:
    """The owner's own leave, where they took it away from themselves."""
    mode = stat.S_IMODE(about.st_mode)
    if os.geteuid() == 0 or mode & needed == needed:
        yield
        return
    os.chmod(place, mode | needed)
    try:
        yield
    finally:
        os.chmod(place, mode)
