"""What exactly its sandbox refused a command, read in what it printed: paths and addresses.

A command may print anything, so nothing is given for it: a person is asked about exactly this, and
never about what is hidden, what holds the workspace or a whole home, or another machine's name.
"""

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING

from msgspec import Struct

from steersman.operations.running.disk import holds, replaced
from steersman.operations.running.symptoms import HIDDEN, NO_NETWORK, READ_ONLY, TAIL
from steersman.records.addresses import is_near
from steersman.records.patterns import pattern
from steersman.records.profile import Profile

if TYPE_CHECKING:
    from steersman.operations.running.pushing import Aim

MOST = 3  # paths or addresses that a person reads at a glance
_DELETES = pattern(r"remove|unlink|rmdir|delete", re.IGNORECASE)
_PUSHED = pattern(r"failed to push some refs to '(?:file://)?(/?[^'\n]+)'")
_UNPACKED = pattern(r"unable to create temporary object directory|unpacker error", re.IGNORECASE)
_UNREACHED = pattern(
    r"refused|ECONNREFUSED|connect to|unable to connect|os error 111", re.IGNORECASE
)
_ADDRESS = pattern(
    r"(?<![\w.])(localhost|127(?:\.\d{1,3}){3}|\[?::1\]?)"
    r"['\"]?\)?(?::|/|, ?|,? port[ =:]+| --?p(?:ort)?[ =]?)(\d{1,5})(?!\d)"
)
_UNRESOLVED = pattern(
    r"(?:could not resolve(?: host(?:name)?)?:?|ENOTFOUND|EAI_AGAIN|dial tcp: lookup"
    r"|unable to resolve host address|failed to resolve|could not translate host name"
    r"|unknown (?:mysql server )?host|name resolution:?) ?[‘'\"]?"
    r"((?:[a-z0-9_](?:[a-z0-9_-]*[a-z0-9])?\.)+[a-z][a-z0-9-]*)",
    re.IGNORECASE,
)
_LISTENS = "0A"


class Refusals(Struct, frozen=True):
    """Paths outside the workspace that could not be written, addresses that were not reached.

    `deletes` are those of the paths that could not be deleted. `hosts` are what a program looked
    for that does not know the proxy: names, or "the network".
    """

    writes: tuple[str, ...] = ()
    reaches: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    deletes: tuple[str, ...] = ()

    def beside(self, other: "Refusals") -> "Refusals":
        """Both, each once."""
        return Refusals(
            tuple(dict.fromkeys((*other.writes, *self.writes))),
            tuple(dict.fromkeys((*other.reaches, *self.reaches))),
            tuple(dict.fromkeys((*other.hosts, *self.hosts))),
            tuple(dict.fromkeys((*other.deletes, *self.deletes))),
        )

    def sentence(self, home: str) -> str:
        """What was refused, for a person."""
        gone = [shortened(path, home) for path in self.deletes]
        paths = [shortened(path, home) for path in self.writes if path not in self.deletes]
        parts = [f"could not write {listed(paths)}"] if paths else []
        parts += [f"could not delete {listed(gone)}"] if gone else []
        near = (*self.reaches, *self.hosts)
        return " and ".join([*parts, *([f"could not reach {listed(near)}"] if near else [])])


NOTHING = Refusals()


def refusals(
    output: str,
    cwd: str,
    root: str,
    profile: Profile,
    refused: Sequence[str] = (),
    listens: Callable[[int], bool] | None = None,
    *,
    command: str = "",
    weaker: bool = False,
) -> Refusals:
    """What could be given to a command that failed; `refused` are hosts that its door refused.

    A program may not print which port it wanted to reach: then it is looked for in its command.
    The `weaker` sandbox says that permission is denied.
    """
    if not profile.sandbox or profile.files == "read":
        return NOTHING
    listens = listens or listening
    end = output[-TAIL:]
    marks = (READ_ONLY, HIDDEN) if weaker else (READ_ONLY,)
    lines = [line for line in end.splitlines() if any(mark.search(line) for mark in marks)]
    found_in = {line: [*_paths(line, cwd, root, profile, command)] for line in lines}
    writes = [path for paths in found_in.values() for path in paths]
    gone = [path for line, paths in found_in.items() if _DELETES.search(line) for path in paths]
    writes += _opened(end, cwd, root, profile, command)
    near = [name for name in refused if is_near(name)]
    if _UNREACHED.search(end):
        named = _ADDRESS.findall(end) or _ADDRESS.findall(command)
        found = ((host.strip("[]"), int(port)) for host, port in named)
        near += [f"{host}:{port}" for host, port in found if port < 65536 and listens(port)]
    reaches = [name for name in dict.fromkeys(near) if name not in profile.nearby]
    hosts = () if refused or profile.network == "host" else _unresolved(end)
    first = tuple(dict.fromkeys(writes))[:MOST]
    deletes = tuple(path for path in first if path in gone)
    return Refusals(first, tuple(reaches)[:MOST], hosts, deletes)


def unkept(dropped: Sequence[str], root: str, profile: Profile) -> Refusals:
    """What could be given to a command of what it wrote without permission, which was dropped."""
    home = profile.environ.get("HOME", "")
    fitting = (path for path in dropped if _fits(path, root, home, profile))
    return Refusals(tuple(islice(fitting, MOST)))


