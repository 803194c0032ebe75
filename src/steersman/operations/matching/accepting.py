"""A file with only some hunks of its diff in it; hunks count from 1, as the diff shows them."""

from collections.abc import Collection

from steersman.operations.matching.diffs import grouped, split, texts_of
from steersman.operations.matching.encoding import BOM, Encoding, Text, decode, encode


def with_hunks(before: bytes | None, after: bytes | None, numbers: Collection[int]) -> bytes | None:
    """The content with the accepted hunks: `before` where none is, `after` where all are.

    What cannot be shown as hunks, and a file that appears or goes, is one hunk.
    """
    if not numbers:
        return before
    texts = None if before is None or after is None else texts_of(before, after)
    if texts is None:
        return after
    left, right = map(split, texts)
    groups = list(grouped(left, right))
    if set(numbers) >= set(range(1, len(groups) + 1)):
        return after
    lines: list[str] = []
    at = 0
    for number, group in enumerate(groups, 1):
        for region in group:
            lines += left[at : region.left[0]]
            accepted = number in numbers
            lines += right[slice(*region.right)] if accepted else left[slice(*region.left)]
            at = region.left[1]
    return _encoded("".join([*lines, *left[at:]]), before or b"", after or b"")


def _encoded(text: str, before: bytes, after: bytes) -> bytes:
    """A text of lines of both contents, encoded as the file was if that can hold it."""
    old, new = _encoding(before), _encoding(after)
    if "utf-8-sig" in (old, new) and old != new:
        # The mark is compared as a part of the text, so the text shows whether it is wanted.
        if text.startswith(BOM):
            return encode(Text("utf-8-sig", text.removeprefix(BOM)))
        old = new = new if old == "utf-8-sig" else old
    for encoding in (old, new):
        try:
            return encode(Text(encoding, text))
        except UnicodeEncodeError:
            continue
    return encode(Text("utf-8", text))


def _encoding(content: bytes) -> Encoding:
    found = decode(content)
    assert isinstance(found, Text)
    return found.encoding
