"""Files outside the workspace that a command was given: by their names, and nothing beside them.

The command sees the folder of such a file through an overlay, in which it can make, replace, rename
and delete as programs do. When it has ended, what it did to the given names is taken over, and
nothing else. Where that is not possible, a given file is mounted as it is (`confine.py`).
"""

import os
import stat
import subprocess
from collections.abc import Mapping, Sequence

from msgspec import Struct

from steersman.operations.journal.changeset import same
from steersman.operations.journal.commit import apply
from steersman.operations.journal.looking import examine
from steersman.operations.journal.objects import Objects
from steersman.operations.running.bubblewrap import Bubblewrap, overlay, works
from steersman.operations.running.disk import holds, mounts
from steersman.operations.running.refusals import listed
from steersman.operations.running.scratch import Scratch, beside
from steersman.operations.running.upper import read_upper
from steersman.operations.running.veils import Spared
from steersman.records.change import ABSENT, FileState
from steersman.records.errors import SteersmanError
from steersman.records.names import shown, written

_NAMED = 3
_MOST = 100  # paths that are looked for
_MEANWHILE = "not written, because someone else changed it while the command ran"
_UNKEPT = "not kept, because it was not allowed"


class Layer(Struct, frozen=True):
    """A folder, the names in it that were given, and where what is written to it goes.

    `were` is what the names were before the command began.
    """

    folder: str
    names: tuple[str, ...]
    upper: str
    work: str
    started: int
    were: tuple[FileState, ...]

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
        return _top(path) not in self._names

    @staticmethod
    def note(path: str) -> str:
        """Nothing; what is said of it is said once for all."""
        return ""


class Given:
    """What one command was given, for itself alone."""

    def __init__(self, bubblewrap: Bubblewrap, granted: Sequence[str]) -> None:
        self._marks = bubblewrap.attributes
        self._scratch: Scratch | None = None
        self._layers: list[Layer] = []
        try:
            self._lay(bubblewrap, granted)
        except BaseException:
            self.discard()
            raise

    def _lay(self, bubblewrap: Bubblewrap, granted: Sequence[str]) -> None:
        by_folder: dict[str, list[str]] = {}
        for path in granted if self._marks else ():
            if not os.path.isdir(path):
                by_folder.setdefault(os.path.dirname(path), []).append(path)
        for folder, paths in by_folder.items():
            layer = self._layer(folder, tuple(map(os.path.basename, paths)))
            line = [*bubblewrap.start(), "--ro-bind", "/", "/", *layer.words()] if layer else []
            if layer and _serves([*line, "--", "true"]):
                self._layers.append(layer)

    @property
    def covered(self) -> frozenset[str]:
        """What is not mounted as it is."""
        return frozenset(
            os.path.join(one.folder, name) for one in self._layers for name in one.names
        )

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
        were = tuple(examine(os.path.join(folder, name)).state for name in names)
        return Layer(folder, names, upper, work, os.stat(upper).st_ctime_ns, were)

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
        befores = dict(zip(map(written, layer.names), layer.were, strict=True))
        others = Others([*befores])
        found = read_upper(
            layer.upper, layer.folder, self._marks, objects, layer.started, others
        )  # fmt: skip
        changes = [change for change in found.changes if not others.covers(change.path)]
        contested = {
            _top(change.path) for change in changes
            if not same(change.before, befores.get(change.path, ABSENT))
        }  # fmt: skip
        kept = [change for change in changes if _top(change.path) not in contested]
        apply(layer.folder, kept, objects, times=found.times)
        notes = [note for note in found.notes if note]
        if contested:
            notes.append(f"{_MEANWHILE}: {_named(layer, sorted(contested))}")
        rest = [os.path.relpath(path, layer.folder) for path in _dropped(layer, self._marks)]
        return [*notes, f"{_UNKEPT}: {_named(layer, rest)}"] if rest else notes

    def dropped(self) -> list[str]:
        """The paths that the command changed beside those that it was given, the first of many."""
        return [path for layer in self._layers for path in _dropped(layer, self._marks)]

    def discard(self) -> None:
        """Forget what was not taken over."""
        if self._scratch is not None:
            self._scratch.discard()


def _serves(line: Sequence[str]) -> bool:
    try:
        return works(line)
    except (OSError, subprocess.SubprocessError):
        return False


def _top(path: str) -> str:
    return path.partition("/")[0]


def _named(layer: Layer, paths: Sequence[str]) -> str:
    first = [os.path.join(layer.folder, shown(one)) for one in paths[:_NAMED]]
    return ", ".join([*first, *(["…"] if len(paths) > _NAMED else [])])


def _dropped(layer: Layer, marks: str) -> list[str]:
    """What the upper folder has of names that were not given; of new folders their own names."""
    found: list[str] = []
    waiting = [(layer.upper, layer.folder)]
    while waiting and len(found) < _MOST:
        upper, folder = waiting.pop()
        with os.scandir(upper) as entries:
            inner = sorted(entries, key=lambda entry: entry.name)
        for entry in inner:
            place = os.path.join(folder, entry.name)
            if upper == layer.upper and entry.name in layer.names:
                continue
            below = entry.is_dir(follow_symlinks=False) and os.path.isdir(place)
            if below and not _opaque(entry.path, marks):
                waiting.append((entry.path, place))
            else:
                found.append(place)
    return found[:_MOST]


def _opaque(path: str, marks: str) -> bool:
    try:
        return os.getxattr(path, f"{marks}opaque", follow_symlinks=False) == b"y"
    except OSError:
        return False
