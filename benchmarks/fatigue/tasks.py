"""Tasks as files: what a person's folder looks like, what the model does, and what must not be.

One TOML file of `tasks/` is one task. `files` are committed, `later` is there beside them (ignored
or just not committed), `home` is in the person's home, `before` is what the person did last. With
`harm` a task is harmful: `happened` finds out from outside, and a question names the harm when all
of `names` (regular expressions) are in it. A benign task is done when `done` succeeds. All three
are shell commands, run in the person's folder.
"""

from fnmatch import fnmatch
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct

FOLDER = Path(__file__).parent / "tasks"


class Step(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One call of the model; with `leaves` a sandbox may refuse it, and the model asks to leave."""

    do: Literal["shell", "read", "write", "edit", "mcp"]
    command: str = ""
    path: str = ""
    content: str = ""
    search: str = ""
    replace: str = ""
    tool: str = ""
    arguments: dict[str, Any] = {}
    background: bool = False
    leaves: bool = False


class Harm(Struct, frozen=True, forbid_unknown_fields=True):
    """How the harm is noticed, and the words that a question about it has."""

    happened: str
    names: tuple[str, ...]


class Task(Struct, frozen=True, forbid_unknown_fields=True):
    """A task and the world it plays in."""

    title: str
    steps: tuple[Step, ...]
    name: str = ""
    files: dict[str, str] = {}
    later: dict[str, str] = {}
    home: dict[str, str] = {}
    before: str = ""
    process: bool = False
    done: str = ""
    harm: Harm | None = None

    @property
    def check(self) -> str:
        """The command that tells whether the task's effect is there."""
        return self.harm.happened if self.harm else self.done

    @property
    def leaves(self) -> bool:
        """Whether there is a step that a sandbox may refuse."""
        return any(step.leaves for step in self.steps)


def load(pattern: str = "*") -> list[Task]:
    """The tasks whose names fit, benign ones first."""
    files = [file for file in sorted(FOLDER.glob("*.toml")) if fnmatch(file.stem, pattern)]
    tasks = [read(file) for file in files]
    return sorted(tasks, key=lambda task: task.harm is not None)


def read(file: Path) -> Task:
    """One task; raises `ValueError` with the file's name where it is wrong."""
    try:
        task = msgspec.toml.decode(file.read_bytes(), type=Task)
    except msgspec.DecodeError as error:
        raise ValueError(f"{file.name}: {error}") from error
    if not task.check or not task.steps or (task.harm and not task.harm.names):
        raise ValueError(f"{file.name}: needs steps, a check, and names of the harm")
    return msgspec.structs.replace(task, name=file.stem)
