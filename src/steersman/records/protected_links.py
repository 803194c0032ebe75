"""Where links lead that are at protected names: who writes there writes what others follow.

Only the folders above a changed path are looked into, and what is protected in them.
"""

import os
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import islice
from pathlib import Path

from steersman.records.real_paths import real_path

_NAMES = [
    name
    for name in Path(__file__).with_name("protected.txt").read_text(encoding="utf-8").splitlines()
    if name and not name.startswith("#")
]
# Names are compared in lower case: on some disks `.GIT/hooks` is `.git/hooks`.
FOLDERS = frozenset(name.removesuffix("/") for name in _NAMES if name.endswith("/"))
FILES = frozenset(name for name in _NAMES if not name.endswith("/"))
_EVERY = FOLDERS | FILES
_DEEPER = frozenset(name for name in _EVERY if "/" in name)
MOST_FOLDERS = 200
MOST_HOPS = 40
MOST_ENTRIES = 200
_Found = tuple[tuple[str, ...], tuple[str, ...]]


def links_in(folder: str) -> Iterator[str]:
    """The links at protected names in a folder, and those in its protected folders."""
    links, folders = _looked(folder, named=True)
    yield from links
    for inner in folders:
        yield from inner_links(inner)


def inner_links(folder: str, most: int = MOST_FOLDERS) -> Iterator[str]:
    """All links in a folder and below it; of so many folders at most."""
    waiting = [folder]
    for _ in range(most):
        if not waiting:
            return
        links, folders = _looked(waiting.pop(), named=False)
        yield from links
        waiting += folders


def ends_of(paths: Iterable[str]) -> Iterator[str]:
    """Every place by which a path leads elsewhere; nothing for one that is what it seems."""
    known: dict[str, str] = {}  # several are in one folder
    for path in paths:
        folder, name = os.path.split(path)
        if folder not in known:
            known[folder] = real_path(folder)
        place = os.path.join(known[folder], name)
        if place != path:
            yield place
        for _ in range(MOST_HOPS):
            try:
                target = os.readlink(place)
            except OSError:
                break
            named = os.path.normpath(os.path.join(os.path.dirname(place), target))
            yield named
            above, name = os.path.split(named)
            place = os.path.join(real_path(above), name)
            yield place


def _looked(folder: str, *, named: bool) -> _Found:
    try:
        about = os.stat(folder)
        state = (about.st_mtime_ns, about.st_ctime_ns, about.st_ino)
        return _named(folder, state) if named else _listed(folder, state)
    except OSError:
        return (), ()


@lru_cache(maxsize=2048)
def _listed(folder: str, _: tuple[int, ...]) -> _Found:
    """The links and the folders in a folder, in that state of it."""
    with os.scandir(folder) as entries:
        every = list(entries)
    links = (entry.path for entry in every if entry.is_symlink())
    return tuple(links), tuple(one.path for one in every if one.is_dir(follow_symlinks=False))


@lru_cache(maxsize=2048)
def _named(folder: str, _: tuple[int, ...]) -> _Found:
    """Those at protected names alone: a folder may hold very many others."""
    names = _present(folder)
    links = [path for name in names if os.path.islink(path := f"{folder}/{name}")]
    inner = (f"{folder}/{name}" for name in names if name.lower() in FOLDERS)
    return tuple(links), tuple(path for path in inner if path not in links and os.path.isdir(path))


def _present(folder: str) -> Iterable[str]:
    """The protected names that may be in a folder; to list it is quicker than to try them all."""
    try:
        with os.scandir(folder) as entries:
            listed = [entry.name for entry in islice(entries, MOST_ENTRIES + 1)]
    except OSError:  # it can be entered at most
        return _EVERY
    if len(listed) > MOST_ENTRIES:
        return _EVERY
    return {*_DEEPER, *(name for name in listed if name.lower() in _EVERY)}
