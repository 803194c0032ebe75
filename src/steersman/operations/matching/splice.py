"""The lines that take the place of a match: the file's bytes kept wherever the edit keeps them."""

from collections.abc import Sequence

from msgspec import Struct

from steersman.operations.matching.document import Change, Document
from steersman.operations.matching.folding import ALL_BLANKS, Tier
from steersman.operations.matching.indentation import LeadMap, lead_map
from steersman.operations.matching.lines import (
    BLANKS,
    Lines,
    Parts,
    fill_endings,
    split_parts,
)
from steersman.operations.matching.pairing import Plan, keep_own
from steersman.operations.matching.records import Refusal


class _Place(Struct, frozen=True):
    """Everything needed to write one replacement line at one matched place."""

    plan: Plan
    tier: Tier
    bodies: Sequence[str]
    search: list[Parts]
    own: list[Parts]
    leads: LeadMap | None
    trails: dict[str, str]


def splice_all(document: Document, plan: Plan, tier: Tier, places: Sequence[int]) -> list[Change]:
    """The changes that put a plan's replacement at the lines from each place on."""
    written: dict[tuple[str, ...], str] = {}
    changes: list[Change] = []
    for first in places:
        stop = first + len(plan.search)
        matched = document.lines.between(first, stop)
        ending = document.ending_near(first)
        key = (*matched.bodies, *matched.endings, ending)
        if key not in written:
            written[key] = rewrite(document, plan, tier, matched, ending).text()
        changes.append(Change(document.starts[first], document.starts[stop], written[key]))
    return changes


def rewrite(document: Document, plan: Plan, tier: Tier, matched: Lines, ending: str) -> Lines:
    """The replacement's lines for some matched lines; refuses where their depth is unknown."""
    place = _place(document, plan, tier, matched.bodies)
    bodies = [_body(place, at) for at in range(len(plan.replace))]
    endings = fill_endings(plan.pairing, matched.endings, ending or "\n")
    if endings and not matched.endings[-1]:
        endings[-1] = ""
    return Lines(bodies, endings)


def _place(document: Document, plan: Plan, tier: Tier, bodies: Sequence[str]) -> _Place:
    search = [_take_apart(line, tier) for line in plan.search]
    own = [_take_apart(body, tier) for body in bodies]
    leads = None
    if any(ours.lead != theirs.lead for ours, theirs in zip(search, own, strict=True)):
        leads = _lead_map(document, plan, tier, search, own)
    return _Place(plan, tier, bodies, search, own, leads, _trails(search, own))


def _take_apart(body: str, tier: Tier) -> Parts:
    parts = split_parts(body, ALL_BLANKS if tier.folds else BLANKS)
    if tier.reindents or not parts.content:
        return parts
    return Parts("", parts.lead + parts.content, parts.trail)


def _lead_map(
    document: Document, plan: Plan, tier: Tier, search: list[Parts], own: list[Parts]
) -> LeadMap:
    filled = [
        (ours.lead, theirs.lead) for ours, theirs in zip(search, own, strict=True) if ours.content
    ]
    new = [_take_apart(line, tier) for line in plan.replace]
    replace = [parts.lead for parts in new if parts.content]
    return lead_map(
        [ours for ours, _ in filled], [theirs for _, theirs in filled], replace, document.unit
    )


def _trails(search: list[Parts], own: list[Parts]) -> dict[str, str]:
    """What the file has where the caller ends a line in blanks, if it is always the same."""
    seen: dict[str, set[str]] = {}
    for ours, theirs in zip(search, own, strict=True):
        seen.setdefault(ours.trail, set()).add(theirs.trail)
    return {trail: min(own) for trail, own in seen.items() if trail and len(own) == 1}


def _body(place: _Place, at: int) -> str:
    line, source = place.plan.replace[at], place.plan.pairing[at]
    if source is not None and place.plan.search[source] == line:
        return place.bodies[source]
    parts = _take_apart(line, place.tier)
    if not parts.content:
        return "" if place.tier.reindents else place.trails.get(parts.trail, parts.trail)
    if source is None or not place.search[source].content:
        return _lead(place, parts) + parts.content + place.trails.get(parts.trail, parts.trail)
    ours, theirs = place.search[source], place.own[source]
    lead = theirs.lead if ours.lead == parts.lead else _lead(place, parts)
    content = keep_own(theirs.content, ours.content, parts.content, place.tier)
    return lead + content + (theirs.trail if ours.trail == parts.trail else parts.trail)


def _lead(place: _Place, parts: Parts) -> str:
    lead = parts.lead if place.leads is None else place.leads.translate(parts.lead)
    if lead is None:
        raise Refusal(
            "contradictory-indentation",
            f"The search is indented differently from the file, and the file does not show how "
            f"deep {parts.content[:60]!r} belongs; copy the indentation of these lines from the "
            "file into search and replace.",
        )
    return lead
