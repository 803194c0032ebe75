"""Which files of a workspace are secret. Pure: the lines that say so were read by someone else."""

import os
import re
from collections.abc import Sequence
from functools import lru_cache

from steersman.records.gitignore_index import Index, indexed

IGNORE_FILE = ".steersmanignore"
# What tools make again whenever it is needed; nobody's own files.
MADE_AGAIN = frozenset(
    {"node_modules", ".venv", "venv", "site-packages", "__pycache__", ".tox", ".nox",
     ".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis"}
)  # fmt: skip
# Full of certificates that everybody has, and too many to look through.
SKIPPED = MADE_AGAIN | {".git"}

LONGEST_PATH = 4096  # letters; the kernel opens none that has more bytes
# Between lines that are judged apart: no exception below it undoes what is named above it.
APART = "#| apart\n"
# Before the workspace's own lines: other folders, and the lines for each. No line has it in it.
ELSEWHERE = "\0"
# What editors and people put around the name of a file for a copy of it; names are in lower case.
_AFTER = re.compile(
    rb"(?<=[^/~#])(?:[~#]|\.~\d++~|\.un~|\.kate-swp|\.sw[a-p]"
    rb"|[ ._-]?(?:\((?:copy|\d++)\)|[ ._-](?:bak|backup|copy|old|orig|saved?|tmp|dist|new))"
    rb"(?: ?\d++)?(?:\.\d++)?|\.(?:dpkg|ucf|rpm|pac)-?(?:old|dist|new|save|orig|tmp)"
    rb"|[._-]20\d\d(?:[-_.]?\d\d){0,5})++(?=\.[^./]++\Z|\Z|/)"
)
_PASSING = re.compile(rb"(?<![^/])\.(?=[^/])([^/]+)\.[a-z0-9]{6}\Z")  # while rsync writes it
_BEFORE = re.compile(rb"(?<![^/])(?:#|\.~?)(?=[^/]+\Z)")


class SecretFiles:
    """Says which paths of a workspace are secret, by lines in the language of `.gitignore`.

    The case of letters is ignored: on some disks `.ENV` is `.env`. The lines may begin with those
    for folders outside the workspace; `together` puts them there.
    """

    def __init__(self, workspace: str, lines: str) -> None:
        self.workspace = workspace
        self.lines = lines
        *others, own = lines.split(ELSEWHERE)
        self._parts = tuple(indexed(part) for part in own.split(APART) if part)
        self._others = tuple(map(SecretFiles, others[::2], others[1::2]))

    def covers(self, path: str) -> str:
        """Why a resolved path is secret; empty when it is not."""
        top = self.workspace.rstrip("/") + "/"
        if not path.startswith(top):
            return next(filter(None, (other.covers(path) for other in self._others)), "")
        if not self._parts:
            return ""
        if len(path) > LONGEST_PATH:
            return "perhaps: the path is too long for any file"
        parts = os.fsencode(path[len(top) :]).split(b"/")
        if not SKIPPED.isdisjoint(part.decode("utf-8", "replace") for part in parts[:-1]):
            return ""
        for depth in range(1, len(parts) + 1):
            name = b"/".join(parts[:depth])
            if self.hides(name, depth < len(parts)):
                return "by .steersmanignore or the built-in list"
        return ""

    def hides(self, name: bytes, folder: bool) -> bool:
        """Whether a path relative to the workspace is secret, when the folders it is in are not."""
        name = name.lower()
        names = (name, *copied_names(name))
        return any(self._first_word(part, names, folder) for part in self._parts)

    @staticmethod
    def _first_word(part: Index, names: Sequence[bytes], folder: bool) -> bool:
        """What is said of the name itself decides; else what is said of what it is a copy of."""
        verdicts = (part.verdict(name, folder) for name in names)
        return next((verdict for verdict in verdicts if verdict is not None), False)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SecretFiles):
            return NotImplemented
        return (self.workspace, self.lines) == (other.workspace, other.lines)

    def __hash__(self) -> int:
        return hash((self.workspace, self.lines))


def copied_names(path: bytes) -> list[bytes]:
    """The paths that a path, in lower case, may be an editor's or a person's copy of."""
    bare, whole = _AFTER.sub(b"", path), _PASSING.sub(rb"\1", path)
    # `.id_rsa.swp` is of `id_rsa`, `.env.swp` of `.env`: the dot may be the editor's or the file's.
    found = [] if bare == path else [_BEFORE.sub(b"", bare), bare]
    return found if whole == path else [*found, whole]


@lru_cache(maxsize=8)
def together(workspace: SecretFiles, *added: SecretFiles) -> SecretFiles:
    """The secret files of a workspace and of other folders, as one."""
    parts = (text for one in added for text in (one.workspace, one.lines))
    return SecretFiles(workspace.workspace, ELSEWHERE.join((*parts, workspace.lines)))


PLAIN_SIGHT = SecretFiles("/", "")
