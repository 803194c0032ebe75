"""What changed in a workspace: the state of each path before and after.

Pure records; how a change is made, noticed or undone lives in `operations`.
"""

from typing import Literal

from msgspec import Struct


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
