"""`workspace_edit_files`: exact text, once, all files or none, and never what was not seen."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steersman.records.message import Message
from tests.operations.workshop import Workshop


def edit(path: str, *edits: tuple[str, str] | dict[str, Any]) -> dict[str, Any]:
    """The edits of one file."""
    made = [
        {"search": one[0], "replace": one[1]} if isinstance(one, tuple) else one for one in edits
    ]
    return {"path": path, "edits": made}


def every(search: str, replace: str) -> dict[str, Any]:
    """A replacement of every occurrence."""
    return {"search": search, "replace": replace, "replace_all": True}


TAKEN = [
    ("a - b\n", [("a - b", "a + b")], "a + b\n"),
    ("one\ntwo\nthree\n", [("two\n", "")], "one\nthree\n"),
    ("one\n", [("one", "two"), ("two", "three")], "three\n"),
    ("x x x", [every("x", "y")], "y y y"),
    ("aaaa", [every("aa", "b")], "bb"),
    ("a\\d+$&\\1\n", [("\\d+$&\\1", "\\g<0>$1\\n")], "a\\g<0>$1\\n\n"),
    ("no newline", [("newline", "end")], "no end"),
    ("\r\nwin\r\ndows\r\n", [("win\r\n", "vin\r\n")], "\r\nvin\r\ndows\r\n"),
    ("\tüber\t請\n", [("über\t", "unter\t")], "\tunter\t請\n"),
]


@pytest.mark.parametrize(("before", "edits", "after"), TAKEN)
def test_this_edit_gives_that_text(tmp_path, before, edits, after):
    (tmp_path / "f").write_bytes(before.encode())
    result = Workshop(tmp_path).one("workspace_edit_files", files=[edit("f", *edits)])
    assert result.status == "ok", result.message
    assert (tmp_path / "f").read_bytes().decode() == after


REFUSED = [
    ("a\n", [("zzz", "b")], "f"),
    ("x\ny\nx\n", [("x", "z")], "1, 3"),
    ("aaa", [("aa", "b")], "2"),
    ("a\n", [("", "b")], "empty"),
    ("a\n", [("a", "a")], "same"),
    ("a\n", [("a", "b"), ("a", "c")], "2"),
]


@pytest.mark.parametrize(("before", "edits", "says"), REFUSED)
def test_this_edit_is_refused_with_what_is_wrong_and_changes_nothing(tmp_path, before, edits, says):
    (tmp_path / "f").write_text(before)
    result = Workshop(tmp_path).one("workspace_edit_files", files=[edit("f", *edits)])
    assert result.status == "error"
    assert says in result.message
    assert (tmp_path / "f").read_text() == before


def two_files(folder: Path) -> None:
    """Two files to edit together."""
    (folder / "one").write_text("a\n")
    (folder / "two").write_text("b\n")


@pytest.mark.parametrize(
    "files",
    [
        [edit("one", ("a", "A")), edit("two", ("zzz", "B"))],
        [edit("one", ("a", "A")), edit("three", ("b", "B"))],
        [edit("one", ("a", "A")), edit("../outside", ("b", "B"))],
        [edit("one", ("a", "A")), edit("./one", ("A", "B"))],
        [edit("one", ("a", "A")), edit("folder", ("b", "B"))],
    ],
    ids=["no-match", "missing", "outside", "twice", "folder"],
)
def test_files_are_edited_all_or_none(tmp_path, files):
    folder = tmp_path / "ws"
    (folder / "folder").mkdir(parents=True)
    (tmp_path / "outside").write_text("b\n")
    two_files(folder)
    result = Workshop(folder).one("workspace_edit_files", files=files)
    assert result.status in ("error", "denied")
    assert (folder / "one").read_text() == "a\n"
    assert (folder / "two").read_text() == "b\n"


def test_several_files_are_edited_together_and_each_change_is_told(tmp_path):
    two_files(tmp_path)
    workshop = Workshop(tmp_path)
    result = workshop.one(
        "workspace_edit_files", files=[edit("one", ("a", "A")), edit("two", ("b", "B"))]
    )
    assert result.status == "ok"
    assert [(tmp_path / name).read_text() for name in ("one", "two")] == ["A\n", "B\n"]
    told = [m.body.file for m in workshop.messages if m.kind == "diff_ready"]
    assert told == ["one", "two"]


@pytest.mark.parametrize("meanwhile", ["one", "two"])
def test_when_one_file_changed_while_the_person_thought_none_is_written(tmp_path, meanwhile):
    """All or none also holds for what happens between the question and the answer."""
    two_files(tmp_path)

    def answer(request: Message) -> str:
        (tmp_path / meanwhile).write_text("a or b, and more\n")
        return "allow"

    workshop = Workshop(tmp_path, answer=answer)
    result = workshop.one(
        "workspace_edit_files", files=[edit("one", ("a", "A")), edit("two", ("b", "B"))]
    )
    assert result.status == "error"
    now = {name: (tmp_path / name).read_text() for name in ("one", "two")}
    assert now == {"one": "a\n", "two": "b\n"} | {meanwhile: "a or b, and more\n"}
    assert "diff_ready" not in workshop.kinds()


def test_a_person_is_asked_once_about_all_files_and_a_no_changes_nothing(tmp_path):
    two_files(tmp_path)
    asked: list[Message] = []

    def answer(request: Message) -> str:
        asked.append(request)
        return "deny"

    result = Workshop(tmp_path, answer=answer).one(
        "workspace_edit_files", files=[edit("one", ("a", "A")), edit("two", ("b", "B"))]
    )
    assert result.status == "denied"
    (request,) = asked
    assert [Path(action.path).name for action in request.body.actions] == ["one", "two"]
    assert all(f"+{letter}\n" in request.body.actions[n].diff for n, letter in enumerate("AB"))
    assert (tmp_path / "one").read_text() == "a\n"


@given(
    st.text("ab\n", max_size=8), st.text("ab", min_size=1, max_size=3),
    st.text("abc", min_size=1, max_size=3),
    st.booleans(),
)  # fmt: skip
@settings(max_examples=25)
def test_an_edit_is_what_replacing_the_text_would_be(
    tmp_path_factory, text, search, replace, replace_all
):
    folder = tmp_path_factory.mktemp("ws")
    (folder / "f").write_text(text)
    one = {"search": search, "replace": replace, "replace_all": replace_all}
    result = Workshop(folder).one("workspace_edit_files", files=[edit("f", one)])
    places = sum(text.startswith(search, at) for at in range(len(text)))
    possible = search != replace and (places == 1 or (places > 1 and replace_all))
    assert (result.status == "ok") is possible
    expected = text.replace(search, replace) if possible else text
    assert (folder / "f").read_text() == expected
