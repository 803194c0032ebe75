"""What a push really does: git's settings decide which branches go where, by force or not.

The line may say no more than `git push`. The user reads what is meant by it, and where settings
add something, the guard judges the line with that written out.
"""

import os
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from urllib.parse import urlsplit

from msgspec import Struct, structs

from steersman.operations.running.git_answers import answer
from steersman.operations.running.push_places import ABOUT_PUSHES, Found, only_of_git, pushes
from steersman.records.addresses import canonical_host
from steersman.records.push_words import PushWords

_ONLY_GIT = re.compile(r"\s*git\s[^;&|\n()<>`$]*(?:(?:&&|;|\n)\s*git\s[^;&|\n()<>`$]*)*")
_EVERYTHING = ("all", "tags", "mirror")
# The path of hooks is always set, by the one who asks: so an answer is never empty.
_SETTINGS = rf"^(core\.hookspath|{ABOUT_PUSHES})$"
_PORTS = {"https": 443, "http": 80, "ssh": 22, "git+ssh": 22, "ssh+git": 22, "git": 9418}
_OVER_SSH = re.compile(r"(?:[^/@:]+@)?(\[[^\]]+\]|[^/:\[\]]+):(?!:|//)")
_MOST = 5  # branches that a person reads at a glance

Ask = Callable[..., bytes | None]  # what git answers to a question
Pairs = Sequence[tuple[str, str]]


class Meant(Struct, frozen=True):
    """What the pushes of a command do, for a person.

    `line` is the command with what settings add to it written out, empty where they add nothing;
    `hosts` are those that it reaches, as `host:port`, if it is made of git commands alone.
    """

    told: tuple[str, ...] = ()
    line: str = ""
    hosts: tuple[str, ...] = ()


class _Push(Struct, frozen=True):
    """One push as git understands it: what its settings `add`, where it goes, and which branches.

    `why_not` says why that is not known.
    """

    words: PushWords
    remote: str
    specs: tuple[str, ...]
    added: tuple[str, ...] = ()
    by_settings: bool = False
    why_not: str = ""

    def has(self, *names: str) -> bool:
        """Whether one of these options is on, by its words or by a setting."""
        return self.words.has(*names) or any(f"--{name}" in self.added for name in names)


def meant(command: str, cwd: str, environ: Mapping[str, str], workspace: str) -> Meant:
    """What a command pushes; nothing where it does not, or git does not answer."""
    told, hosts, line, end, unknown = [], [], "", 0, False
    for found in pushes(command, cwd, environ.get("HOME", "")):
        ask = partial(answer, found.folder, environ, *found.given, workspace=workspace)
        push = _read(found, ask)
        if push is None:
            continue
        if push.why_not:
            told.append(f"what it pushes is not known beforehand: {push.why_not}")
            unknown = True
            continue
        addresses, written = _addresses(push.remote, ask)
        told.append(_sentence(push, addresses, written, bool(found.given)))
        hosts += [host for one in addresses if (host := host_at(one))]
        if push.by_settings:
            line += f"{command[end : found.start]}{_spelled(push)} "
            end = found.end
    line = line + command[end:] if line else ""
    alone = _ONLY_GIT.fullmatch(command) and only_of_git(command, environ.get("HOME", ""))
    covered = hosts if alone and not unknown else []
    return Meant(tuple(told), line.strip(), tuple(dict.fromkeys(covered)))


def settings(ask: Ask) -> Pairs | None:
    """What is set about pushes, wherever it is; None without a repository."""
    said = ask("config", "--null", "--get-regexp", _SETTINGS)
    if said is None:
        return None
    pairs = (os.fsdecode(one).partition("\n") for one in said.split(b"\0") if one)
    return [(key, value if there else "true") for key, there, value in pairs]


def _last(pairs: Pairs, key: str) -> str:
    return next((value for name, value in reversed(pairs) if name == key), "")


def _on(value: str) -> bool:
    return value.lower() not in ("", "false", "no", "off", "0")


def usual_remote(pairs: Pairs, branch: str, remotes: Sequence[str]) -> str:
    """The remote that git takes where none is named. Pure."""
    return (
        _last(pairs, f"branch.{branch}.pushremote")
        or _last(pairs, "remote.pushdefault")
        or _last(pairs, f"branch.{branch}.remote")
        or (remotes[0] if len(remotes) == 1 else "origin")
    )


def usual(ask: Ask) -> str:
    """The remote that git takes where none is named; empty where that is not one of a name."""
    remotes = _lines(ask("remote"))
    chosen = usual_remote(settings(ask) or (), _branch(ask), remotes)
    return chosen if chosen in remotes else ""


