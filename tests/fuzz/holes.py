"""Old holes, each put back by a small patch: rounds must find every one of them.

Only for a process of its own; nothing is undone.
"""

import os
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from steersman.governance import confinement, levels
from steersman.operations.journal import changeset, snapshot, undoing
from steersman.operations.journal.changeset import Changeset
from steersman.operations.journal.looking import look
from steersman.operations.running import afterwards, command_run, command_runs, confine
from steersman.operations.running.command_run import CommandRun, Landlocked
from steersman.operations.running.scratch import Scratch
from steersman.records.change import FileState
from steersman.records.names import on_disk
from steersman.threads import way_back


class OnTheFolder(Landlocked):
    """A command in bubblewrap with the workspace itself mounted to be written."""

    bubblewrap: Any

    def _confined(self, command: Sequence[str], cwd: str) -> list[str]:
        root = self._journal.root
        itself = confine.Workspace(root, ("--bind", root, root))
        sandbox = confine.Sandbox(self.bubblewrap)
        return sandbox.argv(command, cwd, self._profile, itself, self._scratch)

    @property
    def inherit(self) -> tuple[int, ...]:
        return (*super().inherit, *self._scratch.descriptors)


async def _on_the_folder(self: Any, bench: Any) -> CommandRun:
    found = await self._probe.found()
    if found.bubblewrap is None:
        return await self.directly(bench)
    scratch = Scratch(os.path.realpath(self._scratch))
    run = OnTheFolder(self._journal, bench.profile, await self._snapshot(), scratch)
    run.bubblewrap = found.bubblewrap
    return run


def background_on_the_folder() -> None:
    """Commands in the background worked on the folder itself."""
    command_runs.CommandRuns.over_mirror = _on_the_folder


def second_run_on_the_folder() -> None:
    """What a command printed decided that it ran again, on the folder itself."""
    command_runs.CommandRuns.over_copy = _on_the_folder


def odd_names_skipped() -> None:
    """Names that are not UTF-8 were not looked at."""
    since = snapshot.Snapshot.changes_since

    def without(self: snapshot.Snapshot) -> Changeset:
        found = since(self)
        kept = [change for change in found.changes if on_disk(change.path) == change.path]
        return msgspec.structs.replace(found, changes=kept)

    snapshot.Snapshot.changes_since = without


def powers_kept() -> None:
    """A command could leave a program that runs as its owner."""

    def kept(before: FileState, after: FileState) -> FileState:
        return after

    changeset.without_power = kept


def nothing_protected() -> None:
    """What other programs obey was a file like any other."""
    levels.protected = lambda *_: ""


def secrets_shown() -> None:
    """Secret files were not hidden."""
    confinement.Confinement._hidden = lambda *_: ()


def sockets_open() -> None:
    """What listens on the disk could be reached."""
    folders = confine.Sandbox._folders

    def unsealed(self: confine.Sandbox, root: str, scratch: Scratch) -> tuple[list[str], bool]:
        words, _ = folders(self, root, scratch)
        places = [n for n, word in enumerate(words) if word == "--overlay-src"]
        cut = {n + step for n in places for step in range(6)}
        return [word for n, word in enumerate(words) if n not in cut], True

    confine.Sandbox._folders = unsealed


def undo_through_links() -> None:
    """An undo looked through links for what is there."""

    def present(self: Any, thread_id: str, changes: Any, keep: Any = None) -> dict[str, FileState]:
        root = way_back.find_thread(self._store, thread_id).workspace
        return {one.path: look(os.path.join(root, on_disk(one.path))) for one in changes}

    way_back.WayBack._present = present


def refused_alone() -> None:
    """A refused change was undone without the folder it was in."""
    afterwards.with_obstacles = lambda chosen, changes: chosen


def modes_forgotten() -> None:
    """An undo gave back contents without modes."""

    def back(changes: Any) -> Any:
        return [change.reversed() for change in changes
                if change.before.digest != change.after.digest
                or change.before.kind != change.after.kind]  # fmt: skip

    undoing.inverse = back


def pipes_unjudged() -> None:
    """What cannot be restored was deleted without a verdict."""
    judged = command_run.actions_for

    def without(*words: Any, remove: Any = ()) -> Any:
        return judged(*words)

    command_run.actions_for = without


def pipes_passed_by() -> None:
    """Without a view, nobody looked at what is neither file nor folder nor link."""
    since = snapshot.Snapshot.changes_since

    def without(self: snapshot.Snapshot) -> Changeset:
        self._special = {}
        found = since(self)
        notes = [note for note in found.notes if "once it is gone" not in note]
        return msgspec.structs.replace(found, notes=notes, remove=[], special=[])

    snapshot.Snapshot.changes_since = without


def folder_left_open() -> None:
    """A refused mode of the workspace folder stood, where there are no views."""
    obstacles = afterwards.with_obstacles

    def without(chosen: Any, changes: Any) -> Any:
        return obstacles([change for change in chosen if change.path != "."], changes)

    afterwards.with_obstacles = without


HOLES: dict[str, Callable[[], None]] = {
    "background on the folder": background_on_the_folder,
    "second run on the folder": second_run_on_the_folder,
    "odd names skipped": odd_names_skipped,
    "powers kept": powers_kept,
    "nothing protected": nothing_protected,
    "secrets shown": secrets_shown,
    "sockets open": sockets_open,
    "undo through links": undo_through_links,
    "refused alone": refused_alone,
    "modes forgotten": modes_forgotten,
    "pipes unjudged": pipes_unjudged,
    "pipes passed by": pipes_passed_by,
    "folder left open": folder_left_open,
}
