"""Which files people would miss: those that git does not ignore, and some that it does.

What programs make again is mostly ignored with its whole folder (`dist/`), and nobody misses it. A
file that is ignored by itself, or in a folder or of a kind that `precious.gitignore` names, may be
someone's only copy. Rules that the thread wrote itself prove nothing.
"""

import os
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from steersman.operations.finding.ignoring import Judge
from steersman.operations.running.contents import is_own, lasts
from steersman.records.change import Change
from steersman.records.gitignore_index import Index
from steersman.records.names import on_disk


@cache
def _named() -> Index:
    return Index(Path(__file__).with_name("precious.gitignore").read_text("utf-8"))


class Keeping:
    """Says which files of a workspace are not just made again; `changes` are the thread's."""

    def __init__(self, root: str, changes: Iterable[Change]) -> None:
        top = os.path.realpath(root)
        self._judge = None if any(_is_rule(one.path) for one in changes) else Judge(top, top)

    def keeps(self, path: str) -> bool:
        """Whether someone would miss a file that no version control has."""
        if not lasts(path):
            return False
        name = os.fsencode(on_disk(path))
        if self._judge is None or not self._judge.leaves_out(name):
            return True
        said = _said_of(name.lower())
        if said is not None:
            return said
        return not self._judge.leaves_out_folder(os.path.dirname(name))

    def folder_made(self, path: str) -> str:
        """The outermost folder, ignored or made by tools, of a file nobody would miss; or none."""
        if self.keeps(path):
            return ""
        folders = [path[:at] for at, sign in enumerate(path) if sign == "/"]
        return next((one for one in folders if not is_own(one) or self._ignores(one)), "")

    def _ignores(self, folder: str) -> bool:
        left_out = self._judge.leaves_out_folder if self._judge else None
        return left_out is not None and left_out(os.fsencode(on_disk(folder)))

    def touches(self, path: str) -> bool:
        """Whether a path is neither ignored nor made again."""
        name = os.fsencode(on_disk(path))
        return lasts(path) and (self._judge is None or not self._judge.leaves_out(name))


def _said_of(name: bytes) -> bool | None:
    """What the file of names says of a path: of the outermost folder first, then of itself."""
    parts = name.split(b"/")
    for depth in range(1, len(parts) + 1):
        said = _named().verdict(b"/".join(parts[:depth]), depth < len(parts))
        if said is not None:
            return said
    return None


def _is_rule(path: str) -> bool:
    name = path.rpartition("/")[2]
    return name == ".gitignore" or path.endswith(".git/info/exclude")
