"""The steps of one commit, each with its way back.

Order: what goes (deepest first), new folders (outermost first), staged files and links, modes,
files written in place, and the modes of folders last, so that none shuts out the steps before.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial

from steersman.operations.journal.folders import Tree, depth, parent, set_mode_at
from steersman.operations.journal.objects import Objects
from steersman.operations.journal.staging import dress, overwrite, stage_file
from steersman.operations.journal.steps import HIDDEN, Step, linked_together
from steersman.records.change import FileState
from steersman.records.errors import ToolProblem
from steersman.records.names import on_disk

_MANY = 32


class Performance:
    """One commit on its way."""

    def __init__(
        self,
        tree: Tree,
        objects: Objects,
        steps: Sequence[Step],
        times: Mapping[str, int],
        token: str,
    ) -> None:
        self._tree = tree
        self._objects = objects
        self._steps = {step.path: step for step in steps}
        self._times = times
        self._token = token
        self._way_back: list[tuple[str, Callable[[], None]]] = []
        self._hidden: dict[str, None] = {}
        self._folders: dict[str, os.stat_result] = {}
        self._staged: dict[str, str] = {}
        self._lasts: dict[str, str] = {}
        self._gone = {s.path for s in steps if s.goes and s.seen.state.kind == "folder"}
        self._linked, self._in_place = linked_together(steps)

    def run(self, remove: Sequence[str]) -> None:
        """Do everything; raises at the first thing that cannot be done."""
        self._stage()
        going = [*(step.path for step in self._steps.values() if step.goes), *remove]
        for path in sorted(going, key=depth, reverse=True):
            self._take_away(path)
        for step in sorted(self._steps.values(), key=lambda step: depth(step.path)):
            if step.after.kind == "folder":
                self._make_folder(step)
        for step in self._steps.values():
            if step.path in self._staged:
                self._put(step)
            elif step.only_mode and step.path not in self._linked:
                self._set_mode(step)
        for path in self._in_place:
            self._write_in_place(self._steps[path])
        self._sync()
        self._tree.settle()

    def roll_back(self) -> list[str]:
        """Walk the way back to its end; the answer names what could not be restored."""
        unrestored = []
        for path, restore in reversed(self._way_back):
            try:
                restore()
            except OSError:
                unrestored.append(path)
        self._remove_hidden()
        for path, found in sorted(self._folders.items(), reverse=True):
            with suppress(OSError), self._tree.folder(path) as folder:
                times = (found.st_atime_ns, found.st_mtime_ns)
                os.utime(".", ns=times, dir_fd=folder)
        try:
            self._tree.settle()
        except OSError as error:
            unrestored.append(error.filename or self._tree.root)
        return unrestored

    def clean(self) -> None:
        """Remove what was set aside; the commit is valid whether or not this succeeds."""
        self._remove_hidden()
        with suppress(OSError):
            self._tree.settle()

    def _stage(self) -> None:
        coming = [step for step in self._steps.values() if self._needs_staging(step)]
        for number, step in enumerate(coming):
            hidden = self._hide(step.path, f"{number}.new")
            with self._tree.place(hidden) as (folder, name):
                if step.after.kind == "link":
                    os.symlink(on_disk(step.after.target), name, dir_fd=folder)
                else:
                    self._stage_file(step, folder, name, durable=len(coming) <= _MANY)
            self._staged[step.path] = hidden
        if len(coming) > _MANY:
            self._tree.sync_disk()

    def _needs_staging(self, step: Step) -> bool:
        """A name that parts from its file is a new file, even if it only changes its mode."""
        if step.path in self._linked:
            return False
        return step.comes or (step.only_mode and step.linked)

    def _stage_file(self, step: Step, folder: int, name: str, *, durable: bool) -> None:
        replaces = step.seen.stat if step.seen.state.kind == "file" else None
        stage_file(
            folder,
            name,
            step.after,
            self._objects,
            replaces=replaces,
            original=on_disk(os.path.basename(step.path)),
            mtime_ns=self._times.get(step.path),
            durable=durable,
        )

    def _sync(self) -> None:
        if len(self._folders) > _MANY:
            self._tree.sync_disk()
            return
        for folder in self._folders:
            if self._tree.is_folder(folder):
                self._tree.sync(folder)

    def _take_away(self, path: str) -> None:
        step = self._steps.get(path)
        if step and step.goes:
            self._require_unmoved(step)
        if step and step.seen.state.kind == "folder":
            assert step.seen.stat is not None
            self._touch(parent(path))
            with self._tree.place(path) as (folder, name):
                os.rmdir(name, dir_fd=folder)
            self._back(path, partial(self._remake_folder, path, step.seen.stat))
            self._tree.modes.pop(path, None)
        else:
            aside = self._hide(path, f"{len(self._way_back)}.old")
            self._move(path, aside)
            self._back(path, partial(self._move, aside, path))

    def _make_folder(self, step: Step) -> None:
        path, wanted, now = step.path, step.after.mode, step.seen.state
        if now.kind == "folder":
            self._back(path, partial(self._tree.modes.__setitem__, path, now.mode))
        else:
            self._touch(parent(path))
            with self._tree.place(path) as (folder, name):
                os.mkdir(name, 0o700, dir_fd=folder)
            self._back(path, partial(self._unmake_folder, path))
        self._tree.modes[path] = wanted

    def _put(self, step: Step) -> None:
        hidden = self._staged[step.path]
        if step.seen.state.kind == "absent" or step.goes:
            self._move(hidden, step.path, new=True)
            self._back(step.path, partial(self._move, step.path, hidden))
            return
        self._require_unmoved(step)
        aside = self._hide(step.path, f"{len(self._way_back)}.old")
        self._back(step.path, partial(self._put_back, aside, step.path))
        try:
            self._link(step.path, aside)
        except OSError:
            self._move(step.path, aside)
        self._move(hidden, step.path)

    def _set_mode(self, step: Step) -> None:
        self._require_unmoved(step)
        self._back(step.path, partial(self._chmod, step.path, step.seen.state.mode))
        self._chmod(step.path, step.after.mode)

    def _write_in_place(self, step: Step) -> None:
        """Both names of a linked file show the new text; its inode, and so the link, stays."""
        self._require_unmoved(step)
        found = step.seen.stat
        assert found is not None
        back = partial(self._overwrite, step.path, step.seen.state, found.st_mtime_ns)
        self._back(step.path, back)
        self._overwrite(step.path, step.after, self._times.get(step.path))

    def _overwrite(self, path: str, state: FileState, mtime_ns: int | None) -> None:
        with self._tree.place(path) as (folder, name), self._objects.open(state.digest) as content:
            overwrite(folder, name, content.fileno(), state.mode)
            if mtime_ns is not None:
                os.utime(name, ns=(mtime_ns, mtime_ns), dir_fd=folder, follow_symlinks=False)

    def _put_back(self, aside: str, path: str) -> None:
        if self._tree.stat(aside) is not None:
            self._move(aside, path)

    def _chmod(self, path: str, mode: int) -> None:
        with self._tree.place(path) as (folder, name):
            set_mode_at(folder, name, mode)

    def _link(self, path: str, other: str) -> None:
        with self._tree.place(path) as (a, name), self._tree.place(other) as (b, new):
            os.link(name, new, src_dir_fd=a, dst_dir_fd=b, follow_symlinks=False)

    def _move(self, path: str, other: str, *, new: bool = False) -> None:
        """Rename; with `new`, never over something that came meanwhile."""
        self._touch(parent(path))
        self._touch(parent(other))
        if new and self._tree.stat(other) is not None:
            raise ToolProblem(f"{other} was created by someone else in the meantime.")
        with self._tree.place(path) as (a, name), self._tree.place(other) as (b, target):
            os.rename(name, target, src_dir_fd=a, dst_dir_fd=b)

    def _remake_folder(self, path: str, found: os.stat_result) -> None:
        with self._tree.place(path) as (folder, name):
            os.mkdir(name, 0o700, dir_fd=folder)
        with self._tree.folder(path) as made:
            dress(made, found)
        self._tree.modes[path] = stat.S_IMODE(found.st_mode)
        self._folders[path] = found

    def _unmake_folder(self, path: str) -> None:
        self._tree.modes.pop(path, None)
        with self._tree.place(path) as (folder, name):
            os.rmdir(name, dir_fd=folder)

    def _hide(self, path: str, ending: str) -> str:
        """A hidden name on the same disk, in the nearest folder that is there before and after."""
        folder = self._lasting(parent(path))
        self._touch(folder)
        hidden = os.path.join(folder, f"{HIDDEN}{self._token}-{ending}").removeprefix("./")
        self._hidden[hidden] = None
        return hidden

    def _lasting(self, folder: str) -> str:
        passed = []
        while folder not in self._lasts:
            passed.append(folder)
            if folder not in self._gone and self._tree.is_folder(folder):
                break
            folder = parent(folder)
        found = self._lasts.get(folder, folder)
        self._lasts.update(dict.fromkeys(passed, found))
        return found

    def _remove_hidden(self) -> None:
        for hidden in self._hidden:
            with suppress(OSError), self._tree.place(hidden) as (folder, name):
                os.unlink(name, dir_fd=folder)

    def _touch(self, path: str) -> None:
        """Remember the times of a folder before names in it change."""
        if path not in self._folders:
            with self._tree.folder(path) as folder:
                self._folders[path] = os.fstat(folder)

    def _back(self, path: str, restore: Callable[[], None]) -> None:
        self._way_back.append((path, restore))

    def _require_unmoved(self, step: Step) -> None:
        if not step.unmoved(self._tree.stat(step.path)):
            raise _meanwhile(step.path)


def _meanwhile(path: str) -> ToolProblem:
    return ToolProblem(
        f"{path} was changed by someone else while the change was being made.",
        "The workspace is as it was before.",
        "Look again, then repeat the change.",
    )
