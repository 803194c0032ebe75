"""Hunks: a diff taken apart, and a choice of its hunks as an answer."""

from hypothesis import given
from hypothesis import strategies as st

from steersman.operations.matching import unified_diff
from steersman.records.action import Delete, Write
from steersman.records.hunks import FileHunks, misfit, parts_of
from steersman.records.message import ConfirmRequest, ConfirmResponse
from steersman.views.hunks import all_parts, answer, files_of, narrowed, read_diff

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
    return tuple("\n".join(x) + (end if x else "") for x, end in zip((old, new), ends, strict=True))


@given(texts())
def test_a_diff_is_read_to_the_letter(pair: tuple[str, str]) -> None:
    old, new = pair
    diff = unified_diff("folder/name", old.encode(), new.encode())
    if diff:
        file = read_diff(diff)
        heads = [f"{line}\n" for line in file.head]
        assert "".join([*heads, *(hunk.text() for hunk in file.hunks)]) == diff
        assert file.parts == parts_of(diff)
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


def test_a_choice_is_an_answer_that_names_hunks_by_number() -> None:
    old = "".join(f"{number}\n" for number in range(40))
    new = old.replace("3\n", "three\n", 1).replace("35\n", "", 1)
    change = Write("/w/x", diff=unified_diff("x", old.encode(), new.encode()))
    created = Write("/w/new.py", diff=unified_diff("new.py", None, b"a\n"))
    request = ConfirmRequest("call_1", "workspace_edit_files", (change, created), "asked")
    every = all_parts(files_of(request.actions))
    assert every == {(0, 0), (0, 1), (1, 0)}
    assert answer(request, every) == ConfirmResponse("allow")
    assert answer(request, ()) == ConfirmResponse("deny")
    assert answer(request, {(0, 1)}).hunks == (FileHunks("/w/x", (2,)),)
    both = answer(request, {(1, 0), (0, 0)}).hunks
    assert both == (FileHunks("/w/x", (1,)), FileHunks("/w/new.py", (1,)))
    assert misfit(request.actions, both) == ""


def test_fewer_lines_around_a_change() -> None:
    old = "".join(f"{number}\n" for number in range(20))
    file = read_diff(unified_diff("x", old.encode(), old.replace("9\n", "nine\n", 1).encode()))
    (hunk,) = narrowed(file, 1).hunks
    assert hunk.text() == "@@ -9,3 +9,3 @@\n 8\n-9\n+nine\n 10\n"
