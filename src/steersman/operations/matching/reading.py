"""The one door for patches: which format a text is in, and what was wrapped round it."""

import re
from collections.abc import Callable

from steersman.operations.matching.envelope import BEGIN, END, read_envelope
from steersman.operations.matching.patches import FilePatch, malformed
from steersman.operations.matching.records import Refusal, Refused
from steersman.operations.matching.unified import read_unified

_FENCE = re.compile(r"\s*(```|~~~)[\w+-]*\s*")
_HEREDOC = re.compile(r"[\w\s./-]*<<-?\s*(['\"]?)(\w+)\1\s*")


def parse_patch(text: str) -> list[FilePatch] | Refused:
    """Read a `*** Begin Patch` patch or a unified diff."""
    lines = text.split("\n")
    if all(line.endswith("\r") for line in lines if line):
        lines = [line.removesuffix("\r") for line in lines]
    try:
        first, last = _unwrapped(lines)
        if first < last and lines[first].strip() == BEGIN:
            while not lines[last - 1].strip():
                last -= 1
            if lines[last - 1].strip() != END:
                raise malformed(last, f"the patch must end with '{END}'; it may have been cut off")
            return read_envelope(lines[first + 1 : last - 1], first + 2)
        if any(line.strip() == BEGIN for line in lines):
            raise malformed(first + 1, f"only a wrapper may come before '{BEGIN}'")
        return read_unified([""] * first + lines[first:last])
    except Refusal as refusal:
        return refusal.of(0)


def _unwrapped(lines: list[str]) -> tuple[int, int]:
    """The part of the lines inside spacing, a code fence and a heredoc, as a half-open range."""
    first, last = _without_spacing(lines, 0, len(lines))
    closes: list[Callable[[str], bool]] = []
    while first < last and (close := _wrapper(lines[first])):
        closes.append(close)
        first, last = _without_spacing(lines, first + 1, last)
    for close in closes:
        if last - 1 >= first and close(lines[last - 1]):
            first, last = _without_spacing(lines, first, last - 1)
    return first, last


def _wrapper(line: str) -> Callable[[str], bool] | None:
    if _FENCE.fullmatch(line):
        return lambda end: end.strip() in ("```", "~~~")
    heredoc = _HEREDOC.fullmatch(line)
    if heredoc:
        return lambda end: end.strip() == heredoc[2]
    return None


def _without_spacing(lines: list[str], first: int, last: int) -> tuple[int, int]:
    while first < last and not lines[first].strip():
        first += 1
    while last > first and not lines[last - 1]:
        last -= 1
    return first, last
