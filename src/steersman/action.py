"""What an agent wants to do to the world, and what the gate says to it.

An `Action` names resolved, absolute paths: links are followed before anything is decided.
"""

from typing import Literal

from msgspec import Struct


class Read(Struct, frozen=True, tag_field="action", tag="read"):
    """Look at the content of a file."""

    path: str


class List(Struct, frozen=True, tag_field="action", tag="list"):
    """Look at the names below a folder."""

    path: str


class Write(Struct, frozen=True, tag_field="action", tag="write"):
    """Give a file new content.

    `before` and `after` are SHA-256 of the content shown in `diff`, so that what was decided on
    is exactly what is written; `before` is empty for a file that does not exist.
    """

    path: str
    before: str = ""
    after: str = ""
    diff: str = ""


class Execute(Struct, frozen=True, tag_field="action", tag="execute"):
    """Run a shell command."""

    command: str
    cwd: str


class SpawnAgent(Struct, frozen=True, tag_field="action", tag="spawn_agent"):
    """Let another capsule work on a task."""

    agent: str
    task: str


Action = Read | List | Write | Execute | SpawnAgent


class Verdict(Struct, frozen=True, omit_defaults=True):
    """The gate's word on one action, with the rule that decided.

    `reason` is for a person; `instead` tells the model what to do instead.
    """

    decision: Literal["allow", "ask", "deny"]
    rule: str
    reason: str
    instead: str = ""
