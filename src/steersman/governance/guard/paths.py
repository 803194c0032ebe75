"""Where a path lies, from its text alone: which zone, which special place. "
"Links are not followed."""

import re
from enum import Enum
from functools import lru_cache
from posixpath import normpath

from steersman.governance.guard.marks import (
    DEEP,
    EVERY,
    STAR,
    TEMP,
    UNSET,
    glob_pattern,
    globbed,
    literal,
    unknown,
)
from steersman.records.judgement import CommandPlace
from steersman.records.patterns import pattern


class Zone(Enum):
    """What lies at a path, as far as harm goes."""

    DEVICE = "a disk device"
    HARMLESS = "a harmless device"
    ROOT = "the whole file system"
    TOP = "a folder directly under /"
    SYSTEM = "a system path"
    HOME = "a home folder"
    HOME_CHILD = "a folder directly under a home folder"
    CACHE = "a rebuildable cache"
    ABOVE = "a folder above the workspace"
    OUTSIDE = "a path outside the workspace"
    WORKSPACE = "the whole workspace"
    GIT = "the repository's .git"
    INSIDE = "a path inside the workspace"
    TEMP = "a temporary path"
    TEMP_ROOT = "the whole temporary folder"
    UNSET = "everything below an unknown variable"
    UNKNOWN = "an unknown path"


# What certainly is a folder that exists.
FOLDERS = (Zone.HOME, Zone.TOP, Zone.WORKSPACE, Zone.ABOVE, Zone.ROOT)
OWN = (Zone.INSIDE, Zone.TEMP, Zone.WORKSPACE)


DISKS = pattern(
    r"/dev/(?:sd|hd|vd|xvd|nvme|mmcblk|disk|rdisk|mapper/|md|dm-|loop\d|sr\d|mem\b|kmem|port\b|"
    r"nbd|ram\d|mtd|bcache|zd|dasd|fb\d|block|root\b|da\d|ada\d|zvol|vg|core\b)"
)
_HARMLESS = pattern(
    r"/dev/(?:null|zero|full|std(?:in|out|err)|tty\w*|fd\b|pts|u?random|tcp|udp|ptmx|console)"
)
_TEMPS = ("/tmp", "/var/tmp", "/dev/shm", "/private/tmp", "/private/var/tmp", "/var/folders")
_CACHES = pattern(
    r"(?:\.cache|\.npm(?:/_\w+)?|\.yarn/cache|\.gradle/(?:caches|daemon|wrapper)|\.m2/repository"
    r"|\.cargo/(?:registry|git)|\.ivy2|\.sbt|\.nuget/packages|\.pub-cache|\.bundle/cache"
    r"|\.local/share/(?:pnpm|virtualenvs|Trash|uv)|\.pnpm-store|Library/Caches|\.Trash"
    r"|Library/Developer/Xcode/DerivedData|go/pkg(?:/mod)?|\.terraform\.d/plugin-cache"
    r"|\.composer/cache|\.bun/install/cache|\.hex|\.cpan|\.ccache|\.pytest_cache|\.mypy_cache"
    r"|\.rustup/(?:tmp|downloads)|\.conda/pkgs|\.docker/buildx|\.deno|\.node-gyp|\.pip)(?:/|\Z)"
)
_WINDOWS = pattern(r"(?i)([a-z]):[\\/]*(.*)", re.DOTALL)


def absolute(path: str, cwd: str, home: str) -> str:
    """The path from the root, `..` taken away; unknown parts stay. A `~` here is a letter."""
    if path.startswith("file://"):
        path = path[7:]
    if not path.startswith("/"):
        if unknown(path[:1]) and path[:1] != TEMP:
            return path
        path = f"{cwd}/{path}"
    clean = normpath(path)
    return clean[1:] if clean.startswith("//") else clean


