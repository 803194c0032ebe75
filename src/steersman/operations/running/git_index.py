"""What the index of a repository holds: what is staged, without what git only remembers of files.

`git status` writes an index again with new times of files in it; what is staged stays the same.
"""

import re
from collections.abc import Iterable, Iterator

from msgspec import Struct
from msgspec.structs import replace

from steersman.operations.journal.journal import Journal
from steersman.operations.journal.undoing import Entry as Noted
from steersman.operations.running.contents import content_of
from steersman.records.change import Change, FileState
from steersman.records.git_names import inner
from steersman.records.message import Message
from steersman.records.patterns import pattern

# Within a repository: its own index, those of its worktrees, and what several of them share.
INDEX = pattern(r"(?:worktrees/[^/]+/)?(?:index|sharedindex\.[0-9a-f]+)")
_LOOSE = pattern(r"objects/[0-9a-f]{2}(?:/[0-9a-f]{38,62})?")
_ANYWHERE = pattern(r"(?:.*/)?(?:index|sharedindex\.[0-9a-f]+)", re.DOTALL)
_HEAD = 12  # bytes: a mark, the version, the number of entries
_STAT, _MODE = 40, 24  # bytes of an entry before the name of its object; where its mode is
_EXTENDED = 0x4000
_STAGED = 0xF000  # the flags without the length of the path
_SUMS = (20, 32)  # bytes of the name of an object
_TOLD = (b"REUC", b"link")  # extensions that say more than what git can find out again


class Entry(Struct, frozen=True):
    """A path that is staged; `flags` hold its stage and whether git is to look at its file."""

    path: bytes
    mode: int
    name: str
    flags: int


class Index(Struct, frozen=True):
    """What is staged, in order, and what else an index says that git could not find out again."""

    entries: tuple[Entry, ...]
    told: tuple[bytes, ...] = ()

    @property
    def shared(self) -> list[str]:
        """The names that the file may have which holds the rest of what is staged."""
        said = [one[8:] for one in self.told if one.startswith(b"link")]
        return [f"sharedindex.{one[:length].hex()}" for one in said for length in _SUMS]


def may_be_index(path: str) -> bool:
    """Whether a path has the name of an index."""
    return _ANYWHERE.fullmatch(path) is not None


def same_index(journal: Journal, path: str, one: FileState, other: FileState) -> bool:
    """Whether two states of a path are an index in which the same is staged."""
    if not may_be_index(path) or (one.kind, one.mode) != (other.kind, other.mode):
        return False
    found = read_index(content_of(journal, one))
    return found is not None and found == read_index(content_of(journal, other))


def entries_of(journal: Journal, messages: Iterable[Message]) -> list[Noted]:
    """Every change the log reports, in order; `quiet` are those of which only git has a use."""
    return [replace(entry, quiet=_quiet(journal, entry)) for entry in journal.entries(messages)]


def _quiet(journal: Journal, entry: Noted) -> bool:
    """Whether git only noted something for itself: times of files, a message, new objects.

    To stage or to commit is more: then another index, or where a branch leads, is among it.
    """

    def derived(one: Change) -> bool:
        name = inner(one.path)
        if _LOOSE.fullmatch(name):
            return one.before.kind == "absent"
        return name == "COMMIT_EDITMSG" or (
            name == "index" and same_index(journal, one.path, one.before, one.after)
        )

    return entry.cause == "effect" and bool(entry.changes) and all(map(derived, entry.changes))


def read_index(content: bytes) -> Index | None:
    """An index, in any of git's forms; None for anything else."""
    version = int.from_bytes(content[4:8], "big")
    if content[:4] != b"DIRC" or version not in (2, 3, 4):
        return None
    for length in _SUMS:
        try:
            entries, at = _entries(content, version, length)
            return Index(entries, tuple(_told(content, at, length)))
        except ValueError:
            continue
    return None


def _entries(content: bytes, version: int, length: int) -> tuple[tuple[Entry, ...], int]:
    count, at = int.from_bytes(content[8:_HEAD], "big"), _HEAD
    found: list[Entry] = []
    path = b""
    for _ in range(count):
        begin, mode = at, int.from_bytes(content[at + _MODE : at + _MODE + 4], "big")
        at += _STAT
        name, at = content[at : at + length].hex(), at + length
        flags, at = int.from_bytes(content[at : at + 2], "big"), at + 2
        more = 0
        if flags & _EXTENDED:
            more, at = int.from_bytes(content[at : at + 2], "big"), at + 2
        kept = b""
        if version == 4:
            cut, at = _number(content, at)
            kept = path[: len(path) - cut]
        end = content.index(b"\0", at)
        path = kept + content[at:end]
        # Entries of the older forms are filled up to eight bytes.
        at = end + 1 if version == 4 else begin + (end - begin + 8) // 8 * 8
        found.append(Entry(path, mode, name, (flags & _STAGED & ~_EXTENDED) << 16 | more))
    return tuple(found), at


def _number(content: bytes, at: int) -> tuple[int, int]:
    """A number of as many bytes as it needs, and where it ends."""
    value = -1
    while at < len(content):
        value = (value + 1) << 7 | content[at] & 0x7F
        at += 1
        if not content[at - 1] & 0x80:
            return value, at
    raise ValueError("the index ends in the middle of a number")


def _told(content: bytes, at: int, length: int) -> Iterator[bytes]:
    """The extensions that count; they fill what is left but a checksum."""
    end = len(content) - length
    while at < end:
        size = int.from_bytes(content[at + 4 : at + 8], "big")
        if content[at : at + 4] in _TOLD:
            yield content[at : at + 8 + size]
        at += 8 + size
    if at != end:
        raise ValueError("the index has another form")
