"""Which tier decides, what it notes, and that the first tier with a match is the one."""

import pytest

from steersman.operations.matching import Applied, Edit, Note, apply_edits

FILE = "def f():\n\tsay(“hi”)  \n\tx  =  1\n\nend\n"

TIERS = [
    ("exact", "say(“hi”)", "say(“ho”)", "def f():\n\tsay(“ho”)  \n\tx  =  1\n\nend\n"),
    (
        "trailing-blanks",
        "\tsay(“hi”)\n\tx  =  1\n",
        "\tsay(“hi”)\n\tx  =  2\n",
        "def f():\n\tsay(“hi”)  \n\tx  =  2\n\nend\n",
    ),
    (
        "typography",
        '\tsay("hi")\n\tx  =  1\n',
        '\tsay("hi")\n\tx  =  2\n',
        "def f():\n\tsay(“hi”)  \n\tx  =  2\n\nend\n",
    ),
    (
        "indentation",
        "    say(“hi”)\n    x  =  1\n",
        "    say(“hi”)\n    x  =  2\n    y()\n",
        "def f():\n\tsay(“hi”)  \n\tx  =  2\n\ty()\n\nend\n",
    ),
    (
        "all-blanks",
        '    say("hi")\n    x = 1\n',
        '    say("ho")\n    x = 2\n',
        "def f():\n\tsay(“ho”)  \n\tx  =  2\n\nend\n",
    ),
    ("blank-borders", "\nend\n\n", "\nEND\n\n", FILE.replace("end", "END")),
    ("line-numbers", "5\tend\n", "5\tEND\n", FILE.replace("end", "END")),
]


@pytest.mark.parametrize(("tier", "search", "replace", "after"), TIERS, ids=[t[0] for t in TIERS])
def test_tier(tier: str, search: str, replace: str, after: str) -> None:
    outcome = apply_edits(FILE.encode(), [Edit(search, replace)])
    assert isinstance(outcome, Applied), outcome
    assert (outcome.content.decode(), outcome.notes[0].tier) == (after, tier)


def test_an_exact_edit_is_noted_with_its_lines() -> None:
    outcome = apply_edits(b"a\nb\nc\n", [Edit("b\n", "x\ny\n")])
    assert outcome == Applied(b"a\nx\ny\nc\n", [Note("exact", (2, 3))])


def test_any_other_tier_shows_the_hunk_it_made() -> None:
    outcome = apply_edits(b"if a:\n\tb()\n", [Edit("    b()\n", "    b()\n    c()\n")])
    hunk = "@@ -1,2 +1,3 @@\n if a:\n \tb()\n+\tc()\n"
    assert outcome == Applied(b"if a:\n\tb()\n\tc()\n", [Note("indentation", (2, 3), 1, hunk)])


def test_replace_all_counts_its_places_and_spans_them() -> None:
    outcome = apply_edits(b"a\nx\na\n", [Edit("a", "b\nb", replace_all=True)])
    assert outcome == Applied(b"b\nb\nx\nb\nb\n", [Note("exact", (1, 5), 2)])


def test_notes_follow_their_lines_when_a_later_edit_moves_them() -> None:
    edits = [Edit("c", "C"), Edit("a\n", "a\na2\na3\n")]
    outcome = apply_edits(b"a\nb\nc\n", edits)
    assert outcome == Applied(b"a\na2\na3\nb\nC\n", [Note("exact", (5, 5)), Note("exact", (1, 3))])


FIRST = [
    ("exact", "f()\n", "g()\n", "f()\nf()  \n", "g()\nf()  \n"),
    (
        "trailing-blanks",
        "\ta()\n\tb()\n",
        "\ta()\n\tc()\n",
        "\ta() \n\tb()\n  a()\n  b()\n",
        "\ta() \n\tc()\n  a()\n  b()\n",
    ),
    (
        "typography",
        '\tsay("x")\n\tb()\n',
        '\tsay("x")\n\tc()\n',
        '\tsay(“x”)\n\tb()\n  say("x")\n  b()\n',
        '\tsay(“x”)\n\tc()\n  say("x")\n  b()\n',
    ),
    (
        "indentation",
        "\ta( )\n\tb()\n",
        "\ta( )\n\tc()\n",
        "\t\ta( )\n\t\tb()\n  a(  )\n  b()\n",
        "\t\ta( )\n\t\tc()\n  a(  )\n  b()\n",
    ),
]


@pytest.mark.parametrize(
    ("tier", "search", "replace", "before", "after"), FIRST, ids=[t[0] for t in FIRST]
)
def test_a_match_in_a_later_tier_does_not_make_it_ambiguous(
    tier: str, search: str, replace: str, before: str, after: str
) -> None:
    outcome = apply_edits(before.encode(), [Edit(search, replace)])
    assert isinstance(outcome, Applied), outcome
    assert (outcome.content.decode(), outcome.notes[0].tier) == (after, tier)
