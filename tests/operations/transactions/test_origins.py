"""Whose contents are lost: the thread's own, or what was there before it."""

import pytest

from steersman.operations.running.origins import origins
from steersman.operations.running.precious import Keeping
from steersman.records.change import ABSENT, Change, FileState


def state(content):
    return FileState("file", 0o644, content, len(content)) if content is not None else ABSENT


def made(*steps):
    """Changes from lines such as `path: before > after`, where `-` is nothing."""
    for step in steps:
        path, words = step.split(": ")
        before, after = (None if one == "-" else one for one in words.split(" > "))
        yield Change(path, state(before), state(after))


@pytest.mark.parametrize(
    ("steps", "place", "origin"),
    [
        (["new: - > a"], ("new", "a"), None),
        (["new: - > a", "new: a > b"], ("new", "b"), None),
        (["old: a > b", "old: b > c"], ("old", "c"), "a"),
        (["old: a > b", "old: mine > c"], ("old", "c"), "mine"),  # somebody else was there
        (["new: - > a", "new: mine > b"], ("new", "b"), "mine"),
        (["copy: - > a", "old: a > -"], ("copy", "a"), "a"),  # moved, whatever came first
        (["old: a > -", "copy: - > a", "copy: a > b"], ("copy", "b"), "a"),
        (["a: x > -", "b: - > x", "b: x > y", "c: - > y", "b: y > -"], ("c", "y"), "x"),
        (["old: a > -", "old: - > a"], ("old", "a"), "a"),  # brought back
        (["kept: x > -", "old: a > x"], ("old", "x"), "x"),  # moved over another
    ],
)
def test_a_content_comes_from_where_it_was_first(steps, place, origin):
    assert origins(list(made(*steps)))[place].state == state(origin)


RULES = "dist/\n*.log\n.env*\n*.sqlite\n/mine.txt\ndata/\nwww/\n"
KEPT = {
    "notes.txt": True,
    "dist/app.js": False,
    "sub/dist/deep/app.sqlite": False,
    "www/page.html": False,
    "www/app.sqlite": True,
    "debug.log": False,
    ".env.local": True,
    "mine.txt": True,
    "data/list.csv": True,
    "node_modules/mine.txt": False,
}


def test_of_ignored_files_only_what_somebody_may_have_made_is_missed(tmp_path):
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text(RULES)
    keeping = Keeping(str(tmp_path), [])
    assert {path: keeping.keeps(path) for path in KEPT} == KEPT
    assert [path for path in KEPT if keeping.touches(path)] == ["notes.txt"]
    own = Keeping(str(tmp_path), [Change("sub/.gitignore", ABSENT, state("*"))])
    assert own.keeps("dist/app.js")
