"""Where a hunk belongs when its lines alone do not say; by what it states, never by nearness."""

import re
from collections.abc import Sequence

from steersman.operations.matching.attempts import Found
from steersman.operations.matching.document import MANY, Document
from steersman.operations.matching.folding import line_keys
from steersman.operations.matching.lines import is_blank
from steersman.operations.matching.patches import Hunk
from steersman.operations.matching.records import Refusal
from steersman.operations.matching.refusals import ambiguous, visible

_STAYS_INSIDE = re.compile(r"[)\]}{]|(?:end|else|elif|except|finally|catch)\b")

_MORE = "give more lines of context, or the '@@' line of the function or class it is in"

Scopes = list[range]


def scopes_of(document: Document, hunk: Hunk) -> Scopes:
    """The lines each innermost anchor governs; none when the hunk has no anchors to go by."""
    if not hunk.anchors:
        return []
    scopes: Scopes = [range(len(document.lines.bodies))]
    for anchor in hunk.anchors:
        lines = _anchor_lines(document, anchor, scopes, whole=not hunk.search)
        scopes = [_scope(document.lines.bodies, line) for line in lines]
        if not lines and hunk.line is None:
            raise Refusal(
                "not-found",
                f"The hunk's '@@' line is not in the file: {visible(anchor)}; copy a line from "
                "above the place as it is, or leave '@@' bare.",
            )
    return scopes if len(scopes) < MANY else []


def choose(document: Document, hunk: Hunk, found: Found, scopes: Scopes) -> int:
    """The one place a hunk means among those that match; refuses when nothing shows."""
    block, tier, places = found.attempt.search, found.tier, found.places
    at_end = len(document.lines.bodies) - len(block)
    ends = at_end >= places[0] and document.has_block(block, tier, at_end)
    if hunk.newline_at_end != "keep" and not ends:
        raise Refusal(
            "not-found",
            "The hunk says it reaches the end of the file, but its lines are not there; "
            "read the end of the file again.",
        )
    if hunk.at_end and ends:
        return at_end
    if len(places) == 1:
        return _below_anchor(places[0], scopes, hunk)
    hinted = -1 if hunk.line is None or found.attempt.name else hunk.line - 1
    if hinted >= places[0] and document.has_block(block, tier, hinted):
        return hinted
    inside = _places_inside(document, found, scopes)
    if len(inside) == 1:
        return inside[0]
    below = [place for place in places if scopes and place >= scopes[0].start]
    if len(scopes) == 1 and not inside and len(below) == 1 and len(places) < MANY:
        return below[0]
    raise ambiguous([place + 1 for place in places], "The hunk", _MORE)


def insertion_line(document: Document, hunk: Hunk, scopes: Scopes) -> int:
    """The line before which a hunk without a search inserts."""
    count = len(document.lines.bodies)
    if hunk.at_end:
        return count
    if hunk.line is None and len(scopes) > 1:
        raise ambiguous([scope.start + 1 for scope in scopes], "The hunk's '@@' line", _MORE)
    if hunk.line is None and scopes:
        return scopes[0].start + 1
    if hunk.line in (0, count):
        return hunk.line
    raise Refusal(
        "unplaced-insertion",
        "The hunk only adds lines and nothing certain says where; "
        "give a line of context, or a '@@' line that occurs once above the place.",
    )


def _anchor_lines(document: Document, anchor: str, scopes: Scopes, *, whole: bool) -> list[int]:
    """Lines that are the anchor, or, unless they must be whole, lines that start with it."""
    keys = document.keys(document.widest)
    wanted = line_keys([anchor], document.widest)[0]
    within = list(dict.fromkeys(line for scope in scopes for line in scope))
    equal = [line for line in within if keys[line] == wanted]
    if equal or not wanted or whole:
        return equal[:MANY]
    starts = re.compile(re.escape(wanted) + r"(?!\w)")
    return [line for line in within if starts.match(keys[line])][:MANY]


def _scope(bodies: Sequence[str], line: int) -> range:
    """An anchor's line and what is indented below it."""
    depth = _depth(bodies[line])
    for at in range(line + 1, len(bodies)):
        body = bodies[at]
        if is_blank(body) or _depth(body) > depth or _STAYS_INSIDE.match(body.lstrip()):
            continue
        return range(line, at)
    return range(line, len(bodies))


def _depth(body: str) -> int:
    expanded = body.expandtabs()
    return len(expanded) - len(expanded.lstrip())


def _below_anchor(place: int, scopes: Scopes, hunk: Hunk) -> int:
    if scopes and hunk.line is None and all(place < scope.start for scope in scopes):
        raise Refusal(
            "not-found",
            f"The hunk's lines are at line {place + 1}, above its '@@' line at line "
            f"{scopes[0].start + 1}; correct the '@@' line or leave it bare.",
        )
    return place


def _places_inside(document: Document, found: Found, scopes: Scopes) -> list[int]:
    block, first = found.attempt.search, found.places[0]
    inside: set[int] = set()
    for scope in scopes:
        start, stop = max(scope.start, first), scope.stop + len(block) - 1
        inside.update(document.find_block(block, found.tier, start, stop))
    return sorted(inside)
