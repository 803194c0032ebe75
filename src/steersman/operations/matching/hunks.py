"""Hunks of a patch on one file's bytes: forward through the file, all or none."""

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace as with_fields

from steersman.operations.matching.attempts import find_lines
from steersman.operations.matching.document import Change, Document
from steersman.operations.matching.encoding import BOM, Text, check_writable, decode, encode
from steersman.operations.matching.folding import Tier
from steersman.operations.matching.lines import Lines
from steersman.operations.matching.pairing import make_plan
from steersman.operations.matching.patches import Hunk
from steersman.operations.matching.placeholders import check_left_out
from steersman.operations.matching.placing import choose, insertion_line, scopes_of
from steersman.operations.matching.records import Applied, Refusal, Refused, TierName
from steersman.operations.matching.refusals import no_change, not_found
from steersman.operations.matching.revision import revise_each
from steersman.operations.matching.splice import rewrite


class _Placed(Struct, frozen=True):
    """One hunk's change, the kind of match it needed, and the line after it."""

    change: Change
    tier: TierName
    stop: int


def apply_hunks(content: bytes, hunks: Sequence[Hunk]) -> Applied | Refused:
    """Apply every hunk, each below the one before it, or none of them."""
    text = decode(content)
    if isinstance(text, Refused):
        return text
    if not hunks:
        return Refused(0, "no-edits", "The patch has no hunk for this file; send at least one.")
    document = Document(text.text, text.encoding)
    placed: list[_Placed] = []
    for at, hunk in enumerate(hunks):
        try:
            check_writable(text.encoding, "".join([*hunk.search, *hunk.replace]))
            placed.append(_place(document, _without_marks(hunk), placed[-1].stop if placed else 0))
        except Refusal as refusal:
            return refusal.of(at)
    changes, tiers = [own.change for own in placed], [own.tier for own in placed]
    revision = revise_each(document, changes, tiers)
    if revision.text == text.text:
        return no_change().of(0)
    return Applied(encode(Text(text.encoding, revision.text)), revision.notes)


def _place(document: Document, hunk: Hunk, start: int) -> _Placed:
    check_left_out(hunk.search, hunk.replace)
    scopes = scopes_of(document, hunk)
    if not hunk.search:
        return _insert(document, hunk, insertion_line(document, hunk, scopes), start)
    bare = _without_returns(hunk)

    def find(block: Sequence[str], tier: Tier) -> list[int]:
        return document.find_block(block, tier, start)

    found = find_lines(bare.search, bare.replace, document.tiers, find)
    if found is None:
        raise _missing(document, bare, start)
    first = choose(document, hunk, found, scopes)
    stop = first + len(found.attempt.search)
    matched = document.lines.between(first, stop)
    ending = document.ending_near(first) or "\n"
    if not found.attempt.name and _is_literal(hunk, bare, matched):
        ending = "\n"
        new = _ended(hunk.replace, ending, bool(matched.endings[-1]))
    else:
        plan = make_plan(found.attempt.search, found.attempt.replace)
        new = rewrite(document, plan, found.tier, matched, ending)
    if stop == len(document.lines.bodies):
        new = _with_newline(new, hunk, ending)
    change = Change(document.starts[first], document.starts[stop], new.text())
    return _Placed(change, found.name, stop)


def _insert(document: Document, hunk: Hunk, line: int, start: int) -> _Placed:
    if line < start:
        raise Refusal(
            "not-found",
            f"The hunk would insert at line {line + 1}, above the hunk before it; "
            "order the hunks from the top of the file to its end.",
        )
    ending = document.ending_near(line - 1)
    lines = [own.removesuffix("\r") if ending else own for own in hunk.replace]
    at_end = line == len(document.lines.bodies)
    unended = at_end and bool(document.text) and not document.text.endswith("\n")
    new = _ended(lines, ending or "\n", not unended)
    if at_end:
        new = _with_newline(new, hunk, ending or "\n")
    before = (ending or "\n") if unended else ""
    at = document.starts[line]
    return _Placed(Change(at, at, before + new.text()), "placed", line)


def _missing(document: Document, hunk: Hunk, start: int) -> Refusal:
    above = document.find_block(hunk.search, document.widest, 0, start)
    if above:
        return Refusal(
            "not-found",
            f"The hunk's lines are only above the hunk before it, at line {above[0] + 1}; "
            "order the hunks from the top of the file to its end.",
        )
    return not_found(document, hunk.search, hunk.replace)


def _without_marks(hunk: Hunk) -> Hunk:
    """The hunk without byte order marks: the file's own mark is never part of its text."""
    return with_fields(
        hunk,
        search=[line.removeprefix(BOM) for line in hunk.search],
        replace=[line.removeprefix(BOM) for line in hunk.replace],
    )


def _without_returns(hunk: Hunk) -> Hunk:
    """The hunk without the carriage returns that belong to its line ends."""
    unended = hunk.at_end and hunk.newline_at_end != "remove"
    ended = [line.removesuffix("\r") for line in hunk.search[: len(hunk.search) - unended]]
    return with_fields(
        hunk,
        search=ended + hunk.search[len(ended) :],
        replace=[line.removesuffix("\r") for line in hunk.replace],
    )


def _is_literal(hunk: Hunk, bare: Hunk, matched: Lines) -> bool:
    """Whether a hunk that carries carriage returns has them exactly where the file does."""
    if hunk.search == bare.search and hunk.replace == bare.replace:
        return False
    return all(
        own == body + ending.removesuffix("\n")
        for own, body, ending in zip(hunk.search, matched.bodies, matched.endings, strict=True)
    )


def _ended(bodies: Sequence[str], ending: str, last_too: bool) -> Lines:
    endings = [ending] * len(bodies)
    if endings and not last_too:
        endings[-1] = ""
    return Lines(bodies, endings)


def _with_newline(new: Lines, hunk: Hunk, ending: str) -> Lines:
    """The end of the file with or without its newline, where the hunk is literal about it."""
    if hunk.newline_at_end == "keep" or not new.bodies:
        return new
    last = "" if hunk.newline_at_end == "remove" else new.endings[-1] or ending
    return Lines(new.bodies, [*new.endings[:-1], last])
