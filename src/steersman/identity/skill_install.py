"""Installing a skill: a folder or a `.zip` is copied to the user's skills, all of it or nothing.

Nothing is run. A name that leads out, a link that does, and too much of anything is refused before
anything is where it could be used.
"""

import os
import stat
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import IO

from steersman.identity.skills import Skill, meta_file, read_skill, user_folder
from steersman.records.counting import counted
from steersman.records.errors import UsageProblem
from steersman.records.protection import inside

MOST_FILES, MOST_BYTES = 2_000, 32 * 1024 * 1024
SKIPPED = frozenset({".git", "__pycache__", ".DS_Store", "__MACOSX", "node_modules"})


def install(path: str, environ: Mapping[str, str], *, replace: bool = False) -> Skill:
    """Copy a skill into the user's skills; one of the same name is in the way unless replaced."""
    target = user_folder(environ)
    try:
        os.makedirs(target, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".new-", dir=target) as staging:
            inner = os.path.join(staging, _own_name(path))
            os.mkdir(inner)
            file, _ = meta_file(environ)
            _fill(path, inner, file)
            return _put(inner, target, file, replace=replace)
    except OSError as error:
        raise UsageProblem(
            f"The skill in {path} cannot be installed.", error.strerror or str(error)
        ) from error


def _own_name(path: str) -> str:
    name = os.path.basename(os.path.realpath(path)).removesuffix(".zip").lower()
    return name.lstrip(".") or "skill"


def _fill(path: str, folder: str, file: str) -> None:
    if os.path.isdir(path):
        if not os.path.isfile(os.path.join(path, file)):
            raise _no_skill(path, file)
        _copy(os.path.realpath(path), folder, _Room())
    elif os.path.isfile(path) and zipfile.is_zipfile(path):
        _unpack(path, folder, file)
    elif os.path.lexists(path):
        raise UsageProblem(
            f"{path} is neither a folder nor a .zip file.", try_this="Pass one of them."
        )
    else:
        raise UsageProblem(f"{path} does not exist.", try_this="Pass a folder or a .zip file.")


def _no_skill(path: str, file: str) -> UsageProblem:
    return UsageProblem(
        f"There is no skill in {path}.", f"It has no {file}.", "Pass the folder that has one."
    )


class _Room:
    """How much may be copied."""

    def __init__(self) -> None:
        self.files = MOST_FILES
        self.bytes = MOST_BYTES

    def file(self, source: IO[bytes], target: str, *, executable: bool) -> None:
        """Copy one file, counting what is really there."""
        self.files -= 1
        with open(target, "xb") as copy:
            while piece := source.read(1 << 16):
                self.bytes -= len(piece)
                if self.bytes < 0 or self.files < 0:
                    break
                copy.write(piece)
        if self.bytes < 0 or self.files < 0:
            raise UsageProblem(
                "The skill is too large.",
                f"At most {MOST_FILES:,} files and {MOST_BYTES // 2**20} MB are installed.",
            )
        os.chmod(target, 0o755 if executable else 0o644)


def _copy(source: str, folder: str, room: _Room) -> None:
    for place, below, names in os.walk(source):
        below[:] = sorted(name for name in below if name not in SKIPPED)
        within = os.path.join(folder, os.path.relpath(place, source))
        os.makedirs(within, exist_ok=True)
        for name in below:
            if os.path.islink(os.path.join(place, name)):
                raise _leads_out(os.path.join(place, name), "it is a link to a folder")
        for name in sorted(set(names) - SKIPPED):
            path = os.path.join(place, name)
            real = os.path.realpath(path)
            if not inside(real, source):
                raise _leads_out(path, "it is a link that leads out of the skill")
            status = os.stat(real)
            if not stat.S_ISREG(status.st_mode):
                raise _leads_out(path, "it is not a regular file")
            with open(real, "rb") as file:
                executable = bool(status.st_mode & 0o100)
                room.file(file, os.path.join(within, name), executable=executable)


def _leads_out(path: str, why: str) -> UsageProblem:
    return UsageProblem(f"The skill is not installed because of {path}.", f"Reason: {why}.")


def _unpack(path: str, folder: str, meta: str) -> None:
    room = _Room()
    try:
        with zipfile.ZipFile(path) as archive:
            entries = [entry for entry in archive.infolist() if not entry.is_dir()]
            top = _top(path, [entry.filename for entry in entries], meta)
            for entry, name in _inside(entries, top):
                mode = entry.external_attr >> 16
                if mode and not stat.S_ISREG(mode) and stat.S_IFMT(mode):
                    raise _leads_out(entry.filename, "it is a link or not a regular file")
                target = os.path.join(folder, name)
                os.makedirs(os.path.dirname(target), exist_ok=True)
                with archive.open(entry) as file:
                    room.file(file, target, executable=bool(mode & 0o100))
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError) as error:
        raise UsageProblem(f"{path} cannot be unpacked.", str(error)) from error


def _top(path: str, names: list[str], file: str) -> str:
    """The folder inside an archive that has the skill: the archive itself or the one in it."""
    if file in names:
        return ""
    found = [name for name in names if name.count("/") == 1 and name.endswith(f"/{file}")]
    found = [name for name in found if name.partition("/")[0] not in SKIPPED]
    if len(found) != 1:
        raise _no_skill(path, file) if not found else UsageProblem(
            f"There are {counted(len(found), 'skill')} in {path}.",
            try_this="Install them one by one.",
        )  # fmt: skip
    return found[0].removesuffix(file)


def _inside(entries: list[zipfile.ZipInfo], top: str) -> Iterator[tuple[zipfile.ZipInfo, str]]:
    """What of an archive belongs to the skill, with names that cannot lead anywhere else."""
    for entry in entries:
        name = entry.filename
        parts = PurePosixPath(name).parts
        if name.startswith("/") or ".." in parts or "\\" in name or "\0" in name or ":" in parts[0]:
            raise _leads_out(name, "its name leads out of the skill")
        if name.startswith(top) and not SKIPPED.intersection(parts):
            yield entry, name[len(top) :]


def _put(inner: str, target: str, file: str, *, replace: bool) -> Skill:
    """Move a skill that is whole to its place, by its own name."""
    skill = read_skill(inner, file=file)
    if isinstance(skill, str):
        raise UsageProblem(
            "The skill is not installed: it is not valid.",
            skill.replace(inner, os.path.basename(inner)),
            "Fix the lines at its top; docs/skills.md describes them.",
        )
    place = os.path.join(target, skill.name)
    if os.path.lexists(place):
        if not replace:
            raise UsageProblem(
                f"There is already a skill “{skill.name}”.",
                f"It is in {place}.",
                "Pass --replace to replace it.",
            )
        old = os.path.join(os.path.dirname(inner), ".old")  # gone with the staging folder
        os.rename(place, old)
        try:
            os.rename(inner, place)
        except OSError:
            os.rename(old, place)
            raise
    else:
        os.rename(inner, place)
    return Skill(skill.name, skill.description, place, target)
