"""What a refused caller is told: one sentence about what is wrong, and the next step."""

import pytest

from steersman.operations.matching import Edit, Refused, apply_edits

SAID = [
    ("no-edits", "a\n", [], "The list of edits is empty; send at least one edit."),
    (
        "empty-search",
        "a\n",
        [Edit("", "b")],
        "The search text is empty, so it names no place; "
        "search for the line next to where the new text belongs.",
    ),
    (
        "no-change",
        "a\n",
        [Edit("a", "a")],
        "Search and replace come to the same text, so nothing would change; "
        "send the text you want instead.",
    ),
    (
        "ambiguous",
        "x\ny\nx\n\nx\n",
        [Edit("x\n", "z\n")],
        "The search text has 3 matches, at lines 1, 3, 5; add neighbouring lines until it names "
        "one place, or ask for all of them to be replaced.",
    ),
    (
        "already-applied",
        "a\nmode = new\n",
        [Edit("mode = old", "mode = new")],
        "The search text is not in the file, but the replacement is already there at line 2: the "
        "edit was already applied, or search and replace are swapped; leave the edit out, or "
        "exchange the two.",
    ),
    (
        "left-out-code",
        "a\nb\n",
        [Edit("a\nb\n", "c\n# rest of file unchanged\n")],
        "The replacement leaves code out behind '# rest of file unchanged', and writing that would "
        "delete the code; write every line out, or make the search smaller so that it "
        "contains only lines that change.",
    ),
    (
        "copied-numbers",
        "a\nb\n",
        [Edit("b\n", "     2→B\n")],
        "The replacement starts with line numbers copied from a listing ('     2→B'); "
        "send the lines without them.",
    ),
    (
        "contradictory-indentation",
        "def f():\n    x = 1\n",
        [Edit("x = 1\n", "x = 1\ny = 2\n")],
        "The search names line 2 without its indentation and the new lines are indented less than "
        "that line, so their depth is not certain; start the search at the beginning of the line "
        "and give every new line its full indentation.",
    ),
    (
        "contradictory-indentation",
        "  a()\n    b()\n",
        [Edit("a()\nb()\n", "a()\nn()\nb()\n")],
        "The search is indented differently from the file, and the file does not show how deep "
        "'n()' belongs; copy the indentation of these lines from the file into search and replace.",
    ),
    (
        "not-found",
        "def f():\n\treturn  1\n\tend\n",
        [Edit("def f():\n    return 2\n", "x")],
        "The search text is not in the file; read the file again and copy the lines as they are. "
        "Nearest lines (· is a space, → a tab):\n"
        "  line 1: def·f():\n"
        "  line 2: →return··1\n"
        "  line 3: →end\n"
        "  where the search has: ····return·2",
    ),
]


@pytest.mark.parametrize(("code", "before", "edits", "message"), SAID, ids=[r[0] for r in SAID])
def test_message(code: str, before: str, edits: list[Edit], message: str) -> None:
    outcome = apply_edits(before.encode(), edits)
    assert isinstance(outcome, Refused)
    assert (outcome.edit, outcome.code, outcome.message) == (0, code, message)


HINTS = [
    ('print("a")\nprint("b")\n', 'print("a")\\nprint("b")', "escaped twice"),
    ("a < b\n", "a &lt; b", "HTML entities"),
    ("Hello there\n", "hello there", "upper and lower case"),
    ("well, it’s so\n", "it's so", "typographic characters"),
    ("x = 10\n", "x = 1\n", "inside a longer line: complete that line (line 1)"),
    ("above\n\n\nbelow\n", "above\nbelow\n", "only blanks or blank lines differ"),
    ("a()\nb()\nc()\n", "a()\n# ... existing code ...\nc()\n", "leaves lines out"),
    ("value = compute(1)\n", "value = compute(2)", "line 1: value·=·compute(1)"),
]


@pytest.mark.parametrize(("before", "search", "hint"), HINTS, ids=[row[2] for row in HINTS])
def test_hint(before: str, search: str, hint: str) -> None:
    outcome = apply_edits(before.encode(), [Edit(search, "zzz")])
    assert isinstance(outcome, Refused)
    assert outcome.code == "not-found"
    assert hint in outcome.message


def test_a_long_list_of_matches_is_cut() -> None:
    outcome = apply_edits(b"x\n" * 99, [Edit("x", "y")])
    assert isinstance(outcome, Refused)
    assert "at least 50 matches, at lines 1, 2, 3, 4, 5, 6, 7, 8, …;" in outcome.message


def test_a_message_stays_short_whatever_the_file() -> None:
    outcome = apply_edits(b"word " * 50_000, [Edit("word word other", "x")])
    assert isinstance(outcome, Refused)
    assert len(outcome.message) < 1_000


def test_the_index_names_the_edit_at_fault() -> None:
    outcome = apply_edits(b"a\n", [Edit("a", "b"), Edit("c", "d")])
    assert isinstance(outcome, Refused)
    assert outcome.edit == 1
