"""Which paths git would leave out: the `.gitignore` files that hold for a folder.

Rules of the user's own git (global excludes) are not read: the same workspace gives the same
answer everywhere.
"""

from __future__ import annotations

import os
import stat

from msgspec import Struct

from steersman.records.gitignore import NONE, Rules, parse
from steersman.records.protection import inside

LARGEST_RULES = 1 << 20


class Layer(Struct, frozen=True):
    """The rules one folder comes with; `above` is None where a repository ends."""

    depth: int
    rules: Rules
    exclude: Rules
    above: Layer | None


class Judge:
    """Says what is left out below a folder, by the rules of a whole repository.

    Paths are bytes, relative to `top`. Rules count from the nearest repository around `top`;
    where there is none, from the workspace, or from `top` if that is outside.
    """

    def __init__(self, root: str, top: str) -> None:
        self.repository = repository(top)
        self._base = os.fsencode(self.repository or (root if inside(top, root) else top))
        self._top = os.fsencode(top)
        self._layers: dict[bytes, Layer] = {}
        self._folders: dict[bytes, bool] = {b"": False}

    def ignored(self, path: bytes, folder: bool) -> bool:
        """Whether a path is left out, when the folders it is in are not."""
        whole = os.path.join(self._top, path)
        parent = os.path.dirname(whole)
        below = os.path.relpath(whole, self._base)
        verdict = _verdict(self._layer(parent), below.split(b"/"), folder)
        return bool(verdict)

    def leaves_out(self, path: bytes) -> bool:
        """Whether a file is left out, by itself or with a folder it is in."""
        return self.leaves_out_folder(os.path.dirname(path)) or self.ignored(path, False)

    def leaves_out_folder(self, path: bytes) -> bool:
        """Whether a folder is left out, by itself or with one it is in."""
        if path not in self._folders:
            above = self.leaves_out_folder(os.path.dirname(path))
            self._folders[path] = above or self.ignored(path, True)
        return self._folders[path]

    def _layer(self, folder: bytes) -> Layer:
        if folder not in self._layers:
            self._layers[folder] = self._read(folder)
        return self._layers[folder]

    def _read(self, folder: bytes) -> Layer:
        at_base = folder == self._base
        ends_here = at_base or (self.repository and os.path.lexists(folder + b"/.git"))
        depth = 0 if at_base else os.path.relpath(folder, self._base).count(b"/") + 1
        return Layer(
            depth,
            _rules_in(folder + b"/.gitignore"),
            _rules_in(folder + b"/.git/info/exclude"),
            None if ends_here else self._layer(os.path.dirname(folder)),
        )


def repository(folder: str) -> str:
    """The nearest folder with a `.git`, from a folder upwards; empty if there is none."""
    while not os.path.lexists(os.path.join(folder, ".git")):
        folder, below = os.path.dirname(folder), folder
        if folder == below:
            return ""
    return folder


def _verdict(nearest: Layer, parts: list[bytes], folder: bool) -> bool | None:
    excluded: bool | None = None
    layer: Layer | None = nearest
    while layer is not None:
        path = b"/".join(parts[layer.depth :])
        verdict = layer.rules.verdict(path, folder)
        if verdict is not None:
            return verdict
        if excluded is None:
            excluded = layer.exclude.verdict(path, folder)
        layer = layer.above
    return excluded


def _rules_in(path: bytes) -> Rules:
    """The rules of a plain file; none if there is no such file."""
    try:
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        descriptor = os.open(path, flags)
    except OSError:
        return NONE
    with open(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return NONE
        return parse(file.read(LARGEST_RULES))
