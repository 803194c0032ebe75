"""The world of a task on the disk: the person's home with the project in it, a remote, a process.

Everything has the same path each time, because some programs want absolute paths. `{{url}}`,
`{{work}}`, `{{remote}}`, `{{pid}}` and `{{integrity}}` in a task stand for what is only known here.
"""

import os
import select
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import msgspec

from benchmarks.fatigue.service import integrity
from benchmarks.fatigue.tasks import Step, Task

GIT = "[user]\n\tname = Developer\n\temail = dev@example.org\n[init]\n\tdefaultBranch = main\n"
BEGIN = "git init -q && git add -A && git commit -q --allow-empty -m 'Begin'"
PATIENCE = 60
DYING = 1  # seconds in which a process that got a signal is gone


class World(NamedTuple):
    """Where everything is."""

    root: Path
    url: str
    pid: int = 0

    @property
    def home(self) -> Path:
        """The person's home."""
        return self.root / "person"

    @property
    def work(self) -> Path:
        """The project."""
        return self.home / "project"

    @property
    def board(self) -> Path:
        """What the MCP server writes to."""
        return self.root / "board.txt"

    @property
    def environ(self) -> dict[str, str]:
        """What every process in this world gets."""
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "TMPDIR": str(self.root / "tmp"),
            "LANG": "C.UTF-8",
            "npm_config_cache": str(self.home / ".npm"),
        }

    def filled(self, text: str) -> str:
        """A text of a task with the places of this world in it."""
        places = {
            "url": self.url, "port": self.url.rpartition(":")[2], "work": str(self.work),
            "remote": str(self.root / "remote.git"), "pid": str(self.pid),
            "integrity": integrity(),
        }  # fmt: skip
        for name, place in places.items():
            text = text.replace("{{" + name + "}}", place)
        return text

    def step(self, step: Step) -> Step:
        """A step as it is played here; paths are absolute."""
        path = str(self.work / self.filled(step.path)) if step.path else ""
        words = {
            name: self.filled(getattr(step, name))
            for name in ("command", "content", "search", "replace")
        }
        return msgspec.structs.replace(step, path=path, **words)

    def shell(self, command: str) -> subprocess.CompletedProcess[str]:
        """Run a command as the person would."""
        more = {
            "RECEIVED": str(self.root / "received"), "BOARD": str(self.board),
            "REMOTE": str(self.root / "remote.git"), "PID": str(self.pid),
        }  # fmt: skip
        return subprocess.run(
            ["bash", "-c", self.filled(command)], cwd=self.work, env=self.environ | more,
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE, check=False,
        )  # fmt: skip


@contextmanager
def prepared(root: Path, url: str, task: Task) -> Iterator[World]:
    """A fresh world for a task; it is left on the disk until the next one."""
    for name in ("person", "remote.git", "received", "tmp", "board.txt"):
        place = root / name
        place.unlink() if place.is_file() else shutil.rmtree(place, ignore_errors=True)
    process = subprocess.Popen(["sleep", "100000"]) if task.process else None
    try:
        world = World(root, url, process.pid if process else 0)
        world.work.mkdir(parents=True)
        (root / "tmp").mkdir()
        _write(world, world.home, {".gitconfig": GIT, ".bashrc": "# mine\n"} | task.home)
        _write(world, world.work, task.files)
        _must(world, BEGIN)
        _write(world, world.work, task.later)
        _must(world, task.before)
        yield world
    finally:
        if process:
            process.kill()
            process.wait()


def happened(world: World, task: Task) -> bool:
    """Whether the task's effect is there; a process that ended counts as gone at once."""
    if world.pid:
        _reap(world.pid)
    # Old bytecode would pass for that of a file of the same size, changed within a second.
    for cache in list(world.work.rglob("__pycache__")):
        shutil.rmtree(cache)
    return world.shell(task.check).returncode == 0


def by_hand(world: World, task: Task) -> None:
    """Do what the steps say without any program, as if everything were allowed."""
    for step in map(world.step, task.steps):
        match step.do:
            case "shell":
                end = " >/dev/null 2>&1 &" if step.background else ""
                world.shell(f"{step.command}{end}")
            case "write":
                Path(step.path).parent.mkdir(parents=True, exist_ok=True)
                Path(step.path).write_text(step.content)
            case "edit":
                text = Path(step.path).read_text()
                assert text.count(step.search) == 1, f"{task.name}: {step.search!r}"
                Path(step.path).write_text(text.replace(step.search, step.replace))
            case "mcp" if step.tool == "post_card":
                world.board.write_text(step.arguments["text"] + "\n")


def _write(world: World, folder: Path, files: dict[str, str]) -> None:
    for name, content in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(world.filled(content))


def _must(world: World, command: str) -> None:
    done = world.shell(command)
    if done.returncode:
        raise OSError(f"the world could not be prepared: {command}: {done.stderr}")


def _reap(pid: int) -> None:
    """Take notice of a child's end; otherwise its number would stay in use."""
    try:
        watched = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    select.select([watched], [], [], DYING)
    os.close(watched)
    os.waitpid(pid, os.WNOHANG)
