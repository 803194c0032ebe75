"""The command line that runs a command in a sandbox, and nothing of what is outside leaks in.

The whole disk is read-only and seen through overlays, temporary folders and devices are the
command's own, runtime folders are gone, the workspace is mounted as someone decided, and on top of
it all lie the covers of what is hidden. Where a socket of the host could be reached, no socket can
be made. Options, environment and filter are handed over as descriptors: other users of the machine
see command lines, and a library named in the environment is loaded by the command, not by the
sandbox round it.
"""

from __future__ import annotations

import os
import stat
import subprocess
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress

import msgspec
from msgspec import Struct

from steersman.operations.running import seccomp
from steersman.operations.running.bubblewrap import Bubblewrap, keeps_powers, works
from steersman.operations.running.disk import (
    TEMPORARY,
    Whole,
    as_a_whole,
    holds,
    mounts,
    replaced,
    to_seal,
)
from steersman.operations.running.masks import covers, hidden, to_cover, unveiled
from steersman.operations.running.scratch import Scratch
from steersman.operations.running.trials import Trials
from steersman.records.profile import Profile
from steersman.records.real_paths import real_path

_RUNTIME = "/run"
_NAMES = "/etc/resolv.conf"
_MOST = 8  # repositories beside a workspace that are looked after
_DISK = ("--ro-bind", "/", "/")
_STATUS = 65536  # bytes of what bubblewrap reports, a few hundred in fact
# Root without powers may still write what root owns, also the switches of the kernel.
_SWITCHES = (
    "acpi", "asound", "driver", "dynamic_debug", "fs", "latency_stats", "mtrr", "scsi", "sys",
    "sysrq-trigger",
)  # fmt: skip
_TRIALS = Trials()


class Workspace(Struct, frozen=True):
    """How a workspace is mounted: the words for it, and those that pin what is in it.

    What is `veiled` is hidden by the mount itself. `beside` mounts other folders.
    """

    root: str
    mount: Sequence[str]
    pins: Sequence[str] = ()
    veiled: Collection[str] = ()
    beside: Mapping[str, Sequence[str]] = {}

    @property
    def sealed(self) -> bool:
        """Whether nobody can be reached who listens in the folder itself."""
        return self.mount[0] not in ("--bind", "--ro-bind") or self.mount[1] != self.root


class Sandbox:
    """Wraps commands with a bubblewrap that works."""

    def __init__(self, bubblewrap: Bubblewrap) -> None:
        self.bubblewrap = bubblewrap

    def argv(
        self,
        command: Sequence[str],
        cwd: str,
        profile: Profile,
        workspace: Workspace,
        scratch: Scratch,
    ) -> list[str]:
        """The line to start, with any environment and the descriptors of the scratch folder."""
        folders, sealed = self._folders(workspace.root, scratch)
        options = [*folders, "--dev", "/dev", "--proc", "/proc", *_proc()]
        options += _runtime(profile, workspace.root)
        options += _mounts(profile, workspace, overlays=bool(self.bubblewrap.attributes))
        options += _sockets(profile, workspace.root)
        if profile.network != "host" and not profile.shared:
            options.append("--unshare-net")
        for name, value in environment(profile, workspace.root).items():
            options += ["--setenv", name, value]
        families = seccomp.LOOPBACK
        if sealed and profile.network != "host" and workspace.sealed:
            families |= {seccomp.AF_UNIX}
        filter = scratch.in_memory(seccomp.program(families))
        options += ["--json-status-fd", str(scratch.status), "--seccomp", str(filter)]
        options += ["--chdir", cwd]
        words = scratch.in_memory(os.fsencode("\0".join([*options, ""])))
        return [*self.bubblewrap.start(workspace.root), "--args", str(words), "--", *command]

    def looking(self, root: str) -> Workspace:
        """A workspace that can only be read, without what listens in it where that is possible."""
        words = _overlays([root])
        whole = not any(one.place != root and holds(root, one.place) for one in mounts())
        if self.bubblewrap.attributes and root != "/" and whole and self._can([*_DISK, *words]):
            return Workspace(root, words)
        return Workspace(root, ("--ro-bind", root, root))

    def seen(self, root: str) -> tuple[list[str], bool]:
        """Words for what is seen of the disk, and whether no socket of it can be reached."""
        loose = _overlays(_shared(root), keep=True)
        ways = [[*loose, *_overlays(_beside(root))], loose] if loose else [[]]
        for sealing in self._sealing(root):
            for over in ways:
                if self._can([*sealing, *over]):
                    return [*sealing, *over], True
        over = next((over for over in ways if over and self._can([*_DISK, *over])), [])
        return [*_DISK, *over], False

    def _folders(self, root: str, scratch: Scratch) -> tuple[list[str], bool]:
        """The same, with temporary folders of the command's own."""
        disk, sealed = self.seen(root)
        shared = _shared(root)
        words = []
        for place in TEMPORARY:
            if place not in (*shared, root) and _is_folder(place):
                own = scratch.inner(place.strip("/").replace("/", "-"), 0o1777)
                words += ["--bind", own, place]
        return [*disk, *words], sealed

    def _sealing(self, root: str) -> Iterator[Sequence[str]]:
        """Words for ways to see the disk through overlays, the quickest first."""
        mounted = mounts()
        pieces = to_seal(mounted) if self.bubblewrap.attributes else None
        if pieces is None:
            return
        # In a namespace of users, no overlay can be made of a folder with mounts in it.
        whole = None if self.bubblewrap.own_users else as_a_whole(mounted, pieces, root)
        if whole is not None:
            yield _at_once(whole)
        yield [*_DISK, *_overlays(pieces)]

    def _can(self, folders: Sequence[str]) -> bool:
        line = [*self.bubblewrap.start(), *folders, "--", "true"]
        try:
            return _TRIALS.outcome((self.bubblewrap, *folders), lambda: works(line))
        except (OSError, subprocess.SubprocessError):
            return False  # for now: nobody knows


