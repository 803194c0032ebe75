"""Folder trust: a folder's configuration that would control the host, and whether it was accepted.

Instruction files (`AGENTS.md`, `CLAUDE.md`) are not among it: they are text for a model, and a
model has no authority. Everything named here starts programs, changes settings or adds tools.
"""

import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from typing import Literal

import msgspec
from msgspec import Struct

from steersman.governance.secret_finder import exceptions
from steersman.records.protection import inside
from steersman.records.secret_files import IGNORE_FILE
from steersman.records.stamps import Stamp, stamp
from steersman.store.contract import Store
from steersman.store.contract import stamp as written

State = Literal["nothing", "trusted", "unknown", "changed", "refused"]
MOST_FILES = 2000
MOST_READ = 10_000  # digests that are remembered
MOST_BYTES = 64 * 1024 * 1024
DEEPEST = 64
_READ: dict[str, tuple[Stamp, str]] = {}  # digests of files, and what these were like then

# Below a folder of this name: what counts, and what a person calls it. `*` is everything else.
SERVERS = "MCP servers"
CLAUDE = "settings of Claude Code"
BRINGS: dict[str, dict[str, str]] = {
    ".steersman": {
        "config.toml": "settings",
        "rules.toml": "rules",
        "hooks": "hooks",
        "skills": "skills",
        "commands": "commands",
        "styles": "output styles",
        "agents": "agents",
        "tools": "tools",
        "mcp": SERVERS,
        "plugins": "plugins",
    },
    ".claude": {
        "settings": CLAUDE,
        "skills": "skills",
        "commands": "commands",
        "output-styles": "output styles",
        "agents": "agents",
        "hooks": "hooks",
        "plugins": "plugins",
    },
    ".agents": {"": "agents and skills"},
    ".codex": {"": "settings of Codex"},
    ".gemini": {"": "settings of Gemini CLI"},
    ".opencode": {"": "settings of OpenCode"},
    ".mcp.json": {"": SERVERS},
    "opencode.json": {"": "settings of OpenCode"},
    "opencode.jsonc": {"": "settings of OpenCode"},
    ".aider.conf.yml": {"": "settings of aider"},
}


class Item(Struct, frozen=True):
    """One file or link as it is found: `digest` is of its content, or of where it leads."""

    path: str
    size: int
    digest: str


class Finding(Struct, frozen=True):
    """One thing a folder comes with; `whole` is False when it is too large to check."""

    path: str
    what: str
    digest: str
    files: int = 1
    whole: bool = True


class Standing(Struct, frozen=True):
    """The state of a folder, its configuration, and what differs from what a person agreed to.

    `runs` are digests of what else its configuration starts, by names; `drifted` are those that
    were others when the user agreed. They matter where they cannot be confined.
    """

    state: State
    found: tuple[Finding, ...] = ()
    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    runs: dict[str, str] = {}
    drifted: tuple[str, ...] = ()

    @property
    def loads(self) -> bool:
        """Whether the folder's own files may be loaded."""
        return self.state in ("trusted", "nothing")

    def sentence(self, workspace: str) -> str:
        """What to say about a folder; empty when there is nothing to say."""
        if self.loads:
            return ""
        brought = _listed(dict.fromkeys(f"{one.what} ({one.path})" for one in self.found))
        return f"{workspace} comes with {brought or 'nothing now'}. {self.why} None of it is used."

    @property
    def why(self) -> str:
        """Why it is not used, in a sentence; empty when it is."""
        if self.loads:
            return ""
        large = [one.path for one in self.found if not one.whole]
        if large:
            told = f"{_listed(large)} is too large to check"
        elif self.state == "changed":
            parts = {"new": self.added, "changed": self.changed, "gone": self.removed}
            told = "; ".join(f"{name}: {_listed(paths)}" for name, paths in parts.items() if paths)
            told = f"This changed since you were asked ({told})"
        else:
            told = {
                "refused": "You chose not to trust it",
                "unknown": "You have not been asked about this yet",
            }[self.state]
        return f"{told}."


class _Agreed(Struct, frozen=True):
    trusted: bool
    time: str
    found: dict[str, str]
    runs: dict[str, str] = {}


def digest_of(items: Iterable[Item]) -> str:
    """One digest over names, sizes and contents, whatever order they are found in."""
    total = sha256()
    for item in sorted(items, key=lambda item: item.path):
        for part in (item.path, str(item.size), item.digest):
            data = os.fsencode(part)
            total.update(len(data).to_bytes(8, "big") + data)
    return total.hexdigest()


