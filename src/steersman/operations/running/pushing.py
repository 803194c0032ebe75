"""The repository of this machine that a plain `git push` is for: approving it opens exactly that.

What git keeps of commits and branches in that repository can then be written from inside the
sandbox; its hooks and settings, and whatever else git follows in it, stay read-only. Whatever runs
with the push could destroy that repository, so nothing may: no hook, and beside the push only git
itself. A push to another machine needs the user's keys, which no sandbox shows: it is not given
anything here.
"""

import os
import re
import shlex
from collections.abc import Mapping

from steersman.operations.running.git_answers import answer

_PLAIN = re.compile(r"git push(?: [\w@%+=:,./~^-]+)*")
_FLAGS = frozenset({
    "-u", "--set-upstream", "--tags", "--follow-tags", "-q", "--quiet", "-v", "--verbose",
    "--progress", "--porcelain", "-f", "--force", "--force-with-lease", "--force-if-includes",
    "--atomic", "-d", "--delete", "--no-verify", "--all", "--branches", "-4", "-6", "--ipv4",
    "--ipv6", "--thin", "--no-thin",
})  # fmt: skip
_THEN = re.compile(r"\s*(?:&&|;|\n)\s*")
# What git does without writing elsewhere or running a program, hooks apart.
_BESIDE = re.compile(r"git (?:add|branch|commit|status|tag)(?: [^$`()<>|&\n;]*)?")
# For git while a repository is open to it: no hook, also none that came since the question.
_UNHOOKED = {
    "GIT_CONFIG_COUNT": "1",
    "GIT_CONFIG_KEY_0": "core.hooksPath",
    "GIT_CONFIG_VALUE_0": os.devnull,
}
_WRITTEN = ("objects", "refs", "logs")
_PARTS = ("HEAD", "objects", "refs", "hooks", "config", "info")


def destination(command: str, cwd: str, environ: Mapping[str, str]) -> str:
    """The folder of a repository of this machine that a command pushes to; empty if not known."""
    named = remote_of(command)
    if named is None or _hooks(cwd, environ):
        return ""
    if not named:
        named = _usual(cwd, environ)
    if not named:
        return ""
    said = answer(cwd, environ, "remote", "get-url", "--push", "--all", "--", named)
    urls = (said or os.fsencode(named)).decode("utf-8", "replace").splitlines()
    top = answer(cwd, environ, "rev-parse", "--show-toplevel")
    if len(urls) != 1 or top is None:
        return ""
    place = urls[0].removeprefix("file://")
    return repository_at(os.path.join(os.fsdecode(top.strip()), place))


def unhooked(command: str, environ: Mapping[str, str]) -> Mapping[str, str]:
    """The environment for a command that was given a repository: a plain push runs no hook."""
    return environ if remote_of(command) is None else {**environ, **_UNHOOKED}


def _hooks(cwd: str, environ: Mapping[str, str]) -> bool:
    """Whether git would run a hook, which may run anything in the workspace."""
    named = answer(cwd, environ, "config", "--type=path", "--get-all", "core.hooksPath") or b""
    top = answer(cwd, environ, "rev-parse", "--show-toplevel", "--git-common-dir")
    if top is None:
        return True
    here, own = map(os.fsdecode, top.splitlines())
    # The last one is ours: what we ask git runs no hook.
    paths = [os.path.join(here, os.fsdecode(path)) for path in named.splitlines()[:-1]]
    try:
        names = os.listdir(paths[-1] if paths else os.path.join(cwd, own, "hooks"))
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return any(not name.endswith(".sample") for name in names)


def _usual(cwd: str, environ: Mapping[str, str]) -> str:
    """The remote that git takes where none is named; empty where that is not one of a name."""
    remotes = (answer(cwd, environ, "remote") or b"").decode("utf-8", "replace").split()
    branch = (answer(cwd, environ, "symbolic-ref", "-q", "HEAD") or b"").decode().strip()
    shape = "--format=%(push:remotename)"
    said = answer(cwd, environ, "for-each-ref", shape, branch) if branch else None
    chosen = (said or b"").decode("utf-8", "replace").strip()
    if chosen:
        return chosen if chosen in remotes else ""
    return remotes[0] if len(remotes) == 1 else ""


def remote_of(command: str) -> str | None:
    """The remote that a plain push names, empty for the usual one; None for other commands. Pure.

    Plain is a command without anything that a shell expands, and without options that run
    a program or name another repository. It may be one of several, if git does them all.
    """
    words = _words(command)
    if words is None:
        return None
    return next((word for word in words if not word.startswith("-")), "")


def deleted_by(command: str) -> list[str]:
    """The branches and tags that a plain push deletes, as it names them. Pure."""
    words = _words(command) or []
    _, *names = [word for word in words if not word.startswith("-")] or [""]
    if {"-d", "--delete"}.isdisjoint(words):
        names = [name.lstrip("+")[1:] for name in names if name.lstrip("+").startswith(":")]
    return [name for name in names if name]


def _words(command: str) -> list[str] | None:
    """What follows `git push` in a plain push; None for other commands."""
    parts = _THEN.split(command.strip())
    pushes = [part for part in parts if part.startswith("git push")]
    beside = [part for part in parts if part and part not in pushes]
    if (
        len(pushes) != 1
        or not _PLAIN.fullmatch(pushes[0])
        or not all(map(_BESIDE.fullmatch, beside))
    ):
        return None
    words = shlex.split(pushes[0])[2:]
    flags = [word.partition("=")[0] for word in words if word.startswith("-")]
    return words if _FLAGS.issuperset(flags) else None


def repository_at(place: str) -> str:
    """The folder that a push to a place writes; empty where no whole repository is."""
    for top in (place, os.path.join(place, ".git")):
        if all(os.path.lexists(os.path.join(top, name)) for name in _PARTS):
            return os.path.realpath(top)
    return ""


def written_parts(place: str) -> tuple[str, ...]:
    """What of a place may be written when that is allowed: of a repository, what a push adds."""
    if repository_at(place) != place:
        return (place,)
    parts = (os.path.join(place, name) for name in _WRITTEN)
    return tuple(part for part in parts if os.path.isdir(part) and not os.path.islink(part))


def pins(place: str) -> list[str]:
    """Words that keep read-only what git follows in a repository, and in its objects."""
    if repository_at(place) != place:
        return []
    kept = [os.path.join(place, name) for name in os.listdir(place) if name not in _WRITTEN]
    kept = [path for path in (*kept, os.path.join(place, "objects", "info"))
            if os.path.exists(path) and not os.path.islink(path)]  # fmt: skip
    return [word for path in sorted(kept) for word in ("--ro-bind", path, path)]
