"""Git's own history: which of its objects would be lost for ever, and whether it matters.

A repository loses nothing when its objects are packed, or when a branch is amended or rebased: the
objects are in the pack, and the reflog leads to the old commits. They are lost when they are in no
pack and no file any more. What counts is what was in use at any time since the thread began, staged
by others than the thread included, and commits that nothing leads to as long as git itself would
keep them.
"""

import hashlib
import os
import re
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress

from msgspec import Struct

from steersman.operations.journal.journal import Journal
from steersman.operations.running import repository
from steersman.operations.running.contents import LARGEST, content_of, key
from steersman.records.change import Change, FileState
from steersman.records.names import on_disk
from steersman.records.patterns import pattern
from steersman.records.plain_files import whole_plain

KEPT_SECONDS = 14 * 86400  # git prunes what nothing leads to after two weeks
_LOOSE = r"(?P<fan>[0-9a-f]{2})/(?P<rest>[0-9a-f]{38}(?:[0-9a-f]{24})?)"
_PACK = r"pack/(?P<pack>pack-(?P<sum>[0-9a-f]{40}(?:[0-9a-f]{24})?))\.(?P<kind>pack|idx)"
_OBJECT = pattern(rf"(?P<store>(?:.*/)?)objects/(?:{_LOOSE}|{_PACK})", re.DOTALL)
_TIPS = pattern(r"refs/.+|logs/.+|packed-refs|[A-Z_]*HEAD", re.DOTALL)  # within a repository
_NAME = re.compile(rb"\b[0-9a-f]{40}(?:[0-9a-f]{24})?\b")

Originals = Callable[[], Iterable[Change]]


class History(Struct, frozen=True):
    """Objects of git that would be gone: those someone misses by kind, and all by name."""

    commits: int = 0
    others: int = 0
    gone: frozenset[str] = frozenset()


class Piece(Struct, frozen=True):
    """A file of git's that holds objects: one of them, or a pack with its index."""

    store: str
    name: str
    pack: str
    kind: str


def piece(path: str) -> Piece | None:
    """What a path of the workspace is to git, if it holds objects."""
    found = _OBJECT.fullmatch(path)
    if found is None:
        return None
    loose = f"{found['fan']}{found['rest']}" if found["fan"] else ""
    return Piece(found["store"], loose or found["sum"], found["pack"] or "", found["kind"] or "")


def destroys_objects(change: Change) -> bool:
    """Whether a file that holds objects is gone, or is another one now."""
    was, now = change.before, change.after
    return was.kind == "file" and was.digest != now.digest and piece(change.path) is not None


class Turn(Struct, frozen=True):
    """What a turn changes with its latest changes, path by path, and those alone."""

    net: Sequence[Change]
    latest: Sequence[Change]


def vanishing(journal: Journal, turn: Turn, originals: Originals) -> History:
    """What a turn would take from the history of any repository in the workspace.

    `originals` are all changes of the thread: they tell what led to which object before.
    """
    commits, others, gone = 0, 0, set()
    for store in _stores(turn.net):
        missing = _Store(journal, store, turn).missing(turn.net)
        if missing:
            gone |= missing
            some, more = _missed(journal, store, missing, originals)
            commits, others = commits + some, others + more
    return History(commits, others, frozenset(gone))


def dropped(journal: Journal, turn: Turn) -> set[str]:
    """The objects that the latest changes take away, whoever made them."""
    return {name for store in _stores(turn.latest)
            for name in _Store(journal, store, turn).missing(turn.latest)}  # fmt: skip


def _stores(changes: Sequence[Change]) -> list[str]:
    return sorted({made.store for change in changes if destroys_objects(change)
                   and (made := piece(change.path))})  # fmt: skip


class _Store:
    """The objects of one repository, before and after the changes of a turn."""

    def __init__(self, journal: Journal, store: str, turn: Turn) -> None:
        self._journal = journal
        self._store = store
        self._folder = os.path.join(journal.root, on_disk(store), "objects")
        self._net = _pieces(store, turn.net)
        self._touched = [*self._net, *_pieces(store, turn.latest)]

    def missing(self, changes: Sequence[Change]) -> set[str]:
        """The objects that were there before some of the changes and would be nowhere."""
        pieces = _pieces(self._store, changes)
        removed = [(made, change) for made, change in pieces if destroys_objects(change)]
        packs = {made.pack: len(made.name) for made, _ in removed if made.pack}
        loose = {made.name for made, _ in removed if not made.pack}
        lost = set(loose)
        for pack, length in packs.items():
            lost |= self._listed(pack, length)
        lost -= set(self._made())
        loose |= {made.name for made, _ in self._net if not made.pack}
        lost = {name for name in lost if name in loose or not self._is_loose(name)}
        return lost - self._in_other_packs(packs) if lost else lost

    def _made(self) -> Iterator[str]:
        """Objects that the turn brings, if it really does."""
        journal = self._journal
        for made, change in self._net:
            if change.after.kind != "file" or change.before.digest == change.after.digest:
                continue
            if made.kind == "pack" and journal.objects.has(change.after.digest):
                digest, length = change.after.digest, len(made.name)
                yield from repository.packed(journal.root, journal.objects, digest, length)
            elif not made.pack and is_object(journal, change.after, made.name):
                yield made.name

    def _listed(self, pack: str, length: int) -> set[str]:
        """The objects of a pack that was there before the changes."""
        for made, change in self._touched:
            if (made.pack, made.kind) == (pack, "idx") and change.before.kind == "file":
                index = content_of(self._journal, change.before)
                break
        else:
            index = self._read(f"{pack}.idx")
        return (repository.listed(self._journal.root, index, length) if index else None) or set()

    def _in_other_packs(self, removed: Iterable[str]) -> set[str]:
        touched = {*removed, *(made.pack for made, _ in self._touched)}
        found: set[str] = set()
        with suppress(OSError):
            for name in os.listdir(os.path.join(self._folder, "pack")):
                pack, _, kind = name.rpartition(".")
                whole = os.path.exists(os.path.join(self._folder, "pack", f"{pack}.pack"))
                if kind == "idx" and pack not in touched and whole:
                    length = len(pack.removeprefix("pack-"))
                    index = self._read(name)
                    found |= repository.listed(self._journal.root, index, length) or set()
        return found

    def _read(self, name: str) -> bytes:
        with suppress(OSError), open(os.path.join(self._folder, "pack", name), "rb") as file:
            return file.read()
        return b""

    def _is_loose(self, name: str) -> bool:
        return os.path.isfile(os.path.join(self._folder, name[:2], name[2:]))