def compare(found: tuple[Finding, ...], trusted: bool | None, agreed: dict[str, str]) -> Standing:
    """The state of a folder by what it comes with now and by what a person was shown then."""
    if not found:
        return Standing("nothing")
    if trusted is None:
        return Standing("unknown", found)
    now = {finding.path: finding.digest for finding in found}
    added = tuple(path for path in now if path not in agreed)
    removed = tuple(path for path in agreed if path not in now)
    changed = tuple(path for path in now if path in agreed and now[path] != agreed[path])
    if added or removed or changed:
        return Standing("changed", found, added, changed, removed)
    if trusted and not all(finding.whole for finding in found):
        return Standing("unknown", found)
    return Standing("trusted" if trusted else "refused", found)


def _listed(names: Iterable[str]) -> str:
    every = list(names)
    return ", ".join(every[:6]) + (f" and {len(every) - 6} more" if len(every) > 6 else "")


def standing(
    store: Store,
    workspace: str,
    named: Iterable[str] = (),
    started: Iterable[Finding] = (),
    runs: Mapping[str, str] | None = None,
) -> Standing:
    """The state of a folder now; `named` are further files that a variable says to load.

    `started` is what its configuration starts with more than a sandbox gives, `runs` what else.
    """
    found = (*findings(workspace, named), *started)
    if not found:
        return Standing("nothing")
    kept = store.setting(f"folder:{workspace}", "trust")
    try:
        agreed = msgspec.json.decode(kept, type=_Agreed) if kept is not None else None
    except msgspec.DecodeError:
        agreed = None
    stands = compare(found, agreed.trusted if agreed else None, agreed.found if agreed else {})
    now, then = dict(runs or {}), agreed.runs if agreed else {}
    drifted = tuple(name for name, digest in now.items() if then.get(name) != digest)
    return msgspec.structs.replace(stands, runs=now, drifted=drifted)


def with_lines(stands: Standing, lines: Sequence[str], what: str = SERVERS) -> Standing:
    """The same, with what something runs that it comes with, where it says that there is some."""
    at = next((at for at, one in enumerate(stands.found) if one.what == what), None)
    if at is None or not lines:
        return stands
    found = list(stands.found)
    found[at] = msgspec.structs.replace(found[at], what=f"{what}: {_listed(lines)}")
    return msgspec.structs.replace(stands, found=tuple(found))


def record(
    store: Store,
    workspace: str,
    found: tuple[Finding, ...],
    *,
    trusted: bool,
    runs: Mapping[str, str] | None = None,
) -> None:
    """Keep a decision on what was shown, which may differ from what is there by now."""
    shown = {one.path: one.digest for one in found}
    agreed = _Agreed(trusted, written(datetime.now(UTC)), shown, dict(runs or {}))
    store.remember(f"folder:{workspace}", "trust", msgspec.json.encode(agreed).decode())


def forget(store: Store, workspace: str) -> None:
    """Ask about a folder again the next time."""
    store.remember(f"folder:{workspace}", "trust", None)


def findings(workspace: str, named: Iterable[str] = ()) -> tuple[Finding, ...]:
    """What a folder comes with, in the order of names."""
    budget = _Budget(MOST_FILES, MOST_BYTES)
    root = os.path.realpath(workspace)
    found = []
    meant = (one for path in named for one in (path, os.path.realpath(path)))  # a link leads here
    own = {os.path.relpath(path, root): {"": SERVERS} for path in meant if inside(path, root)}
    for name, parts in {**own, **BRINGS}.items():
        if not os.path.lexists(os.path.join(root, name)):
            continue
        for path, what in _parts(root, name, parts):
            finding = _finding(root, path, what, budget)
            if finding is not None:
                found.append(finding)
    if unhidden := exceptions(root):
        digest = sha256(os.fsencode("\n".join(unhidden))).hexdigest()
        what = f"exceptions to secret files: {_listed(unhidden)}"
        found.append(Finding(IGNORE_FILE, _legible(what), digest))
    return tuple(sorted(found, key=lambda finding: finding.path))


