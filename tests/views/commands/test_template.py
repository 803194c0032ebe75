"""The text of a written command: where a person's words go, and what is never run."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steersman.views.commands.template import HINT, fill, split


@pytest.mark.parametrize(
    ("body", "arguments", "text"),
    [
        ("Fix the bug.", "", "Fix the bug."),
        ("Fix $ARGUMENTS.", "the parser", "Fix the parser."),
        ("Fix $ARGUMENTS.", "", "Fix ."),
        ("Move $1 to $2.", "a.py b.py", "Move a.py to b.py."),
        ("Move $1 to $2.", '"my file" b', "Move my file to b."),
        ("Move $1 to $2.", "a.py", "Move a.py to ."),
        ("It's $1.", "isn't", "It's isn't."),  # an odd quote is a letter
        ("No place for them.", "the words", "No place for them.\n\nthe words"),
        ("All: $ARGUMENTS; first: $1", "x y", "All: x y; first: x"),
        ("It costs \\$1.", "x", "It costs $1.\n\nx"),
        ("$10 and $0 and $x stay", "y", "$10 and $0 and $x stay\n\ny"),
        ("$ARGUMENTSX stays", "y", "$ARGUMENTSX stays\n\ny"),
        ("Say $1", "$2 two", "Say $2"),  # words are not looked at again
        ("Say $1", "$ARGUMENTS", "Say $ARGUMENTS"),
        ("See @docs/a.md and $skill", "", "See @docs/a.md and $skill"),
    ],
)
def test_words_go_where_the_text_says(body, arguments, text):
    filled = fill(body, arguments)
    assert (filled.text, filled.commands) == (text, ())


def test_commands_in_a_text_are_told_and_not_run():
    filled = fill("State: !`git status` and !`rm -rf $1`", "x")

    assert filled.commands == ("git status", "rm -rf $1")
    assert filled.text == f"State: !`git status` and !`rm -rf x`\n\n{HINT}"


def test_a_command_in_a_persons_words_is_only_words():
    assert fill("Do $ARGUMENTS", "!`date`").commands == ()


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_text_takes_any_words(body, arguments):
    filled = fill(body, arguments)
    if "$" not in body and arguments.strip():
        assert arguments.strip() in filled.text
    assert isinstance(split(arguments), list)
