"""Files outside the workspace that a command was given: by their names, and nothing beside them.

The command sees the folder of such a file through an overlay, in which it can make, replace, rename
and delete as programs do. When it has ended, what it did to the given names is taken over, and
nothing else. Where that is not possible, a given file is mounted as it is (`confine.py`).
"""

import os
import stat
from collections.abc import Mapping, Sequence

from msgspec import Struct

from steersman.operations.journal.commit import apply
from steersman.operations.journal.objects import Objects
from steersman.operations.running.bubblewrap import Bubblewrap, overlay, works
from steersman.operations.running.disk import holds, mounts
from steersman.operations.running.refusals import listed
from steersman.operations.running.scratch import Scratch, beside
from steersman.operations.running.upper import read_upper
from steersman.operations.running.veils import Spared
from steersman.records.errors import SteersmanError
from steersman.records.names import shown

_NAMED = 3


class Layer(Struct, frozen=True):
    """A folder, the names in it that were given, and where what is written to it goes."""

    folder: str
    names: tuple[str, ...]
    upper: str
    work: str
    started: int

    def words(self) -> list[str]:
        """What mounts it."""
        return overlay(self.folder, self.upper, self.work, self.folder)


class Others(Spared):
    """All that is not given; it stays as it is."""

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__()
        self._names = names

    def covers(self, path: str) -> bool:
        """Whether a path is neither given nor in a folder that is."""
        return path.partition("/")[0] not in self._names

    @staticmethod
    def note(path: str) -> str:
        """Its name; what is said of it is said once for all."""
        return path


class Given:
    """What one command was given; `left` are those that must be mounted as they are."""

    def __init__(self, bubblewrap: Bubblewrap, granted: Sequence[str]) -> None:
        self._marks = bubblewrap.attributes
        self._scratch: Scratch | None = None
        self._layers: list[Layer] = []
        by_folder: dict[str, list[str]] = {}
        for path in granted if self._marks else ():
            if not os.path.isdir(path):
                by_folder.setdefault(os.path.dirname(path), []).append(path)
        for folder, paths in by_folder.items():
            layer = self._layer(folder, tuple(map(os.path.basename, paths)))
            line = [*bubblewrap.start(), "--ro-bind", "/", "/", *layer.words()] if layer else []
            if layer and works([*line, "--", "true"]):
                self._layers.append(layer)
        covered = {os.path.join(one.folder, name) for one in self._layers for name in one.names}
        self.left = tuple(path for path in granted if path not in covered)

    def _layer(self, folder: str, names: tuple[str, ...]) -> Layer | None:
        """A layer for a folder that is not the disk, has nothing mounted in it, and holds none."""
        if folder == "/" or any(
            one.place != folder and holds(folder, one.place) for one in mounts()
        ):
            return None
        if self._scratch is None:
            parent = beside(folder)  # a layer cannot lie in the folder that it is for
            self._scratch = Scratch(parent) if parent else None
        if self._scratch is None or holds(folder, self._scratch.folder):
            return None
        number = len(os.listdir(self._scratch.folder))
        upper, work = (self._scratch.inner(f"{kind}-{number}") for kind in ("upper", "work"))
        about = os.stat(folder)
        if os.geteuid() == 0:
            os.chown(upper, about.st_uid, about.st_gid)
        os.chmod(upper, stat.S_IMODE(about.st_mode))
        return Layer(folder, names, upper, work, os.stat(upper).st_ctime_ns)

    @property
    def mounts(self) -> Mapping[str, Sequence[str]]:
        """Words that mount each folder."""
        return {layer.folder: layer.words() for layer in self._layers}

    def take_over(self, objects: Objects) -> list[str]:
        """Make what the command did to the given names so; what is to be said about the rest."""
        notes: list[str] = []
        for layer in self._layers:
            try:
                notes += self._taken(layer, objects)
            except (SteersmanError, OSError) as problem:
                names = listed([os.path.join(layer.folder, shown(one)) for one in layer.names])
                why = problem.what if isinstance(problem, SteersmanError) else problem.strerror
                notes.append(f"not written: {names} ({why})")
        return notes

    def _taken(self, layer: Layer, objects: Objects) -> list[str]:
        others = Others(layer.names)
        found = read_upper(
            layer.upper, layer.folder, self._marks, objects, layer.started, others
        )  # fmt: skip
        changes = [change for change in found.changes if not others.covers(change.path)]
        apply(layer.folder, changes, objects, times=found.times)
        rest = [os.path.join(layer.folder, shown(one)) for one in found.notes[:_NAMED]]
        more = ["…"] if len(found.notes) > _NAMED else []
        return (
            [f"not kept, because it was not allowed: {', '.join([*rest, *more])}"] if rest else []
        )

    def discard(self) -> None:
        """Forget what was not taken over."""
        if self._scratch is not None:
            self._scratch.discard()
