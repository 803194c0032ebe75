"""Where git finds what it runs or loads in a workspace, besides folders called `.git`.

A folder of any name can be a repository, and a config can name a folder of hooks and more configs.
They are read here as text: git itself would run what they say.
"""

import os
import re
from collections.abc import Iterator
from functools import lru_cache

from msgspec import Struct

from steersman.records.names import on_disk
from steersman.records.patterns import pattern
from steersman.records.plain_files import read_plain
from steersman.records.protected_links import ends_of, inner_links, links_in
from steersman.records.real_paths import real_path

LARGEST = 1_000_000
MOST_FILES = 50
SECTION = pattern(r'\s*\[\s*([\w.-]+)(?:\s+"(?:[^"\\]|\\.)*+")?\s*\]')
_KEY = pattern(r"\s*([A-Za-z][\w-]*)\s*=\s*(.*)")
_PIECE = pattern(r'"((?:[^"\\]|\\.)*+)"?|([^"#;\\]++)|\\(.)|[#;].*')
_PERSONS = ("~/.gitconfig", "~/.config/git/config", "/etc/gitconfig")
_OWN = ("hooks", "config", "config.worktree", "info/attributes", "objects/info/alternates")
_NAMED_BY = {"XDG_CONFIG_HOME": "git/config", "GIT_CONFIG_GLOBAL": "", "GIT_CONFIG_SYSTEM": ""}


class Config(Struct, frozen=True):
    """What a config names: folders of hooks, and other configs."""

    hooks: tuple[str, ...] = ()
    includes: tuple[str, ...] = ()


class GitPlaces:
    """What git follows in a workspace now; what was looked up once is not looked up again.

    So it is with what lies behind links at names that other programs follow. Paths are given as
    records have them.
    """

    def __init__(self, workspace: str) -> None:
        self._top = workspace.rstrip("/")
        self._repositories: dict[str, bool] = {}
        self._named: dict[str, frozenset[str]] = {}

    def as_git(self, name: str) -> str:
        """A path relative to the workspace; a repository in it is called `.git`, as most are."""
        parts = name.split("/")
        if ".git" in name.lower().split("/"):
            return name
        known = on_disk(name).split("/")
        for depth in range(len(parts) + 1):
            folder = "/".join((self._top, *known[:depth]))
            if self._is_repository(folder):
                return "/".join((*parts[: max(depth - 1, 0)], ".git", *parts[depth:]))
        return name

    def obeyed(self, path: str) -> bool:
        """Whether a config names a resolved path, or a folder of hooks that it lies in."""
        path = on_disk(path)
        return any(
            path == place or path.startswith(f"{place}/")
            for place in self._all_named(path)
            if not f"{self._top}/".startswith(f"{place}/") or os.path.dirname(path) == place
        )

    def leads(self, path: str) -> bool:
        """Whether what a config names lies below a resolved path: a link there leads elsewhere."""
        path = on_disk(path)
        return any(place.startswith(f"{path}/") for place in self._all_named(path))

    def behind_link(self, path: str) -> bool:
        """Whether a link at the name of a protected file or folder leads to a resolved path."""
        path = folder = on_disk(path)
        while folder != "/":
            folder = os.path.dirname(folder)
            for place in ends_of(links_in(folder)):
                if path == place or path.startswith(f"{place}/"):
                    return True
        return False

    def begins(self, path: str) -> bool:
        """Whether a path that is missing is one by which a folder becomes a repository."""
        folder, name = os.path.split(on_disk(path))
        return (
            name.lower() in ("objects", "refs", "commondir")
            and os.path.lexists(f"{folder}/HEAD")
            and not self._is_repository(folder)
        )

    def _is_repository(self, folder: str) -> bool:
        known = self._repositories.get(folder)
        if known is None:
            known = self._repositories[folder] = is_repository(folder)
        return known

    def _all_named(self, path: str) -> Iterator[str]:
        folder = path
        while folder != "/":
            folder = os.path.dirname(folder)
            if folder not in self._named:
                self._named[folder] = frozenset(_named_from(folder))
            yield from self._named[folder]


def is_repository(folder: str) -> bool:
    """Whether git would take a folder for a repository, whatever it is called."""
    return (
        os.path.lexists(f"{folder}/HEAD")
        and os.path.isdir(f"{folder}/objects")
        and os.path.isdir(f"{folder}/refs")
    )


def _named_from(top: str) -> Iterator[str]:
    """The resolved places that the configs of a folder's repository name; none without one."""
    yield from ends_of(links_in(top))
    repository = top if is_repository(top) else _repository_of(top)
    if not repository:
        return
    common = os.path.join(repository, _line(f"{repository}/commondir"))
    stores = {real_path(place) for place in (repository, common)}
    yield from ends_of(f"{place}/{name}" for place in stores for name in _OWN)
    yield from ends_of(link for place in stores for link in inner_links(f"{place}/hooks", most=1))
    waiting = [*_persons(), f"{common}/config", f"{repository}/config.worktree"]
    seen: set[str] = set()
    while waiting and len(seen) < MOST_FILES:
        file = real_path(os.path.expanduser(waiting.pop()))
        if file in seen:
            continue
        seen.add(file)
        said = _read(file)
        places = [_joined(top, hooks) for hooks in said.hooks]
        includes = [_joined(os.path.dirname(file), include) for include in said.includes]
        waiting += includes
        yield from ends_of(link for place in places for link in inner_links(place, most=1))
        for place in (*places, *includes):
            yield place
            yield real_path(place)


def _persons() -> Iterator[str]:
    """The configs that hold in every repository."""
    yield from _PERSONS
    for name, file in _NAMED_BY.items():
        if place := os.environ.get(name):
            yield os.path.join(place, file)


def _joined(folder: str, path: str) -> str:
    return os.path.normpath(os.path.join(folder, os.path.expanduser(path)))


def _repository_of(top: str) -> str:
    """The repository of a folder with files, by its `.git`; empty when there is none."""
    place = f"{top}/.git"
    if os.path.isdir(place):
        return place
    named = _line(place).removeprefix("gitdir:").strip()
    return os.path.join(top, named) if named else ""


def _line(path: str) -> str:
    try:
        return os.fsdecode(read_plain(path, 4096)).strip().replace("\0", "")
    except OSError:
        return ""


def _read(path: str) -> Config:
    try:
        about = os.stat(path)
        return _parsed(path, about.st_mtime_ns, about.st_ctime_ns, about.st_size, about.st_ino)
    except OSError:
        return Config()


@lru_cache(maxsize=64)
def _parsed(path: str, *_: int) -> Config:
    return parsed(os.fsdecode(read_plain(path, LARGEST)))


def parsed(text: str) -> Config:
    """What a config names."""
    found: dict[str, list[str]] = {"hooks": [], "includes": []}
    section = ""
    for line in re.sub(r"\\\r?\n", "", text.removeprefix("\ufeff")).split("\n"):
        rest = line
        while header := SECTION.match(rest):
            section, rest = header[1].lower(), rest[header.end() :]
        key = _KEY.match(rest)
        if key is None:
            continue
        if (section, key[1].lower()) == ("core", "hookspath"):
            found["hooks"].append(_value(key[2]))
        elif section in ("include", "includeif") and key[1].lower() == "path":
            found["includes"].append(_value(key[2]))
    return Config(*(tuple(filter(None, values)) for values in found.values()))


def _value(raw: str) -> str:
    """A value without its quotes, escapes and comment."""
    pieces = (match[1] or match[2] or match[3] or "" for match in _PIECE.finditer(raw))
    return re.sub(r"\\(.)", r"\1", "".join(pieces)).strip().replace("\0", "")
