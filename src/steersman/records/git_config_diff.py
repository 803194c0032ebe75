"""Whether a change of a git config only names branches, remotes and who commits. Pure.

A key means something only together with the section it is in, and a diff shows just some lines
of a file: what it does not show counts as harmful. A section that goes, or comes, gives the keys
below it to another, so lines that stay are looked at, too.
"""

from collections.abc import Iterator

from steersman.records.git_places import SECTION
from steersman.records.patterns import pattern

CONTEXT = 3  # lines that a diff shows around a change
_FLAG = r"\s*(?:true|false)?\s*"
_PLAIN = r'\s*+(?!!)(?!.*ext::)[^\\"]*'
_WORDS = r"\s*+(?![\"']?\s*!)[^\\]*"
_HARMLESS = {
    section: pattern(rf"(?i)\s*(?:{keys})$")
    for section, keys in {
        "core": r"repositoryformatversion\s*=\s*[01]\s*|(?:filemode|bare|logallrefupdates"
        rf"|ignorecase|precomposeunicode|symlinks)\s*={_FLAG}",
        "user": rf"(?:name|email)\s*={_WORDS}",
        "branch": rf"(?:remote|merge|rebase)\s*={_PLAIN}",
        "remote": rf"(?:url|fetch)\s*={_PLAIN}",
        "init": rf"defaultbranch\s*={_PLAIN}",
        "pull": rf"rebase\s*={_PLAIN}",
    }.items()
}
_HUNK = pattern(r"@@ -(\d+)")
_UNSEEN = "?"


def harmless(diff: str) -> bool:
    """Whether git would run nothing new after a change, all of whose diff is given."""
    return all(_hunk_is_harmless(lines, start) for lines, start in _hunks(diff))


def _hunks(diff: str) -> Iterator[tuple[list[str], str]]:
    """The lines of each part, and the section that it begins in."""
    lines: list[str] = []
    start = ""
    for line in diff.removesuffix("\n").split("\n"):
        if hunk := _HUNK.match(line):
            if start or lines:
                yield lines, start
            lines, start = [], "" if int(hunk[1]) <= 1 else _UNSEEN
        elif not lines and not start and line.startswith(("--- ", "+++ ")):
            continue
        elif not line.startswith("\\"):
            lines.append(line)
    yield lines, start


def _hunk_is_harmless(lines: list[str], start: str) -> bool:
    before = after = start
    below = 0
    for line in lines:
        sign, text = line[:1], line[1:].removesuffix("\r")
        if sign not in ("+", "-", " "):
            return False
        below = below + 1 if sign == " " else 0
        if sign != "+":
            before, _ = _moved(text, before)
        if sign == "-":
            continue
        after, rest = _moved(text, after)
        if text.endswith("\\"):
            return False  # what follows belongs to it
        if sign == "+" and rest != text and (rest.strip() or after not in _HARMLESS):
            return False
        if (sign == "+" or before != after) and rest.strip():
            known = _HARMLESS.get(after)
            if known is None or not known.match(rest):
                return False
    return before == after or below < CONTEXT


def _moved(text: str, section: str) -> tuple[str, str]:
    """The section after a line, and what else is on it."""
    while header := SECTION.match(text):
        section, text = header[1].lower(), text[header.end() :]
    return section, text
