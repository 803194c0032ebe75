"""The names that a file uses, counted without a tree."""

import pytest

from steersman.operations.code.trees.languages import BY_NAME
from steersman.operations.code.trees.tags import tags
from steersman.operations.code.trees.words import LEXIS, words


@pytest.mark.parametrize(
    ("lexis", "source", "found"),
    [
        ("python", "foo(bar, 'no', \"no\") # no", {"foo": 1, "bar": 1}),
        ("python", '"""no "no" \\""" no"""\nfoo(x)', {"foo": 1}),
        ("python", "'it\\'s no' + foo", {"foo": 1}),
        ("python", "größe = 0x1F + 12 + a1", {"größe": 1, "a1": 1}),
        ("c", "/* no\nno */ foo(\"no // no\"); // no\nbar('x');", {"foo": 1, "bar": 1}),
        ("script", "foo(`${bar}`)", {"foo": 1, "bar": 1}),
        ("rust", "fn foo<'a>(bar: &'a str) {}", {"fn": 1, "foo": 1, "bar": 1, "str": 1}),
        ("hash", "foo.bar # no\n'no'", {"foo": 1, "bar": 1}),
        ("shell", "foo \"$bar\" # no\necho 'no'", {"foo": 1, "bar": 1, "echo": 1}),
        ("php", "foo($bar); // no\n# no", {"foo": 1, "bar": 1}),
        ("none", "foo", {}),
    ],
)
def test_comments_and_strings_do_not_count(lexis: str, source: str, found: dict[str, int]) -> None:
    counted = words(source.encode(), lexis)
    assert {name.decode(): count for name, count in counted.items()} == found


def test_a_definition_is_not_a_use_of_itself() -> None:
    said = tags(b"def foo(): pass\ndef bar(): return foo() + foo()\n", BY_NAME["python"])
    assert [one.name for one in said.definitions] == ["foo", "bar"]
    assert said.references == {b"def": 2, b"foo": 2, b"pass": 1, b"return": 1}


def test_what_cannot_be_read_has_a_note_instead() -> None:
    said = tags(b"\0", BY_NAME["python"])
    assert (said.definitions, said.references, said.note) == ((), {}, "it is not a text")


def test_open_quotes_cost_no_time() -> None:
    for lexis in LEXIS:
        assert words(b'"\\' * 50_000 + b"'" * 50_000 + b"/*" * 50_000, lexis) == {}
