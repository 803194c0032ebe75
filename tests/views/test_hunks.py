"""Hunks: a diff taken apart, and a choice of its hunks as an answer."""

from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from steersman.operations.matching import unified_diff
from steersman.records.action import Delete, Write
from steersman.records.hunks import FileHunks, misfit, parts_of
from steersman.records.message import ConfirmRequest, ConfirmResponse
from steersman.views.hunks import all_parts, answer, diffs_of, files_of, narrowed, read_diff

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


def test_a_file_that_is_moved_is_one_part_with_what_changes_in_it() -> None:
    old = "".join(f"{number}\n" for number in range(40))
    new = old.replace("3\n", "three\n", 1).replace("35\n", "", 1)
    gone = Delete("/w/old.py", diff=unified_diff("old.py", old.encode(), None))
    diff = unified_diff("new.py", None, new.encode())
    come = Write("/w/new.py", diff=diff, moved_from="/w/old.py")
    other = Write("/w/x", diff=unified_diff("x", b"1\n", b"2\n"))
    request = ConfirmRequest("call_1", "workspace_apply_patch", (gone, come, other), "asked")
    moved, changed = files_of(request.actions)
    assert (moved.title, moved.kind, moved.counts, len(moved.hunks), moved.parts) == (
        "old.py → new.py", "renamed", (1, 2), 2, 1,
    )  # fmt: skip
    assert all_parts([moved, changed]) == {(0, 0), (1, 0)}
    both = answer(request, {(0, 0)}).hunks
    assert both == (FileHunks("/w/new.py", (1,)), FileHunks("/w/old.py", (1,)))
    assert misfit(request.actions, both) == ""
    assert answer(request, {(1, 0)}).hunks == (FileHunks("/w/x", (1,)),)
    shown = diffs_of(request.actions)
    assert list(shown) == ["/w/new.py", "/w/x"]
    assert shown["/w/new.py"].startswith("--- a/old.py\n+++ b/new.py\n@@ -1,7 +1,7 @@\n")

    same = structs.replace(come, diff=unified_diff("new.py", None, old.encode()))
    (only,) = files_of((gone, same))
    assert (only.title, only.hunks, only.why_whole) == (
        "old.py → new.py", (), "its content is the same",
    )  # fmt: skip
    binary = Delete("/w/a", "d", unified_diff("a", b"\0", None))
    there = Write("/w/b", "", "d", unified_diff("b", None, b"\0"), moved_from="/w/a")
    (only,) = files_of((binary, there))
    assert (only.title, only.kind, only.why_whole) == (
        "/w/a → /w/b", "renamed", "its content is the same",
    )  # fmt: skip


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
