"""Rules from `rules.toml` files: read whole and checked whole, or not at all.

Every problem names its file and line. Without files neither the parser of TOML nor the guard is
loaded.
"""

import os
import stat
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from steersman.governance.rule import Rule, RuleProblem, Source

MANAGED = Path("/etc/steersman/rules.toml")
LARGEST = 256 * 1024


class Problem(Struct, frozen=True):
    """What is wrong in one place of a file."""

    file: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.text}"


def user_file(config: Path) -> Path:
    """Where the user's rules are: next to `config.toml`."""
    return config.with_name("rules.toml")


def project_file(workspace: str) -> Path:
    """Where a project's rules are. They load only in a trusted folder and can only tighten."""
    return Path(workspace) / ".steersman" / "rules.toml"


def load_rules(
    *,
    workspace: str,
    home: str,
    user: Path | None = None,
    project: Path | None = None,
    managed: Path | None = MANAGED,
) -> tuple[Rule, ...]:
    """The rules of all files that exist; raises RuleProblem with every problem of all of them."""
    sources: tuple[tuple[Source, Path | None], ...] = (
        ("managed", managed),
        ("user", user),
        ("project", project),
    )
    rules: list[Rule] = []
    problems: list[Problem] = []
    for source, path in sources:
        if path is not None and os.path.lexists(path):
            text, found = _text(path)
            if text is not None:
                more, found = read_rules(text, source, str(path), workspace=workspace, home=home)
                rules += more
            problems += found
    if problems:
        _refuse(problems)
    return tuple(rules)


def read_rules(
    text: str, source: Source, file: str, *, workspace: str, home: str
) -> tuple[list[Rule], list[Problem]]:
    """The rules in a text, and what is wrong with it; with any problem the rules are no use."""
    from steersman.governance.rule_tables import Reader

    reader = Reader(text, source, file, workspace=workspace, home=home)
    rules = reader.rules()
    return rules, [Problem(file, line, told) for line, told in sorted(set(reader.problems))]


def _text(path: Path) -> tuple[str | None, list[Problem]]:
    """What a file says; anything that is not a file of ours is reported, not waited for."""

    def wrong(text: str, line: int = 1) -> tuple[None, list[Problem]]:
        return None, [Problem(str(path), line, text)]

    try:
        # Opened first and looked at then, and never waited for: a pipe could be in its place.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                return wrong("this is not a file")
            data = b""
            while len(data) <= LARGEST and (piece := os.read(descriptor, LARGEST + 1)):
                data += piece
        finally:
            os.close(descriptor)
    except OSError as error:
        return wrong(f"the file cannot be read: {error.strerror or error}")
    if len(data) > LARGEST:
        return wrong(f"the file is larger than {LARGEST // 1024} kB, too large for rules")
    try:
        return data.decode(), []
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return wrong("the file is not UTF-8", line)


def _refuse(problems: Sequence[Problem]) -> None:
    told = tuple(map(str, problems))
    count = "One thing is" if len(told) == 1 else f"{len(told)} things are"
    raise RuleProblem(
        f"{count} wrong in the rules, so none of them is used and nothing is started.",
        "\n".join(told),
        "Fix the file, or move it away; docs/policy.md describes how to write rules.",
        told,
    )
