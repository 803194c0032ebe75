"""What changed in a workspace: the state of each path before and after.

Pure records; how a change is made, noticed or undone lives in `operations`.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

from msgspec import Struct

from steersman.records.names import shown


class FileState(Struct, frozen=True, omit_defaults=True):
    """What is at a path. `digest` is the SHA-256 of a file's content, `target` a link's words."""

    kind: Literal["absent", "file", "folder", "link"]
    mode: int = 0
    digest: str = ""
    size: int = 0
    target: str = ""


ABSENT = FileState("absent")


class Change(Struct, frozen=True):
    """One path, relative to the workspace, as it was and as it is."""

    path: str
    before: FileState
    after: FileState

    def reversed(self) -> "Change":
        """The change that undoes this one."""
        return Change(self.path, self.after, self.before)


class Seen(Struct, frozen=True):
    """A change as people look at it. A file that was moved is one change, at its new name.

    `moved_from` is its old name then, and `change` has what it was there and what it is now.
    """

    change: Change
    moved_from: str = ""

    def title(self, names: Mapping[str, str] = MappingProxyType({})) -> str:
        """What it is called; `names` are those that are shown otherwise."""
        both = filter(None, (self.moved_from, self.change.path))
        return " → ".join(shown(names.get(path, path)) for path in both)
