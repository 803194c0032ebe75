"""Patches in both formats, as portable rows: the files, the patch, and the files after it."""

import json
from pathlib import Path

import pytest
from msgspec import Struct, convert

from steersman.operations.matching import (
    AddFile,
    Applied,
    DeleteFile,
    Hunk,
    Note,
    Refused,
    UpdateFile,
    apply_hunks,
    parse_patch,
)

ROWS = (Path(__file__).parent / "patches.jsonl").read_bytes().splitlines()


class Row(Struct, frozen=True):
    id: str
    input: dict[str, str]
    patch: str
    after: dict[str, str]
    code: str
    why: str


def applied(files: dict[str, str], patch: str) -> dict[str, str] | Refused:
    """The files after a patch, all or none; a file system is not needed for it."""
    parsed = parse_patch(patch)
    if isinstance(parsed, Refused):
        return parsed
    files = dict(files)
    for change in parsed:
        match change:
            case AddFile(path, content):
                files[path] = content
            case DeleteFile(path):
                del files[path]
            case UpdateFile(path, hunks, move_to):
                content = files.pop(path)
                if hunks:
                    outcome = apply_hunks(content.encode(), hunks)
                    if isinstance(outcome, Refused):
                        return outcome
                    content = outcome.content.decode()
                files[move_to or path] = content
    return files


@pytest.mark.parametrize("row", [convert(json.loads(r), Row) for r in ROWS], ids=lambda row: row.id)
def test_patch(row: Row) -> None:
    outcome = applied(row.input, row.patch)
    if isinstance(outcome, Refused):
        assert outcome.code == row.code, (row.why, outcome)
    else:
        assert (outcome, "") == (row.after, row.code), row.why


def test_both_formats_become_the_same_records() -> None:
    envelope = (
        "*** Begin Patch\n*** Update File: f\n@@ def g():\n a\n-b\n+c\n"
        "*** Add File: n\n+x\n*** Delete File: d\n*** End Patch\n"
    )
    unified = (
        "--- a/f\n+++ b/f\n@@ -7,2 +7,2 @@ def g():\n a\n-b\n+c\n"
        "--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+x\n"
        "--- a/d\n+++ /dev/null\n@@ -1 +0,0 @@\n-y\n"
    )
    rest = [AddFile("n", "x\n"), DeleteFile("d")]
    hunk = Hunk(["a", "b"], ["a", "c"], ["def g():"])
    assert parse_patch(envelope) == [UpdateFile("f", [hunk]), *rest]
    numbered = Hunk(["a", "b"], ["a", "c"], ["def g():"], line=7)
    assert parse_patch(unified) == [UpdateFile("f", [numbered]), *rest]


def test_each_hunk_has_its_note() -> None:
    hunks = [Hunk(["a"], ["a", "x"]), Hunk(["  c"], ["  d"]), Hunk([], ["e"], at_end=True)]
    outcome = apply_hunks(b"a\nb\n\tc\n", hunks)
    assert outcome == Applied(
        b"a\nx\nb\n\td\ne\n",
        [
            Note("exact", (1, 2)),
            Note("indentation", (4, 4), 1, "@@ -1,3 +1,3 @@\n a\n b\n-\tc\n+\td\n"),
            Note("placed", (5, 5), 1, "@@ -1,3 +1,4 @@\n a\n b\n \tc\n+e\n"),
        ],
    )


def test_no_hunks_is_a_mistake() -> None:
    outcome = apply_hunks(b"a\n", [])
    assert isinstance(outcome, Refused)
    assert outcome.code == "no-edits"


def test_a_file_that_is_not_text_is_refused() -> None:
    outcome = apply_hunks(b"\x00", [Hunk(["a"], ["b"])])
    assert isinstance(outcome, Refused)
    assert outcome.code == "not-text"


def test_the_index_names_the_hunk_at_fault() -> None:
    outcome = apply_hunks(b"a\nb\n", [Hunk(["a"], ["x"]), Hunk(["nowhere"], ["y"])])
    assert isinstance(outcome, Refused)
    assert (outcome.edit, outcome.code) == (1, "not-found")


def test_the_file_encoding_is_kept() -> None:
    outcome = apply_hunks("\ufeffa\r\nb\r\n".encode("utf-16-le"), [Hunk(["b"], ["ü"])])
    assert isinstance(outcome, Applied)
    assert outcome.content == "\ufeffa\r\nü\r\n".encode("utf-16-le")
