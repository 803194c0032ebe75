"""Which files of a workspace are secret. Pure: the lines that say so were read by somebody else."""

import os

from steersman.records.gitignore_index import indexed

IGNORE_FILE = ".steersmanignore"
# What tools make again whenever it is needed; nobody's own files.
MADE_AGAIN = frozenset(
    {"node_modules", ".venv", "venv", "site-packages", "__pycache__", ".tox", ".nox",
     ".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis"}
)  # fmt: skip
# Full of certificates that everybody has, and too many to look through.
SKIPPED = MADE_AGAIN | {".git"}


# Between lines that are judged apart: no exception below it takes back what is named above it.
APART = "#| apart\n"


class SecretFiles:
    """Says which paths of a workspace are secret, by lines in the language of `.gitignore`.

    The case of letters is ignored: on some disks `.ENV` is `.env`.
    """

    def __init__(self, workspace: str, lines: str) -> None:
        self.workspace = workspace
        self.lines = lines
        self._parts = tuple(indexed(part) for part in lines.split(APART) if part)

    def covers(self, path: str) -> str:
        """Why a resolved path is secret; empty when it is not."""
        top = self.workspace.rstrip("/") + "/"
        if not self._parts or not path.startswith(top):
            return ""
        parts = os.fsencode(path[len(top) :]).split(b"/")
        if not SKIPPED.isdisjoint(part.decode("utf-8", "replace") for part in parts[:-1]):
            return ""
        for depth in range(1, len(parts) + 1):
            name = b"/".join(parts[:depth])
            if self.hides(name, depth < len(parts)):
                return "by .steersmanignore or the usual names of such files"
        return ""

    def hides(self, name: bytes, folder: bool) -> bool:
        """Whether a path relative to the workspace is secret, when the folders it is in are not."""
        name = name.lower()
        return any(part.verdict(name, folder) for part in self._parts)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SecretFiles):
            return NotImplemented
        return (self.workspace, self.lines) == (other.workspace, other.lines)

    def __hash__(self) -> int:
        return hash((self.workspace, self.lines))


PLAIN_SIGHT = SecretFiles("/", "")
