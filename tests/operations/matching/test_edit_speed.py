"""A large file and a large search take as long as some passes over the file, in every tier.

A second is not the same on every machine, and not on one that does other things as well: the limit
is measured beside the work. What looks at every line for every other takes hundreds of passes.
"""

import time

import pytest

from steersman.operations.matching import (
    Applied,
    Edit,
    Hunk,
    apply_edits,
    apply_hunks,
    unified_diff,
)

PASSES = 25
FILE_LINES, SEARCH_LINES = 200_000, 2_000
FIRST = 100_000


def line(number: int) -> str:
    if number % 7 == 0:
        return ""
    return "    " * (number % 4) + f"value_{number} = compute({number % 97}, 'item')"


LINES = [line(number) for number in range(FILE_LINES)]
BLOCK = LINES[FIRST : FIRST + SEARCH_LINES]
NEW = [own.replace("compute", "derive") if at % 50 == 0 else own for at, own in enumerate(BLOCK)]
SAME = "x = 1\n"


def limit() -> float:
    """The processor time of some passes over the lines, now."""
    start = time.process_time()
    for own in LINES:
        " ".join(own.split()).casefold()
    return PASSES * (time.process_time() - start)


def text(lines: list[str]) -> str:
    return "\n".join(lines) + "\n"


FORMS = {
    "exact": (text(LINES), text(BLOCK), text(NEW)),
    "exact, CRLF": (text(LINES).replace("\n", "\r\n"), text(BLOCK), text(NEW)),
    "trailing-blanks": (text([own + " " for own in LINES]), text(BLOCK), text(NEW)),
    "typography": (text(LINES).replace("'", "\u2019"), text(BLOCK), text(NEW)),
    "indentation": (text(LINES).replace("    ", "\t"), text(BLOCK), text(NEW)),
    "all-blanks": (
        text(LINES).replace("    ", "\t").replace(" = ", "  = ").replace("'", "\u2019"),
        text(BLOCK),
        text(NEW),
    ),
    "blank-borders": (text(LINES), f"\n\n\n{text(BLOCK)}", f"\n\n\n{text(NEW)}"),
    "line-numbers": (
        text(LINES),
        text([f"{at}\t{own}" for at, own in enumerate(BLOCK, FIRST + 1)]),
        text([f"{at}\t{own}" for at, own in enumerate(NEW, FIRST + 1)]),
    ),
    "not found, one line off": (text(LINES), text([*BLOCK[:999], "?", *BLOCK[1000:]]), "new\n"),
    "not found at all": (text(LINES), text([f"q{at} z" for at in range(SEARCH_LINES)]), "new\n"),
    "identical lines, ambiguous": (SAME * FILE_LINES, SAME * SEARCH_LINES, "y\n"),
    "identical lines, folded": (SAME * FILE_LINES, "\tx = 1\n" * SEARCH_LINES, "y\n"),
    "identical lines, not found": (SAME * FILE_LINES, SAME * SEARCH_LINES + "y\n", "new\n"),
    "one long line": ("ab " * 2_000_000, "ab ab ac", "x"),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("everywhere", [False, True])
def test_edit(form: str, everywhere: bool) -> None:
    before, search, replace = FORMS[form]
    content, edits = before.encode(), [Edit(search, replace, everywhere)]
    start = time.process_time()
    outcome = apply_edits(content, edits)
    assert time.process_time() - start < limit()
    if isinstance(outcome, Applied):
        assert outcome.content != content


@pytest.mark.parametrize("hint", [None, 5_000])
def test_hunk_among_identical_lines(hint: int | None) -> None:
    hunk = Hunk(["x = 1"] * SEARCH_LINES, ["x = 2"] * SEARCH_LINES, line=hint)
    content = (SAME * FILE_LINES).encode()
    start = time.process_time()
    outcome = apply_hunks(content, [hunk])
    assert time.process_time() - start < limit()
    assert isinstance(outcome, Applied) == (hint is not None)


@pytest.mark.parametrize(
    "changed",
    [[10, FILE_LINES - 10], [0], list(range(0, FILE_LINES, 1_000))],
    ids=["both ends", "first line", "many places"],
)
def test_diff(changed: list[int]) -> None:
    lines = list(LINES)
    for at in reversed(changed):
        lines[at : at + 1] = ["new", "newer"]
    before, after = text(LINES).encode(), text(lines).encode()
    start = time.process_time()
    diff = unified_diff("f", before, after)
    assert time.process_time() - start < limit()
    assert diff.count("\n+newer\n") == len(changed)
