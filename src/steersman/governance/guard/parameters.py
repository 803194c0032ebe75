"""What `${X%…}`, `${X#…}`, `${X/…/…}`, `${X:…}` and `${X^^}` make of a value."""

import re

from steersman.governance.guard.marks import OUT, glob_pattern, live, unknown
from steersman.records.patterns import pattern

_MOST_TRIES = 1_000_000
_REPEAT = pattern(r"[*+?{]")
_REPEATED_GROUP = pattern(r"\)[*+?{]")


def tries(form: str, text: str, put: str = "") -> bool:
    """Whether a pattern of the line is tried on a text: not where that may take very long, or
    make a very long text."""
    rounds: int = (len(text) + 1) ** (len(_REPEAT.findall(form)) + 1)
    if _REPEATED_GROUP.search(form):
        rounds = 2 ** len(text)
    return max(rounds, len(text) * len(put)) <= _MOST_TRIES


def shaped(value: str, rest: str) -> str:
    """A value with what is behind its name done to it."""
    if not rest:
        return value
    if rest[0] in "^,":
        return value.upper() if rest[0] == "^" else value.lower()
    slice_ = re.match(r":\s*(-?\d+)(?::\s*(-?\d+))?\Z", rest)
    if slice_:
        start = int(slice_[1])
        end = None
        if slice_[2] is not None:
            length = int(slice_[2])
            end = start + length if length >= 0 else length
        return value[start:end]
    replace = re.match(r"//?([^/]*)(?:/(.*))?\Z", rest, re.DOTALL)
    if replace and not unknown(value + rest) and tries(replace[1], value, replace[2] or ""):
        form = re.compile(glob_pattern(live(replace[1])).pattern.removesuffix(r"\Z"))
        return form.sub(lambda _: replace[2] or "", value, count=0 if rest[1:2] == "/" else 1)
    trim = re.match(r"(%%?|##?)(.*)\Z", rest, re.DOTALL)
    if trim and not unknown(value + rest) and tries(trim[2], value):
        return _trimmed(value, trim[1], trim[2])
    return OUT if replace or trim or rest[0] == ":" or unknown(rest) else value


def _trimmed(value: str, side: str, form: str) -> str:
    match = glob_pattern(live(form.replace("\\", ""))).match
    spots = range(len(value) + 1)
    if side[0] == "#":
        for at in spots if len(side) == 1 else reversed(spots):
            if match(value[:at]):
                return value[at:]
    else:
        for at in reversed(spots) if len(side) == 1 else spots:
            if match(value[at:]):
                return value[:at]
    return value