def files_finding(
    workspace: str, name: str, what: str, paths: Iterable[str], *, whole: bool = True
) -> Finding:
    """Some files of a folder, relative to it, as one thing that it comes with."""
    root, budget = os.path.realpath(workspace), _Budget(MOST_FILES, MOST_BYTES)
    items = [item for path in paths for item in _items(root, path, budget, set())]
    told = [item for item in items if item is not None]
    what = what.encode("utf-8", "backslashreplace").decode()
    digest = sha256(f"{what}\0{digest_of(told)}".encode()).hexdigest()
    return Finding(name, what, digest, len(told), whole and len(told) == len(items))


def digests(root: str, paths: Iterable[str]) -> dict[str, str]:
    """What there is at each of some paths, which are relative to a resolved folder."""
    found = {path: _items(root, path, _Budget(MOST_FILES, MOST_BYTES), set()) for path in paths}
    return {path: digest_of(item for item in items if item) for path, items in found.items()}


def _parts(root: str, name: str, parts: dict[str, str]) -> Iterator[tuple[str, str]]:
    """The paths below the workspace that count, by the beginnings of their names."""
    if "" in parts or os.path.islink(os.path.join(root, name)):
        yield name, parts.get("", "settings")
        return
    try:
        inner = sorted(os.listdir(os.path.join(root, name)))
    except OSError:
        return
    for entry in inner:
        for beginning, what in parts.items():
            if entry == beginning or (
                "." not in beginning and entry.startswith((f"{beginning}.", f"{beginning}-"))
            ):
                yield f"{name}/{entry}", what


class _Budget:
    """How much is looked at, at most."""

    def __init__(self, files: int, size: int) -> None:
        self.files = files
        self.size = size

    def take(self, size: int) -> bool:
        """True while there is room."""
        self.files -= 1
        self.size -= size
        return self.files >= 0 and self.size >= 0


def _finding(root: str, path: str, what: str, budget: _Budget) -> Finding | None:
    items: list[Item] = []
    whole = True
    for item in _items(root, path, budget, set()):
        if item is None:
            whole = False
            break
        items.append(item)
    if not items and whole:
        return None  # an empty folder brings nothing
    return Finding(_legible(path), what, digest_of(items), len(items), whole)


def _legible(path: str) -> str:
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def _items(root: str, path: str, budget: _Budget, seen: set[str]) -> Iterator[Item | None]:
    """Every file and link at a path or below it; None when there is more than is looked at.

    A link is followed only inside the workspace: what lies outside is not the folder's doing.
    """
    real = os.path.join(root, path)
    try:
        found = os.lstat(real)
    except OSError:
        return
    size = found.st_size if stat.S_ISREG(found.st_mode) else 0
    if not budget.take(size) or path.count("/") > DEEPEST:
        yield None
    elif stat.S_ISLNK(found.st_mode):
        yield Item(path, 0, f"-> {os.readlink(real)}")
        leads = os.path.realpath(real)
        if inside(root, leads):
            yield None  # everything there is
        elif inside(leads, root) and leads not in seen:
            seen.add(leads)
            yield from _items(root, os.path.relpath(leads, root), budget, seen)
    elif stat.S_ISDIR(found.st_mode):
        yield from _inner_items(root, path, budget, seen)
    elif stat.S_ISREG(found.st_mode):
        yield Item(path, size, _content(real))
    else:
        yield Item(path, 0, f"special: {stat.S_IFMT(found.st_mode):o}")


def _inner_items(root: str, path: str, budget: _Budget, seen: set[str]) -> Iterator[Item | None]:
    try:
        names = sorted(os.listdir(os.path.join(root, path)))
    except OSError as error:
        yield Item(path, 0, f"unreadable: {error.errno}")
        return
    for name in names:
        yield from _items(root, f"{path}/{name}", budget, seen)


def _content(path: str) -> str:
    """The digest of a file's content, which is read again only if the file was written."""
    try:
        known = stamp(os.lstat(path))  # before it is read: what is written meanwhile is seen next
    except OSError:
        known = None
    kept = _READ.get(path)
    if known is not None and kept is not None and kept[0] == known:
        return kept[1]
    digest = digest_of_file(path)
    if len(_READ) >= MOST_READ:
        _READ.clear()
    if known is not None:
        _READ[path] = known, digest
    return digest


def digest_of_file(path: str) -> str:
    """Read a file; one that cannot be read has a digest of its own kind."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        return f"unreadable: {error.errno}"
    total, left = sha256(), MOST_BYTES
    with open(descriptor, "rb") as file:
        while left > 0 and (piece := file.read(1 << 20)):
            total.update(piece)
            left -= len(piece)
    return total.hexdigest()
