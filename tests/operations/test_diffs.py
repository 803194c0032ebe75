"""A diff is the change: applied by git it gives the very file."""

import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from steersman.operations.matching import unified_diff as unified
from steersman.operations.matching import with_hunks
from steersman.operations.tools.show_diff import by_file

# What ends a line for some programs is part of a line for a diff.
LINES = ["a", "b", "c", "", "-- x", "++ y", " z", "\\ No", "@@ -1 +1 @@", "ü\x0c\x85\u2028請"]
lines = st.lists(st.sampled_from(LINES), max_size=14)
texts = st.builds(lambda found, end: "\n".join(found) + end, lines, st.sampled_from(["", "\n"]))


@st.composite
def changed(draw: st.DrawFn) -> tuple[str, str]:
    """A text, and the text with some of its lines changed; most of it stays."""
    before = draw(texts)
    after = before.split("\n") * draw(st.integers(1, 2))
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(after)))
        after[at : at + draw(st.integers(0, 2))] = draw(lines)[:2]
    return before, "\n".join(after)


def applied(diff: str, before: bytes | None, name: str = "f.txt") -> bytes:
    """What git makes of a file with a diff."""
    with TemporaryDirectory() as folder:
        path = Path(folder, name)
        if before is not None:
            path.write_bytes(before)
        if diff:
            subprocess.run(
                ["git", "apply", "--unidiff-zero", "--whitespace=nowarn", "-"],
                cwd=folder, input=diff.encode(), check=True, capture_output=True,
                env={"PATH": "/usr/bin:/bin:/usr/local/bin", "GIT_CEILING_DIRECTORIES": folder},
            )  # fmt: skip
        return path.read_bytes() if path.exists() else b""


@given(changed() | st.tuples(texts, texts))
@settings(max_examples=80)
@example(("", "a"))
@example(("a", "a\n"))
@example(("a\n", ""))
@example(("a\nb", "a\nc"))
@example(("x\n" * 50 + "a\n" + "x\n" * 50, "x\n" * 50 + "b\n" + "x\n" * 50))
def test_git_makes_the_new_file_from_the_old_one_and_the_diff(texts):
    before, after = (text.encode() for text in texts)
    diff = unified("f.txt", before, after)
    assert bool(diff) is (before != after)
    assert applied(diff, before) == after


@given(texts.filter(bool))
@settings(max_examples=20)
def test_git_makes_a_new_file_from_its_diff(text):
    assert applied(unified("f.txt", None, text.encode()), None) == text.encode()


@given(changed())
def test_a_diff_shows_three_lines_around_a_change_and_not_the_whole_file(texts):
    before, after = texts
    padding = "same\n" * 100
    diff = unified(
        "f.txt", (padding + before + padding).encode(), (padding + after + padding).encode()
    )
    assert diff.count("\n same") <= 12 * max(diff.count("\n@@"), 1)


@pytest.mark.parametrize(("between", "hunks"), [(1, 1), (3, 1), (4, 2), (5, 2), (6, 2), (9, 2)])
def test_two_places_that_are_apart_can_be_chosen_one_by_one(between, hunks):
    before = [f"line {number}\n" for number in range(30)]
    after = list(before)
    after[10], after[11 + between] = "new one\n", "new two\n"
    old, new = "".join(before).encode(), "".join(after).encode()
    diff = unified("f.txt", old, new)
    assert diff.count("\n@@ ") == hunks
    assert applied(diff, old) == new
    shown = [line for line in diff.split("\n") if line.startswith(" ")]
    assert len(shown) == len(set(shown))  # no line is shown twice
    first = with_hunks(old, new, [1])
    assert (first == new) == (hunks == 1)


def test_a_diff_names_the_file_and_tells_a_new_one():
    assert unified("sub/a.py", b"a\n", b"b\n").startswith("--- a/sub/a.py\n+++ b/sub/a.py\n@@")
    assert unified("a.py", None, b"b\n") == "--- /dev/null\n+++ b/a.py\n@@ -0,0 +1 @@\n+b\n"


def test_the_end_of_a_file_without_a_newline_is_told():
    assert unified("f", b"a", b"a\n") == (
        "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n"
    )


def test_a_file_that_goes_is_told():
    assert unified("f", b"a\n", None) == "--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n"


def test_bytes_that_are_no_text_are_not_shown():
    assert unified("f", b"x\n", b"\0\1\2" * 50) == "Binary files a/f and b/f differ\n"


def test_a_long_file_with_two_distant_changes_is_compared_in_time():
    old = [f"line {number}\n" for number in range(3000)]
    new = [*old]
    new[5], new[2990] = "other\n", "another\n"
    diff = unified("f.txt", "".join(old).encode(), "".join(new).encode())
    assert applied(diff, "".join(old).encode()) == "".join(new).encode()
    assert diff.count("@@ -") == 2


SEVERAL = """\
diff --git a/notes.sql b/notes.sql
index 1..2 100644
--- a/notes.sql
+++ b/notes.sql
@@ -1,2 +1,2 @@
--- a comment
+++ b comment
@@ -9 +9 @@
-x
diff --git a/gone.py b/gone.py
deleted file mode 100644
--- a/gone.py
+++ /dev/null
@@ -1 +0,0 @@
-x
diff --git a/picture.png b/picture.png
index 1..2 100644
Binary files a/picture.png and b/picture.png differ
diff --git a/old.py b/new.py
rename from old.py
rename to new.py
"""


def test_a_diff_of_several_files_is_taken_apart():
    found = list(by_file(SEVERAL))
    assert [one.path for one in found] == ["notes.sql", "gone.py", "picture.png", "new.py"]
    assert "".join(one.diff for one in found) == SEVERAL
    assert [one.path for one in by_file("@@ -1 +1 @@\n-a\n+b\n")] == [""]
    assert list(by_file("")) == []
