"""Hunks: a diff taken apart, and texts with only some of its hunks."""

from hypothesis import given
from hypothesis import strategies as st

from steersman.operations.matching import unified_diff
from steersman.records.action import Delete, Write
from steersman.views.hunks import (
    all_parts,
    diff_with,
    files_of,
    narrowed,
    read_diff,
    with_accepted,
    without_rejected,
)

LINES = st.sampled_from(
    [
        "a",
        "b",
        "c",
        "",
        "  d",
        "e\r",
        "-- f",
        "++ g",
        "@@ -1 +1 @@",
        "\\ h",
        "\x1b[31mred",
        "é",
        "\x0c",
    ]
)


@st.composite
def texts(draw: st.DrawFn) -> tuple[str, str]:
    """A text and another made of it: some lines taken away, put in or changed."""
    old = draw(st.lists(LINES, max_size=40))
    new: list[str] = []
    for line in old:
        fate = draw(st.sampled_from(["keep"] * 8 + ["drop", "add", "change"]))
        new += {"keep": [line], "drop": [], "add": [line, draw(LINES)], "change": [draw(LINES)]}[
            fate
        ]
    ends = [draw(st.sampled_from(["\n", ""])) for _ in range(2)]
    return tuple("\n".join(x) + (end if x else "") for x, end in zip((old, new), ends, strict=True))  # type: ignore[return-value]


@given(texts(), st.sets(st.integers(0, 10)))
def test_a_text_with_some_hunks_is_the_same_from_either_side(
    pair: tuple[str, str], accepted: set[int]
) -> None:
    old, new = pair
    file = read_diff(unified_diff("x", old.encode(), new.encode()))
    if old == new:
        return
    every = range(len(file.hunks))
    assert with_accepted(old, file, every) == new == without_rejected(new, file, every)
    assert with_accepted(old, file, ()) == old == without_rejected(new, file, ())
    mixed = with_accepted(old, file, accepted)
    assert mixed is not None
    assert mixed == without_rejected(new, file, accepted)
    # What was accepted is a diff of its own, and applies to the old text.
    again = read_diff(diff_with(file, accepted))
    assert with_accepted(old, again, range(len(again.hunks))) == mixed


@given(texts())
def test_a_diff_is_read_to_the_letter(pair: tuple[str, str]) -> None:
    old, new = pair
    diff = unified_diff("folder/name", old.encode(), new.encode())
    if diff:
        file = read_diff(diff)
        assert diff_with(file, range(len(file.hunks))) == diff
        assert (file.name, file.kind) == ("folder/name", "changed")


def test_what_kind_of_change_it_is() -> None:
    created = unified_diff("new.py", None, b"a\n")
    deleted = unified_diff("old.py", b"a\nb\n", None)
    quoted = unified_diff('a "quoted"\tname', b"1\n", b"2\n")
    files = files_of([Write("/w/new.py", diff=created), Delete("/w/old.py", diff=deleted)])
    assert [(file.name, file.kind, file.counts) for file in files] == [
        ("new.py", "created", (1, 0)),
        ("old.py", "deleted", (0, 2)),
    ]
    assert read_diff(quoted).name == 'a "quoted"\tname'
    assert all_parts(files) == {(0, 0), (1, 0)}


def test_a_file_without_hunks_is_one_part() -> None:
    binary = read_diff(unified_diff("x", b"\0", b"\0\0"), "/w/x")
    empty = read_diff(unified_diff("x", None, b""))
    gone = read_diff(unified_diff("x", b"\0", None), "/w/x")
    assert (binary.name, binary.kind, binary.why_whole, binary.parts) == (
        "/w/x", "changed", "it is not text", 1,
    )  # fmt: skip
    assert (empty.kind, empty.parts) == ("created", 1)
    assert gone.kind == "deleted"


def test_what_is_no_diff_is_shown_as_one_part() -> None:
    for text in (
        "",
        "nonsense",
        "--- a/x\n+++ b/x\n@@ what @@\n",
        "--- a/x\n+++ b/x\n@@ -1,9 +1 @@\n a\n",
    ):
        assert read_diff(text, "x").hunks == ()


def test_hunks_that_are_about_another_text_do_not_apply() -> None:
    file = read_diff(unified_diff("x", b"a\nb\n", b"a\nc\n"))
    assert with_accepted("a\nB\n", file, {0}) is None
    assert without_rejected("a\nB\n", file, {0}) is None


def test_fewer_lines_around_a_change() -> None:
    old = "".join(f"{number}\n" for number in range(20))
    file = read_diff(unified_diff("x", old.encode(), old.replace("9\n", "nine\n", 1).encode()))
    (hunk,) = narrowed(file, 1).hunks
    assert hunk.text() == "@@ -9,3 +9,3 @@\n 8\n-9\n+nine\n 10\n"
