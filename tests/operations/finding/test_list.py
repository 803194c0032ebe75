"""`workspace_list_files` as a model meets it."""

import os

import pytest

from tests.operations.finding.kit import plant


def test_files_have_sizes_and_what_is_left_out_is_said(folder, finder):
    plant(
        folder,
        {
            ".gitignore": "node_modules/\n*.log\n",
            ".env": "A=1\n",
            "a.txt": "12345",
            "node_modules/x/y.js": "",
            "run.log": "",
            "src/deep/er/and/so/on.py": "",
            ".git/HEAD": "",
        },
    )
    (folder / "empty").mkdir()
    (folder / "link").symlink_to("../elsewhere")
    assert finder.list(depth=2) == {
        "files": [
            ".env\t4",
            ".gitignore\t20",
            "a.txt\t5",
            "empty/",
            "link -> ../elsewhere",
            "src/",
            "src/deep/\t1 file",
        ],
        "total_files": 4,
        "left_out": ["ignored: node_modules/, run.log", "deeper: 1 file; raise depth"],
    }


def test_a_folder_below_keeps_the_rules_above(folder, finder):
    plant(
        folder, {".gitignore": "*.log\n/src/gen\n", "src/a": "", "src/b.log": "", "src/gen/c": ""}
    )
    assert finder.list(path="src") == {
        "files": ["a\t0"],
        "total_files": 1,
        "left_out": ["ignored: b.log, gen/"],
    }
    assert finder.list(path="src", include_ignored=True)["files"] == [
        "a\t0", "b.log\t0", "gen/", "gen/c\t0",
    ]  # fmt: skip


def test_a_glob_finds_files_at_any_depth(folder, finder):
    plant(
        folder, {"a.py": "1", "x/y/z/w/b.py": "", "x/c.txt": "", ".gitignore": "v/\n", "v/d.py": ""}
    )
    assert finder.list(glob="*.py")["files"] == ["a.py\t1", "x/y/z/w/b.py\t0"]
    assert finder.list(glob="./x/**")["files"] == ["x/c.txt\t0", "x/y/z/w/b.py\t0"]
    assert finder.list(glob="*.py", depth=1)["files"] == ["a.py\t1"]
    assert finder.list(glob="{a,c}.*")["total_files"] == 2


def test_many_files_are_counted_and_not_all_shown(folder, finder):
    plant(folder, {f"{n // 100:02}/{n:04}": "" for n in range(1500)})
    found = finder.list()
    assert len(found["files"]) == 1000
    shown = sum("\t" in line for line in found["files"])
    assert found["total_files"] == 1500
    assert found["left_out"][0].startswith(f"{1500 - shown} more files: ")
    assert finder.list(glob="*")["left_out"][0].startswith("500 more: ")


def test_odd_names(folder, finder):
    plant(folder, {"with space": "", "-dash": "", "new\nline": "", "größe": ""})
    with open(os.fsencode(folder) + b"/caf\xe9", "wb"):
        pass
    os.mkfifo(folder / "pipe")
    assert finder.list()["files"] == [
        "-dash\t0", "caf\\xe9\t0", "größe\t0", "new\nline\t0", "pipe\tnot a regular file",
        "with space\t0",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"path": "none"}, "none does not exist.\nList the folder above it."),
        ({"path": "file"}, "file is not a folder.\nRead it with workspace_read_file."),
        ({"path": "pipe"}, "pipe is not a folder."),
        ({"path": ".."}, "Denied: "),
        ({"path": "out"}, "Denied: "),
        ({"path": "\0"}, "NUL character"),
        ({"glob": "["}, "The glob '[' is not valid."),
        ({"depth": 0}, "must be at least 1"),
    ],
)
def test_bad_input(folder, finder, arguments, said):
    plant(folder, {"file": ""})
    os.mkfifo(folder / "pipe")
    (folder / "out").symlink_to("/etc")
    assert said in finder.list(**arguments)
