"""Programs of wheels that lie in the workspace, run from copies in the data folder.

Only wheels in the environment that Steersman itself runs from count: whoever can write there
controls Steersman anyway, and every change of it needs approval. A copy is made of what the wheel's
RECORD names, by its digest; what was changed afterwards is neither copied nor run.
"""

from __future__ import annotations

import base64
import os
import shutil
import stat
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from tempfile import mkdtemp

from msgspec import Struct

from steersman.records.errors import ToolProblem
from steersman.records.own_places import data_folder
from steersman.records.plain_files import whole_plain
from steersman.records.private_files import make_private_folder
from steersman.records.protection import inside

LARGEST = 64 << 20
_LIBRARIES = ".libs"  # the folder that a wheel's programs find their own libraries in


class Part(Struct, frozen=True):
    """A file of a wheel: where it lies, its place in a copy, and its digest by the RECORD."""

    source: str
    place: str
    digest: str


# Copies that were compared with their digests in this process, with how they looked then.
_COMPARED: dict[str, tuple[int, ...]] = {}
_PARTS: dict[tuple[str, str], tuple[Part, ...]] = {}


def copy_of(wheel: str, program: str, environ: Mapping[str, str]) -> str | None:
    """A program of a wheel beside Steersman, copied out of reach; None if there is no such wheel.

    Raises `ToolProblem` when there can be no copy that nobody else could have written.
    """
    if (wheel, program) not in _PARTS:
        _PARTS[wheel, program] = tuple(_parts(wheel, program))
    parts = _PARTS[wheel, program]
    if not parts:
        return None
    listed = "".join(f"{part.digest} {part.place}\n" for part in parts)
    folder = data_folder(environ).absolute() / "programs"
    copy = folder / sha256(listed.encode()).hexdigest()
    try:
        if not _intact(copy, parts):
            make_private_folder(folder)
            _write(copy, parts)
        _refuse_shared(copy, parts)
    except OSError as error:
        why = f"{error.filename or copy}: {error.strerror or error}"
        raise ToolProblem(f"{program} cannot be copied out of the workspace.", why) from error
    if not _intact(copy, parts):
        raise ToolProblem(f"The copy of {program} in {copy} was changed.")
    place = next(part.place for part in parts if os.path.basename(part.place) == program)
    return os.path.realpath(copy / place)


def _parts(wheel: str, program: str) -> Iterator[Part]:
    """The program and its own libraries, as the RECORD names them."""
    from importlib.metadata import distributions

    prefix = os.path.realpath(sys.prefix)
    places = {os.path.realpath(sysconfig.get_path(name)) for name in ("purelib", "platlib")}
    ours = sorted(place for place in places if inside(place, prefix))
    found = next(iter(distributions(name=wheel, path=ours)), None)
    files = sorted(found.files or [], key=str) if found else []
    if not any(file.name == program for file in files):
        return
    for file in files:
        wanted = file.name == program or file.parts[0].endswith(_LIBRARIES)
        if wanted and file.hash and file.hash.mode == "sha256":
            value = file.hash.value
            digest = base64.urlsafe_b64decode(value + "=" * (-len(value) % 4)).hex()
            place = os.path.join(*(part for part in file.parts if part != ".."))
            yield Part(str(file.locate()), place, digest)


def _write(copy: Path, parts: tuple[Part, ...]) -> None:
    """Make a copy, or make it again: whole or not at all."""
    made = Path(mkdtemp(prefix="new-", dir=copy.parent))
    try:
        for part in parts:
            data = whole_plain(part.source, LARGEST)
            if sha256(data).hexdigest() != part.digest:
                raise ToolProblem(f"{part.source} is not what its wheel brought.")
            target = made / part.place
            make_private_folder(target.parent)
            with open(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o500), "wb") as file:
                file.write(data)
        if os.path.lexists(copy) and not _intact(copy, parts):
            os.rename(copy, f"{made}-old")
            shutil.rmtree(f"{made}-old", ignore_errors=True)
        try:
            os.rename(made, copy)
        except OSError:
            if not _intact(copy, parts):  # no other process was first
                raise
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _intact(copy: Path, parts: tuple[Part, ...]) -> bool:
    """Whether a copy is ours alone and holds what it should; read again when it looks different."""
    try:
        for part in parts:
            path = str(copy / part.place)
            found = os.lstat(path)
            ours = found.st_uid == os.geteuid() and stat.S_ISREG(found.st_mode)
            if not ours or found.st_mode & 0o022 or not found.st_mode & stat.S_IXUSR:
                return False
            looks = (found.st_dev, found.st_ino, found.st_size, found.st_ctime_ns)
            if _COMPARED.get(path) == looks:
                continue
            if sha256(whole_plain(path, LARGEST)).hexdigest() != part.digest:
                return False
            _COMPARED[path] = looks
    except OSError:
        return False
    return True


def _refuse_shared(copy: Path, parts: tuple[Part, ...]) -> None:
    """Raise when someone else could put another file in the place of one of a copy."""
    for folder in {above for part in parts for above in (copy / part.place).resolve().parents}:
        found = os.stat(folder)
        writable = found.st_mode & 0o002 or (found.st_mode & 0o020 and not _own_group(found.st_gid))
        others = found.st_uid not in (0, os.geteuid())
        if others or (writable and not found.st_mode & stat.S_ISVTX):
            raise ToolProblem(
                f"Others can write to {folder}, so no program is run from there.",
                try_this=f"chmod go-w {folder}",
            )


def _own_group(group: int) -> bool:
    """Whether a group is the one that many systems make for each person alone."""
    import grp
    import pwd

    try:
        return grp.getgrgid(group).gr_name == pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return False
