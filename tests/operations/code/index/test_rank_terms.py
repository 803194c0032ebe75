"""Words and identifiers meet in terms."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steersman.operations.code.index.terms import pieces, stem, understand

SAME = """
cookie cookies
policy policies
parse parses parsed parsing
retry retries
match matches matched matching
connection connections connect
validate validation
stop stopped stopping
class classes
"""


@pytest.mark.parametrize("row", SAME.strip().splitlines())
def test_forms_of_a_word_have_one_stem(row):
    assert len({stem(word) for word in row.split()}) == 1


@pytest.mark.parametrize(
    ("identifier", "parts"),
    [
        ("retries", {"retri"}),
        ("max_form_size", {"max", "form", "size", "maxformsize"}),
        ("MaxFormSize", {"max", "form", "size", "maxformsize"}),
        ("HTTPServer", {"http", "server", "httpserver"}),
        ("_read2", {"read", "read2"}),
        ("x", set()),
        ("a" * 100, set()),
        ("größe", {"größ"}),
    ],
)
def test_an_identifier_is_split_at_its_seams(identifier, parts):
    assert set(pieces(identifier)) == parts


def test_a_question_is_taken_apart():
    asked = understand("Why does `load` of http/cookies.py fail, in SimpleCookie.value_decode()?")
    assert asked.names == {"load", "SimpleCookie", "value_decode"}
    assert asked.paths == ("http/cookies.py",)
    assert {"load", "cooki", "fail", "decod", "simplecookie"} <= asked.terms.keys()
    assert asked.terms["fail"] == "fail"
    assert not {"why", "does", "in", "of"} & asked.terms.keys()


@given(st.text())
def test_any_text_can_be_asked(text):
    asked = understand(text)
    assert all(asked.terms)


@given(st.from_regex(r"[A-Za-z_]\w{1,30}", fullmatch=True))
def test_case_and_seams_do_not_matter_for_the_whole(identifier):
    parts = pieces(identifier)
    assert all(part == part.lower() for part in parts)
    assert len(parts) == len(set(parts))
