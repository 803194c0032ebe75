"""Unified diffs: their headers, hunks and final newlines."""

import pytest

from steersman.operations.matching import unified_diff

DIFFS = [
    ("same", b"a\n", b"a\n", ""),
    ("change", b"a\nb\n", b"a\nc\n", "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n"),
    ("new", None, b"a\n", "--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+a\n"),
    ("deleted", b"a\nb\n", None, "--- a/f\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n-b\n"),
    ("new and empty", None, b"", "--- /dev/null\n+++ b/f\n"),
    (
        "no final newline",
        b"a",
        b"a\n",
        "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n",
    ),
    (
        "line ends",
        b"a\r\nb\n",
        b"a\nb\n",
        "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n-a\r\n+a\n b\n",
    ),
    (
        "two hunks",
        b"1\n2\n3\n4\n5\n6\n7\n8\n9\n",
        b"0\n2\n3\n4\n5\n6\n7\n8\n0\n",
        "--- a/f\n+++ b/f\n@@ -1,4 +1,4 @@\n-1\n+0\n 2\n 3\n 4\n"
        "@@ -6,4 +6,4 @@\n 6\n 7\n 8\n-9\n+0\n",
    ),
    ("mark", b"a\n", b"\xef\xbb\xbfa\n", "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+\ufeffa\n"),
    ("binary", b"a\n", b"\x00", "Binary files a/f and b/f differ\n"),
]


@pytest.mark.parametrize(("what", "before", "after", "diff"), DIFFS, ids=[row[0] for row in DIFFS])
def test_diff(what: str, before: bytes | None, after: bytes | None, diff: str) -> None:
    assert unified_diff("f", before, after) == diff


def test_a_name_with_quotes_is_quoted() -> None:
    assert unified_diff('a "b"', b"", b"x\n").startswith('--- "a/a \\"b\\""\n+++ "b/a \\"b\\""\n')