@lru_cache(maxsize=4096)
def zone(path: str, place: CommandPlace) -> Zone:
    """The zone of an absolute path that something would be done to, and everything below it."""
    windows = _WINDOWS.match(path)
    if windows:
        return Zone.ROOT if len(windows[2]) < 2 else Zone.SYSTEM
    if path.startswith("/dev/"):
        if DISKS.match(literal(path)) or globbed(path[:8]):
            return Zone.DEVICE
        if _HARMLESS.match(path):
            return Zone.HARMLESS
    base, everything = _everything(path)
    if not base.startswith("/"):
        if base == EVERY:
            return Zone.OUTSIDE
        unset = base[:1] == UNSET and (everything or base == UNSET + "/")
        return Zone.UNSET if unset else Zone.UNKNOWN
    if base == "/":
        return Zone.ROOT
    return _near(base, place) or _far(base, place)


def _near(base: str, place: CommandPlace) -> Zone | None:
    """The zones of the workspace, what is above it, and temporary folders."""
    if base == place.home:
        return Zone.HOME
    inner = _below(base, place.workspace)
    if inner == "":
        return Zone.WORKSPACE
    if inner is not None:
        hidden = globbed(inner) and "/" not in inner and inner.startswith(".")
        return Zone.GIT if inner == ".git" or hidden else Zone.INSIDE
    if _below(place.workspace, base) is not None:
        return _over(base, place)
    if _below(place.home, base) is not None:
        return Zone.TOP if base.count("/") == 1 else Zone.HOME
    if _below(base, place.home) is not None:
        return None
    for temp in _TEMPS:
        inner = _below(base, temp)
        if inner is not None:
            return Zone.TEMP if inner else Zone.TEMP_ROOT
    return None


def _over(base: str, place: CommandPlace) -> Zone:
    if base.count("/") == 1:
        return Zone.TOP
    return Zone.HOME if _below(place.home, base) is not None else Zone.ABOVE


def _far(base: str, place: CommandPlace) -> Zone:
    inner = _below(base, place.home)
    if inner is None:
        top, _, rest = base[1:].partition("/")
        if not rest:
            return Zone.HOME if top == "root" else Zone.TOP
        if top in ("home", "Users"):
            return Zone.HOME if "/" not in rest else Zone.OUTSIDE
        if top in ("mnt", "media", "Volumes"):
            return Zone.OUTSIDE
        return Zone.UNKNOWN if TEMP in top else Zone.SYSTEM
    if inner == "":
        return Zone.HOME
    if _CACHES.match(inner):
        return Zone.CACHE
    return Zone.HOME_CHILD if "/" not in inner else Zone.OUTSIDE


def neighbour(path: str, place: CommandPlace) -> bool:
    """True for a file in a folder that lies beside the workspace."""
    beside = _below(path, place.workspace.rpartition("/")[0] or "/")
    return (
        beside is not None
        and "/" in beside
        and not beside.startswith(".")
        and _near(path, place) is None
    )


def _everything(path: str) -> tuple[str, bool]:
    """The folder whose whole content a trailing glob names, or the path itself."""
    base, everything = path, False
    while True:
        head, slash, last = base.rpartition("/")
        if not slash or not last or not globbed(last):
            return base or "/", everything
        rest = last.replace(STAR, "").replace(DEEP, "")
        if (STAR in last or DEEP in last) and rest in ("", ".", "."):
            base, everything = head, True
            continue
        if head == "" or literal(last) in ("?*", ".?*", ".[!.]*", "[!.]*", ".[^.]*"):
            base, everything = head, True
            continue
        return base, everything


def _below(path: str, folder: str) -> str | None:
    if path == folder:
        return ""
    if folder == "/":
        return path[1:]
    return path[len(folder) + 1 :] if path.startswith(folder + "/") else None


def matches(path: str, pattern: str) -> bool:
    """True when a path, globs and all, may name something at or below `pattern`."""
    if not globbed(path) and not unknown(path):
        return path == pattern or path.startswith(pattern + "/")
    got, want = path.split("/"), pattern.split("/")
    if DEEP in path:
        got = path[: path.index(DEEP)].rstrip("/").split("/")
        want = want[: len(got)]
    if len(got) < len(want):
        return False
    return all(
        one == other or (globbed(one) and glob_pattern(one).match(other) is not None)
        for one, other in zip(got, want, strict=False)
    )
