"""How far each command is confined: what it sees, changes and reaches, by mode and trust."""

import os
import shutil
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Literal, Protocol

from steersman.governance import modes
from steersman.governance.environment import cache_environ
from steersman.governance.policy import Circumstances
from steersman.governance.registries import registries
from steersman.records.action import Execute
from steersman.records.judgement import Judgement
from steersman.records.mcp_server import Bounds
from steersman.records.profile import Profile
from steersman.records.protection import inside
from steersman.records.real_paths import real_path


def _words(name: str) -> frozenset[str]:
    lines = Path(__file__).with_name(name).read_text("utf-8").splitlines()
    return frozenset(word for line in lines if not line.startswith("#") for word in line.split())


_LOCAL = _words("local_programs.txt")
_LOCAL_GIT = [[name] for name in ("add", "blame", "branch", "commit", "diff", "log", "mv",
                                  "rev-parse", "rm", "show", "stash", "status", "tag")]  # fmt: skip

_PASSING = "/tmp/cache"  # in a folder of the command's own, gone when it ends


@cache
def _private() -> tuple[str, ...]:
    """What is private in a home folder, in the order of names."""
    return tuple(sorted(_words("private_places.txt")))


def private_places(home: str, state: Sequence[str]) -> tuple[str, ...]:
    """What nobody but the user reads: places of their home folder, and the host's own folders."""
    return (*(os.path.join(home, name) for name in _private() if home), *state)


class Confines(Protocol):
    """Says how far commands of a workspace are confined."""

    def profile(
        self,
        action: Execute,
        where: Circumstances,
        judgement: Judgement | None,
        secrets: Sequence[str],
    ) -> Profile:
        """What this command may see, change and reach."""
        ...

    def brought_along(
        self, action: Execute, judgement: Judgement | None, workspace: str
    ) -> tuple[str, ...]:
        """What to tell of a command that wants out: programs of the workspace."""
        ...


