"""The rules the matcher keeps, one table each; `cases.jsonl` has many more rows for every rule."""

import pytest

from steersman.operations.matching import Applied, Edit, Refused, apply_edits

BOM = "\ufeff"

RULES = {
    "file bytes win where search and replace agree": [
        ("x = “a” \ny\n", ('x = "a"\ny\n', 'x = "a"\nz\n'), "x = “a” \nz\n"),
        ("a  \nb\n", ("a\nb\n", "b\na\n"), "b\na  \n"),
        ("e\u0301 = 1\n", ("\u00e9 = 1", "\u00e9 = 2"), "e\u0301 = 2\n"),
    ],
    "indentation maps by depth": [
        ("\tf()\n", ("    f()\n", "    if a {\n        f()\n    }\n"), "\tif a {\n\t\tf()\n\t}\n"),
        ("x:\n  f()\n", ("\tf()\n", "\tf()\n\tg()\n"), "x:\n  f()\n  g()\n"),
        ("  a()\n    b()\n", ("a()\nb()\n", "a()\nc()\n"), "  a()\n    c()\n"),
        ("  a()\n    b()\n", ("a()\nb()\n", "a()\nn()\nb()\n"), None),
    ],
    "endings per line": [
        ("a\r\nb\n", ("a\nb\n", "a\nn\nb\n"), "a\r\nn\r\nb\n"),
        ("a\r\n", ("a\n", "a\r\nb\r\n"), "a\r\nb\r\n"),
        ("a\nb", ("b\n", "b\nc\n"), "a\nb\nc"),
        ("a\nb\n", ("b\n", "b"), "a\nb"),
    ],
    "the mark stays first and single": [
        (BOM + "a\n", (BOM + "a\n", "n\n" + BOM + "a\n"), BOM + "n\na\n"),
        ("a\n", (BOM + "a", BOM + "b"), "b\n"),
    ],
    "replacement text is literal": [
        ("a\n", ("a", r"$& \1 %s {} \g<0>"), "$& \\1 %s {} \\g<0>\n"),
    ],
    "left-out code is refused": [
        ("a()\nb()\n", ("a()\nb()\n", "c()\n// ... existing code ...\n"), None),
        ("# ...\na\n", ("# ...\na\n", "# ...\nb\n"), "# ...\nb\n"),
    ],
}
ROWS = [(rule, *row) for rule, rows in RULES.items() for row in rows]


@pytest.mark.parametrize(("rule", "before", "edit", "after"), ROWS)
def test_rule(rule: str, before: str, edit: tuple[str, str], after: str | None) -> None:
    outcome = apply_edits(before.encode(), [Edit(*edit)])
    if after is None:
        assert isinstance(outcome, Refused), rule
    else:
        assert isinstance(outcome, Applied), (rule, outcome)
        assert outcome.content.decode() == after, rule


NEVER = [
    ("edit distance", "return vaule\n", "return value"),
    ("first and last line", "a\nb\nc\n", "a\nx\nc\n"),
    ("elision", "a\nb\nc\n", "a\n...\nc\n"),
    ("unescaping", "a\nb\n", "a\\nb"),
    ("entities", "a < b\n", "a &lt; b"),
    ("case", "Total\n", "total"),
    ("look-alikes", "\u0440\u0430\u0441\n", "pac"),
    ("compatibility forms", "\uff41\n", "a"),
    ("blanks out of nothing", "a,b\n", "a, b"),
    ("blank lines", "a\n\nb\n", "a\nb\n"),
]


@pytest.mark.parametrize(("never", "before", "search"), NEVER, ids=[row[0] for row in NEVER])
@pytest.mark.parametrize("everywhere", [False, True])
def test_never(never: str, before: str, search: str, everywhere: bool) -> None:
    outcome = apply_edits(before.encode(), [Edit(search, "new", everywhere)])
    assert isinstance(outcome, Refused), never
    assert outcome.code == "not-found"


def test_edits_apply_in_order_all_or_none() -> None:
    edits = [Edit("a", "b"), Edit("b\nb", "c"), Edit("gone", "x")]
    first_two = apply_edits(b"a\nb\n", edits[:2])
    assert isinstance(first_two, Applied)
    assert first_two.content == b"c\n"
    outcome = apply_edits(b"a\nb\n", edits)
    assert isinstance(outcome, Refused)
    assert (outcome.edit, outcome.code) == (2, "not-found")
