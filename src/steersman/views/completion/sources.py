"""What the cursor is at, and what may be meant there: files, skills, commands. Pure.

`@` names a file or folder, `@#` a function or class, `$` a skill, and `/` at the very beginning a
command.
"""

import re
from collections.abc import Callable, Sequence
from typing import Literal

from msgspec import Struct

from steersman.views.attachments import as_mention
from steersman.views.completion import fuzzy

Kind = Literal["file", "symbol", "skill", "command", "argument", "history"]
Described = Sequence[tuple[str, ...]]  # names, each with what it is about and how it is used

_BEFORE = r"(?:^|(?<=[\s(\[{,;:]))"
_QUOTED = re.compile(_BEFORE + r'@"([^"\n]*)$')
_FILE = re.compile(_BEFORE + r'@([^\s"@]*)$')
_SKILL = re.compile(_BEFORE + r"\$([a-z0-9][a-z0-9_-]*|)$")
_COMMAND = re.compile(r"^/([^\s/]*)$")


class Want(Struct, frozen=True):
    """What is being written: its kind, the letters so far, and where in the line it begins."""

    kind: Kind
    query: str
    start: int


class Offer(Struct, frozen=True):
    """One thing that may be meant. `insert` replaces what is written; `label` is what is shown.

    `positions` are the letters of the label that match; not `whole` when more is to be written.
    """

    label: str
    insert: str
    about: str = ""
    positions: tuple[int, ...] = ()
    whole: bool = True
    is_path: bool = False


def wanted(line: str, *, first: bool, shell: bool = False) -> Want | None:
    """What the end of a line asks for; `first` when nothing is before that line."""
    if shell:
        return None
    if first and (found := _COMMAND.search(line)):
        return Want("command", found[1], 0)
    for pattern in (_QUOTED, _FILE):
        if found := pattern.search(line):
            if found[1].startswith("#"):
                return Want("symbol", found[1][1:], found.start())
            return Want("file", found[1], found.start())
    if found := _SKILL.search(line):
        return Want("skill", found[1], found.start())
    return None


def offer_file(match: fuzzy.Match) -> Offer:
    """A path; a folder stays open for what is in it."""
    folder = match.text.endswith("/")
    written = as_mention(match.text)
    insert = written.removesuffix('"') if folder else f"{written} "
    return Offer(match.text, insert, "", match.positions, whole=not folder, is_path=True)


def offer_symbol(match: fuzzy.Match) -> Offer:
    """A name that code defines, with its file in front."""
    path, _, name = match.text.rpartition("/")
    return Offer(f"{path}#{name}", f"{as_mention(f'{path}#{name}')} ", "", match.positions)


def offer_names(want: Want, described: Described) -> list[Offer]:
    """Skills or commands that fit, with what they are about."""
    mark = "$" if want.kind == "skill" else "/"
    known = {one[0]: one for one in described}
    if want.query:
        found = fuzzy.rank(want.query, list(known))
    else:
        found = [fuzzy.Match(name, 0, ()) for name in known]
    offers = []
    for match in found[: fuzzy.LIMIT]:
        _, about, usage = (*known[match.text], "", "")[:3]
        at = tuple(place + 1 for place in match.positions)
        told = f"{usage} · {about}" if usage and about else usage or about
        offers.append(Offer(mark + match.text, f"{mark}{match.text} ", told, at, whole=not usage))
    return offers


Names = Callable[[], Described]


def nothing() -> Described:
    """No names."""
    return ()
