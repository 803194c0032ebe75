"""The first tier: the search text as it is, anywhere in the file, line ends interchangeable."""

from collections.abc import Iterator
from itertools import islice

from msgspec import Struct

from steersman.operations.matching.document import MANY, Change, Document
from steersman.operations.matching.lines import (
    BLANKS,
    fill_endings,
    is_blank,
    single_carriage_returns,
    to_lf,
)
from steersman.operations.matching.pairing import make_plan
from steersman.operations.matching.records import Edit, Refusal
from steersman.operations.matching.refusals import ambiguous

_SECOND_BYTES = frozenset(map(chr, range(0x40, 0x7F)))
_FIRST_BYTE = "\x81"


class _Span(Struct, frozen=True):
    start: int
    stop: int


def exact_changes(document: Document, edit: Edit) -> list[Change]:
    """The changes a literal match asks for; none when the text does not occur."""
    if to_lf(edit.search) == to_lf(edit.replace) or "\r" in to_lf(edit.search):
        changes = _raw_changes(document, edit)
        if changes:
            return changes
    search, replace = to_lf(edit.search), edit.replace
    if "\n" in document.text:
        replace = single_carriage_returns(replace)
    found = _occurrences(document.lf, search, edit.replace_all)
    if len(found) > 1 and "\r\n" in edit.search:
        literal = [at for at in found if _raw(document, at, search) == edit.search]
        found = literal or found
    if len(found) > 1 and not edit.replace_all:
        raise ambiguous([document.line_at(at) + 1 for at in found])
    spans = [_Span(at, at + len(search)) for at in found]
    if "\n" in replace.removesuffix("\n"):
        apart = [span for span in spans if _misses_lead(document.lf, span, replace)]
        translatable = search[0] in BLANKS or _repeats(search, replace)
        if apart and len(apart) == len(spans) and translatable:
            return []
        if apart:
            raise _unknown_depth(document.line_at(apart[0].start) + 1)
    if document.is_bytes:
        _check_whole_characters(document.lf, spans)
    return [_change(document, _whole_line(document.lf, span, replace), replace) for span in spans]


def _raw_changes(document: Document, edit: Edit) -> list[Change]:
    """An edit of nothing but line ends, or of bare carriage returns: to the letter."""
    found = _occurrences(document.text, edit.search, edit.replace_all)
    if len(found) > 1 and not edit.replace_all:
        raise ambiguous([document.text.count("\n", 0, at) + 1 for at in found])
    return [Change(at, at + len(edit.search), edit.replace) for at in found]


def _occurrences(text: str, search: str, apart: bool) -> list[int]:
    if apart:
        return list(_positions(text, search, len(search)))
    return list(islice(_positions(text, search, 1), MANY))


def _positions(text: str, search: str, step: int) -> Iterator[int]:
    at = text.find(search)
    while at >= 0:
        yield at
        at = text.find(search, at + step)


def _misses_lead(text: str, span: _Span, replace: str) -> bool:
    """Whether the search names a line without its lead, and the new lines do not have it either.

    Such a match is literal only by chance: the caller's leads are not the file's. A body no deeper
    than the line that opens it shows the same. A search of several lines, on the other hand, shows
    in its other lines that its leads are the file's.
    """
    start = text.rfind("\n", 0, span.start) + 1
    lead = text[start : span.start]
    if not lead or lead.strip(BLANKS):
        return False
    if text[span.start] in BLANKS:
        return True
    named = text[span.start : span.stop]
    ends_line = named[-1] == "\n" or text[span.stop : span.stop + 1] in ("", "\n")
    if "\n" in named[:-1] or not ends_line:
        return False
    first, *others = [line for line in replace.split("\n") if not is_blank(line)] or [""]
    if any(not line.startswith(lead) for line in others):
        return True
    opens = first.rstrip().endswith((":", "{"))
    return opens and bool(others) and others[0][len(lead)] not in BLANKS


def _repeats(search: str, replace: str) -> bool:
    """Whether the line that was searched for comes back below the first new line."""
    return search.strip() in (line.strip() for line in replace.split("\n")[1:])


def _unknown_depth(line: int) -> Refusal:
    return Refusal(
        "contradictory-indentation",
        f"The search names line {line} without its indentation and the new lines are indented less "
        "than that line, so their depth is not certain; start the search at the beginning of the "
        "line and give every new line its full indentation.",
    )


def _raw(document: Document, at: int, search: str) -> str:
    return document.text[document.offset(at) : document.offset(at + len(search))]


def _check_whole_characters(text: str, spans: list[_Span]) -> None:
    """In an unknown encoding a letter after a high byte may be the second half of a character."""
    for span in spans:
        if span.start and text[span.start - 1] >= _FIRST_BYTE and text[span.start] in _SECOND_BYTES:
            raise Refusal(
                "encoding",
                "The file is not UTF-8 and the match starts right after a byte beyond ASCII, so it "
                "may start inside a character; let the search start earlier or at the line start.",
            )


def _whole_line(text: str, span: _Span, replace: str) -> _Span:
    """Removing all the text of a line removes the line with its end."""
    removed = text[span.start : span.stop]
    if replace or removed[0] == "\n" or removed[-1] == "\n" or not removed.strip():
        return span
    start = text.rfind("\n", 0, span.start) + 1
    stop = text.find("\n", span.stop)
    stop = len(text) if stop < 0 else stop
    if text[start : span.start].strip(BLANKS) or text[span.stop : stop].strip(BLANKS):
        return span
    return _Span(start, min(stop + 1, len(text)))


def _change(document: Document, span: _Span, replace: str) -> Change:
    start, stop = document.offset(span.start), document.offset(span.stop)
    new = _with_endings(document, span, replace) if "\n" in replace else replace
    if document.text.startswith("\r\n", stop):
        new = new.rstrip("\r")
    return Change(start, stop, new)


def _with_endings(document: Document, span: _Span, replace: str) -> str:
    line = document.line_at(span.start)
    usual = document.ending_near(line) or "\n"
    if document.has_one_ending:
        return replace.replace("\n", usual)
    ours = document.lf[span.start : span.stop].split("\n")
    theirs = replace.split("\n")
    pairing = make_plan(ours, theirs).pairing
    own = [*document.lines.endings[line : line + len(ours)], ""]
    endings = fill_endings(pairing, own, usual)
    return "".join(part + ending for part, ending in zip(theirs, [*endings[:-1], ""], strict=True))