class Confinement:
    """Makes the profile of each command of one workspace.

    `state` are the host's own folders, `cache` is where commands may keep what they fetched,
    `sockets` what the user lets them connect to.
    """

    def __init__(
        self,
        environ: Mapping[str, str],
        *,
        home: str,
        state: Sequence[str],
        cache: str,
        domains: Sequence[str] = (),
        sockets: Sequence[str] = (),
    ) -> None:
        self._environ = environ
        self._domains = domains
        self._sockets = sockets
        self._home = home
        self._cache = cache
        self._private = private_places(home, state)

    def profile(
        self,
        action: Execute,
        where: Circumstances,
        judgement: Judgement | None,
        secrets: Sequence[str],
    ) -> Profile:
        """What this command may see, change and reach."""
        looks_only = modes.looks_only(where.mode)
        free = action.outside or where.trust == "untrusted" or where.containment == "none"
        if free and not looks_only:
            guarded = where.trust != "untrusted"
            return Profile(sandbox=False, network="host", environ=self._environ, guarded=guarded)
        # What only looks leaves nothing behind, not even what package managers fetched or made.
        cache = _PASSING if looks_only else self._cache
        out = not looks_only and _may_reach_out(judgement)
        place = (action.cwd, where.workspace, self._environ, _LOCAL)
        sources = registries(judgement if out else None, *place)
        hidden = self._hidden(where.workspace, secrets)
        paths, hosts = ((), ()) if looks_only else _opened(where.answers)
        writes = (*action.writes, *(path for path in paths if os.path.isfile(path)))
        return Profile(
            files="read" if looks_only else "write",
            writable=() if looks_only else (cache,),
            granted=tuple(path for path in writes if not _meets(path, hidden)),
            given=tuple(path for path in action.writes if not _meets(path, hidden)),
            hidden=hidden,
            network=_network(action, out=out, looks_only=looks_only),
            registries=sources,
            nearby=tuple(dict.fromkeys((*_nearby((*self._domains, *hosts)), *action.reaches))),
            reaches=action.reaches,
            sockets=() if looks_only else self._named(where.workspace),
            environ={**self._environ, **cache_environ(cache)},
        )

    def beside(self, workspace: str, secrets: Sequence[str]) -> Profile:
        """What a program of the host's own may see, which only looks and reaches nobody."""
        return Profile(files="read", hidden=self._hidden(workspace, secrets))

    def _named(self, workspace: str) -> tuple[str, ...]:
        """The sockets that the user named, unless a link of the workspace leads there."""
        found = []
        for name in self._sockets:
            if name.startswith("~/") and self._home:
                name = os.path.join(self._home, name[2:])
            path = os.path.normpath(os.path.join(workspace, name))
            real = os.path.realpath(path)
            if path == real or not (inside(path, workspace) or inside(real, workspace)):
                found.append(real)
        return tuple(found)

    def server(
        self, workspace: str, secrets: Sequence[str], bounds: Bounds, programs: Sequence[str]
    ) -> Profile:
        """What an MCP server may see, change and reach in a sandbox: little of the home folder.

        `programs` are what it is started with. Raises where its bounds ask for what nobody gets.
        """
        from steersman.governance.grants import check_readable, check_writable, located

        home = self._home if not inside(self._home, workspace) and self._home != "/" else ""
        write = [located(path, workspace, self._home) for path in bounds.write]
        read = [located(path, workspace, self._home) for path in bounds.read]
        private = [os.path.realpath(path) for path in self._private]
        for place in write:
            check_writable(place, workspace, self._home, private, secrets)
        for place in read:
            check_readable(place, workspace, private)
        hidden = self._hidden(workspace, secrets)
        return Profile(
            files="read",
            granted=tuple(write),
            readable=(*read, *_installed(programs, home)),
            hidden=(home, *hidden) if home else hidden,
            network="host" if bounds.network else "door" if bounds.hosts else "none",
        )

    def _hidden(self, workspace: str, secrets: Sequence[str]) -> tuple[str, ...]:
        there = (path for path in (*self._private, *secrets) if os.path.lexists(path))
        found = dict.fromkeys(map(real_path, there))
        return tuple(
            path for path in found if os.path.lexists(path) and not inside(workspace, path)
        )

    def brought_along(
        self, action: Execute, judgement: Judgement | None, workspace: str
    ) -> tuple[str, ...]:
        """What to tell of a command that wants out: programs that it would take from the workspace.

        Commands may have put them there under the names of others.
        """
        if not action.outside or judgement is None:
            return ()
        folders = self._environ.get("PATH", os.defpath).split(os.pathsep)
        way = os.pathsep.join(os.path.join(action.cwd, folder) for folder in folders)
        names = dict.fromkeys(fact.words[0] for fact in judgement.facts if fact.words)
        found = ((name, shutil.which(name, path=way)) for name in names if "/" not in name)
        return tuple(
            f"`{name}` is {place}, a file of the workspace"
            for name, place in found
            if place and (inside(place, workspace) or inside(os.path.realpath(place), workspace))
        )


def _installed(programs: Sequence[str], home: str) -> list[str]:
    """Where programs in a home folder are installed: the folder above their `bin`, no wider."""
    found = []
    for program in (one for path in programs for one in (path, os.path.realpath(path))):
        folder = os.path.dirname(program)
        above = os.path.dirname(folder)
        wide = (home, os.path.join(home, ".local"))
        if home and inside(program, home):
            found.append(program if folder == home else folder if above in wide else above)
    return found


def _opened(answers: object) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Paths and hosts that the user's earlier answers open to every command of the folder."""
    opened = getattr(answers, "opened", None)
    return opened() if opened else ((), ())


def _meets(path: str, hidden: Sequence[str]) -> bool:
    """Whether a path is hidden, or holds what is."""
    real = os.path.realpath(path)
    return path != real or any(inside(real, one) or inside(one, real) for one in hidden)


def _nearby(domains: Sequence[str]) -> tuple[str, ...]:
    if not domains:
        return ()
    from steersman.governance.domains import nearby

    return nearby(domains)


def _network(action: Execute, *, out: bool, looks_only: bool) -> Literal["none", "door", "host"]:
    if action.online and not looks_only:
        return "host"
    return "door" if out or action.reaches else "none"


def _may_reach_out(judgement: Judgement | None) -> bool:
    """False for a command whose every part is known to stay on this machine.

    The way to the network costs some milliseconds, and most commands only look at files.
    """
    if judgement is None or not judgement.plain:
        return True
    return not all(
        fact.words[0] in _LOCAL or (fact.words[0] == "git" and list(fact.words[1:2]) in _LOCAL_GIT)
        for fact in judgement.facts
    )
