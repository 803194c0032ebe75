"""Changes put into a text, and the notes that say where they ended up."""

from collections.abc import Sequence

from msgspec import Struct

from steersman.operations.matching.diffs import CONTEXT, hunk_text
from steersman.operations.matching.document import Change, Document
from steersman.operations.matching.records import Note, TierName
from steersman.operations.matching.refusals import no_change
from steersman.records.counting import counted

SHOWN_CHANGES = 3
SHOWN_TEXT = 100_000
SHOWN_LINES = 60


class Revision(Struct, frozen=True):
    """A file's text after some edits, with a note for each of them."""

    text: str
    notes: list[Note]


class _Spot(Struct, frozen=True):
    """Where one change lies: its line before, its first and last line after, lines gained."""

    old: int
    first: int
    last: int
    gained: int


def revise(
    document: Document, changes: Sequence[Change], tier: TierName, so_far: Revision
) -> Revision:
    """The text with the changes made, which must be in order and apart."""
    text = _changed(document.text, changes)
    if text == document.text:
        raise no_change()
    spots = _spots(document.text, changes)
    hunk = "" if tier == "exact" else _shown(document.text, changes, spots)
    note = Note(tier, (spots[0].first, spots[-1].last), len(changes), hunk)
    return Revision(text, [*(_moved(old, spots) for old in so_far.notes), note])


def revise_each(
    document: Document, changes: Sequence[Change], tiers: Sequence[TierName]
) -> Revision:
    """The text with the changes made, and a note for each change."""
    notes: list[Note] = []
    for change, spot, tier in zip(changes, _spots(document.text, changes), tiers, strict=True):
        hunk = "" if tier == "exact" else _shown(document.text, [change], [spot])
        notes.append(Note(tier, (spot.first, spot.last), 1, hunk))
    return Revision(_changed(document.text, changes), notes)


def _changed(text: str, changes: Sequence[Change]) -> str:
    pieces: list[str] = []
    at = 0
    for change in changes:
        pieces += (text[at : change.start], change.new)
        at = change.stop
    return "".join([*pieces, text[at:]])


def _spots(text: str, changes: Sequence[Change]) -> list[_Spot]:
    spots: list[_Spot] = []
    at, line, gained = 0, 1, 0
    for change in changes:
        line += text.count("\n", at, change.start)
        removed = text.count("\n", change.start, change.stop)
        added = change.new.count("\n")
        first = line + gained
        last = first + added - change.new.endswith("\n")
        spots.append(_Spot(line, first, max(first, last), added - removed))
        at, line, gained = change.stop, line + removed, gained + added - removed
    return spots


def _moved(note: Note, spots: Sequence[_Spot]) -> Note:
    """An earlier note, its lines where a later edit has moved them."""
    first, last = note.lines
    before = sum(spot.gained for spot in spots if spot.old < first)
    within = sum(spot.gained for spot in spots if first <= spot.old <= last)
    lines = (max(first + before, 1), max(last + before + within, first + before, 1))
    return Note(note.tier, lines, note.count, note.hunk)


def _shown(text: str, changes: Sequence[Change], spots: Sequence[_Spot]) -> str:
    """The first changes as a hunk, with the lines around them."""
    near = [own for own in changes[:SHOWN_CHANGES] if own.start - changes[0].start < SHOWN_TEXT]
    start, above = _back(text, near[0].start)
    stop = _forward(text, near[-1].stop)
    kept = [Change(own.start - start, own.stop - start, own.new) for own in near]
    before = text[start:stop]
    first = spots[0].old - above - 1
    hunk = hunk_text(before, _changed(before, kept), first).splitlines(keepends=True)
    if len(hunk) > SHOWN_LINES:
        hunk = [*hunk[:SHOWN_LINES], f"… {counted(len(hunk) - SHOWN_LINES, 'more line')}\n"]
    return "".join(hunk)


def _back(text: str, at: int) -> tuple[int, int]:
    """The start of the line a few lines up, and how many lines up it is."""
    start = text.rfind("\n", 0, at) + 1
    for lines in range(CONTEXT):
        if not start:
            return 0, lines
        start = text.rfind("\n", 0, start - 1) + 1
    return start, CONTEXT


def _forward(text: str, at: int) -> int:
    """The end of the line a few lines down."""
    inside_line = at and text[at - 1] != "\n"
    for _ in range(CONTEXT + bool(inside_line)):
        stop = text.find("\n", at)
        if stop < 0:
            return len(text)
        at = stop + 1
    return at
