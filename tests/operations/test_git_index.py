"""The index of a repository, read as git itself reads it."""

import subprocess

import pytest

from steersman.operations.running.git_index import read_index

NAMES = ("a", "folder/a", "folder/a-longer-name", "folder/ä", "z" * 200)


@pytest.mark.parametrize("version", ["2", "4"])
@pytest.mark.parametrize("kind", ["sha1", "sha256"])
def test_an_index_has_the_entries_that_git_lists(tmp_path, version, kind):
    def git(*words, text=""):
        ran = subprocess.run(
            ["git", *words], cwd=tmp_path, input=text.encode(), capture_output=True, check=True
        )
        return ran.stdout

    git("init", "-q", f"--object-format={kind}")
    name = git("hash-object", "-w", "--stdin", text="x").decode().strip()
    rows = [f"100644 {name} 0\t{path}\n" for path in NAMES]
    rows += [f"100755 {name} {stage}\tboth\n" for stage in (1, 2, 3)]
    git("update-index", "--index-info", text="".join(rows))
    git("update-index", "--index-version", version)
    index = tmp_path / ".git/index"
    found = read_index(plain := index.read_bytes())
    assert found is not None
    listed = [f"{one.mode:o} {one.name} {one.flags >> 28 & 3}\t".encode() + one.path + b"\0"
              for one in found.entries]  # fmt: skip
    assert b"".join(listed) == git("ls-files", "-s", "-z")
    git("update-index", "--skip-worktree", "folder/a")  # one more flag, in the next form
    marked = read_index(index.read_bytes())
    assert marked is not None
    assert marked != found
    assert [one.name for one in marked.entries] == [one.name for one in found.entries]
    for odd in (b"", plain[:100], b"DIRC" + plain[8:], plain + b"x"):
        assert read_index(odd) is None
