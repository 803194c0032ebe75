"""Which objects a repository has, read from its files: most edits need no git to be asked."""

import os
from collections.abc import Collection, Iterator

_MAGIC = b"\377tOc\0\0\0\2"
_NAMES = 8 + 256 * 4  # where names begin in the index of a pack
_ENTRY = 4


def held(home: str, names: Collection[str], new: Collection[str] = ()) -> set[str] | None:
    """Those of some objects that are there, not counting files that are new.

    None where that cannot be read: a worktree, objects borrowed from elsewhere, a strange pack.
    """
    folder = os.path.join(home, ".git", "objects")
    if not os.path.isdir(folder) or os.path.lexists(os.path.join(folder, "info", "alternates")):
        return None
    found = {name for name in names if _is_loose(folder, name, new)}
    try:
        for index in _indexes(os.path.join(folder, "pack"), new):
            found |= _listed(index, set(names) - found)
    except (OSError, ValueError):
        return None
    return found


def _is_loose(folder: str, name: str, new: Collection[str]) -> bool:
    path = os.path.join(folder, name[:2], name[2:])
    return path not in new and os.path.lexists(path)


def _indexes(folder: str, new: Collection[str]) -> Iterator[str]:
    if os.path.isdir(folder):
        for name in os.listdir(folder):
            path = os.path.join(folder, name)
            if name.endswith(".idx") and path not in new:
                yield path


def _listed(index: str, names: Collection[str]) -> set[str]:
    """Those of some objects that the index of a pack lists; one of another kind is not an index."""
    length = len(os.path.basename(index).removeprefix("pack-").removesuffix(".idx")) // 2
    if length not in (20, 32):
        raise ValueError(index)
    fit = [bytes.fromhex(name) for name in names if len(name) == length * 2]
    descriptor = os.open(index, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if os.pread(descriptor, len(_MAGIC), 0) != _MAGIC:
            raise ValueError(index)
        return {name.hex() for name in fit if name in _near(descriptor, name, length)}
    finally:
        os.close(descriptor)


def _near(descriptor: int, name: bytes, length: int) -> bytes:
    """The names in the index of a pack that begin with the same byte."""
    place = len(_MAGIC) + _ENTRY * name[0]
    ends = os.pread(descriptor, _ENTRY, place - _ENTRY) if name[0] else b"\0" * _ENTRY
    first = int.from_bytes(ends, "big")
    last = int.from_bytes(os.pread(descriptor, _ENTRY, place), "big")
    size = min(max(0, last - first) * length, os.fstat(descriptor).st_size)
    return os.pread(descriptor, size, _NAMES + first * length)
