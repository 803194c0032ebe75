"""A file with only some hunks of its diff in it, whatever its lines, ends and encoding are."""

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steersman.operations.matching import Text, apply_hunks, decode, parse_patch, unified_diff
from steersman.operations.matching.accepting import with_hunks
from steersman.records.hunks import hunks_of, parts_of

ENDS = st.sampled_from(["\n", "\r\n", "\r"])
WORDS = st.sampled_from(["a", "b", "", "  c", "é", "@@ -1 +1 @@", "--- a", "\ufeffx", "\x0cy"])
# Unchanged lines lie between the changed ones, so that there are several hunks.
FILLER = st.integers(0, 9)


@st.composite
def pairs(draw: st.DrawFn) -> tuple[str, str]:
    """Two texts that differ in a few places."""
    end = draw(ENDS)
    left: list[str] = []
    right: list[str] = []
    for number in range(draw(st.integers(0, 4))):
        same = [f"same {number} {line}" for line in range(draw(FILLER))]
        left += same + draw(st.lists(WORDS, max_size=3))
        right += same + draw(st.lists(WORDS, max_size=3))
    last = draw(st.sampled_from(["", end]))
    return end.join(left) + last, end.join(right) + draw(st.sampled_from(["", end, last]))


MARKS = {"utf-8": b"", "utf-8-sig": codecs.BOM_UTF8, "utf-16-le": codecs.BOM_UTF16_LE,
         "utf-16-be": codecs.BOM_UTF16_BE}  # fmt: skip


def written(text: str, encoding: str) -> bytes:
    """A text as a file with its byte order mark, which is the only one: it says the encoding."""
    text = text.lstrip("\ufeff")
    codec = "utf-8" if encoding == "utf-8-sig" else encoding
    return MARKS.get(encoding, b"") + text.encode(codec, errors="replace")


encodings = st.sampled_from([*MARKS, "latin-1"])
choices = st.sets(st.integers(1, 6))


@given(pairs(), encodings, encodings, choices)
def test_all_hunks_are_the_new_content_and_none_the_old(texts, old, new, choice):
    before, after = written(texts[0], old), written(texts[1], new)
    parts = parts_of(unified_diff("f", before, after))
    assert with_hunks(before, after, range(1, parts + 1)) == after
    assert with_hunks(before, after, ()) == before
    assert with_hunks(None, after, [1]) == after
    assert with_hunks(before, None, [1]) is None
    assert with_hunks(None, after, ()) is None
    assert with_hunks(before, None, ()) == before


@given(pairs(), encodings, choices)
def test_a_subset_is_what_the_accepted_hunks_alone_would_make(texts, encoding, choice):
    before, after = (written(text, encoding) for text in texts)
    diff = unified_diff("f", before, after)
    hunks = hunks_of(diff)
    mixed = with_hunks(before, after, choice)
    assert mixed is not None
    old, new, between = decode(before), decode(after), decode(mixed)
    assert isinstance(old, Text)
    assert isinstance(new, Text)
    assert isinstance(between, Text)
    expected = old.text.split("\n")
    for number in sorted(choice & set(range(1, len(hunks) + 1)), reverse=True):
        spliced(expected, hunks[number - 1])
    assert between.text == "\n".join(expected)
    assert between.encoding in (old.encoding, new.encoding)


def spliced(lines: list[str], hunk: str) -> None:
    """Put a hunk into lines by its own words; the simplest way there is, from the last up."""
    header, *body = hunk.removesuffix("\n").split("\n")
    start, _, size = header.split(" ")[1][1:].partition(",")
    at = int(start) - (size != "0")
    old, new = side(body, "-"), side(body, "+")
    text = "\n".join(lines)
    whole = [line + "\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])
    assert "".join(whole) == text
    assert whole[at : at + len(old)] == old
    whole[at : at + len(old)] = new
    lines[:] = "".join(whole).split("\n")


def side(body: list[str], mark: str) -> list[str]:
    """The lines of a hunk on one side, with their ends."""
    found: list[str] = []
    keeps = False
    for line in body:
        if line.startswith("\\"):
            if keeps:
                found[-1] = found[-1].removesuffix("\n")
            continue
        keeps = line[0] in (" ", mark)
        if keeps:
            found.append(line[1:] + "\n")
    return found


@given(pairs(), choices)
def test_the_rest_can_be_accepted_later(texts, choice):
    """Accepting some and then all of what still differs comes to the same content."""
    before, after = (written(text, "utf-8") for text in texts)
    mixed = with_hunks(before, after, choice)
    rest = parts_of(unified_diff("f", mixed, after))
    assert with_hunks(mixed, after, range(1, rest + 1)) == after


@given(pairs(), choices)
def test_what_is_left_is_shown_as_a_diff_that_applies(texts, choice):
    before, after = (written(text, "utf-8") for text in texts)
    mixed = with_hunks(before, after, choice)
    diff = unified_diff("f", before, mixed)
    if b"\r" in before + after or b"\xef\xbb\xbf" in before + after or not hunks_of(diff):
        return  # a patch says nothing about these
    parsed = parse_patch(diff)
    assert not hasattr(parsed, "code")
    (patch,) = parsed
    applied = apply_hunks(before, patch.hunks)
    assert getattr(applied, "content", applied) == mixed


LINES = [f"line {number}\n" for number in range(40)]


@pytest.mark.parametrize("encoding", [*MARKS, "latin-1"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("last", ["", "end"])
def test_the_file_keeps_its_ends_its_mark_and_its_encoding(encoding, end, last):
    old = [*LINES, last]
    new = ["first é\n", *LINES[:20], "middle\n", *LINES[20:], last + "!"]
    before, after = (written("".join(lines).replace("\n", end), encoding) for lines in (old, new))
    assert parts_of(unified_diff("f", before, after)) == 3
    expected = [*LINES[:20], "middle\n", *LINES[20:], last]
    text = "".join(expected).replace("\n", end)
    assert with_hunks(before, after, {2}) == written(text, encoding)


def test_a_mark_that_changes_is_a_part_of_the_first_hunk():
    before = b"".join(line.encode() for line in LINES)
    after = codecs.BOM_UTF8 + before + b"more\n"
    assert parts_of(unified_diff("f", before, after)) == 2
    assert with_hunks(before, after, {1}) == codecs.BOM_UTF8 + before
    assert with_hunks(before, after, {2}) == before + b"more\n"


def test_lines_of_another_encoding_are_written_in_that_of_the_file():
    before = "".join(["é\n", *LINES]).encode("latin-1")
    after = "".join(["é\n", *LINES[:20], "ü\n", *LINES[20:], "z\n"]).encode("latin-1")
    utf = after.decode("latin-1").encode()
    diff = unified_diff("f", before, utf)
    assert with_hunks(before, utf, range(1, parts_of(diff))) == (
        "".join(["é\n", *LINES[:20], "ü\n", *LINES[20:]]).encode("latin-1")
    )


def test_what_is_not_text_is_one_hunk():
    before, after = b"a\0b", b"a\0c"
    assert parts_of(unified_diff("f", before, after)) == 1
    assert with_hunks(before, after, {1}) == after
