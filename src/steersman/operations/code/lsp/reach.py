"""Which files an answer may speak of, and their text: the same as a search would show.

A language server reads the whole folder; what it says is shown only as far as leave was given, and
never of a secret file or of one that git leaves out, unless that very file was asked about.
"""

from __future__ import annotations

import os
import stat
from collections import OrderedDict

from steersman.operations.code.lsp.positions import lines_of
from steersman.operations.finding.ignoring import Judge
from steersman.operations.workspace import Workspace
from steersman.records.errors import ToolProblem
from steersman.records.secret_files import SecretFiles

LARGEST = 8 << 20
_MOST_TEXTS = 128
_MOST_LETTERS = 32 << 20

Signature = tuple[int, int, int]


class Text:
    """A file's text as it was, with its lines as the protocol counts them."""

    def __init__(self, signature: Signature, text: str) -> None:
        self.signature = signature
        self.text = text
        self.lines = lines_of(text)

    def line(self, number: int) -> str:
        """A line, counted from 1; empty beyond the end."""
        return self.lines[number - 1] if 0 < number <= len(self.lines) else ""


class Texts:
    """Files that were read lately, read again when they changed."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, Text] = OrderedDict()
        self._letters = 0

    def get(self, path: str) -> Text | None:
        """A plain file's text; None when there is none or it is too large."""
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:
            return None
        with open(descriptor, "rb") as file:
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode) or found.st_size > LARGEST:
                return None
            signature = (found.st_mtime_ns, found.st_size, found.st_ino)
            kept = self._kept.get(path)
            if kept is not None and kept.signature == signature:
                self._kept.move_to_end(path)
                return kept
            text = Text(signature, file.read(LARGEST).decode("utf-8", "replace"))
        self._keep(path, text)
        return text

    def _keep(self, path: str, text: Text) -> None:
        before = self._kept.pop(path, None)
        self._letters += len(text.text) - (len(before.text) if before else 0)
        self._kept[path] = text
        while len(self._kept) > _MOST_TEXTS or self._letters > _MOST_LETTERS:
            _, gone = self._kept.popitem(last=False)
            self._letters -= len(gone.text)


def signature_of(path: str) -> Signature | None:
    """What shows that a file changed; None when there is no such file."""
    try:
        found = os.stat(path, follow_symlinks=False)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


class Reach:
    """The files of one call. `asked` are real paths it was given, which may be left out by git."""

    def __init__(self, workspace: Workspace, asked: tuple[str, ...] = ()) -> None:
        self._workspace = workspace
        self._asked = frozenset(asked)
        self._veil = SecretFiles(workspace.root, workspace.secret)
        self._judge = Judge(workspace.root, workspace.root)
        self._known: dict[str, bool] = {}

    def sees(self, path: str) -> bool:
        """Whether a file may be spoken of."""
        if path not in self._known:
            self._known[path] = self._sees(path)
        return self._known[path]

    def check(self, path: str) -> None:
        """Raise unless a file that was asked about may be spoken of."""
        if not self.sees(path):
            raise ToolProblem(f"{self._workspace.shown(path)} may not be read.")

    def shown(self, path: str) -> str:
        """A path as people and models write it."""
        return self._workspace.shown(path).replace(os.sep, "/")

    def _sees(self, path: str) -> bool:
        if not self._workspace.contains(path) or self._veil.covers(path):
            return False
        if not self._has_leave(path):
            return False
        below = os.fsencode(os.path.relpath(path, self._workspace.root))
        return path in self._asked or not self._judge.leaves_out(below)

    def _has_leave(self, path: str) -> bool:
        try:
            return bool(self._workspace.below(path))
        except ToolProblem:
            pass
        try:
            return self._workspace.exists(path) and os.path.realpath(path) == path
        except ToolProblem:
            return False
