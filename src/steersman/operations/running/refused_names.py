"""Names of files in what a program prints and in a command line: a name may contain anything.

A message is read in every way it can be; where more than one names a file that is there or could
be made, it names none. Only a quoted name is certain.
"""

import os
import re
import shlex
from collections.abc import Iterator

from steersman.operations.running.symptoms import HIDDEN, READ_ONLY
from steersman.records.patterns import pattern

_BEGINS = r"(?:~|\.\.)?/"
_START = pattern(rf"(?<![\w/.~-]){_BEGINS}(?=[^\s/])")
_QUOTED = pattern(
    rf"(?:'({_BEGINS}[^'\n]+)'|\"({_BEGINS}[^\"\n]+)\"|‘({_BEGINS}[^’\n]+)’|`({_BEGINS}[^`\n]+)`)"
    r"(?![\w$'\"\\])"
)
_BORDER = pattern(r"[\s'\"‘’`:;,()<>|&*?]+")
# What programs say after a name besides the reason.
_TAIL = pattern(r"(?: for (?:writing|appending|output))?(?:: ?| \(|[,;] ?| - )?\Z")
_CODE = pattern(r"\s*\((?:os error|errno) \d+\)\s*\Z", re.IGNORECASE)
_PLAIN = pattern(rf"(?<![\w/.~-]){_BEGINS}[^\s'\"’`:;,()<>|&*?]+")


def located(name: str, cwd: str, home: str) -> str:
    """Where a file of that name really lies."""
    name = home + name[1:] if name.startswith("~/") else name
    return os.path.realpath(os.path.join(cwd, name))


def places_in(line: str, cwd: str, home: str) -> Iterator[str]:
    """The files that a line of output certainly names; those that are unclear are left out."""
    after = 0  # up to here an earlier name may reach
    for start in _START.finditer(line):
        at = start.start()
        quoted = _QUOTED.match(line, at - 1) if at else None
        if at < after:
            continue
        if quoted is not None and "\\" not in quoted[0]:
            after = quoted.end()
            yield located(next(filter(None, quoted.groups())), cwd, home)
            continue
        ends = [end for end in _ends(line, at) if _is_possible(line[at:end], cwd, home)]
        after = max(ends, default=at)
        if len(ends) == 1:
            yield located(line[at : ends[0]], cwd, home)


def names_in(command: str) -> list[str]:
    """The paths that a command line names, each as its shell would take it."""
    lexer = shlex.shlex(command, posix=True, punctuation_chars=True)
    lexer.whitespace_split, lexer.commenters = True, ""
    try:
        words = [word.rpartition("=")[2] if word.startswith("-") else word for word in lexer]
    except ValueError:
        return []
    named = (
        [word] if re.match(_BEGINS, word) else _PLAIN.findall(word)  # code has paths inside
        for word in words
    )
    return [name for names in named for name in names]


def _ends(line: str, at: int) -> list[int]:
    """Where a name that begins here may end: at each border, at the latest before the reason."""
    reason = next((m for mark in (READ_ONLY, HIDDEN) if (m := mark.search(line, at))), None)
    text = _TAIL.sub("", line[at : reason.start()]) if reason else _CODE.sub("", line[at:])
    borders = [at + border.start() for border in _BORDER.finditer(text)]
    return list(dict.fromkeys((*borders, at + len(text))))


def _is_possible(name: str, cwd: str, home: str) -> bool:
    """Whether there is such a file, or a folder in which it would be made."""
    place = located(name, cwd, home)
    return os.path.lexists(place) or os.path.isdir(os.path.dirname(place))
