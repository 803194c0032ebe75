"""The hooks that a person's settings and a trusted folder's `.claude` files have."""

import os
from typing import Any

import msgspec
from msgspec import Struct

from steersman.identity.places import read_text
from steersman.records.hooks import Hook, read
from steersman.records.protection import inside

FILES = (".claude/settings.json", ".claude/settings.local.json")
MOST_BYTES = 1 << 20
OWN = "your settings"


class Configured(Struct, frozen=True):
    """The hooks there are, in the order of their files, and what was wrong with others."""

    hooks: tuple[Hook, ...] = ()
    problems: tuple[str, ...] = ()


def find(workspace: str, own: dict[str, Any], *, trusted: bool) -> Configured:
    """Every hook for a workspace; the folder's own only when it is trusted."""
    hooks, problems = read(own, OWN)
    root = os.path.realpath(workspace)
    for name in FILES if trusted else ():
        if not os.path.lexists(path := os.path.join(root, name)):
            continue
        if not inside(os.path.realpath(path), root):
            problems.append(f"{name} is not used: it leads out of the folder.")
            continue
        try:
            text, size = read_text(path, MOST_BYTES)
            said = msgspec.json.decode(text.encode(), type=dict[str, Any]) if text.strip() else {}
        except (OSError, msgspec.DecodeError, RecursionError):
            problems.append(f"The hooks in {name} are not used: it is not a file of JSON.")
            continue
        if size > MOST_BYTES:
            problems.append(f"The hooks in {name} are not used: the file is larger than 1 MB.")
        elif not said.get("disableAllHooks"):
            more, wrong = read(said.get("hooks", {}), name)
            hooks, problems = [*hooks, *more], [*problems, *wrong]
    return Configured(tuple(hooks), tuple(problems))
