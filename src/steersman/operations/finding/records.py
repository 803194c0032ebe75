"""What is looked for, where, and what was found. Paths are bytes, relative to the folder."""

import os
from collections.abc import Callable

from msgspec import Struct

from steersman.records.secret_files import SecretFiles


class SearchPlace(Struct, frozen=True):
    """A folder, or one file, of a workspace; both paths are real.

    `secret` are lines of a `.gitignore`, from the root, for files that are not looked into.
    """

    root: str
    top: str
    is_file: bool = False
    secret: str = ""

    @property
    def folder(self) -> str:
        """The folder that paths found are relative to."""
        return os.path.dirname(self.top) if self.is_file else self.top

    @property
    def name(self) -> bytes:
        """The file, seen from its folder."""
        return os.fsencode(os.path.basename(self.top))

    def secret_rules(self) -> Callable[[bytes], bool]:
        """Shows which files are secret, by their paths as they are found."""
        if not self.secret:
            return lambda path: False
        secret_files = SecretFiles(self.root, self.secret)
        return lambda path: bool(secret_files.covers(os.path.join(self.folder, os.fsdecode(path))))

    def shown(self, path: bytes) -> str:
        """A path as people and models write it, relative to the workspace."""
        prefix = os.path.relpath(self.folder, self.root)
        return readable(path if prefix == "." else os.path.join(os.fsencode(prefix), path))


class Query(Struct, frozen=True):
    """What to look for: a regular expression, prepared by `patterns`.

    `most` is how many places are shown; with none, matches are only counted.
    """

    pattern: str
    case_sensitive: bool = True
    multiline: bool = False
    globs: tuple[str, ...] = ()
    context: int = 0
    most: int = 100
    ignored: bool = False


class Hit(Struct, frozen=True, omit_defaults=True):
    """A place where something was found; line and column begin at 1, columns are characters."""

    file: str
    line: int
    column: int
    text: str
    end_line: int = 0
    before: list[str] = []
    after: list[str] = []


class Found(Struct, frozen=True):
    """Places in order, and per file how many there are: lines, or matches over several lines.

    Not `complete` means that there were more files than were counted.
    """

    hits: list[Hit]
    counts: list[tuple[bytes, int]]
    binary: int = 0
    unreadable: int = 0
    complete: bool = True


class Names(Struct, frozen=True):
    """Every file below a folder, in order."""

    names: list[bytes]
    unreadable: int = 0
    complete: bool = True


def in_order(path: bytes) -> bytes:
    """Sorts paths so that a folder's content stays together."""
    return path.replace(b"/", b"\0")


def readable(path: bytes) -> str:
    """A name as text; bytes that are not UTF-8 are written as escapes."""
    return path.decode("utf-8", "backslashreplace")
