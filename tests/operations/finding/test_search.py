"""`workspace_search_files` and `workspace_search_pattern` as a model meets them."""

import os

import pytest

from tests.operations.finding.kit import plant

TREE = {
    ".gitignore": "*.log\nbuild/\n",
    "a.py": "import os\n\ndef harbour():\n    return 'harbour'\n",
    "b/c.txt": "Harbour\r\nharbour\r\n",
    "b/wide.txt": "ä harbour\n".encode("utf-16"),
    "build/out.txt": "harbour\n",
    "d.log": "harbour\n",
    "-e": "harbour\n",
    "picture": b"harbour\n\0",
}


def places(found):
    return [(hit["file"], hit["line"], hit["column"]) for hit in found["results"]]


def test_a_text_is_found_in_order_of_path_and_line(folder, finder):
    plant(folder, TREE)
    assert finder.text("harbour") == {
        "results": [
            {"file": "-e", "line": 1, "column": 1, "text": "harbour"},
            {"file": "a.py", "line": 3, "column": 5, "text": "def harbour():"},
            {"file": "a.py", "line": 4, "column": 13, "text": "    return 'harbour'"},
            {"file": "b/c.txt", "line": 2, "column": 1, "text": "harbour"},
            {"file": "b/wide.txt", "line": 1, "column": 3, "text": "ä harbour"},
        ],
        "total": 5,
        "files": 4,
        "note": "1 binary file skipped",
    }


def test_where_and_how_is_chosen(folder, finder):
    plant(folder, TREE)
    assert places(finder.text("HARBOUR", case_sensitive=False, path="b/c.txt")) == [
        ("b/c.txt", 1, 1),
        ("b/c.txt", 2, 1),
    ]
    assert places(finder.text("harbour", globs=["*.py"])) == [("a.py", 3, 5), ("a.py", 4, 13)]
    assert places(finder.text("harbour", globs=["./b/**", "!*.txt"])) == []
    assert places(finder.text("harbour", globs=["*.log"])) == []
    assert places(finder.text("harbour", globs=["*.log"], include_ignored=True)) == [
        ("d.log", 1, 1)
    ]
    assert places(finder.text("harbour", path="build")) == [("build/out.txt", 1, 1)]
    assert places(finder.text("h.rb", literal=False, path="-e")) == [("-e", 1, 1)]
    assert places(finder.text("h.rb")) == []


def test_context_is_shown_once(folder, finder):
    plant(folder, {"f": "".join(f"{n}{' x' if n in (3, 5) else ''}\n" for n in range(1, 10))})
    assert finder.text("x", context=2)["results"] == [
        {"file": "f", "line": 3, "column": 3, "text": "3 x", "before": ["1", "2"], "after": ["4"]},
        {"file": "f", "line": 5, "column": 3, "text": "5 x", "after": ["6", "7"]},
    ]


def test_what_is_not_shown_is_counted(folder, finder):
    plant(folder, {f"f{n}": "x\n" * 4 for n in range(5)})
    found = finder.text("x", max_results=6)
    assert places(found) == [*(("f0", n, 1) for n in (1, 2, 3, 4)), ("f1", 1, 1), ("f1", 2, 1)]
    assert (found["total"], found["files"]) == (20, 5)
    assert found["more"].startswith("14 more matching lines in 4 files; ")
    assert finder.text("x", max_results=4)["more"].startswith("16 more matching lines in 4 files; ")
    assert "more" not in finder.text("x", max_results=20)


def test_an_answer_is_never_larger_than_it_should_be(folder, finder):
    plant(folder, {f"f{n:03}": "x" * 5000 + "\n" for n in range(300)})
    found = finder.text("x", max_results=500)
    shown = len(found["results"])
    assert sum(len(hit["text"]) for hit in found["results"]) < 32 * 1024
    assert found["more"].startswith(f"{300 - shown} more matching lines in {300 - shown} files; ")


def test_a_long_line_is_shown_round_the_match(folder, finder):
    plant(folder, {"min.js": "a" * 5000 + "needle" + "b" * 5000})
    (hit,) = finder.text("needle")["results"]
    assert hit["column"] == 5001
    assert hit["text"] == (
        f"[4,920 characters left out]… {'a' * 80}needle{'b' * 314} …[4,686 characters left out]"
    )


def test_a_pattern_may_go_over_lines_whatever_the_endings(folder, finder):
    plant(folder, {"lf": "a(\n  b)\nx\n", "crlf": "a(\r\n  b)\r\nx\r\n"})
    expected = [
        {"file": name, "line": 1, "column": 2, "text": "a(\n  b)", "end_line": 2}
        for name in ("crlf", "lf")
    ]
    assert finder.pattern(r"\(\n\s*b", multiline=True)["results"] == expected
    assert finder.text("(\n  b")["results"] == expected


def test_files_and_counts(folder, finder):
    plant(folder, TREE)
    assert finder.pattern("[Hh]arbour", output="count", path="b") == {
        "counts": [{"file": "b/c.txt", "count": 2}, {"file": "b/wide.txt", "count": 1}],
        "total": 3,
        "files": 2,
    }
    assert finder.pattern("import", output="files")["counts"] == [{"file": "a.py"}]


def test_many_files_are_counted_and_not_all_named(folder, finder):
    plant(folder, {f"{n:03}": "x" for n in range(510)})
    found = finder.pattern("x", output="files")
    assert (len(found["counts"]), found["files"], found["more"]) == (500, 510, "10 more files")


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("a(b", "is not valid at position "),
        ("[a", "is not valid at position 1: "),
        ("x(?=y)", "is not valid at position 2: look-around is not supported."),
        (r"(a)\1", "is not valid at position 4: back-references are not supported."),
        (r"a\nb", "The pattern has a line break at position 2."),
        ("a\0b", "The text to search for contains a NUL character."),
    ],
)
def test_an_invalid_pattern_is_explained(folder, finder, pattern, said):
    plant(folder, {"f": "a\n"})
    assert said in finder.pattern(pattern)


@pytest.mark.parametrize(
    "pattern", ["--pre=/bin/sh", "-e", "--", "--files", "$(touch owned)", "`id`"]
)
def test_a_query_is_never_anything_else(folder, finder, pattern):
    plant(folder, {"f": f"one {pattern} two\n", "-e": "", "--files": ""})
    assert places(finder.text(pattern)) == [("f", 1, 5)]
    assert not (folder / "owned").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"path": "nothing"}, "nothing does not exist."),
        ({"path": "pipe"}, "pipe is not a regular file."),
        ({"path": ".."}, "Denied: "),
        ({"path": "out"}, "Denied: "),
        ({"path": "a\0b"}, "NUL character"),
        ({"globs": ["["]}, "The glob '[' is not valid."),
        ({"globs": ["a\0"]}, "is not valid."),
        ({"max_results": 501}, "must be at most 500"),
    ],
)
def test_bad_input(folder, finder, arguments, said):
    os.mkfifo(folder / "pipe")
    (folder / "out").symlink_to("/etc")
    assert said in finder.text("x", **arguments)


def test_links_are_not_followed(folder, finder):
    (folder.parent / "secret").write_text("harbour\n")
    plant(folder, {"a/real": "harbour\n"})
    (folder / "file").symlink_to("../secret")
    (folder / "dir").symlink_to("..")
    (folder / "round").symlink_to(".")
    assert places(finder.text("harbour")) == [("a/real", 1, 1)]


def test_pipes_in_the_tree_hold_nothing_up(folder, finder):
    plant(folder, {"f": "x\n"})
    os.mkfifo(folder / "pipe")
    assert places(finder.text("x")) == [("f", 1, 1)]
