"""A copy of the files of a workspace that a program may change, and what it changed in it.

Only what is not ignored and not secret is copied; links are not. On disks that can, the copy
shares its blocks with the original until one of them is written to.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress

from msgspec import Struct

from steersman.operations.finding import SearchPlace, list_names
from steersman.operations.workspace import Workspace
from steersman.records.errors import ToolProblem

MOST_FILES = 50_000
MOST_BYTES = 1 << 30
LARGEST = 10_000_000  # bytes of a file that could be code
PIECE = 1 << 20
_NOT_OURS = (".git/", ".serena/", ".steersman/")


class Changed(Struct, frozen=True):
    """A file that is another in the copy; None where there is none."""

    path: str  # relative to the workspace
    before: bytes | None
    after: bytes | None


class Copy:
    """A copy below a folder of ours; knows what was copied."""

    def __init__(self, root: str, folder: str) -> None:
        self.root = root
        self.folder = folder
        self._copied: dict[str, tuple[int, int, int]] = {}

    @classmethod
    async def of(cls, workspace: Workspace, folder: str, environ: Mapping[str, str]) -> Copy:
        """A copy of everything in a workspace that may be searched."""
        import asyncio

        place = SearchPlace(
            workspace.root, workspace.below(workspace.root), secret=workspace.secret
        )
        found = await list_names(place, False, environ)
        secret = place.secret_rules()
        names = [name for name in found.names if not secret(name)]
        if len(names) > MOST_FILES or not found.complete:
            raise _too_large(f"It has more than {MOST_FILES:,} files.")
        copy = cls(workspace.root, folder)
        await asyncio.to_thread(copy._fill, [os.fsdecode(name) for name in names])
        return copy

    def _fill(self, names: list[str]) -> None:
        room = MOST_BYTES
        made: set[str] = set()
        for name in names:
            target = os.path.join(self.folder, name)
            parent = os.path.dirname(target)
            if parent not in made:
                os.makedirs(parent, exist_ok=True)
                made.add(parent)
            try:
                size = _copied(os.path.join(self.root, name), target)
            except OSError:
                continue  # gone meanwhile, or not to be read
            if size is None:
                continue
            room -= size
            if room < 0:
                raise _too_large(f"Its files have more than {MOST_BYTES >> 30} GB.")
            self._copied[name] = _signature(target)

    def changes(self) -> list[Changed]:
        """What is different from the workspace as it is now, for files that were written to."""
        return sorted(self._changes(), key=lambda changed: changed.path)

    def _changes(self) -> Iterator[Changed]:
        present = set(self._names())
        for name, signature in self._copied.items():
            path = os.path.join(self.folder, name)
            if name not in present:
                yield Changed(name, _content(os.path.join(self.root, name)), None)
            elif _signature(path) != signature:
                before = _content(os.path.join(self.root, name))
                after = _content(path)
                if before != after:
                    yield Changed(name, before, after)
        for name in present - self._copied.keys():
            if not name.startswith(_NOT_OURS) and not os.path.lexists(
                os.path.join(self.root, name)
            ):
                yield Changed(name, None, _content(os.path.join(self.folder, name)))

    def _names(self) -> Iterator[str]:
        for top, _, files in os.walk(self.folder):
            for file in files:
                yield os.path.relpath(os.path.join(top, file), self.folder)


def _copied(source: str, target: str) -> int | None:
    """Copy a plain file; its size, or None for what is not a plain file or too large for code."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with open(os.open(source, flags), "rb") as reading:
        found = os.fstat(reading.fileno())
        if not stat.S_ISREG(found.st_mode) or found.st_size > LARGEST:
            return None
        with open(target, "xb") as writing:
            with suppress(OSError, AttributeError):
                while os.copy_file_range(reading.fileno(), writing.fileno(), PIECE):
                    pass
            # Whatever could not be shared is read and written.
            reading.seek(os.fstat(writing.fileno()).st_size)
            while piece := reading.read(PIECE):
                writing.write(piece)
        return found.st_size


def _content(path: str) -> bytes | None:
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        with open(os.open(path, flags), "rb") as file:
            return file.read() if stat.S_ISREG(os.fstat(file.fileno()).st_mode) else None
    except OSError:
        return None


def _signature(path: str) -> tuple[int, int, int]:
    found = os.stat(path, follow_symlinks=False)
    return found.st_size, found.st_mtime_ns, found.st_ino


def _too_large(why: str) -> ToolProblem:
    return ToolProblem(
        "The workspace is too large to try a refactoring on a copy of it.",
        why,
        "Change the files with workspace_edit_files.",
    )
