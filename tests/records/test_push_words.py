"""A push is read as git reads it, in one place for all who must know what it does."""

import pytest

from steersman.records.push_words import read_push


@pytest.mark.parametrize(
    ("line", "on", "remote", "specs"),
    [
        ("", "", "", ""),
        ("origin a b:c", "", "origin", "a b:c"),
        ("-f origin main", "force", "origin", "main"),
        ("-uf origin main", "force set-upstream", "origin", "main"),
        ("-fu origin main", "force set-upstream", "origin", "main"),
        ("origin main -df", "delete force", "origin", "main"),
        ("--del origin main", "delete", "origin", "main"),
        ("--delet origin main", "delete", "origin", "main"),
        ("--mir origin", "mirror", "origin", ""),
        ("--pru origin", "prune", "origin", ""),
        ("--force-w=main origin", "force-with-lease", "origin", ""),
        ("-f --no-force origin main", "", "origin", "main"),
        ("--no-force -f origin main", "force", "origin", "main"),
        ("-n --no-dry origin main", "", "origin", "main"),
        ("--branches origin", "all", "origin", ""),
        ("-o x origin main", "push-option", "origin", "main"),
        ("-ox origin main", "push-option", "origin", "main"),
        ("-fo x origin main", "force push-option", "origin", "main"),
        ("--recurse-submodules no origin main", "recurse-submodules", "origin", "main"),
        ("--repo other", "repo", "other", ""),
        ("--repo=other origin", "repo", "origin", ""),
        ("--exec prog origin", "receive-pack", "origin", ""),
        ("-- origin -f", "", "origin", "-f"),
        ("--no-verify origin", "", "origin", ""),
    ],
)
def test_a_push_as_git_reads_it(line, on, remote, specs):
    read = read_push(line.split())
    assert {name for name in read.names() if read.has(name)} == set(on.split())
    assert (read.remote, read.specs, read.unknown) == (remote, tuple(specs.split()), ())


@pytest.mark.parametrize("word", ["--d", "--f", "--new", "--force=x", "-fx", "--repo"])
def test_an_option_that_is_not_understood_is_said_to_be(word):
    assert read_push(["origin", word]).unknown == (word,)


def test_a_push_is_written_again_with_its_own_words():
    read = read_push(["-q", "-o", "x", "origin", "--del", "main"])
    assert read.flags == ("-q", "-o", "x", "--del")
    assert read.all("push-option") == ["x"]