def ran(scratch: Scratch) -> bool:
    """Whether the command is known to have been started, and to have ended.

    If not, the mounting failed; or the sandbox was killed, and reported nothing any more.
    """
    said = os.pread(scratch.status, _STATUS, 0)
    return any("exit-code" in msgspec.json.decode(line) for line in said.splitlines())


def environment(profile: Profile, root: str) -> Mapping[str, str]:
    """The environment of a confined command."""
    # The workspace is a mount; git would not look for the repository it is a part of.
    own = {"GIT_DISCOVERY_ACROSS_FILESYSTEM": "1"}
    if os.geteuid() == 0 and not keeps_powers(root):
        own["TAR_OPTIONS"] = "--no-same-owner"  # tar takes root for someone who may
    return {**own, **profile.environ, "TMPDIR": TEMPORARY[0]}


def _shared(root: str) -> list[str]:
    """The temporary folders in which the workspace is."""
    return [place for place in TEMPORARY if place != root and holds(place, root)]


def _beside(root: str) -> list[str]:
    """What people have beside a workspace in a temporary folder: nothing pretends to be written.

    That is the folder there that the workspace is in; if it is in none, the repositories.
    """
    found: list[str] = []
    for place in _shared(root):
        first = os.path.join(place, os.path.relpath(root, place).split("/")[0])
        if first != root:
            found.append(first)
            continue
        with suppress(OSError), os.scandir(place) as entries:
            others = [one for one in entries if one.is_dir(follow_symlinks=False)]
            others.sort(key=lambda one: one.stat(follow_symlinks=False).st_mtime_ns, reverse=True)
            found += [one.path for one in others if one.path != root and _is_repository(one.path)]
    return sorted(found[:_MOST])


def _is_repository(path: str) -> bool:
    """Whether a folder is one of git, with its files or bare."""
    bare = all(os.path.exists(f"{path}/{name}") for name in ("HEAD", "objects", "refs"))
    return bare or os.path.exists(f"{path}/.git")


def _at_once(disk: Whole) -> list[str]:
    """Words to see the whole disk through one overlay, and what is mounted on it beside."""
    words = ["--overlay-src", "/", "--tmp-overlay", "/"]
    for place in disk.mounted:
        words += ["--ro-bind", place, place]
    return [*words, "--remount-ro", "/", *_overlays(disk.sealed)]


