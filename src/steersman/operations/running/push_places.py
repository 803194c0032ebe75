"""The pushes of a command line: their words, and where each looks for its repository. Pure.

What the line does not show is said with each push, so that nobody takes it for a plain one.
"""

import os
import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from steersman.records.push_words import PushWords, read_push
from steersman.records.shell_words import Simple, Word, simple_commands

LONGEST = 20_000
MOST = 8  # each costs a few questions to git
ABOUT_PUSHES = (
    r"push\.(default|followtags|recursesubmodules)|submodule\.recurse|remote\.pushdefault"
    r"|remote\..*\.(push|mirror|url|pushurl|receivepack)|branch\..*\.(merge|remote|pushremote)"
    r"|url\..*\.(push)?insteadof"
)
_ABOUT = re.compile(ABOUT_PUSHES, re.IGNORECASE | re.DOTALL)
_VALUED = frozenset({
    "-C", "-c", "--git-dir", "--work-tree", "--namespace", "--super-prefix", "--config-env",
    "--attr-source",
})  # fmt: skip
_NO_MATTER = frozenset({"-p", "-P", "--paginate", "--no-pager", "--no-optional-locks"})
# What may stand before a program and leaves it as it is.
_BEFORE = re.compile(
    r"then|do|else|if|elif|while|until|!|\{|time|timeout|nice|nohup|exec|command|env"
    r"|[\d.]+[smh]?|\w+=.*",
    re.DOTALL,
)
_ELSEWHERE = re.compile(
    r"(GIT_(?!AUTHOR|COMMITTER|TRACE|SSH|PAGER|EDITOR|ASKPASS|TERMINAL_PROMPT)\w*"
    r"|HOME|XDG_CONFIG_HOME)="
)
_SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh", "eval"})
_PRINTS = frozenset({"echo", "printf"})
# Commands before a push that change neither its branch, nor its remote, nor git's settings.
_STILL = frozenset({
    "cd", "pushd", "popd", "echo", "printf", "true", ":", "ls", "cat", "pwd", "test", "[", "sleep",
    "head", "tail", "grep", "wc", "date", "export",
})  # fmt: skip
_STILL_GIT = frozenset({
    "add", "commit", "status", "diff", "log", "show", "rm", "mv", "tag", "rev-parse", "ls-files",
    "describe", "push",
})  # fmt: skip
# Those that run no program which the line or the folder names: no alias, `rebase -x` or `bisect`.
OF_GIT = frozenset({*_STILL_GIT, "fetch", "checkout", "switch", "config", "remote"})
_BRANCH = "the line changes the branch before it"
_RENAMED = "the line gives `git` another meaning"
_SETS = re.compile(r"(remote|push|branch|url|include|includeif|submodule)\.", re.IGNORECASE)


class Found(Struct, frozen=True):
    """A push in a line, from `start` to `end`; `given` are the settings that `-c` gives it.

    `why_not` says why it is not known what it does.
    """

    start: int = 0
    end: int = 0
    words: PushWords = PushWords()
    folder: str = ""
    given: tuple[str, ...] = ()
    why_not: str = ""


def pushes(line: str, cwd: str, home: str) -> Iterator[Found]:
    """The pushes of a line in order. Its length and their number are bounded."""
    if len(line) > LONGEST:
        if "git" in line:
            yield Found(why_not="the line is too long")
        return
    folder, before, count = cwd, "", 0
    outer: list[str] = []
    for simple in simple_commands(line, home):
        before = _elsewhere(simple) or before
        for found in _in(simple, folder, before):
            count += 1
            yield found if count <= MOST else Found(why_not="the line has too many pushes")
            if count > MOST:
                return
        if before in ("", _BRANCH):
            before = _changes(simple.words) or before
        folder = _moved(simple.words, folder)
        if simple.ended_by == "(":
            outer.append(folder)
        elif simple.ended_by == ")" and outer:
            folder = outer.pop()


