"""What a commit must do for one path, and which paths are one file under several names."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence

from msgspec import Struct

from steersman.operations.journal.looking import Seen
from steersman.records.change import FileState

HIDDEN = ".steersman-"


class Step(Struct, frozen=True):
    """One path: what is there, and what is to be."""

    path: str
    seen: Seen
    after: FileState

    @property
    def goes(self) -> bool:
        """Whether what is there must be out of the way before anything new can come."""
        now, then = self.seen.state.kind, self.after.kind
        return now != "absent" and (then == "absent" or (now == "folder") != (then == "folder"))

    @property
    def comes(self) -> bool:
        """Whether a file or link must be put there."""
        now, then = self.seen.state, self.after
        if then.kind == "file":
            return now.digest != then.digest or now.kind != "file"
        return then.kind == "link"

    @property
    def only_mode(self) -> bool:
        """Whether a file keeps its content and changes its mode."""
        return self.after.kind == self.seen.state.kind == "file" and not self.comes

    @property
    def linked(self) -> bool:
        """Whether a file has other names."""
        found = self.seen.stat
        return found is not None and stat.S_ISREG(found.st_mode) and found.st_nlink > 1

    def unmoved(self, now: os.stat_result | None) -> bool:
        """Whether nobody else touched the path since it was looked at."""
        was = self.seen.stat
        return was is not None and now is not None and _identity(was) == _identity(now)


def linked_together(steps: Sequence[Step]) -> tuple[set[str], list[str]]:
    """Linked files whose every name is here and wants the same, and one name of each to write.

    A file with a name elsewhere, perhaps outside the workspace, is not among them: it is parted
    from its other names, because they were not named in the change.
    """
    files: dict[tuple[int, int], list[Step]] = {}
    for step in steps:
        if step.linked and step.seen.stat is not None:
            files.setdefault((step.seen.stat.st_dev, step.seen.stat.st_ino), []).append(step)
    together: set[str] = set()
    written: list[str] = []
    for names in files.values():
        staying = [step for step in names if not step.goes and step.after.kind == "file"]
        wanted = {(step.after.digest, step.after.mode) for step in staying}
        whole = names[0].seen.stat is not None and len(names) == names[0].seen.stat.st_nlink
        if whole and len(staying) > 1 and len(wanted) == 1:
            together |= {step.path for step in staying}
            written.append(staying[0].path)
    return together, written


def _identity(found: os.stat_result) -> tuple[int, ...]:
    """What stays while nobody else touches a path; a folder's mode may be lent, its time moves."""
    if stat.S_ISDIR(found.st_mode):
        return found.st_ino, stat.S_IFMT(found.st_mode)
    return found.st_ino, found.st_mode, found.st_size, found.st_mtime_ns