def _branch(ask: Ask) -> str:
    """The current branch; empty where there is none."""
    return "".join(_lines(ask("symbolic-ref", "-q", "--short", "HEAD")))


def _lines(said: bytes | None) -> list[str]:
    return (said or b"").decode("utf-8", "replace").splitlines()


def _read(found: Found, ask: Ask) -> _Push | None:
    """A push as git understands it; None without a repository."""
    if found.why_not:
        return _Push(found.words, "", (), why_not=found.why_not)
    pairs = settings(ask)
    if pairs is None:
        return None
    push = understood(found.words, pairs, _branch(ask), _lines(ask("remote")))
    file = _old_file(push.remote, found.folder, ask)
    return structs.replace(push, why_not=f"{file} says so") if file else push


def _old_file(remote: str, folder: str, ask: Ask) -> str:
    """The file in which old versions of git kept a remote, and which git still follows."""
    if not remote or "/" in remote or remote in (".", ".."):  # git takes that for an address
        return ""
    for kind in ("remotes", "branches"):
        said = ask("rev-parse", "--git-path", f"{kind}/{remote}")
        path = os.fsdecode((said or b"").removesuffix(b"\n"))
        if path and os.path.lexists(os.path.join(folder, path)):
            return f".git/{kind}/{remote}"
    return ""


def understood(words: PushWords, pairs: Pairs, branch: str, remotes: Sequence[str]) -> _Push:
    """A push as git understands it, by its words and its settings. Pure."""
    remote, own = words.remote or usual_remote(pairs, branch, remotes), words.specs
    if why := _beyond(words, pairs):
        return _Push(words, remote, own, why_not=why)
    added: tuple[str, ...] = ()
    receiver = _last(pairs, f"remote.{remote}.receivepack")
    if receiver and not words.all("receive-pack"):
        added = (f"--receive-pack={receiver}",)
    if _on(_last(pairs, f"remote.{remote}.mirror")) and not words.has("mirror"):
        return _Push(words, remote, own, (*added, "--mirror"), by_settings=True)
    every = words.has(*_EVERYTHING)
    plain = own or (() if every else (branch,) if branch else ())
    specs = _specs(own, plain, pairs, branch, remote)
    if words.has("delete") or (not own and every):
        specs = plain
    if _on(_last(pairs, "push.followtags")) and not words.names() & {
        "follow-tags", "no-follow-tags", "tags",
    }:  # fmt: skip
        added = (*added, "--follow-tags")
    return _Push(words, remote, specs, added, by_settings=bool(added) or specs != plain)


def _beyond(words: PushWords, pairs: Pairs) -> str:
    """Why a push does more than can be read here; empty if it does not."""
    if words.unknown:
        return f"`{words.unknown[0]}` is no option of a push that is known"
    said = [value for name, value in words.options if name == "recurse-submodules"]
    modules = "no" if "no-recurse-submodules" in words.names() else (said or [""])[-1]
    modules = modules or _last(pairs, "push.recursesubmodules")
    if modules in ("on-demand", "only") or (not modules and _on(_last(pairs, "submodule.recurse"))):
        return "submodules are pushed with it"
    return ""


def _specs(
    own: Sequence[str], plain: tuple[str, ...], pairs: Pairs, branch: str, remote: str
) -> tuple[str, ...]:
    """Which branches go, and to which: a setting answers what the line leaves open."""
    configured = [value for key, value in pairs if key == f"remote.{remote}.push"]
    default = _last(pairs, "push.default").lower()
    if not own and configured:
        return tuple(configured)
    if not own and default == "matching":
        return (":",)
    follows = default in ("upstream", "tracking")
    return tuple(_mapped(one, configured, pairs if follows else (), remote) for one in plain)


def _mapped(spec: str, configured: Sequence[str], upstream: Pairs, remote: str) -> str:
    """One branch of a line that does not say where it goes, with what a setting says of that."""
    if ":" in spec or spec.startswith(("+", "^")):
        return spec
    full = spec if spec.startswith("refs/") or spec == "HEAD" else f"refs/heads/{spec}"
    for one in configured:
        source, _, target = one.lstrip("+").partition(":")
        start, star, end = source.partition("*")
        fits = full == source or (star and full.startswith(start) and full.endswith(end))
        if fits and target:
            middle = full[len(start) : len(full) - len(end)]
            return f"{'+' * one.startswith('+')}{spec}:{target.replace('*', middle, 1)}"
    merge = _last(upstream, f"branch.{_short(full)}.merge")
    same = _last(upstream, f"branch.{_short(full)}.remote") == remote
    return f"{spec}:{merge}" if merge and same and merge != full else spec