def _in(simple: Simple, folder: str, before: str) -> Iterator[Found]:
    """The push of one command, or that a text in it may push."""
    words = simple.words
    for start, at in _calls(words):
        pushing = words[at].text == "push" or (
            words[at].open and any(word.text == "push" for word in words[at:])
        )
        if pushing and words[0].text not in _PRINTS:
            yield _found(simple, start, at, folder, before)
            return
    runs = any(os.path.basename(word.text) in _SHELLS for word in words)
    texts = [word.text for word in words if (runs and "git" in word.text) or word.open]
    if any(("push" if runs else "git push") in text for text in texts):
        yield Found(why_not="a text that the shell runs pushes")


def _calls(words: Sequence[Word]) -> Iterator[tuple[int, int]]:
    """Where git is called, and where its own command is."""
    at = 0
    while at < len(words):
        start, at = at, at + 1
        if os.path.basename(words[start].text) != "git":
            continue
        while at < len(words) and words[at].text.startswith("-"):
            at += 2 if words[at].text in _VALUED else 1
        if at < len(words):
            yield start, at


def _found(simple: Simple, start: int, at: int, folder: str, before: str) -> Found:
    words = simple.words
    push = read_push([word.text for word in words[at + 1 :]])
    if before == _BRANCH and (push.specs or push.has("all", "tags", "mirror")):
        before = ""
    why, given = before or _unread(simple, start), []
    options = iter(word.text for word in words[start + 1 : at])
    for option in options:
        value = next(options, "") if option in _VALUED else ""
        if option == "-C":
            folder = os.path.join(folder, value) if folder else ""
        elif option == "-c" and _ABOUT.fullmatch(value.partition("=")[0]):
            given += ["-c", value]
        elif option not in ("-c", *_NO_MATTER) or value.lower().startswith("include"):
            why = why or f"`{f'{option} {value}'.strip()[:60]}` changes which settings hold"
    why = why or ("" if folder else "its folder is not known")
    return Found(words[at].start, words[-1].end, push, folder, tuple(given), why)


def _unread(simple: Simple, start: int) -> str:
    """What of a push is not written out: who runs it, or its words."""
    unclear = [one.text for one in simple.words[:start] if not _BEFORE.fullmatch(one.text)]
    if unclear:
        return f"`{unclear[0][:60]}` runs it"
    if simple.ended_by in ("(", "`"):
        return "the shell replaces words of it"
    replaced = [one.text for one in simple.words[start:] if one.open]
    return f"the shell replaces `{replaced[0][:60]}`" if replaced else ""


def _elsewhere(simple: Simple) -> str:
    """Whether what follows has other settings or another git than the one that is asked."""
    for word in simple.words:
        if _ELSEWHERE.match(word.text):
            return f"`{word.text[:60]}` changes which settings hold"
        if word.text.startswith("git="):
            return _RENAMED
    defined = simple.ended_by == "(" and [one.text for one in simple.words[-1:]] == ["git"]
    return _RENAMED if defined else ""


def _changes(words: Sequence[Word]) -> str:
    """Whether a command changes what the pushes after it do."""
    names = {words[at].text for _, at in _calls(words)}
    texts = {word.text for word in words}
    if ("config" in names and any(map(_SETS.match, texts))) or (
        "remote" in names and texts & {"add", "set-url", "rename", "remove", "rm"}
    ):
        return "the line changes git's settings before it"
    if names & {"checkout", "switch"}:
        return _BRANCH
    program = next((word.text for word in words if not _BEFORE.fullmatch(word.text)), ":")
    if os.path.basename(program) == "git":
        other = sorted(names - _STILL_GIT - {"config", "remote"})
        return f"`git {other[0][:60]}` runs before it" if other else ""
    return "" if program in _STILL else f"`{program[:60]}` runs before it"


def only_of_git(line: str, home: str) -> bool:
    """Whether the git commands of a line run none of the programs that it or the folder names."""
    simples = simple_commands(line, home)
    return all(one.words[at].text in OF_GIT for one in simples for _, at in _calls(one.words))


def _moved(words: Sequence[Word], folder: str) -> str:
    """The folder after a command; empty where that is not known."""
    names = [word.text for word in words]
    if not names or names[0] not in ("cd", "pushd", "popd"):
        return folder
    plain = len(names) == 2 and not words[1].open and not names[1].startswith("-")
    return os.path.join(folder, names[1]) if plain and folder else ""
