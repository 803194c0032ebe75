"""Random scripts of commands and edits, then undo: the tree must be the same as before."""

import os
import random
import shlex
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from steersman.operations.journal.commit import apply
from steersman.operations.journal.looking import look
from steersman.operations.journal.undoing import Entry, plan_redo, plan_undo, standing
from steersman.records.change import Change, FileState
from tests.operations.transactions.tree import Node, Yard, tree

SCRIPTS = 320
SHARDS = 8
NAMES = (
    "a", "b.txt", "src", "two words", "grün-ß-名", "-rf", "new\nline", ".hidden", "lib", "$HOME",
    "q'uote\"", "x" * 200, "*",
)  # fmt: skip


class Author:
    """Writes random scripts about a small set of names, so that they often meet."""

    def __init__(self, seed: int, *, harsh: bool = True) -> None:
        self.random = random.Random(seed)
        self.modes = ("600", "644", "755", "444", "700", "2750", *(("000",) if harsh else ()))

    def path(self) -> str:
        """A path of one to three names."""
        names = self.random.choices(NAMES[:8] if self.random.random() < 0.8 else NAMES, k=3)
        return "./" + "/".join(names[: self.random.choices((1, 2, 3), (5, 4, 2))[0]])

    def content(self) -> bytes:
        """Text, binary or nothing."""
        kind = self.random.random()
        if kind < 0.15:
            return b""
        if kind < 0.4:
            return self.random.randbytes(self.random.choice((1, 100, 5000)))
        return b"".join(b"line %d\n" % self.random.randrange(99) for _ in range(9))

    def line(self) -> str:
        """One shell command; many of them fail, as in life."""
        one, two = shlex.quote(self.path()), shlex.quote(self.path())
        octal = self.random.choice(self.modes)
        text = shlex.quote(f"text {self.random.randrange(1000)}")
        return self.random.choice(
            (
                f"mkdir -p $(dirname {one}); printf '%s\\n' {text} > {one}",
                f"printf '%s\\n' {text} > {one}",
                f"printf '%s\\n' {text} >> {one}",
                f"head -c {self.random.randrange(9000)} /dev/urandom > {one}",
                f": > {one}",
                f"truncate -s {self.random.randrange(50)} {one}",
                f"rm -f {one}",
                f"rm -rf {one}",
                f"mv {one} {two}",
                f"mkdir {one} && printf x > {one}/inner && mv {one} {two}",
                f"chmod {octal} {one}",
                f"ln -s {two} {one}",
                f"ln -sfn nowhere {one}",
                f"ln {one} {two}",
                f"mkdir -p {one}",
                f"rmdir {one}",
                f"cp -r {one} {two}",
                f"cp -a {one} {two}",
                f"sed -i s/text/words/ {one}",
                f"rm -rf {one}; mkdir -p {one}; printf y > {one}/file",
                f"rm -rf {one}; printf z > {one}",
                f"touch {one}",
                f"rm -rf {one} && mkdir {one}",
                "rm -rf ./* ./.h*",
                "chmod 700 .",
            )
        )

    def script(self) -> str:
        """Some lines, run whether or not the ones before failed."""
        return "\n".join(self.line() for _ in range(self.random.randrange(1, 9)))

    def edit(self, yard: Yard) -> list[Change]:
        """What an edit tool would do: new text for a file that may or may not be there."""
        path = os.path.normpath(self.path())
        now = look(os.path.join(yard.root, path))
        if now.kind not in ("absent", "file"):
            return []
        if now.kind == "file" and os.lstat(yard.root / path).st_nlink > 1:
            return []
        content = yard.objects.put_bytes(self.content())
        return [*self._folders(yard, path), Change(path, now, FileState("file", 0o640, *content))]

    def _folders(self, yard: Yard, path: str) -> list[Change]:
        folders = []
        for folder in list(Path(path).parents)[:-1]:
            now = look(os.path.join(yard.root, folder))
            if now.kind == "folder":
                break
            folders.append(Change(str(folder), now, FileState("folder", 0o755)))
        return folders[::-1]


def plant(yard: Yard, author: Author) -> None:
    """A tree to begin with, with times that show whether a file was touched."""
    for _ in range(9):
        path = Path(os.path.normpath(yard.root / author.path()))
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(author.content())
            path.chmod(author.random.choice((0o644, 0o600, 0o755)))
            stamp = author.random.randrange(10**9, 10**9 + 10**6) * 10**9
            os.utime(path, ns=(stamp, stamp))
        except OSError:
            continue
    for name in NAMES[:3]:
        if not os.path.lexists(yard.root / "to" / name):
            (yard.root / "to").mkdir(exist_ok=True)
            (yard.root / "to" / name).symlink_to(f"../{name}")


def act(yard: Yard, author: Author, seq: int) -> tuple[Entry, set[str]]:
    """One effect: mostly a transaction, at times an edit or a command run directly.

    The other half of the answer is what was given a new time and nothing else: no change, and
    possible only where a command runs on the workspace itself.
    """
    kind = author.random.random()
    if kind < 0.25:
        edits = author.edit(yard)
        apply(str(yard.root), edits, yard.objects)
        return Entry(seq, tuple(edits)), set()
    if kind < 0.45:
        before = tree(yard.root)
        done = yard.run_directly(author.script())
        after = tree(yard.root)
        return Entry(seq, tuple(done.changes)), {p for p in before if before[p] != after.get(p)}
    done = yard.run(author.script())
    assert not done.meanwhile
    return Entry(seq, tuple(done.changes)), set()


@pytest.mark.parametrize("shard", range(SHARDS))
def test_undo_gives_back_the_same_tree(shard: int, tmp_path: Path) -> None:
    """Whatever was done, undoing all of it restores contents, modes, links and untouched times.

    Most of it in memory, where there is no waiting for a disk; the first shard on the disk.
    """
    memory = Path("/dev/shm")
    quick = shard > 0 and os.access(memory, os.W_OK)
    with TemporaryDirectory(dir=memory if quick else tmp_path) as name:
        for number in range(shard, SCRIPTS, SHARDS):
            folder = Path(name, str(number))
            folder.mkdir()
            check_one(Yard(folder), Author(number))


def check_one(yard: Yard, author: Author) -> None:
    """One random history, undone in one go or step by step, redone and undone again."""
    plant(yard, author)
    before = tree(yard.root)
    acts = [act(yard, author, seq) for seq in range(1, author.random.randrange(2, 5))]
    entries = [entry for entry, _ in acts]
    touched = {change.path for entry in entries for change in entry.changes}
    touched |= {path for _, paths in acts for path in paths}
    after = tree(yard.root)

    wanted = [standing(entries).effects]
    if author.random.random() < 0.5:
        wanted = [(seq,) for seq in reversed(wanted[0])]
    for seqs in wanted:
        plan = plan_undo(entries, seqs)
        apply(str(yard.root), plan.changes, yard.objects)
        entries.append(Entry(len(entries) + 1, plan.changes, "undo", plan.undoes))

    undone = tree(yard.root)
    assert _still(undone) == _still(before)
    for path in before.keys() - touched:
        assert undone[path] == before[path], path
    while standing(entries).undos:
        plan = plan_redo(entries)
        apply(str(yard.root), plan.changes, yard.objects)
        entries.append(Entry(len(entries) + 1, plan.changes, "redo", plan.undoes))
    assert _still(tree(yard.root)) == _still(after)
    assert yard.hidden() == []
    assert not yard.scratch.exists() or os.listdir(yard.scratch) == []


def _still(found: dict[str, Node]) -> dict[str, Node]:
    return {path: node._replace(mtime_ns=0) for path, node in found.items()}
