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

from msgspec import Struct

from steersman.operations.running.git_answers import answer
from steersman.records.addresses import canonical_host

_LINE = re.compile(
    r"(?<![\w./-])git(?P<before>(?:\s+-C\s+\S+|\s+-c\s+\S+|\s+--?\w[\w=./-]*)*)\s+push\b"
    r"(?P<words>[^\n;&|()<>`]*)"
)
_MOVED = re.compile(r"(?:^|[;&\n])\s*cd\s+(\S+)\s*(?=&&|;|\n)")
_ONLY_GIT = re.compile(r"\s*git\s[^;&|\n()<>`$]*(?:(?:&&|;|\n)\s*git\s[^;&|\n()<>`$]*)*")
_TAKES_VALUE = frozenset({"-o", "--push-option", "--receive-pack", "--exec", "--repo"})
_EVERYTHING = frozenset({"--all", "--branches", "--tags", "--mirror"})
# The path of hooks is always set, by the one who asks: so an answer is never empty.
_SETTINGS = (
    r"^(core\.hookspath|push\.(default|followtags)|remote\.pushdefault"
    r"|remote\..*\.(push|mirror|url|pushurl)|branch\..*\.(merge|remote|pushremote)"
    r"|url\..*\.(push)?insteadof)$"
)
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
    """One push: its options, its remote, the branches as git reads them, and who says so."""

    flags: tuple[str, ...]
    remote: str
    specs: tuple[str, ...]
    by_settings: bool = False


def meant(command: str, cwd: str, environ: Mapping[str, str], workspace: str) -> Meant:
    """What a command pushes; nothing where it does not, or git does not answer."""
    told, hosts, line, end = [], [], "", 0
    for found in _LINE.finditer(command):
        folder = _folder(command[: found.start()], found["before"], cwd)
        ask = partial(answer, folder, environ, workspace=workspace)
        push = _read(_words(found["words"]), ask)
        if push is None:
            continue
        addresses, written = _addresses(push.remote, ask)
        told.append(_sentence(push, addresses, written))
        hosts += [host for one in addresses if (host := host_at(one))]
        if push.by_settings:
            line += command[end : found.start()] + f"git{found['before']} {_spelled(push)} "
            end = found.end()
    line = line + command[end:] if line else ""
    covered = hosts if _ONLY_GIT.fullmatch(command) else []
    return Meant(tuple(told), line.strip(), tuple(dict.fromkeys(covered)))


def _folder(before: str, options: str, cwd: str) -> str:
    """Where a push looks for its repository: after `cd` and `-C`, as far as those are plain."""
    moves = [*_MOVED.findall(before), *re.findall(r"\s-C\s+(\S+)", options)]
    for one in moves:
        cwd = os.path.join(cwd, os.path.expanduser(one.strip("'\"")))
    return cwd


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


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


def _read(words: Sequence[str], ask: Ask) -> _Push | None:
    """A push as git understands it; None without a repository."""
    pairs = settings(ask)
    if pairs is None:
        return None
    return understood(words, pairs, _branch(ask), _lines(ask("remote")))


def understood(words: Sequence[str], pairs: Pairs, branch: str, remotes: Sequence[str]) -> _Push:
    """A push as git understands it, by its words and its settings. Pure."""
    flags, names = _parted(words)
    repo = next((one.partition("=")[2] for one in flags if one.startswith("--repo=")), "")
    remote = names[0] if names else repo or usual_remote(pairs, branch, remotes)
    own = tuple(names[1:])
    asked_for = {one.partition("=")[0] for one in flags}
    if _on(_last(pairs, f"remote.{remote}.mirror")) and "--mirror" not in asked_for:
        return _Push((*flags, "--mirror"), remote, own, by_settings=True)
    plain = own or (() if asked_for & _EVERYTHING else (branch,) if branch else ())
    specs = _specs(own, plain, pairs, branch, remote)
    if asked_for & {"-d", "--delete"} or (not own and asked_for & _EVERYTHING):
        specs = plain
    extra: tuple[str, ...] = ()
    if _on(_last(pairs, "push.followtags")) and not asked_for & {
        "--follow-tags", "--no-follow-tags", "--tags",
    }:  # fmt: skip
        extra = ("--follow-tags",)
    return _Push((*flags, *extra), remote, specs, by_settings=bool(extra) or specs != plain)


def _parted(words: Sequence[str]) -> tuple[tuple[str, ...], list[str]]:
    """The options of a push, a value with its option, and its other words."""
    flags, names, left = [], [], iter(words)
    for word in left:
        if word in _TAKES_VALUE:
            flags.append(f"{word}={next(left, '')}")
        elif word.startswith("-") and word != "--":
            flags.append(word)
        elif word != "--":
            names.append(word)
    return tuple(flags), names


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
    """The push as a line that leaves nothing to settings; one force for all has a safer form."""
    flags, specs = push.flags, push.specs
    if "--mirror" in flags:
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


def _sentence(push: _Push, addresses: Sequence[str], written: Sequence[str]) -> str:
    """What a push does and where, for a person."""
    where = " and ".join(map(_shown, addresses))
    if set(addresses) != set(written):
        where += f" (set to replace {' and '.join(map(_shown, written)) or push.remote})"
    does = list(_doings(push))
    more = f" and {len(does) - _MOST} more" if len(does) > _MOST else ""
    why = ", as the repository's settings say" if push.by_settings else ""
    return f"on {where} it would {', '.join(does[:_MOST])}{more}{why}"


def _shown(address: str) -> str:
    """An address without the password that may be in it."""
    return re.sub(r"(?<=://)[^/@]*:[^/@]*@", "", address)


def _doings(push: _Push) -> Iterator[str]:
    flags = {one.partition("=")[0] for one in push.flags}
    if "--mirror" in flags:
        yield "overwrite every branch and tag and delete those that are not here (a mirror)"
        return
    force = bool(flags & {"-f", "--force", "--force-with-lease"})
    for spec in push.specs:
        source, colon, target = spec.lstrip("+").partition(":")
        verb = "force" if force or spec.startswith("+") else "push"
        if flags & {"-d", "--delete"} or (colon and target and not source):
            yield f"delete `{_short(target or source)}`"
        elif colon and not source:
            yield f"{verb} every branch that is there as well"
        elif not colon or _short(source) == _short(target):
            yield f"{verb} `{_short(source)}`"
        else:
            yield f"{verb} `{_short(source)}` to `{_short(target)}`"
    verb = "force" if force else "push"
    for flag, what in (("--all", "every branch"), ("--branches", "every branch"),
                       ("--tags", "every tag"), ("--follow-tags", "its tags")):  # fmt: skip
        if flag in flags:
            yield f"{verb} {what}"
    if not push.specs and not flags & (_EVERYTHING | {"--follow-tags"}):
        yield "push nothing that is known here"


def _short(name: str) -> str:
    return name.removeprefix("refs/heads/")
