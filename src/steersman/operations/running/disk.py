"""The disk as a command sees it: where file systems are mounted, and which parts must be sealed.

A socket in a file system can be reached through any mount of it, read-only or not, and behind a
socket may be a program with all the power of its user: a container engine, a key agent. An overlay
shows the file of such a socket without what is behind it. So everything a command sees is either
its own or seen through an overlay; then it may have sockets of its own.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from functools import lru_cache

from msgspec import Struct

TEMPORARY = ("/tmp", "/var/tmp")
OWN = ("/dev", "/proc", "/run", *TEMPORARY)  # replaced by folders of the command's own
_MOST = 24
_DEEPEST = 8
_OCTAL = re.compile(rb"\\([0-7]{3})")
# No program can put a socket there: what only shows the kernel, or is written by administrators.
_KERNEL = frozenset({
    "bpf", "cgroup", "cgroup2", "configfs", "debugfs", "devpts", "efivarfs", "fusectl",
    "hugetlbfs", "mqueue", "proc", "pstore", "securityfs", "sysfs", "tracefs", "binfmt_misc",
})  # fmt: skip
_SYSTEM = frozenset({"/sys", "/etc", "/boot", "/lost+found", "/bin", "/sbin", "/lib", "/lib64"})


class Mount(Struct, frozen=True):
    """A mounted file system; `writable` as a whole, by whomever."""

    place: str
    kind: str
    writable: bool


def holds(folder: str, path: str) -> bool:
    """Whether a path is a folder or in it."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def replaced(path: str, workspace: str) -> bool:
    """Whether a command has a folder of its own there, so that it neither sees nor writes this.

    The temporary folder that a workspace is in is not replaced.
    """
    return any(
        holds(place, path) for place in OWN if place not in TEMPORARY or not holds(place, workspace)
    )


def mounts() -> Sequence[Mount]:
    """What is mounted; names hold blanks and backslashes as octal numbers."""
    try:
        with open("/proc/self/mountinfo", "rb") as table:
            return _mounts(table.read())
    except OSError:
        return ()


@lru_cache(maxsize=1)  # every command asks, and it hardly ever changes
def _mounts(table: bytes) -> tuple[Mount, ...]:
    return tuple(_mount(line) for line in table.split(b"\n") if line)


def _mount(line: bytes) -> Mount:
    left, _, right = line.partition(b" - ")
    place = _OCTAL.sub(lambda found: bytes([int(found[1], 8)]), left.split(b" ", 5)[4])
    kind, _, options = right.split(b" ", 2)
    writable = b"ro" not in options.strip().split(b",")
    return Mount(os.fsdecode(place), kind.decode(errors="replace"), writable)


class TooMany(Exception):
    """So much is mounted here that sealing it would take too long."""


def to_seal(mounted: Sequence[Mount]) -> tuple[str, ...] | None:
    """The folders to be seen through overlays, or None where these would be too many."""
    found: list[str] = []
    try:
        for path in _pieces("/", *_places(mounted), 0):
            found.append(path)
            if len(found) > _MOST:
                return None
    except (TooMany, OSError):
        return None
    return tuple(found)


class Whole(Struct, frozen=True):
    """The disk under one overlay: what is mounted on it, and what of that must be sealed, too."""

    mounted: tuple[str, ...]
    sealed: tuple[str, ...]


def as_a_whole(mounted: Sequence[Mount], pieces: Sequence[str], workspace: str) -> Whole | None:
    """How to seal the disk at once; None where to do it piece by piece is less, or must be."""
    if any(holds(place, workspace) for place in OWN if place not in TEMPORARY):
        return None
    outer: list[str] = []
    for place in sorted(mount.place for mount in mounted):
        if place != "/" and not any(holds(known, place) for known in (*OWN, *outer)):
            outer.append(place)
    inner = tuple(path for path in pieces if any(holds(place, path) for place in outer))
    few = len(outer) + len(inner) < len(pieces)
    return Whole(tuple(outer), inner) if few else None


def _places(mounted: Sequence[Mount]) -> tuple[dict[str, Mount], set[str]]:
    """The last mount at each place, and every folder with one below it."""
    above: set[str] = set()
    for mount in mounted:
        parent = os.path.dirname(mount.place)
        while parent not in above:
            above.add(parent)
            parent = os.path.dirname(parent)
    return {mount.place: mount for mount in mounted}, above


def _pieces(folder: str, last: Mapping[str, Mount], above: Set[str], depth: int) -> Iterator[str]:
    """The largest folders below one with nothing mounted in them: an overlay hides what is."""
    if depth > _DEEPEST:
        raise TooMany
    with os.scandir(folder) as entries:
        inner = sorted(entry.path for entry in entries if entry.is_dir(follow_symlinks=False))
    for path in inner:
        if path in OWN or path in _SYSTEM:
            continue
        here = last.get(path)
        if here is not None and (here.kind in _KERNEL or not here.writable):
            continue
        if path in above:
            yield from _pieces(path, last, above, depth + 1)
        elif os.access(path, os.X_OK):
            yield path
