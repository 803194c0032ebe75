"""Search-and-replace edits on one file's bytes: in order, all or none."""

from collections.abc import Sequence

from steersman.operations.matching.attempts import check_copied_numbers, find_lines
from steersman.operations.matching.document import Document
from steersman.operations.matching.encoding import BOM, Text, check_writable, decode, encode
from steersman.operations.matching.exact import exact_changes
from steersman.operations.matching.lines import caller_lines, single_carriage_returns, to_lf
from steersman.operations.matching.pairing import make_plan
from steersman.operations.matching.placeholders import check_left_out
from steersman.operations.matching.records import Applied, Edit, Refusal, Refused
from steersman.operations.matching.refusals import ambiguous, no_change, not_found
from steersman.operations.matching.revision import Revision, revise
from steersman.operations.matching.splice import splice_all


def apply_edits(content: bytes, edits: Sequence[Edit]) -> Applied | Refused:
    """Apply every edit, each to the outcome of the one before it, or none of them."""
    text = decode(content)
    if isinstance(text, Refused):
        return text
    if not edits:
        return Refused(0, "no-edits", "The list of edits is empty; send at least one edit.")
    revision = Revision(text.text, [])
    for at, edit in enumerate(edits):
        document = Document(revision.text, text.encoding)
        try:
            check_writable(text.encoding, edit.search + edit.replace)
            revision = _apply(document, edit, revision)
        except Refusal as refusal:
            return refusal.of(at)
    return Applied(encode(Text(text.encoding, revision.text)), revision.notes)


def _apply(document: Document, asked: Edit, so_far: Revision) -> Revision:
    edit = _without_marks(document, asked)
    if not edit.search:
        raise Refusal(
            "empty-search",
            "The search text is empty, so it names no place; "
            "search for the line next to where the new text belongs.",
        )
    if edit.search == edit.replace:
        raise no_change()
    search = caller_lines(to_lf(edit.search))
    replace = caller_lines(single_carriage_returns(edit.replace))
    check_left_out(search, replace)
    check_copied_numbers(search, replace)
    changes = exact_changes(document, edit)
    if changes:
        return revise(document, changes, "exact", so_far)
    find = document.find_blocks_apart if edit.replace_all else document.find_block
    found = find_lines(search, replace, document.tiers, find)
    if found is None:
        raise not_found(document, search, replace)
    if len(found.places) > 1 and not edit.replace_all:
        raise ambiguous([place + 1 for place in found.places])
    plan = make_plan(found.attempt.search, found.attempt.replace)
    changes = splice_all(document, plan, found.tier, found.places)
    return revise(document, changes, found.name, so_far)


def _without_marks(document: Document, edit: Edit) -> Edit:
    """The edit without byte order marks: the file's own mark is never part of its text."""
    if BOM not in edit.search + edit.replace or (BOM in edit.search and edit.search in document.lf):
        return edit
    search, replace = edit.search.lstrip(BOM), edit.replace
    if BOM not in search:
        replace = "\n".join(line.lstrip(BOM) for line in replace.split("\n"))
    return Edit(search, replace, edit.replace_all)
