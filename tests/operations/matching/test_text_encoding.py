"""Bytes to text and back: what is recognised, what is refused, and that nothing is lost."""

import pytest

from steersman.operations.matching import Edit, Refused, Text, apply_edits, decode, encode

READ = [
    (b"", Text("utf-8", "")),
    (b"a\xc3\xa9\n", Text("utf-8", "aé\n")),
    (b"\xef\xbb\xbfa\n", Text("utf-8-sig", "a\n")),
    (b"\xff\xfea\x00\n\x00", Text("utf-16-le", "a\n")),
    (b"\xfe\xff\x00a\x00\n", Text("utf-16-be", "a\n")),
    (b"caf\xe9\n", Text("bytes", "caf\xe9\n")),
]


@pytest.mark.parametrize(("content", "text"), READ, ids=[row[1].encoding for row in READ])
def test_read_and_written_back(content: bytes, text: Text) -> None:
    assert decode(content) == text
    assert encode(text) == content


NOT_TEXT = [
    (b"a\x00b", "not-text"),
    (b"\x00", "not-text"),
    (b"\xff\xfe\x00\x00a\x00\x00\x00", "not-text"),
    (b"\xff\xfea", "encoding"),
    (b"\xff\xfe\x00\xd8", "encoding"),
    (b"\xef\xbb\xbf\xff", "encoding"),
]


@pytest.mark.parametrize(("content", "code"), NOT_TEXT)
def test_refused(content: bytes, code: str) -> None:
    outcome = decode(content)
    assert isinstance(outcome, Refused)
    assert outcome.code == code
    assert apply_edits(content, [Edit("a", "b")]) == outcome


UNWRITABLE = [
    (b"caf\xe9\n", Edit("caf", "café"), "encoding"),
    (b"\x95\x5c=1\n", Edit("\\=1", "x"), "encoding"),
    (b"a\n", Edit("a", "\ud800"), "encoding"),
    (b"a\n", Edit("a", "\x00"), "not-text"),
]


@pytest.mark.parametrize(("content", "edit", "code"), UNWRITABLE)
def test_an_edit_the_file_cannot_hold(content: bytes, edit: Edit, code: str) -> None:
    outcome = apply_edits(content, [edit])
    assert isinstance(outcome, Refused)
    assert outcome.code == code