def _overlays(places: Sequence[str], *, keep: bool = False) -> list[str]:
    """Words to see folders through overlays; with `keep`, as something to write to."""
    words: list[str] = []
    for place in places:
        words += ["--overlay-src", place, "--tmp-overlay", place]
        words += [] if keep else ["--remount-ro", place]
    return words


def _proc() -> list[str]:
    """Words that keep the kernel's switches from root."""
    if os.geteuid() != 0:
        return []
    places = [f"/proc/{name}" for name in _SWITCHES if os.path.exists(f"/proc/{name}")]
    return [word for place in places for word in ("--ro-bind", place, place)]


def _runtime(profile: Profile, root: str) -> list[str]:
    """Words that replace the folder of sockets, locks and secrets of running programs."""
    if not _is_folder(_RUNTIME) or holds(_RUNTIME, root):
        return []
    words = ["--tmpfs", _RUNTIME]
    with os.scandir(_RUNTIME) as entries:
        for entry in entries:  # some systems have their programs behind links here
            if entry.is_symlink() and not holds(_RUNTIME, real_path(entry.path)):
                words += ["--symlink", os.readlink(entry.path), entry.path]
    names = real_path(_NAMES)
    if profile.network == "host" and holds(_RUNTIME, names) and os.path.isfile(names):
        words += ["--ro-bind", names, names]
    return words


def _mounts(profile: Profile, workspace: Workspace, *, overlays: bool) -> list[str]:
    """Words for the workspace, for what else may be seen or written, and for what is hidden.

    Outer folders come first, so that what is opened lies in what is hidden, and the other way.
    """
    opened = _opened(profile, workspace, overlays=overlays)
    hides = unveiled(profile.hidden, workspace.veiled)
    around, secret = to_cover(hides, opened, workspace.root)
    layers = {path: ["--perms", "0111", "--tmpfs", path] for path in around}
    layers |= opened
    covered = (path for path in secret if path != workspace.root and _is_seen(path, workspace))
    layers |= {path: covers([path]) for path in covered}
    words = [word for path in sorted(layers) for word in layers[path]]
    return [*words, *(word for path in around for word in ("--remount-ro", path))]


def _opened(profile: Profile, workspace: Workspace, *, overlays: bool) -> dict[str, list[str]]:
    """Words that mount each place which the command is to see, or to write."""
    opened: dict[str, list[str]] = {}
    for path in profile.readable:
        place = real_path(path)
        if os.path.exists(place) and not holds(place, workspace.root):
            opened[place] = ["--ro-bind", place, place]
    for path in profile.writable:
        place = real_path(path)
        with suppress(OSError):
            os.makedirs(place, mode=0o700, exist_ok=True)
        if place == "/" or not os.path.exists(place) or holds(place, workspace.root):
            continue
        if not holds(workspace.root, place):
            opened[place] = ["--bind", place, place]
    opened |= {place: list(words) for place, words in workspace.beside.items()}
    opened[workspace.root] = [*workspace.mount, *workspace.pins]
    if not profile.granted:
        return opened
    from steersman.operations.running.pushing import pins, written_parts

    for place in profile.granted:
        parts = written_parts(place)
        words = [word for part in parts for word in ("--bind", part, part)]
        # Git locks names with files beside those of the repository; such files are not kept.
        locks = _overlays([place], keep=True) if overlays and place not in parts else []
        opened[place] = [*locks, *words, *pins(place)]
    return opened


def _sockets(profile: Profile, root: str) -> list[str]:
    """Words for the sockets of the host that may be reached."""
    covered = hidden(profile.hidden, root) if profile.sockets else []
    return [
        word
        for path in profile.sockets
        if _is_socket(path) and not any(holds(place, path) for place in covered)
        for word in ("--ro-bind", path, path)
    ]


def _is_seen(path: str, workspace: Workspace) -> bool:
    """Whether a path is there at all, and not replaced by a folder of the command's own."""
    return holds(workspace.root, path) or not replaced(path, workspace.root)


def _is_folder(path: str) -> bool:
    return os.path.isdir(path) and not os.path.islink(path)


def _is_socket(path: str) -> bool:
    try:
        return stat.S_ISSOCK(os.lstat(path).st_mode)
    except OSError:
        return False