def _pieces(store: str, changes: Sequence[Change]) -> list[tuple[Piece, Change]]:
    return [(made, change) for change in changes
            if (made := piece(change.path)) and made.store == store]  # fmt: skip


def _missed(journal: Journal, store: str, gone: set[str], originals: Originals) -> tuple[int, int]:
    """How many commits and other objects someone could still want."""
    kinds = repository.kinds(journal.root, store, gone)
    if kinds is None or len(kinds) < len(gone):  # they are gone already: nobody can tell
        return 0, len(gone)
    used = repository.reachable(journal.root, store, _tips(journal, store, originals()))
    if used is None:
        used = gone
    folder = os.path.join(journal.root, on_disk(store), "objects")
    missed = {name for name in gone
              if name in used or (kinds[name] == "commit" and _is_young(folder, name))}  # fmt: skip
    commits = sum(kinds[name] == "commit" for name in missed)
    return commits, len(missed) - commits


def _tips(journal: Journal, store: str, originals: Iterable[Change]) -> set[str]:
    """The objects that branches, tags, stashes and reflogs named before they were changed.

    So does the index, but for what the thread had made itself by then.
    """
    from steersman.operations.running.git_index import INDEX

    names: set[str] = set()
    made: set[str] = set()
    left: dict[str, str] = {}  # how the thread itself left each index
    for change in originals:
        inner, was = change.path.removeprefix(store), change.before
        new = piece(change.path) if was.kind == "absent" else None
        if new and new.store == store:
            made.add(new.name)
        if was.kind != "file" or not change.path.startswith(store):
            continue
        if INDEX.fullmatch(inner):
            if left.get(inner) != key(was):
                folder = os.path.join(journal.root, on_disk(os.path.dirname(change.path)))
                names |= _staged(content_of(journal, was), folder) - made
            left[inner] = key(change.after)
        elif _TIPS.fullmatch(inner):
            words = _NAME.findall(content_of(journal, was))
            names |= {word.decode() for word in words if word.strip(b"0")}
    return names


def _staged(content: bytes, folder: str) -> set[str]:
    """The objects of an index, and of the part that it shares, as long as that is there."""
    from steersman.operations.running.git_index import read_index

    index = read_index(content)
    found = [index]
    for name in index.shared if index else ():
        with suppress(OSError):
            found.append(read_index(whole_plain(os.path.join(folder, name), LARGEST)))
    return {entry.name for one in found if one for entry in one.entries}


def _is_young(folder: str, name: str) -> bool:
    """Whether git would keep an object that nothing leads to; one in a pack has no time."""
    try:
        made = os.stat(os.path.join(folder, name[:2], name[2:])).st_mtime
    except OSError:
        return True
    return time.time() - made < KEPT_SECONDS


def is_object(journal: Journal, state: FileState, name: str) -> bool:
    """Whether a file really holds the object of a name."""
    plain = _plain(journal, state)
    kind = "sha256" if len(name) == 64 else "sha1"
    return hashlib.new(kind, plain, usedforsecurity=False).hexdigest() == name


def leads_on(journal: Journal, state: FileState, name: str) -> set[str]:
    """The objects that a commit or a tree leads to."""
    head, _, inner = _plain(journal, state).partition(b"\0")
    if head.startswith(b"commit "):
        lines = inner.partition(b"\n\n")[0].splitlines()
        return {
            line.split()[1].decode() for line in lines if line.startswith((b"tree ", b"parent "))
        }
    found: set[str] = set()
    while head.startswith(b"tree ") and inner:
        _, _, inner = inner.partition(b"\0")
        found.add(inner[: len(name) // 2].hex())
        inner = inner[len(name) // 2 :]
    return found


def _plain(journal: Journal, state: FileState) -> bytes:
    with suppress(zlib.error):
        return zlib.decompressobj().decompress(content_of(journal, state), LARGEST)
    return b""
