"""A turn's changes as a person reviews them: in order, in a line, in parts."""

import pytest

from steersman.records.errors import UsageProblem
from steersman.records.undo import Part
from steersman.views.arranging import rank
from steersman.views.changeset import Changeset, hunk_named, lines, named, numbered
from steersman.views.git_work import committed
from steersman.views.hunks import FileDiff, Hunk, all_parts
from steersman.views.text import parts_words

CHANGED = FileDiff(
    "src/app.py",
    "changed",
    (Hunk(0, 0, ("-a\n", "+b\n")), Hunk(20, 20, (" c\n", "+d\n"))),
)
BINARY = FileDiff("logo.png", "created", why_whole="it is not text")
GIT = FileDiff("git: 1 commit", "changed", why_whole="git's own files are undone together")
FOUND = Changeset(
    3, (CHANGED, BINARY, GIT), ("src/app.py", "logo.png", ".git/HEAD"), "git: 1 commit"
)


def test_source_comes_first() -> None:
    paths = ["README.md", "uv.lock", "src/lock.py", "go.sum", "package-lock.json", "a.toml", "b.c"]
    assert sorted(paths, key=lambda path: (rank(path), path)) == [
        "b.c", "src/lock.py", "README.md", "a.toml", "go.sum", "package-lock.json", "uv.lock"
    ]  # fmt: skip


def test_a_changeset_in_words() -> None:
    assert FOUND.head == "2 files changed, +2 −1 · git: 1 commit"
    assert Changeset(1, (GIT,), (".git/HEAD",), "git: 1 commit").head == "git: 1 commit"
    assert lines(FOUND, "/undo", "see all: /diff") == [
        "2 files changed, +2 −1 · git: 1 commit",
        "  src/app.py  +2 −1  2 hunks",
        "  logo.png  +0 −0  created",
        "  undo all: /undo",
        "  see all: /diff",
    ]
    assert numbered(FOUND)[1:] == [
        "src/app.py:1\n@@ -1 +1 @@\n-a\n+b\n",
        "src/app.py:2\n@@ -21 +21,2 @@\n c\n+d\n",
        "logo.png: it is not text\n",
        "git: 1 commit: git's own files are undone together\n",
    ]


def test_ignored_folders_are_a_line_each_after_the_source() -> None:
    modules = FileDiff("node_modules", "changed", why_whole="200 files, ignored by git")
    paths = ("src/app.py", "node_modules", ".git/HEAD")
    found = Changeset(3, (CHANGED, modules, GIT), paths, "git: 1 commit", (200,))
    assert (found.own, found.folders) == ((CHANGED,), (modules,))
    assert lines(found, "/undo") == [
        "1 file changed, 200 ignored, +2 −1 · git: 1 commit",
        "  src/app.py  +2 −1  2 hunks",
        "  node_modules: 200 files, ignored by git",
        "  undo all: /undo",
    ]
    assert found.parts({(1, 0)}) == (Part("node_modules"),)
    assert Changeset(1, (modules,), ("node_modules",), "", (1,)).head == "1 ignored file changed"


@pytest.mark.parametrize(
    ("chosen", "parts", "told"),
    [
        ({(0, 0)}, (Part("src/app.py", (1,)),), "src/app.py hunk 1"),
        ({(0, 0), (0, 1)}, (Part("src/app.py", (1, 2)),), "src/app.py hunks 1, 2"),
        ({(1, 0), (2, 0)}, (Part("logo.png"), Part(".git/HEAD")), "logo.png, git"),
        (
            {(0, 0), (0, 1), (1, 0), (2, 0)},
            (Part("src/app.py", (1, 2)), Part("logo.png"), Part(".git/HEAD")),
            "src/app.py hunks 1, 2, logo.png, git",
        ),
    ],
)
def test_what_is_chosen_names_parts(
    chosen: set[tuple[int, int]], parts: tuple[Part, ...], told: str
) -> None:
    assert FOUND.parts(chosen) == parts
    assert parts_words(parts) == told


def test_parts_as_a_person_names_them() -> None:
    assert named(["a.py", "b.py:2", "c.py:1,3"]) == (
        Part("a.py"), Part("b.py", (2,)), Part("c.py", (1, 3))
    )  # fmt: skip
    assert named(["odd:1"], {"odd:1"}) == (Part("odd:1"),)
    assert hunk_named("a:b.py:2") == Part("a:b.py", (2,))
    with pytest.raises(UsageProblem, match="names no hunk"):
        hunk_named("a.py")


def test_what_was_committed_is_left_out_and_the_rest_is_undone_by_name() -> None:
    left = FOUND.without({"src/app.py"})
    assert left is not None
    assert left.head == "1 file changed, +0 −0 · git: 1 commit"
    assert left.parts(all_parts(left.files)) == (Part("logo.png"), Part(".git/HEAD"))
    assert FOUND.without(()) is FOUND
    assert Changeset(1, (CHANGED,), ("src/app.py",)).without({"src/app.py"}) is None


def test_which_files_are_committed_is_read_from_git() -> None:
    text = " M b.py\n?? d.py\n\na.py\nb.py\n"
    paths = ["a.py", "b.py", "c.py", "d.py", "ignored.py"]
    assert committed(text, paths, ["c.py"]) == {"a.py", "c.py"}
    assert committed("\na.py\n", ["a.py"], []) == {"a.py"}
