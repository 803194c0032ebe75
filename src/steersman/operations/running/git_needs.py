"""Objects of git that must stay when changes are undone: something that stays leads to them.

A command commits, and the user puts a tag or a branch of their own there. An undo restores what
the command changed; were it to delete the objects, too, theirs would lead to nothing.
"""

import os
import re
from collections.abc import Collection, Mapping, Sequence

from msgspec import Struct

from steersman.operations.journal.journal import Journal
from steersman.operations.running import repository
from steersman.operations.running.contents import content_of
from steersman.operations.running.history import Piece, piece
from steersman.records.change import Change, FileState
from steersman.records.names import on_disk, written
from steersman.records.plain_files import whole_plain

MOST = 10_000  # files that are read to see what leads where
LARGEST = 20_000_000
_NAME = re.compile(rb"\b[0-9a-f]{40}(?:[0-9a-f]{24})?\b")
_SYMBOLIC = b"ref:"
_TIPS = ("refs", "logs", "worktrees")
_STASHES = "logs/refs/stash"


def needed(journal: Journal, changes: Sequence[Change]) -> set[str]:
    """Paths of objects that these changes delete, though something that stays needs them."""
    root = journal.root
    going: dict[str, dict[str, Piece]] = {}
    for change in changes:
        found = piece(change.path) if change.after.kind == "absent" else None
        if found is not None:
            going.setdefault(found.store, {})[change.path] = found
    after = {change.path: change.after for change in changes}
    kept: set[str] = set()
    for store, pieces in going.items():
        files = _files(root, store)
        if files is None:
            kept |= set(pieces)
            continue
        tips = {name for path in files if path not in after for name in _names(_read(root, path))}
        old = {name for path in files if path in after
               for name in _names(content_of(journal, after[path]))}  # fmt: skip
        index = f"{store}index" not in after and _is_there(root, f"{store}index")
        if not tips and not index:  # a store that goes whole; git may not even know it as one
            continue
        names = repository.leading_to(root, store, tips, old - tips, index=index)
        if names is None:  # git does not say: nothing is deleted
            kept |= set(pieces)
            continue
        names = names - _loose(root, store, after, pieces)
        packs = {found.pack for path, found in pieces.items()
                 if found.kind == "idx" and names & _packed(root, path, found)}  # fmt: skip
        kept |= {path for path, found in pieces.items()
                 if found.name in names or found.pack in packs}  # fmt: skip
    return kept


def _loose(
    root: str, store: str, after: Mapping[str, FileState], going: Collection[str]
) -> set[str]:
    """The objects that have a file of their own once the changes are made: `git gc`, undone."""
    folder = os.path.join(root, on_disk(store), "objects")
    paths = {
        written(os.path.relpath(os.path.join(folder, fan, name), root))
        for fan in _listed(folder)
        if len(fan) == 2
        for name in _listed(os.path.join(folder, fan))
    }
    paths |= {path for path, state in after.items() if state.kind == "file"}
    found = (piece(path) for path in paths if path not in going)
    return {one.name for one in found if one and one.store == store and not one.pack}


class Led(Struct, frozen=True):
    """The objects that branches, tags, stashes and worktrees lead to, and their own names.

    One that stands for another leads nowhere itself. `logs` are those that a branch's own log
    reports.
    """

    objects: set[str]
    refs: set[str]
    logs: dict[str, set[str]]


def named_now(journal: Journal, store: str, after: Mapping[str, FileState]) -> Led | None:
    """What leads to objects once some files are changed; None where that cannot be read."""
    files = _files(journal.root, store)
    if files is None:
        return None
    texts = {path: _read(journal.root, path) for path in files if path not in after}
    texts |= {path: content_of(journal, state) for path, state in after.items()
              if path.startswith(store) and state.kind == "file"}  # fmt: skip
    inner = {path.removeprefix(store): text for path, text in texts.items()}
    leading = {path: text for path, text in inner.items() if _leads(path)}
    packed = packed_refs(leading.pop("packed-refs", b""))
    loose = {path for path in leading if path.startswith("refs/")}
    packed = {ref: name for ref, name in packed.items() if ref not in loose}
    refs = {path for path in loose if not leading[path].startswith(_SYMBOLIC)}
    stashes = leading.pop(_STASHES, b"")  # only their log names all, as long as the last has a name
    objects = {name for text in leading.values() for name in _names(text)}.union(packed.values())
    if _STASHES.removeprefix("logs/") in refs | packed.keys():
        objects |= logged(stashes)
    logs = {path.removeprefix("logs/"): _names(text) for path, text in inner.items()
            if path.startswith("logs/refs/")}  # fmt: skip
    return Led(objects, refs | packed.keys(), logs)


def packed_refs(text: bytes) -> dict[str, str]:
    """Where branches and tags are that have no file of their own, by name."""
    rows = (line.decode(errors="replace").split(" ", 1) for line in text.splitlines())
    return {row[1]: row[0] for row in rows if len(row) == 2 and _NAME.fullmatch(row[0].encode())}


def logged(text: bytes) -> set[str]:
    """Where the lines of a log lead; where the first came from, no line does any more."""
    rows = (line.split(b" ", 2) for line in text.splitlines())
    return {name for row in rows if len(row) == 3 for name in _names(row[1])}


def packed_on_disk(journal: Journal, store: str) -> bytes:
    """The file of those branches and tags as it is."""
    return _read(journal.root, f"{store}packed-refs")


def _leads(path: str) -> bool:
    """Whether a file of git's leads to what people find by name; reflogs are for those who dig."""
    if path.startswith("logs/"):
        return path == _STASHES
    return path.startswith(("refs/", "worktrees/")) or path in ("packed-refs", "HEAD")


def _is_there(root: str, path: str) -> bool:
    return os.path.lexists(os.path.join(root, on_disk(path)))


def _packed(root: str, path: str, found: Piece) -> set[str]:
    return repository.listed(root, _read(root, path), len(found.name)) or set()


def _names(content: bytes) -> set[str]:
    """The objects that a file reports: where a branch is, was, or is to be."""
    return {name.decode() for name in _NAME.findall(content) if name.strip(b"0")}


def _files(root: str, store: str) -> list[str] | None:
    """The files of a repository that tell where its branches, tags and worktrees are.

    None where they are too many or too large to be read, or have a form that is not known here.
    """
    top = os.path.join(root, on_disk(store))
    if os.path.lexists(os.path.join(top, "reftable")):
        return None
    found = [os.path.join(top, name) for name in _listed(top)
             if name == "packed-refs" or name.endswith("HEAD")]  # fmt: skip
    for name in _TIPS:
        for folder, _, names in os.walk(os.path.join(top, name)):
            found += [os.path.join(folder, inner) for inner in names if inner != "index"]
    if len(found) > MOST or any(_size(path) > LARGEST for path in found):
        return None
    return [written(os.path.relpath(path, root)) for path in found]


def _size(path: str) -> int:
    try:
        return os.lstat(path).st_size
    except OSError:
        return 0


def _read(root: str, path: str) -> bytes:
    try:
        return whole_plain(os.path.join(root, on_disk(path)), LARGEST)
    except OSError:
        return b""


def _listed(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []
