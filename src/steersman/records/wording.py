"""What an action does, in words a person uses: "push branch `fix/x` to `origin`".

Pure. Everything that asks, lists or remembers an action says it with these words; a phrase fits
after "may it" and holds no more than the action or the command's own words say.
"""

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from steersman.records.action import (
    LISTING,
    Action,
    ChangeMany,
    Delete,
    Execute,
    List,
    McpCall,
    Network,
    Read,
    Search,
    Setting,
    SpawnAgent,
    Write,
)
from steersman.records.counting import counted
from steersman.records.patterns import pattern

APPROVAL = " needs your approval"  # ends what a verdict says of something to be asked about
OUTSIDE = "; if necessary, try again with outside_sandbox"  # advice for the model
# What tools say in a note about their own arguments, which people do not give: a part each.
BY_NAME = "its output can be read by that name"
BY_PROCESS = "all {size} can be read with process_id {process}, or later with the artifact"
NEXT_LINES = "next: offset {line}"
MOST = 3  # names in one phrase
LONGEST = 80  # characters of a command or a name in a phrase
_SLOT = pattern(r"\{([^}]*)\}")
_FLAGS = frozenset({
    "-f", "--force", "-u", "--set-upstream", "--tags", "--follow-tags", "--all", "--branches",
    "--mirror", "--no-verify", "-q", "--quiet", "-v", "--verbose", "--progress", "--atomic",
    "--prune", "-d", "--delete", "--porcelain", "--force-if-includes", "--force-with-lease",
})  # fmt: skip
# The two names of a file in the head of its diff.
_IN_DIFF = pattern(
    r"(?:---|Binary files) (?:a/(.+)|/dev/null)(?:\n\+\+\+| and) "
    r"(?:b/(.+?)|/dev/null)(?: differ)?\n"
)
_ANY = r"[\w, ]+"
_FOR_MODELS = pattern(
    "|".join((BY_NAME, BY_PROCESS.format(size=_ANY, process=_ANY), NEXT_LINES.format(line=_ANY)))
)
_VERSION = pattern(r"v?\d+(\.\d+)+\S*")
Facts = Sequence[Mapping[str, Any]]


def for_people(note: str) -> str:
    """A note on a result, without what only a model can do about it."""
    parts = note.replace(OUTSIDE, "").split("; ")
    return "; ".join(part for part in parts if not _FOR_MODELS.fullmatch(part))


def requested(actions: Sequence[Action], facts: Facts = (), command: str = "") -> str:
    """What a request wants, in one phrase; `facts` are what the guard read in its command.

    `command` is what the command is called where it stands below the phrase.
    """
    if len(actions) == 1:
        return described(actions[0], facts, command)
    changes = [one for one in actions if isinstance(one, Write | Delete)]
    if changes and len(changes) == len(actions):
        return _files(changes)
    if actions and isinstance(actions[0], ChangeMany):
        return described(actions[0])
    looks = [one.path for one in actions if isinstance(one, Read | List | Search)]
    if looks and len(looks) == len(actions):
        return f"look at {_names(looks)}"
    phrases = list(dict.fromkeys(described(one) for one in actions))
    more = f" and {counted(len(phrases) - MOST, 'more thing')}" if len(phrases) > MOST else ""
    return "; ".join(phrases[:MOST]) + more


def described(action: Action, facts: Facts = (), command: str = "") -> str:
    """What one action does."""
    match action:
        case Execute():
            return _command(action, facts, command or f"`{_short(action.command)}`")
        case Write() | Delete():
            return _files([action])
        case ChangeMany():
            return _many(action)
        case Network():
            return _connection(action)
        case McpCall(server=server, tool=tool):
            return _call(server, tool)
        case SpawnAgent(agent=agent, task=task):
            return f"start agent `{_short(agent)}` on: {_short(task)}"
        case Setting(key=key, value=value, before=before):
            was = f" (it is `{_short(before)}`)" if before else ""
            return f"set your setting `{_short(key)}` to `{_short(value)}`{was}"
        case Read() | List() | Search():
            return _look(action)


def reached(action: Network) -> tuple[str, ...]:
    """What a connection is to, in full: an address, a search, or hosts."""
    single = action.query or action.url or f"{action.host}, port {action.port}"
    return action.registries or (single,)


def _connection(action: Network) -> str:
    host, port = action.host, action.port
    if action.query:
        return f"search the web with `{_short(host)}` for `{_short(action.query)}`"
    if action.url:
        return f"read `{_short(action.url)}`"
    if action.registries:
        return "let package managers reach their registries"
    usual = {443: "", 80: " without encryption"}.get(port, f" on port {port}")
    return f"connect to `{_short(host)}`{usual}"


def _look(action: Read | List | Search) -> str:
    path = _short(action.path)
    if isinstance(action, Search):
        return f"search `{path}` for `{_short(action.pattern)}`"
    return f"read `{path}`" if isinstance(action, Read) else f"list the files below `{path}`"


def _call(server: str, tool: str) -> str:
    whose = "all MCP servers" if server == "*" else f"MCP server `{_short(server)}`"
    listing = tool == LISTING
    return f"list the tools of {whose}" if listing else f"run tool `{_short(tool)}` of {whose}"


def effects(facts: Facts) -> list[str]:
    """What the parts of a command change on other machines."""
    told = [
        elsewhere(tuple(fact.get("words", ())), str(fact["remote"]))
        for fact in facts
        if fact.get("remote")
    ]
    return list(dict.fromkeys(told))


def elsewhere(words: Sequence[str], remote: str) -> str:
    """What a command that changes another machine does; `remote` is what the guard says of it."""
    words = (os.path.basename(words[0]), *words[1:]) if words else ()
    return (
        _push(words)
        or _from_table(words)
        or _sent(words, remote)
        or f"run `{_short(' '.join(words))}`, which {remote or 'changes something elsewhere'}"
    )


def _command(action: Execute, facts: Facts, name: str) -> str:
    told = effects(facts)
    where = " again: it failed" if action.failed else " again" * action.again + wants(action)
    if not told:
        return f"run {name}{where}"
    more = f" and {counted(len(told) - MOST, 'more thing')}" if len(told) > MOST else ""
    others = any(not fact.get("remote") and _does(fact) for fact in facts)
    more += " and run other commands" if others else ""
    return "; ".join(told[:MOST]) + more + (f" ({where.strip()})" if where else "")


def wants(run: Execute) -> str:
    """What a command wants besides what its sandbox gives, to be said after it."""
    if run.outside:
        return " outside the sandbox"
    parts = [f"write `{_short(path)}`" for path in run.writes]
    parts += [f"reach `{_short(address)}`" for address in run.reaches]
    parts += ["use the whole network"] if run.online else []
    return f" with permission to {' and '.join(parts)}" if parts else ""


def _does(fact: Mapping[str, Any]) -> bool:
    """Whether a part of a command is more than a change of folder."""
    return [*fact.get("words", ()), ""][0] not in ("cd", "pushd", "popd")


def _files(changes: Sequence[Write | Delete]) -> str:
    kinds: dict[str, list[str]] = {}
    moves = {one.moved_from: one for one in changes if isinstance(one, Write)}
    moved = [f"move `{_inside(one, a)}` to `{_inside(one, one.path)}`"
             for a, one in moves.items() if a]  # fmt: skip
    for one in changes:
        if one.path in moves or (isinstance(one, Write) and one.moved_from):
            continue
        verb = "delete" if isinstance(one, Delete) else "change" if one.before else "create"
        kinds.setdefault(verb, []).append(_inside(one, one.path))
    made = any(one.origin == "command" for one in changes)
    more = [f"{len(moved) - MOST:,} more moves"] if len(moved) > MOST else []
    others = [f"{verb} {_several(paths)}" for verb, paths in kinds.items()]
    told = ", ".join([*moved[:MOST], *more, *others])
    return f"keep what the command did: {told}" if made else told


def _inside(change: Write | Delete, path: str) -> str:
    """A path of a change as its diff has it, in the workspace; without a diff, whole."""
    named = _IN_DIFF.match(change.diff)
    names = [name for name in (named.groups() if named else ()) if path.endswith(f"/{name}")]
    return shortened(max(names, key=len, default=path))


def shortened(path: str, most: int = LONGEST) -> str:
    """A path on one line; a long one without its middle, as both ends tell files apart."""
    line = " ".join(path.split()).replace("`", "'")
    return line if len(line) <= most else f"{line[: most // 3]}…{line[1 + most // 3 - most :]}"


def _several(names: Sequence[str]) -> str:
    told = _list([f"`{name}`" for name in names])
    return told if len(names) == 1 else f"{counted(len(names), 'file')}: {told}"


def _names(paths: Sequence[str]) -> str:
    return _list([f"`{_short(os.path.basename(path.rstrip('/')) or path)}`" for path in paths])


def _list(names: Sequence[str]) -> str:
    told = ", ".join(names[:MOST])
    return f"{told} and {len(names) - MOST:,} more" if len(names) > MOST else told


def losses(many: ChangeMany, lost: str, *, doing: bool = False) -> list[str]:
    """All that would be lost, in phrases: "delete …", or "deleting …".

    `lost` says in words which files go that are nowhere else; empty for none.
    """
    delete, discard = ("deleting", "discarding") if doing else ("delete", "discard")
    both = "deleting or emptying" if doing else "delete or empty"
    parts = []
    if many.commits or many.objects:
        other = "other object" if many.commits else "object"
        history = ((many.commits, "commit"), (many.objects, other))
        gone = " and ".join(counted(number, noun) for number, noun in history if number)
        parts.append(f"{delete} {gone} from git's history permanently")
    if many.unnamed:
        named = ", ".join(map(_short, many.names))
        end = "," * doing
        parts.append(f"{delete} {named}, the only way to {counted(many.unnamed, 'commit')}{end}")
    if many.tags:
        messages = "its message" if len(many.tags) == 1 else "their messages"
        parts.append(f"{delete} {', '.join(map(_short, many.tags))} with {messages}")
    if many.hidden:
        replace = "replacing" if doing else "replace"
        others = "another" if many.hidden == 1 else "others"
        parts.append(f"{replace} {counted(many.hidden, 'object')} of git's history with {others}")
    if lost:
        parts.append(f"{both if many.emptied else delete} {lost}")
    if many.discarded:
        parts.append(f"{discard} uncommitted work in {counted(many.discarded, 'file')}")
    return parts


def lost_files(many: ChangeMany) -> str:
    """How many files go whose content is nowhere else, by what git knows of them."""
    new = (many.precious or many.lost) - many.tracked
    parts = [counted(new, "untracked file")] if new else []
    if many.tracked:
        parts.append(f"{counted(many.tracked, 'file')} with uncommitted changes")
    return " and ".join(parts)


def _many(many: ChangeMany) -> str:
    """All that would be lost; where nothing would, how much is changed."""
    lost = many.precious or many.lost  # the ignored ones beside them are no reason to ask
    parts = losses(many, lost_files(many) if lost else "")
    count = lost + many.discarded
    if not parts:
        count = many.created + many.changed + many.deleted
        parts.append(f"change {counted(count, 'file')} at once")
    names = [f"`{_short(name)}`" for name in many.examples[: min(MOST, count)]]
    if not names:
        return " and ".join(parts)
    more = f" and {count - len(names):,} more" if count > len(names) else ""
    return f"{' and '.join(parts)}: {', '.join(names)}{more}"


# Commands.


def _sent(words: Sequence[str], remote: str) -> str:
    """What the guard itself says with a host in it."""
    for said, verb in (("copies files to ", "copy files to"), ("logs in to ", "log in to")):
        if remote.startswith(said):
            return f"{verb} `{_short(remote.removeprefix(said))}`"
    method, to, host = remote.partition(" to ")
    if to and method.isupper():
        return f"send a {method} request to `{_short(host)}`"
    return ""


def _push(words: Sequence[str]) -> str:
    """`git push`, by its remote and its branches; empty for anything else."""
    rest = _after_git(words)
    if not rest or rest[0] != "push":
        return ""
    flags, plain = [], []
    for word in rest[1:]:
        if not word.startswith("-"):
            plain.append(word)
        elif word.partition("=")[0] in _FLAGS:
            flags.append(word.partition("=")[0])
        else:  # its value might be the next word
            return "push to a git remote"
    to = f"`{_short(plain[0])}`" if plain else "its remote"
    force = any(one in flags for one in ("-f", "--force", "--force-with-lease", "--mirror"))
    if "--mirror" in flags or "--prune" in flags:
        return f"make {to} an exact copy of this repository, deleting other branches there"
    kinds: dict[str, list[str]] = {}
    for verb, ref in _refs(plain[1:], gone=bool({"-d", "--delete"} & set(flags)), force=force):
        kinds.setdefault(verb, []).append(ref)
    for flag, what in (("--all", "all branches"), ("--branches", "all branches"),
                       ("--tags", "all tags")):  # fmt: skip
        if flag in flags:
            kinds.setdefault("force-push" if force else "push", []).append(what)
    if not kinds:
        kinds = {"force-push" if force else "push": ["the current branch"]}
    told = "; ".join(
        f"{verb} {', '.join(refs)} {'on' if verb == 'delete' else 'to'} {to}"
        for verb, refs in kinds.items()
    )
    return f"{told}, replacing what is there" if "force-push" in kinds else told


def _after_git(words: Sequence[str]) -> Sequence[str]:
    """A git command without git's own options."""
    if not words or words[0] != "git":
        return ()
    at = 1
    while at < len(words) and words[at].startswith("-"):
        at += 2 if words[at] in ("-C", "-c") else 1
    return words[at:]


def _refs(specs: Sequence[str], *, gone: bool, force: bool) -> Iterable[tuple[str, str]]:
    tag = False
    for spec in specs:
        if spec == "tag" and not tag:
            tag = True
            continue
        source, colon, target = spec.lstrip("+").partition(":")
        verb = "force-push" if force or spec.startswith("+") else "push"
        if gone or (colon and not source):
            yield "delete", _ref(target or source, tag=tag)
        elif colon and source not in (target, "HEAD"):
            yield verb, f"`{_short(source)}` as {_ref(target, tag=tag)}"
        else:
            yield verb, _ref(target or source, tag=tag)
        tag = False


def _ref(name: str, *, tag: bool) -> str:
    if name == "HEAD":
        return "the current branch"
    if tag or name.startswith("refs/tags/"):
        return f"tag `{_short(name.removeprefix('refs/tags/'))}`"
    if _VERSION.fullmatch(name):  # a branch or a tag
        return f"`{_short(name)}`"
    return f"branch `{_short(name.removeprefix('refs/heads/'))}`"


def _from_table(words: Sequence[str]) -> str:
    table = _table()
    for length in (3, 2, 1):
        for phrase in table.get(tuple(words[:length]), ()) if len(words) >= length else ():
            if told := _filled(phrase, words[length:]):
                return told
    return ""


@cache
def _table() -> dict[tuple[str, ...], list[str]]:
    text = Path(__file__).with_name("remote_words.txt").read_text(encoding="utf-8")
    table: dict[tuple[str, ...], list[str]] = {}
    for line in text.splitlines():
        begins, is_row, phrase = line.partition(" = ")
        if is_row and not line.startswith("#"):
            table.setdefault(tuple(begins.split()), []).append(phrase)
    return table


def _filled(phrase: str, rest: Sequence[str]) -> str:
    """The phrase with the command's own words in it; empty when one of them is not there."""
    missing = False

    def value(slot: re.Match[str]) -> str:
        nonlocal missing
        name = slot[1]
        found = _plain(rest, int(name)) if name.isdigit() else _option(rest, name.split("|"))
        missing |= not found
        return f"`{_short(found)}`"

    told = _SLOT.sub(value, phrase)
    return "" if missing else told


def _plain(rest: Sequence[str], number: int) -> str:
    """The word at a place; none behind an option, which may have a value."""
    for at, word in enumerate(rest[:number]):
        if word.startswith("-"):
            return ""
        if at == number - 1:
            return word
    return ""


def _option(rest: Sequence[str], names: Sequence[str]) -> str:
    for at, word in enumerate(rest):
        name, equals, given = word.partition("=")
        if name in names:
            return given if equals else " ".join(rest[at + 1 : at + 2])
    return ""


def _short(text: str) -> str:
    """A text on one line that ends no quotation; where it had several, that shows."""
    line = " ⏎ ".join(" ".join(line.split()) for line in text.strip().splitlines())
    line = line.replace("`", "'")
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"
