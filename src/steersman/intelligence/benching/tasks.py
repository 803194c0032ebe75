"""The tasks of `steer bench models`: folders with words, files to work on, and hidden checks."""

import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

import msgspec
from msgspec import Struct

import steersman
from steersman.records.bench import Kind
from steersman.records.errors import UsageProblem

KINDS: tuple[Kind, ...] = get_args(Kind)
FOLDER = Path(steersman.__file__).parent / "samples" / "bench"
ANSWER = "answer.txt"

# The working folder is kept off Python's path, so that nothing in it can pose as the test library.
CHECK = (
    "PYTHONSAFEPATH=1 PYTHONDONTWRITEBYTECODE=1 "
    "python3 -m unittest discover -s {0} -t {0} -p 'check_*.py'"
)
_RAN = re.compile(r"^Ran (\d+) tests? in ", re.MULTILINE)


class Task(Struct, frozen=True):
    """One piece of work."""

    name: str
    kind: Kind
    text: str
    folder: Path

    def lay_out(self, where: Path) -> None:
        """Put the files to work on into a folder."""
        skip = shutil.ignore_patterns("__pycache__")
        shutil.copytree(self.folder / "files", where, dirs_exist_ok=True, ignore=skip)

    def lay_checks(self, where: Path, answer: str) -> None:
        """Put the hidden checks, and what the model said last, into a folder."""
        skip = shutil.ignore_patterns("__pycache__")
        shutil.copytree(self.folder / "checks", where, ignore=skip)
        (where / ANSWER).write_text(answer, encoding="utf-8")


class _About(Struct, frozen=True, forbid_unknown_fields=True):
    kind: Kind


def tasks(wanted: Sequence[str] = (), folder: Path = FOLDER) -> list[Task]:
    """The tasks, or those of the wanted names or kinds."""
    import tomllib

    found = [
        Task(
            place.parent.name,
            msgspec.convert(tomllib.loads(place.read_text(encoding="utf-8")), _About).kind,
            (place.parent / "task.md").read_text(encoding="utf-8").strip(),
            place.parent,
        )
        for place in sorted(folder.glob("*/task.toml"))
    ]
    for name in wanted:
        if not any(name in (task.name, task.kind) for task in found):
            raise UsageProblem(
                f"There is no task “{name}”.",
                f"There are: {', '.join(task.name for task in found)}.",
                f"A kind selects all of its tasks: {', '.join(KINDS)}.",
            )
    return [task for task in found if not wanted or {task.name, task.kind} & set(wanted)]


def verdict(code: int | None, output: str) -> tuple[bool, str]:
    """Whether checks passed, and if not, what they said.

    A program that ends itself with 0 before the checks have run has not passed them.
    """
    ran = _RAN.findall(output)
    if code == 0 and ran and int(ran[-1]) > 0 and output.rstrip().endswith("OK"):
        return True, ""
    wrong = [line for line in output.splitlines() if line.startswith(("FAIL:", "ERROR:"))]
    if wrong:
        return False, "; ".join(line.partition(" (")[0] for line in wrong)
    last = output.strip().splitlines()[-1:]
    return False, last[0] if last else f"the checks ended with {code} and no output"
