"""What the cursor is at, and what is offered there."""

import pytest

from steersman.views.completion.fuzzy import Match
from steersman.views.completion.sources import Want, offer_file, offer_names, wanted


@pytest.mark.parametrize(
    ("line", "want"),
    [
        ("@", Want("file", "", 0)),
        ("look at @src/ho", Want("file", "src/ho", 8)),
        ('look at @"my fi', Want("file", "my fi", 8)),
        ("(@a", Want("file", "a", 1)),
        ("see @#op", Want("symbol", "op", 4)),
        ("@#", Want("symbol", "", 0)),
        ("me@example.org", None),
        ("see @a.py and", None),
        ('see @"a b" and', None),
        ("$", Want("skill", "", 0)),
        ("use $rev", Want("skill", "rev", 4)),
        ("echo $HOME", None),
        ("costs 5$", None),
        ("/", Want("command", "", 0)),
        ("/he", Want("command", "he", 0)),
        ("/usr/bin", None),
        ("/model x", None),
        (" /he", None),
        ("#note", None),
        ("", None),
    ],
)
def test_what_the_end_of_a_line_asks_for(line: str, want: Want | None) -> None:
    assert wanted(line, first=True) == want


def test_commands_only_at_the_very_beginning() -> None:
    assert wanted("/he", first=False) is None


def test_nothing_is_offered_in_a_shell_command() -> None:
    assert wanted("!cat @a", first=True, shell=True) is None


@pytest.mark.parametrize(
    ("path", "insert", "whole"),
    [
        ("src/a.py", "@src/a.py ", True),
        ("my file.py", '@"my file.py" ', True),
        ("src/", "@src/", False),
        ("my folder/", '@"my folder/', False),
    ],
)
def test_how_a_path_is_written(path: str, insert: str, whole: bool) -> None:
    offer = offer_file(Match(path, 1, (0,)))
    assert (offer.insert, offer.whole) == (insert, whole)


def test_commands_tell_what_they_are_about_and_how_they_are_used() -> None:
    known = [("model", "Use another model.", "NAME"), ("help", "Show help.", "")]
    offers = offer_names(Want("command", "mo", 0), known)
    assert [(one.label, one.about, one.positions) for one in offers] == [
        ("/model", "NAME · Use another model.", (1, 2)),
    ]
    assert [one.label for one in offer_names(Want("command", "", 0), known)] == ["/model", "/help"]


def test_skills_are_offered_by_name() -> None:
    offers = offer_names(Want("skill", "rv", 0), [("review", "Look at code.")])
    assert [(one.label, one.insert) for one in offers] == [("$review", "$review ")]
