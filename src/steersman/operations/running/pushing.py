"""The repository of this machine that a plain `git push` is for: approving it opens exactly that.

What git keeps of commits and branches in that repository can then be written from inside the
sandbox; its hooks and settings, and whatever else git follows in it, stay read-only. Whatever runs
with the push could destroy that repository, so nothing may: no hook on either side, and no other
command. How it is run then is in `push_line.py`. A push to another machine needs the user's keys,
which no sandbox shows: it is not given anything here.
"""

import os
import re
import shlex
from collections.abc import Collection, Mapping
from functools import partial

from msgspec import Struct

from steersman.operations.running.disk import holds
from steersman.operations.running.git_answers import answer
from steersman.operations.running.push_settings import Ask, usual
from steersman.records.push_words import read_push

ALONE = (
    "a repository on this machine is opened only to a push that is a command of its own; run "
    "everything else first, then the push alone, as in `git push origin main`"
)
_PLAIN = re.compile(r"git push(?: (?!~[^/ ])[\w@%+=:,./~^-]+)*")
_OPTIONS = frozenset({
    "set-upstream", "tags", "follow-tags", "quiet", "verbose", "progress", "porcelain", "force",
    "force-with-lease", "force-if-includes", "atomic", "delete", "no-verify", "all", "ipv4", "ipv6",
    "thin", "no-thin",
})  # fmt: skip
_SENDING = frozenset({"pre-push", "reference-transaction"})
_RECEIVING = frozenset({
    "pre-receive", "update", "proc-receive", "post-receive", "post-update", "push-to-checkout",
    "reference-transaction",
})  # fmt: skip
# Settings that git follows in a push and no option turns off, or that must be known.
_FOLLOWED = (
    r"^(core\.hookspath|hook\..*\.command|extensions\.partialclone|remote\..*\.promisor"
    r"|receive\.denycurrentbranch)$"
)
_HARMLESS = frozenset({"ignore", "warn", "false"})
_WRITTEN = ("objects", "refs", "logs")
_PARTS = ("HEAD", "objects", "refs", "hooks", "config", "info")


class Aim(Struct, frozen=True):
    """Where a push goes: the repository that may be opened for it, or why none is.

    `checked_out` is what git does there when the branch is the current one.
    """

    place: str = ""
    why_not: str = ""
    checked_out: str = "refuse"


def aim(command: str, cwd: str, environ: Mapping[str, str], workspace: str) -> Aim:
    """Where a command pushes to on this machine; nothing where that is not known."""
    named = remote_of(command)
    if named is None:
        return Aim(why_not=ALONE)
    ask = partial(answer, cwd, environ, workspace=workspace)
    named = at_home(named, environ) or usual(ask)
    place = _target(named, ask) if named else ""
    if not place or holds(workspace, place):
        return Aim()
    return _checked(place, cwd, ask)


def _target(named: str, ask: Ask) -> str:
    """The repository that a remote or a path leads to; empty for none of this machine."""
    said = ask("remote", "get-url", "--push", "--all", "--", named)
    urls = (said or os.fsencode(named)).decode("utf-8", "replace").splitlines()
    top = ask("rev-parse", "--show-toplevel")
    if len(urls) != 1 or top is None:
        return ""
    place = urls[0].removeprefix("file://")
    return repository_at(os.path.join(os.fsdecode(top.strip()), place))


def _checked(place: str, cwd: str, ask: Ask) -> Aim:
    """A repository, unless git would run a program of either side's that nothing turns off."""
    tops = ask("rev-parse", "--show-toplevel", "--git-common-dir")
    own = _followed(ask)
    theirs = _followed(ask, f"--git-dir={place}")
    if tops is None or own is None or theirs is None:
        return Aim(why_not="git cannot read the settings of both repositories")
    top, inner = map(os.fsdecode, tops.splitlines())
    why = _would_run(own, top, os.path.join(cwd, inner), _SENDING) or _would_run(
        theirs, place, place, _RECEIVING
    )
    if why:
        return Aim(why_not=f"{why}, and code that runs with a push could change {place}")
    said = [value for key, value in theirs if key == "receive.denycurrentbranch"]
    return Aim(place, checked_out=next((one for one in said[-1:] if one in _HARMLESS), "refuse"))


def _followed(ask: Ask, *which: str) -> list[tuple[str, str]] | None:
    """The settings of a repository that matter here, without the last path of hooks: ours."""
    asked = ("config", "--null", "--type=path", "--get-regexp", _FOLLOWED)
    said = ask(*which, *asked)
    if said is None:
        return None
    pairs = (os.fsdecode(one).partition("\n") for one in said.split(b"\0") if one)
    return [(key, value) for key, _, value in pairs][:-1]


def _would_run(
    followed: Collection[tuple[str, str]], top: str, inner: str, hooks: Collection[str]
) -> str:
    """What git would run that may be anything; empty if nothing."""
    folders = [os.path.join(top, value) for key, value in followed if key == "core.hookspath"]
    folder = folders[-1] if folders else os.path.join(inner, "hooks")
    found = sorted(name for name in hooks if os.path.lexists(os.path.join(folder, name)))
    if found:
        return f"git would run the hook {os.path.join(folder, found[0])}"
    for key, _ in followed:
        if key.startswith("hook."):
            return f"git would run what the setting {key} names"
        if key == "extensions.partialclone" or key.endswith(".promisor"):
            return f"git would fetch objects for the partial clone {top}"
    return ""


def at_home(word: str, environ: Mapping[str, str]) -> str:
    """A word as a shell reads it: `~` is the home folder."""
    home = environ.get("HOME", "")
    return home + word[1:] if home and (word == "~" or word.startswith("~/")) else word


def remote_of(command: str) -> str | None:
    """The remote that a plain push names, empty for the usual one; None for other commands. Pure.

    Plain is a command that does nothing else, without anything that a shell expands but a home
    folder, and without options that run a program or name another repository.
    """
    words = words_of(command)
    return None if words is None else read_push(words).remote


def deleted_by(command: str) -> list[str]:
    """The branches and tags that a plain push deletes, as it names them. Pure."""
    push = read_push(words_of(command) or ())
    names = list(push.specs)
    if not push.has("delete"):
        names = [name.lstrip("+")[1:] for name in names if name.lstrip("+").startswith(":")]
    return [name for name in names if name]


def words_of(command: str) -> list[str] | None:
    """What follows `git push` in a plain push; None for other commands."""
    if not _PLAIN.fullmatch(command.strip()):
        return None
    words = shlex.split(command)[2:]
    push = read_push(words)
    return words if not push.unknown and push.names() <= _OPTIONS else None


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
