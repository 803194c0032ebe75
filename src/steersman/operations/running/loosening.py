"""Branches and tags of a repository that get files of their own before a push deletes them.

Git writes `packed-refs` again to delete one that is listed there, beside the settings of the
repository, where nothing can be made from inside a sandbox. So the host removes it from the list
and gives it a file in `refs`, which the push may delete. To git both are the same.
"""

import os
from collections.abc import Iterable, Sequence
from contextlib import suppress

from steersman.operations.running.pushing import deleted_by, repository_at
from steersman.records.plain_files import whole_plain

LARGEST = 100_000_000
_ABOVE = ("", "refs/", "refs/heads/", "refs/tags/")  # where git looks for a short name
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC


def loosen(places: Sequence[str], command: str) -> None:
    """Do so in those of the places that are repositories; what cannot be done, git reports."""
    short = deleted_by(command)
    names = {f"{above}{name}" for name in short for above in _ABOVE}
    names = {name for name in names if _is_plain(name)}
    for place in places if names else ():
        if repository_at(place) == place:
            with suppress(OSError):
                _loosen(place, names)


def _loosen(place: str, names: Iterable[str]) -> None:
    """Under the lock that git would take."""
    packed = os.path.join(place, "packed-refs")
    mode = os.lstat(packed).st_mode & 0o666
    lock = os.open(f"{packed}.lock", _NEW, mode)
    try:
        with os.fdopen(lock, "wb") as new:
            rest, found = without(whole_plain(packed, LARGEST), names)
            for ref, name in found.items():
                _put(place, ref, name, mode)
            new.write(rest)
            new.flush()
            os.fsync(new.fileno())
        if found:
            os.rename(f"{packed}.lock", packed)
    finally:
        with suppress(FileNotFoundError):
            os.unlink(f"{packed}.lock")


def without(packed: bytes, names: Iterable[str]) -> tuple[bytes, dict[str, bytes]]:
    """A list of branches and tags without some, and the objects that those lead to. Pure."""
    wanted, kept, found, going = {*names}, [], {}, False
    for line in packed.splitlines(keepends=True):
        if line.startswith(b"^"):  # what the tag before it is about
            kept += [] if going else [line]
            continue
        name, _, ref = line.strip().partition(b" ")
        going = os.fsdecode(ref) in wanted and not line.startswith(b"#")
        if going:
            found[os.fsdecode(ref)] = name
        else:
            kept.append(line)
    return b"".join(kept), found


def _put(place: str, ref: str, name: bytes, mode: int) -> None:
    """Make the file of a branch, unless it has one; links are not followed, also not in between."""
    *folders, last = ref.split("/")
    folder = os.open(place, _FOLDER)
    try:
        for inner in folders:
            with suppress(FileExistsError):
                os.mkdir(inner, dir_fd=folder)
            outer, folder = folder, os.open(inner, _FOLDER, dir_fd=folder)
            os.close(outer)
        with suppress(FileNotFoundError):
            os.stat(last, dir_fd=folder, follow_symlinks=False)
            return
        with os.fdopen(os.open(f"{last}.lock", _NEW, mode, dir_fd=folder), "wb") as new:
            new.write(name + b"\n")
            new.flush()
            os.fsync(new.fileno())
        os.rename(f"{last}.lock", last, src_dir_fd=folder, dst_dir_fd=folder)
    finally:
        os.close(folder)


def _is_plain(ref: str) -> bool:
    return ref.startswith("refs/") and {"", ".", ".."}.isdisjoint(ref.split("/"))
