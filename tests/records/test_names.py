"""Names that are no text: in records, on disk, and for people."""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steersman.records.names import on_disk, shown, written

NAMES = st.binary(min_size=1).filter(lambda name: b"\0" not in name).map(os.fsdecode)


@given(NAMES)
def test_every_name_comes_back(name):
    assert on_disk(written(name)) == name


@given(NAMES)
def test_a_record_is_text(name):
    assert written(name).encode().decode() == written(name)


@given(NAMES, NAMES)
def test_no_two_names_are_written_alike(one, other):
    assert (written(one) == written(other)) == (one == other)


@given(st.text())
def test_nothing_that_could_lead_elsewhere_comes_out_of_a_record(text):
    hidden = on_disk(text)
    for mark in "/\0.":
        assert hidden.count(mark) == text.count(mark)


@pytest.mark.parametrize(
    ("name", "seen"),
    [
        (b"caf\xe9", "caf\\xe9"),
        (b"\xff\xfe", "\\xff\\xfe"),
        ("café".encode(), "café"),
        ("\U0010ffff".encode(), "\\xf4\\x8f\\xbf\\xbf"),
    ],
)
def test_people_see_the_bytes(name, seen):
    assert shown(written(os.fsdecode(name))) == seen
