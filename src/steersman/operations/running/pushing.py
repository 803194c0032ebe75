"""Where a plain `git push` goes, so that approving it opens exactly that and nothing else.

A repository on this machine can be written from inside the sandbox; its hooks and settings stay
read-only there. Any other needs the user's keys, which no sandbox shows.
"""

import os
import re
import shlex
from collections.abc import Mapping

from msgspec import Struct

from steersman.operations.running.git_answers import answer
from steersman.store.redactor import Redactor

_PLAIN = re.compile(r"git push(?: [\w@%+=:,./~^-]+)*")
_FLAGS = frozenset({
    "-u", "--set-upstream", "--tags", "--follow-tags", "-q", "--quiet", "-v", "--verbose",
    "--progress", "--porcelain", "-f", "--force", "--force-with-lease", "--force-if-includes",
    "--atomic", "-d", "--delete", "--no-verify", "--all", "--branches", "-4", "-6", "--ipv4",
    "--ipv6", "--thin", "--no-thin",
})  # fmt: skip
_ELSEWHERE = re.compile(r"(?:ssh|git\+ssh|https?)://|(?:[\w.-]+@)?[\w.-]+:(?!:)")
_CREDENTIALS = re.compile(r"(?<=://)[^/@\s]*@")
_RUN = ("hooks", "config", "info")  # what git runs or takes settings from
_PARTS = ("HEAD", "objects", "refs", *_RUN)


class Destination(Struct, frozen=True):
    """The folder of a repository here that a push writes, or the address of one elsewhere."""

    folder: str = ""
    address: str = ""


def destination(command: str, cwd: str, environ: Mapping[str, str]) -> Destination | None:
    """Where a command pushes to; None for any other command, and where nobody can tell."""
    named = remote_of(command)
    if named is None:
        return None
    if not named:
        remotes = (answer(cwd, environ, "remote") or b"").decode("utf-8", "replace").split()
        if len(remotes) != 1:
            return None
        (named,) = remotes
    said = answer(cwd, environ, "remote", "get-url", "--push", "--all", "--", named)
    urls = (said or os.fsencode(named)).decode("utf-8", "replace").splitlines()
    top = answer(cwd, environ, "rev-parse", "--show-toplevel")
    if len(urls) != 1 or top is None:
        return None
    place = urls[0].removeprefix("file://")
    if folder := repository_at(os.path.join(os.fsdecode(top.strip()), place)):
        return Destination(folder=folder)
    if not _ELSEWHERE.match(urls[0]):
        return None
    return Destination(address=Redactor().text(_CREDENTIALS.sub("", urls[0])))


def remote_of(command: str) -> str | None:
    """The remote that a plain push names, empty for the usual one; None for other commands. Pure.

    Plain is one command without anything that a shell expands, and without options that run
    a program or name another repository.
    """
    if not _PLAIN.fullmatch(command.strip()):
        return None
    words = shlex.split(command)[2:]
    flags = [word.partition("=")[0] for word in words if word.startswith("-")]
    if not _FLAGS.issuperset(flags):
        return None
    return next((word for word in words if not word.startswith("-")), "")


def repository_at(place: str) -> str:
    """The folder that a push to a place writes; empty where no whole repository is."""
    for top in (place, os.path.join(place, ".git")):
        if all(os.path.lexists(os.path.join(top, name)) for name in _PARTS):
            return os.path.realpath(top)
    return ""


def pins(folder: str) -> list[str]:
    """Words that keep read-only, in a repository that may be written, what git would run."""
    if repository_at(folder) != folder:
        return []
    places = [os.path.join(folder, name) for name in _RUN]
    return [word for place in places for word in ("--ro-bind", place, place)]
