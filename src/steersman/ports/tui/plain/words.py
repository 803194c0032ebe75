"""Words for lines: Markdown without its marks, lists narrowed down by words. Pure."""

import re
from collections.abc import Sequence

from steersman.views.commands.stage import Deed, Row

_FENCE = re.compile(r"\s*(`{3,})[\w-]*\s*$")
_MARKS = re.compile(r"\\([\\`*_|\[<#])|\*\*|`")


def plain_text(markdown: str) -> str:
    """A text as one reads it aloud: no fences, no stars, no escapes; code stays as it is."""
    lines, fence = [], ""
    for line in markdown.splitlines():
        mark = _FENCE.match(line)
        if mark and not fence:
            fence = mark[1]
        elif mark and mark[1] == fence:
            fence = ""
        else:
            lines.append(line if fence else _MARKS.sub(lambda found: found[1] or "", line))
    return "\n".join(lines)


def offered(deeds: Sequence[Deed]) -> str:
    """What can be done, each with its letter in brackets."""
    told = []
    for one in deeds:
        before, letter, after = one.words.partition(one.key)
        told.append(f"{before}[{letter}]{after}" if letter else f"[{one.key}] {one.words}")
    return ", ".join(told)


def narrowed(rows: Sequence[Row], words: str) -> list[Row]:
    """The rows that have all the words."""
    wanted = words.casefold().split()
    return [
        row
        for row in rows
        if all(word in f"{row.key} {row.text} {row.detail}".casefold() for word in wanted)
    ]