def listed(names: Sequence[str]) -> str:
    """Names in a sentence."""
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def _unresolved(end: str) -> tuple[str, ...]:
    """The hosts that a program could not find by name, as far as it says which."""
    if not NO_NETWORK.search(end):
        return ()
    return tuple(dict.fromkeys(_UNRESOLVED.findall(end)))[:MOST] or ("the network",)


def shortened(path: str, home: str) -> str:
    """A path as people write it."""
    return f"~{path[len(home) :]}" if len(home) > 1 and holds(home, path) else path


def _paths(line: str, cwd: str, root: str, profile: Profile, command: str) -> Iterator[str]:
    from steersman.operations.running.refused_names import places_in

    home = profile.environ.get("HOME", "")
    for place in places_in(line, cwd, home):
        for one in _meant(place, cwd, home, command):
            if _fits(one, root, home, profile):
                yield one


def _meant(place: str, cwd: str, home: str, command: str) -> list[str]:
    """What a program wants to write: for a new name of its own, the files that it would replace.

    Many write a new file beside the old one and rename it.
    """
    from steersman.operations.running.refused_names import located, names_in

    if os.path.lexists(place) or os.path.basename(place) in command:
        return [place]
    whole = command.replace("$HOME", "~").replace("${HOME}", "~")
    paths = [located(one, cwd, home) for one in names_in(whole)]
    beside = [p for p in paths if os.path.dirname(p) == os.path.dirname(place)]
    return [path for path in beside if os.path.isfile(path)] or [place]


def unpushed(command: str, output: str, cwd: str, root: str, profile: Profile) -> str:
    """Why a push that was refused is given no repository of this machine; empty if it may be."""
    if all(holds(root, place) for place in _pushed(output[-TAIL:], cwd)):
        return ""
    why = _aim(command, cwd, root, profile).why_not
    return f"the sandbox refused the push: {why}" if why else ""


def _opened(end: str, cwd: str, root: str, profile: Profile, command: str) -> list[str]:
    """The repository of this machine that a push wanted to write, if nothing else runs with it."""
    places = _pushed(end, cwd)
    place = _aim(command, cwd, root, profile).place if places else ""
    home = profile.environ.get("HOME", "")
    return [place] if place in places and _may_be_given(place, root, home, profile) else []


def was_refused_a_push(output: str) -> bool:
    """Whether git said that a repository cannot be written; in which one is looked for on disk."""
    return bool(_UNPACKED.search(output[-TAIL:]))


def _pushed(end: str, cwd: str) -> list[str]:
    """The repositories of this machine that a push could not write, as far as git names them."""
    if not _UNPACKED.search(end):
        return []
    from steersman.operations.running.pushing import repository_at

    places = (repository_at(os.path.join(cwd, named)) for named in _PUSHED.findall(end))
    return [one for one in places if one]


def _aim(command: str, cwd: str, root: str, profile: Profile) -> "Aim":
    from steersman.operations.running.pushing import aim

    return aim(command, cwd, profile.environ, root)


def _fits(place: str, root: str, home: str, profile: Profile) -> bool:
    """Whether a person can be asked to let a command write there: one file, or one new name."""
    if not _may_be_given(place, root, home, profile) or _of_a_repository(place):
        return False
    if os.path.lexists(place):
        return os.path.isfile(place) and os.access(place, os.W_OK)
    folder = os.path.dirname(place)
    return os.path.isdir(folder) and os.access(folder, os.W_OK)


def _of_a_repository(place: str) -> bool:
    """Whether git keeps a file: a repository is not given in pieces, and whole to a push alone."""
    from steersman.operations.running.pushing import repository_at

    while place != (place := os.path.dirname(place)):
        if repository_at(place) == place:
            return True
    return False


def _may_be_given(place: str, root: str, home: str, profile: Profile) -> bool:
    """Whether a place is outside the workspace, holds nothing of ours, and is not hidden."""
    if any(holds(place, one) for one in (root, home) if one) or holds(root, place):
        return False
    if replaced(place, root) or any(
        holds(one, place) for one in ("/sys", *profile.hidden, *profile.writable)
    ):
        return False
    return not any(holds(place, one) for one in profile.hidden) and place not in profile.given


def listening(port: int) -> bool:
    """Whether a program of this machine listens on a port; nothing is sent to find out."""
    wanted = f":{port:04X}"
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        try:
            with open(table, encoding="ascii") as lines:
                fields = (line.split() for line in lines)
                if any(len(f) > 3 and f[1].endswith(wanted) and f[3] == _LISTENS for f in fields):
                    return True
        except OSError:
            continue
    return False


def put_in_place(paths: Sequence[str], made: dict[str, int]) -> None:
    """Make the files that are not there, so that a sandbox can show them; note when each was."""
    for path in paths:
        try:
            descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o644)
        except OSError:
            continue
        made[path] = os.fstat(descriptor).st_ctime_ns
        os.close(descriptor)


def take_away(made: Mapping[str, int]) -> None:
    """Remove files that were put in place and that nobody has touched."""
    for path, when in made.items():
        with suppress(OSError):
            if os.lstat(path).st_ctime_ns == when:
                os.unlink(path)
