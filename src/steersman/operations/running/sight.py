"""Looks for names in a workspace, and knows whether it would find the same again."""

import os
import stat
from collections.abc import Iterable, Iterator

from steersman.operations.running.spelled import endings
from steersman.records.protection import inside
from steersman.records.secret_files import SKIPPED
from steersman.records.stamps import Stamp, stamp

MOST_WORDS = 20_000
MOST_FOLDERS = 32
DEEPEST = 16  # links to links
MOST_BYTES = 512 * 1024  # of a file that is looked into

_BINARY = (b"\x7fELF", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe", b"PK\3\4", b"\x89PNG", b"\x1f\x8b")


class Sight:
    """Looks at files and folders, and knows whether they would look the same again."""

    def __init__(self) -> None:
        self._names: dict[str, frozenset[str]] = {}
        self._stats: dict[str, Stamp | None] = {}

    def moved(self) -> bool:
        """Whether there is another file, or other content, at any place that was looked at."""
        return any(_listed(folder) != names for folder, names in self._names.items()) or any(
            then is None or _stamp(place) != then for place, then in self._stats.items()
        )

    def names(self, folder: str) -> frozenset[str]:
        """The names in a folder."""
        if folder not in self._names:
            self._names[folder] = _listed(folder)
        return self._names[folder]

    def kind(self, place: str) -> int:
        """What there is, by its `stat` type; nothing is 0."""
        if place not in self._stats:
            self._stats[place] = _stamp(place)
        seen = self._stats[place]
        return seen[0] if seen is not None else stat.S_IFREG

    def files(self, words: Iterable[str], bases: list[str], *, endings: bool = True) -> set[str]:
        """The files that words name, below some folders or those that other words name there."""
        found: set[str] = set()
        below = [*bases]
        for place, kind, base in self._seen(words, below, endings):
            if kind == stat.S_IFDIR and base in bases and len(below) < MOST_FOLDERS:
                below.append(place)
            if kind == stat.S_IFREG:
                found.add(place)
        return found

    def folders(self, words: Iterable[str], bases: list[str]) -> list[str]:
        """The folders that words name, below some."""
        seen = self._seen(words, bases, True)
        return [*dict.fromkeys(place for place, kind, _ in seen if kind == stat.S_IFDIR)]

    def _seen(
        self, words: Iterable[str], below: list[str], ends: bool
    ) -> Iterator[tuple[str, int, str]]:
        few = [word for word in dict.fromkeys(words) if word and "\0" not in word][:MOST_WORDS]
        names = dict.fromkeys(one for w in few for one in (endings(w) if ends else [w]))
        for base in below:  # grows
            there = self.names(base)
            for name in names:
                if name.partition("/")[0] not in there and not name.startswith(("/", "..")):
                    continue
                place = os.path.normpath(os.path.join(base, name))
                yield place, self.kind(place), base


def text_of(path: str) -> str:
    """What a file says, as far as it is looked into; nothing when it is known to be no text."""
    try:
        with open(path, "rb") as file:
            said = file.read(MOST_BYTES)
    except OSError:
        return ""
    if said.startswith(_BINARY):
        return ""
    return said.replace(b"\0", b"").decode("utf-8", "replace")  # shells pass over such bytes


def _stamp(place: str) -> Stamp | None:
    """What there is: its type, and of a file what shows that it was written."""
    try:
        found = os.stat(place)
    except (OSError, ValueError):
        return (0,)
    kind = stat.S_IFMT(found.st_mode)
    if kind != stat.S_IFREG:
        return (kind,)  # what is in a folder, its names say
    written = stamp(found)
    return None if written is None else (kind, *written)


def _listed(folder: str) -> frozenset[str]:
    try:
        return frozenset(os.listdir(folder))
    except OSError:
        return frozenset()


def tree(root: str, folder: str, most: int) -> list[str]:
    """The files in a folder, relative to the root, at most some; not what tools make again."""
    found: list[str] = []
    for at, inner, names in os.walk(os.path.join(root, folder)):
        inner[:] = sorted(set(inner) - SKIPPED)
        found += (os.path.relpath(os.path.join(at, name), root) for name in sorted(names))
        links = (os.path.join(at, name) for name in inner)
        found += (os.path.relpath(link, root) for link in links if os.path.islink(link))
        if len(found) >= most:
            return found[:most]
    return found


def relative(files: Iterable[str], root: str) -> set[str]:
    """Files as paths relative to the root, with all links that lead to them."""
    found = {place for file in files for place in places(file)}
    return {os.path.relpath(place, root) for place in found if inside(place, root)}


def places(path: str, depth: int = 0) -> Iterator[str]:
    """A path, every link on the way, and where they lead."""
    yield path
    parts = path.split("/")
    for at in range(2, len(parts) + 1):
        if os.path.islink(link := "/".join(parts[:at])) and depth < DEEPEST:
            yield link
            leads = os.path.join(os.path.dirname(link), os.readlink(link), *parts[at:])
            yield from places(os.path.normpath(leads), depth + 1)
            return