def _spelled(push: _Push) -> str:
    """The push as words, with nothing left to settings; one force for all has a safer form."""
    flags, specs = (*push.words.flags, *push.added), push.specs
    if "--mirror" in push.added:
        return shlex.join(["push", *flags, push.remote])
    if specs and all(one.startswith("+") for one in specs):
        flags, specs = (*flags, "--force"), tuple(one[1:] for one in specs)
    return shlex.join(["push", *flags, push.remote, *specs])


def _addresses(remote: str, ask: Ask) -> tuple[list[str], list[str]]:
    """Where a push goes, and what was written for it before settings replaced a part of it."""
    said, pairs = ask("remote", "get-url", "--push", "--all", "--", remote), settings(ask) or ()
    if said is None:  # an address
        return [_replaced(remote, pairs)], [remote]
    urls = [value for key, value in pairs if key == f"remote.{remote}.url"]
    return _lines(said), [
        value for key, value in pairs if key == f"remote.{remote}.pushurl"
    ] or urls


def _replaced(address: str, pairs: Pairs) -> str:
    """An address as settings replace its beginning, the longest that is named. Pure."""
    for ending in (".pushinsteadof", ".insteadof"):
        fits = [
            (value, key)
            for key, value in pairs
            if key.startswith("url.") and key.endswith(ending) and address.startswith(value)
        ]
        if fits:
            value, key = max(fits, key=lambda one: len(one[0]))
            return key[len("url.") : -len(ending)] + address[len(value) :]
    return address


def host_at(address: str) -> str:
    """The `host:port` of a repository's address; empty for one of this machine's folders. Pure."""
    try:
        parts = urlsplit(address)
        if parts.scheme in _PORTS and parts.hostname:
            host = canonical_host(parts.hostname)
            return f"{host}:{parts.port or _PORTS[parts.scheme]}" if host else ""
    except ValueError:
        return ""
    over_ssh = _OVER_SSH.match(address) if "://" not in address else None
    host = canonical_host(over_ssh[1].strip("[]")) if over_ssh else ""
    return f"{host}:22" if host else ""


def _sentence(push: _Push, addresses: Sequence[str], written: Sequence[str], given: bool) -> str:
    """What a push does and where, for a person; settings may be `given` in the line."""
    where = " and ".join(map(_shown, addresses))
    if set(addresses) != set(written):
        where += f" (set to replace {' and '.join(map(_shown, written)) or push.remote})"
    does = list(_doings(push))
    more = f" and {len(does) - _MOST} more" if len(does) > _MOST else ""
    why = f" (set {'with `-c` and ' if given else ''}in the repository's config)"
    told = f"{', '.join(does[:_MOST])}{more}{why if push.by_settings else ''}"
    return f"on {where}, this would {told}"


def _shown(address: str) -> str:
    """An address without the password that may be in it."""
    return re.sub(r"(?<=://)[^/@]*:[^/@]*@", "", address)


def _doings(push: _Push) -> Iterator[str]:
    """What a push does, the gravest first."""
    named = [one.partition("=")[2] for one in push.added if one.startswith("--receive-pack=")]
    for program in push.words.all("receive-pack") or named:
        yield f"run `{program}` to receive it"
    if push.has("mirror"):
        yield "overwrite every branch and tag and delete those that are not here (a mirror)"
        return
    if push.has("prune"):
        yield "delete branches that are not here"
    force = push.has("force", "force-with-lease")
    for spec in push.specs:
        source, colon, target = spec.lstrip("+").partition(":")
        verb = "force-push" if force or spec.startswith("+") else "push"
        if push.has("delete") or (colon and target and not source):
            yield f"delete `{_short(target or source)}`"
        elif colon and not source:
            yield f"{verb} every branch that is there as well"
        elif not colon or _short(source) == _short(target):
            yield f"{verb} `{_short(source)}`"
        else:
            yield f"{verb} `{_short(source)}` to `{_short(target)}`"
    verb = "force-push" if force else "push"
    for flag, what in (("all", "every branch"), ("tags", "every tag"), ("follow-tags", "its tags")):
        if push.has(flag):
            yield f"{verb} {what}"
    if not push.specs and not push.has(*_EVERYTHING, "follow-tags"):
        yield "push nothing that is known here"


def _short(name: str) -> str:
    return name.removeprefix("refs/heads/")
