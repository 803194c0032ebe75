"""Columns in characters, bytes and UTF-16: the same place in each."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steersman.operations.code.lsp.positions import (
    OFFERED,
    lines_of,
    path_of,
    to_column,
    to_units,
    uri_of,
)


@pytest.mark.parametrize(
    ("line", "column", "utf8", "utf16", "utf32"),
    [
        ("ship = 1", 1, 0, 0, 0),
        ("ship = 1", 8, 7, 7, 7),
        ("Ærø = ship", 7, 8, 6, 6),
        ('"𝔖hip"; ship', 9, 11, 9, 8),
        ("🚢🚢x", 3, 8, 4, 2),
        ("e\u0301x", 3, 3, 2, 2),
    ],
)
def test_a_place_in_every_encoding(line, column, utf8, utf16, utf32):
    units = {"utf-8": utf8, "utf-16": utf16, "utf-32": utf32}
    for encoding in OFFERED:
        assert to_units(line, column, encoding) == units[encoding]
        assert to_column(line, units[encoding], encoding) == column


@given(st.text(max_size=30), st.integers(1, 31), st.sampled_from(OFFERED))
def test_there_and_back(line, column, encoding):
    column = min(column, len(line) + 1)
    assert to_column(line, to_units(line, column, encoding), encoding) == column


@pytest.mark.parametrize("encoding", OFFERED)
def test_places_beyond_a_line_are_its_end(encoding):
    assert to_column("Ærø", 99, encoding) == 4
    assert to_column("abc", 99, encoding) == 4


def test_units_inside_a_character_mean_that_character():
    assert to_column("a🚢b", 2, "utf-16") == 2
    assert to_column("a🚢b", 3, "utf-8") == 2


def test_lines_end_as_the_protocol_says():
    assert lines_of("a\r\nb\rc\nd\u2028e\x0cf") == ["a", "b", "c", "d\u2028e\x0cf"]


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20))
def test_a_path_survives_its_uri(name):
    assert path_of(uri_of(f"/ws/{name}")) == f"/ws/{name}"


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("file:///a%20b/c%23.py", "/a b/c#.py"),
        ("file://localhost/a.py", "/a.py"),
        ("file:///a#b?c.py", "/a#b?c.py"),
        ("file://server/share/a.py", ""),
        ("vendored:/stdlib/builtins.pyi", ""),
        ("untitled:1", ""),
        ("file:///a%00b", ""),
        ("nonsense", ""),
    ],
)
def test_only_files_of_this_machine_are_paths(uri, path):
    assert path_of(uri) == path
