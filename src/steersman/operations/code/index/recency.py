"""How lately and how often files were changed, as git remembers it."""

import math
import os
from collections.abc import Mapping

from msgspec import Struct

from steersman.operations.running.git_answers import answer
from steersman.records.counting import counted

COMMITS = 400
DAYS = 180
# A change of a month ago counts a third of one of today.
FADES = 30.0
_DAY = 86400.0
_LOG = ("log", f"--max-count={COMMITS}", f"--since={DAYS}.days", "--no-merges", "--format=%x01%ct",
        "--name-only", "-z", "--relative", "--no-renames", "--no-show-signature", "--no-ext-diff",
        "--no-textconv", "--no-mailmap")  # fmt: skip


class Touch(Struct, frozen=True, array_like=True):
    """A file's past: when it was last changed (seconds), and what its changes weigh then."""

    last: int
    weight: float


def head(root: str, environ: Mapping[str, str]) -> str:
    """The commit a folder is at; empty when it is in no repository or has no commit."""
    said = answer(root, environ, "rev-parse", "--verify", "--quiet", "HEAD")
    return "" if said is None else said.decode("ascii", "replace").strip()


def history(root: str, environ: Mapping[str, str]) -> dict[str, Touch]:
    """What the last commits changed below a folder; nothing when git does not answer."""
    said = answer(root, environ, *_LOG)
    return {} if said is None else parsed(said)


def parsed(said: bytes) -> dict[str, Touch]:
    """The touches in the words of git: commits begin with a byte 1 and their time."""
    newest = 0
    touches: dict[str, Touch] = {}
    for commit in said.split(b"\x01")[1:]:
        moment, *names = (part.strip(b"\n") for part in commit.split(b"\0"))
        if not moment.isdigit():
            continue
        when = int(moment)
        newest = max(newest, when)
        paths = [os.fsdecode(name) for name in names if name]
        share = math.exp((when - newest) / _DAY / FADES) / math.sqrt(len(paths) or 1)
        for path in paths:
            known = touches.get(path)
            last, weight = (known.last, known.weight) if known else (when, 0.0)
            touches[path] = Touch(max(last, when), weight + share)
    return touches


def ago(then: float, now: float) -> str:
    """A time in the past in words."""
    days = int(max(now - then, 0) // _DAY)
    if days == 0:
        return "today"
    return "yesterday" if days == 1 else f"{counted(days, 'day')} ago"
