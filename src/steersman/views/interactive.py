"""Commands that cannot do here what a person expects, known by their text. Pure.

A command has neither input nor a terminal: an editor would hang, a prompt of Python would end
silently, and `git commit` would fail with an empty message. Nor has it a folder that the next one
would begin in: `cd` alone does nothing. A name that is missing here
does no harm: the command runs, and can be stopped.
"""

import os
import re
import shlex
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from steersman.records.errors import UsageProblem

ELSEWHERE = "Run it in another terminal, or press Ctrl+Z for your shell; `fg` comes back."
COMMIT = "Use `/commit`, or give the message with `-m`."
AMEND = "Keep the message with `--no-edit`, or give one with `-m`."

ASKED = ("--version", "--help", "-h")  # any program answers that without a terminal
GOES = ("cd", "pushd")
BEFORE = {"sudo", "doas", "env", "command", "exec", "time", "nice", "nohup"}

_ASSIGNED = re.compile(r"(\w+)=")
_MESSAGE = re.compile(
    r"-[a-zA-Z]*[mFC]|--(message|file|reuse-message|no-edit|fixup|dry-run|short|porcelain)\b"
)
_BY_PIECES = re.compile(r"-p|--patch|--interactive")
_WITH_VALUE = ("-C", "-c")
_INNER = re.compile(r"`|\$\(")  # a command whose output is a word


def check_terminal(command: str) -> None:
    """Refuse a command that needs a terminal or only goes elsewhere; say what to do instead."""
    simple = [words for words in _simple(command) if words]
    if simple and not _INNER.search(command) and all(map(_only_goes, simple)):
        raise UsageProblem(
            f"`{command[:60]}` has no effect: every command starts in the workspace.",
            try_this=f"Use `!{command[:60]} && COMMAND`.",
        )
    for words in simple:
        while words and (words[0] in BEFORE or words[0].startswith("-")):
            words = words[1:]
        if words and (instead := _instead(os.path.basename(words[0]), words[1:])):
            shown = " ".join(words)[:60]
            raise UsageProblem(
                f"`{shown}` needs a terminal, and a command has none here.", try_this=instead
            )


def _only_goes(words: Sequence[str]) -> bool:
    """Whether a folder is all that is said; more words may be a file that is written."""
    return words[0] in GOES and len(words) <= 2


def _simple(command: str) -> Iterator[list[str]]:
    """The words of each command that gets no input and chooses no editor of its own."""
    lexer = shlex.shlex(command, posix=True, punctuation_chars="();<>|&\n")
    lexer.whitespace, lexer.commenters, lexer.whitespace_split = " \t\r", "", True
    words: list[str] = []
    fed = False
    try:
        for token in lexer:
            if token.startswith("<<"):
                return  # what follows may be a text
            if token.startswith("<"):
                fed = True
            elif token.strip("();|&\n"):
                words.append(token)
            else:
                if not fed:
                    yield _without_assignments(words)
                words, fed = [], token == "|"
    except ValueError:  # an odd quote, which the shell complains about
        return
    if not fed:
        yield _without_assignments(words)


def _without_assignments(words: list[str]) -> list[str]:
    for at, word in enumerate(words):
        assigned = _ASSIGNED.match(word)
        if assigned is None:
            return words[at:]
        if assigned[1].endswith("EDITOR"):
            break
    return []


def _instead(name: str, rest: Sequence[str]) -> str:
    """What to do instead of a program that needs a terminal; empty if it does not."""
    if any(word in ASKED for word in rest):
        return ""
    if name == "git":
        return _git(rest)
    needs = _programs().get(name.rstrip("0123456789."))
    return ELSEWHERE if needs and needs.match(" ".join(rest)) else ""


@cache
def _programs() -> dict[str, re.Pattern[str]]:
    """With which arguments a program needs a terminal."""
    lines = Path(__file__).with_suffix(".txt").read_text(encoding="utf-8").splitlines()
    rows = (line.partition(" =") for line in lines if line and not line.startswith("#"))
    return {name: re.compile(wanted.strip()) for names, _, wanted in rows for name in names.split()}


def _git(rest: Sequence[str]) -> str:
    while rest and rest[0].startswith("-"):
        rest = rest[2 if rest[0] in _WITH_VALUE else 1 :]
    verb, flags = (rest[0], rest[1:]) if rest else ("", ())
    by_pieces = any(_BY_PIECES.fullmatch(flag) for flag in flags)
    if verb in ("add", "checkout", "restore", "reset", "stash", "commit", "rebase") and by_pieces:
        return ELSEWHERE
    if verb in ("add", "rebase") and "-i" in flags:
        return ELSEWHERE
    if verb == "commit" and not any(_MESSAGE.match(flag) for flag in flags):
        return AMEND if "--amend" in flags else COMMIT
    return ""
