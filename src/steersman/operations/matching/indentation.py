"""How a caller's indentation translates into the file's: by depth, never by counting characters.

Leads seen in the match translate as the file writes them; a lead that was not seen is built from
the nearest one that was, in whole levels of the file's own unit.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise

from msgspec import Struct

from steersman.operations.matching.lines import is_blank, split_parts

SAMPLE = 20_000
SMALLEST_UNIT, LARGEST_UNIT = 2, 8
COMMON_UNITS = (2, 4, 8)


class FileUnit(Struct, frozen=True):
    """One level in a file: by tab where tabs lead, else so many spaces, where known."""

    tabs: bool
    spaces: int | None

    def after(self, lead: str) -> str | None:
        """What one more level adds to a lead of this file."""
        if "\t" in lead or (not lead and self.tabs):
            return "\t"
        return " " * self.spaces if self.spaces else None


class LeadMap(Struct, frozen=True):
    """From the caller's leads to the file's, for one matched place."""

    known: dict[str, str]
    contradictory: bool
    caller_spaces: int | None
    unit: FileUnit

    def translate(self, lead: str) -> str | None:
        """The file's lead for a caller's lead, or None when the match does not tell."""
        if self.contradictory:
            return None
        if lead in self.known:
            return self.known[lead]
        anchors = _anchors(self.known)
        answers = {self._from_shallower(lead, anchors), self._from_deeper(lead, anchors), None}
        if self._is_literal_but_first():
            answers.add(lead)
        answers.remove(None)
        return answers.pop() if len(answers) == 1 else None

    def _is_literal_but_first(self) -> bool:
        """Whether only a first line copied from after its lead differs from the file."""
        others = [lead == own for lead, own in self.known.items() if lead]
        return "" in self.known and bool(others) and all(others)

    def _from_shallower(self, lead: str, anchors: dict[str, str]) -> str | None:
        nearest = sorted((a for a in anchors if lead.startswith(a)), key=len, reverse=True)
        for anchor in nearest:
            own, extra = anchors[anchor], lead[len(anchor) :]
            levels = self._levels(extra)
            unit = self.unit.after(own)
            if levels and unit and _is_whole(own, unit):
                return own + unit * levels
        if not nearest:
            return None
        return self._aligned(anchors[nearest[0]], lead[len(nearest[0]) :])

    def _from_deeper(self, lead: str, anchors: dict[str, str]) -> str | None:
        for anchor in sorted((a for a in anchors if a.startswith(lead)), key=len):
            own, extra = anchors[anchor], anchor[len(lead) :]
            unit = self.unit.after(own)
            levels = self._levels(extra)
            cut = unit * levels if unit else extra
            if levels and own.endswith(cut):
                return own[: len(own) - len(cut)]
        return None

    def _levels(self, extra: str) -> int:
        """How many whole levels an addition to a lead is; 0 when it is not whole levels."""
        if not extra.strip("\t"):
            return len(extra)
        if extra.strip(" ") or not self.caller_spaces or len(extra) % self.caller_spaces:
            return 0
        return len(extra) // self.caller_spaces

    def _aligned(self, own: str, extra: str) -> str | None:
        """A lead that ends in alignment: a comment's one space, or spaces under an opening."""
        unit = self.unit.after(own)
        spaces = extra.lstrip("\t")
        if spaces.strip(" "):
            return None
        if len(spaces) < len(extra):
            return own + (unit or "\t") * (len(extra) - len(spaces)) + spaces
        levels, rest = divmod(len(extra), self.caller_spaces or len(extra) + 1)
        if unit and rest == 1 and _is_whole(own, unit):
            return own + unit * levels + " "
        if unit and unit != " " * (self.caller_spaces or 0) and len(extra) in COMMON_UNITS:
            return None
        return own + extra


def lead_map(
    search: Sequence[str], matched: Sequence[str], replace: Sequence[str], unit: FileUnit
) -> LeadMap:
    """Learn from the leads of a match how the file indents what the caller indented."""
    seen: dict[str, set[str]] = {}
    for ours, theirs in zip(search, matched, strict=True):
        seen.setdefault(ours, set()).add(theirs)
    known = {lead: min(leads) for lead, leads in seen.items()}
    contradictory = any(len(leads) > 1 for leads in seen.values()) or _crosses(known)
    own = FileUnit(unit.tabs, _spaces_here(matched, unit.spaces))
    return LeadMap(known, contradictory, _caller_spaces(known, search, replace, own), own)


def detect_unit(bodies: Sequence[str]) -> FileUnit:
    """What one level looks like, from the steps between a file's lines."""
    filled = (body for body in bodies if not is_blank(body))
    leads = [split_parts(body).lead for body in islice(filled, SAMPLE)]
    firsts = Counter(lead[:1] for lead in leads)
    return FileUnit(firsts["\t"] > firsts[" "], _most_common(_steps(["", *leads])))


def _spaces_here(matched: Sequence[str], usual: int | None) -> int | None:
    """The file's usual unit, unless the matched lines plainly use another one."""
    steps = _steps(matched)
    return usual if not steps or usual in steps else _most_common(steps)


def _anchors(known: dict[str, str]) -> dict[str, str]:
    """The known leads, without a first line that was copied from after its lead."""
    others = {lead: own for lead, own in known.items() if lead}
    return others if known.get("") in others.values() else known


def _is_whole(lead: str, unit: str) -> bool:
    return unit * (len(lead) // len(unit)) == lead


def _crosses(known: dict[str, str]) -> bool:
    """Whether what is deeper for the caller is shallower in the file."""
    return any(
        deep.startswith(shallow) and own != known[deep] and own.startswith(known[deep])
        for shallow, own in known.items()
        for deep in known
    )


def _caller_spaces(
    known: dict[str, str], search: Sequence[str], replace: Sequence[str], unit: FileUnit
) -> int | None:
    """How many spaces one level is for the caller."""
    proven = list(_proven_steps(known, unit))
    if proven:
        return min(proven)
    first_apart = "" in known and "" not in _anchors(known)
    steps = Counter[int]()
    for leads in (search, replace):
        steps += _steps([lead for lead in leads if lead] if first_apart else leads)
    if steps:
        return _most_common(steps)
    sizes = (abs(len(lead) - len(other)) for lead in set(replace) for other in known)
    return min((size for size in sizes if SMALLEST_UNIT <= size <= LARGEST_UNIT), default=None)


def _proven_steps(known: dict[str, str], unit: FileUnit) -> Iterator[int]:
    """Spaces a level where both the caller's and the file's next lead are in the match."""
    spaces = sorted((lead for lead in known if not lead.strip(" ")), key=len)
    for shallow, deep in pairwise(spaces):
        own, deeper = known[shallow], known[deep]
        step = unit.after(own or deeper)
        extra = deeper[len(own) :]
        if not step or not extra or not deeper.startswith(own) or not _is_whole(extra, step):
            continue
        size, rest = divmod(len(deep) - len(shallow), len(extra) // len(step))
        if not rest and SMALLEST_UNIT <= size <= LARGEST_UNIT:
            yield size


def _most_common(steps: Counter[int]) -> int | None:
    return min(steps, key=lambda size: (-steps[size], size), default=None)


def _steps(leads: Sequence[str]) -> Counter[int]:
    """How often a line is so many spaces deeper than the one before it."""
    return Counter(
        len(following) - len(lead)
        for lead, following in pairwise(leads)
        if SMALLEST_UNIT <= len(following) - len(lead) <= LARGEST_UNIT
        and not (lead + following).strip(" ")
    )
