"""What git is asked about the objects of a repository, by the host itself."""

import os
import tempfile
from collections.abc import Iterable, Sequence

from steersman.operations.journal.objects import Objects
from steersman.operations.running.git_answers import answer
from steersman.records.names import on_disk
from steersman.records.real_paths import real_path

PATIENCE = 30
LARGEST_PACK = 256_000_000


def ask(
    root: str, words: Sequence[str], said: bytes = b"", cwd: str = "", home: str = ""
) -> bytes | None:
    """What git answers about the repository of a workspace, or one with another `home`.

    None where it does not, or takes too long.
    """
    place = home or root
    return answer(
        place, os.environ, *words, said=said, cwd=cwd, workspace=root, seconds=PATIENCE, most=None
    )


def homes(root: str, paths: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """The folders above each path that have a repository, from the nearest to the workspace's."""
    top = real_path(root)
    while not os.path.lexists(os.path.join(top, ".git")) and top != os.path.dirname(top):
        top = os.path.dirname(top)
    at_top = (top,) if os.path.lexists(os.path.join(top, ".git")) else ()
    above: dict[str, tuple[str, ...]] = {"": at_top}

    def of(path: str) -> tuple[str, ...]:
        wanted = folder = path.rpartition("/")[0]
        unknown = []
        while folder not in above:
            unknown.append(folder)
            folder = folder.rpartition("/")[0]
        for inner in reversed(unknown):
            place = os.path.join(real_path(root), on_disk(inner))
            own = (place,) if os.path.lexists(os.path.join(place, ".git")) else ()
            above[inner] = own + above[inner.rpartition("/")[0]]
        return above[wanted]

    return {path: of(path) for path in paths}


def known(root: str, names: Iterable[str], home: str = "") -> set[str] | None:
    """The objects that a repository has; None where there is none, or git does not answer."""
    answers = _each(root, list(names), home=home)
    if answers is None:
        return None
    return {answer.split()[0] for answer in answers if not answer.endswith(" missing")}


def kinds(root: str, store: str, names: Iterable[str]) -> dict[str, str] | None:
    """What each object of a certain repository is; those it does not have are left out."""
    answers = _each(root, list(names), _place(root, store))
    if answers is None:
        return None
    pairs = (answer.split() for answer in answers if not answer.endswith(" missing"))
    return {name: kind for name, kind in pairs}


def committed(root: str, home: str, paths: Sequence[str]) -> list[set[str] | None]:
    """For each path the names of its content in the last commit and in the index.

    None where git does not answer, as about a name with the end of a line in it.
    """
    top = real_path(root)
    fit = [os.path.relpath(os.path.join(top, on_disk(path)), home) for path in paths]
    plain = [path for path in fit if "\n" not in path]
    asked = [f"{where}:./{path}" for path in plain for where in ("HEAD", "")]
    answers = _each(root, asked, home=home)
    if answers is None:
        return [None] * len(paths)
    names = (answer.split()[0] if answer.endswith(" blob") else "" for answer in answers)
    found = {path: {next(names), next(names)} - {""} for path in plain}
    return [found.get(path) for path in fit]


def last_committed(root: str, store: str, paths: Sequence[str]) -> list[str] | None:
    """For each path of a repository the name of its content in the last commit; empty for none."""
    if any("\n" in path for path in paths):
        return None
    answers = _each(root, [f"HEAD:{path}" for path in paths], _place(root, store))
    if answers is None:
        return None
    return [told.split()[0] if told.endswith(" blob") else "" for told in answers]


def _each(root: str, questions: Sequence[str], *place: str, home: str = "") -> list[str] | None:
    """One answer for each name of an object."""
    said = "".join(f"{name}\n" for name in questions).encode(errors="surrogateescape")
    shape = "--batch-check=%(objectname) %(objecttype)"
    answer = ask(root, [*place, "cat-file", shape], said, home=home)
    if answer is None:
        return None
    lines = answer.decode(errors="replace").removesuffix("\n").split("\n")  # names hold others
    return lines if len(lines) == len(questions) else None


def reachable(root: str, store: str, tips: Iterable[str]) -> set[str] | None:
    """Every object that a branch, a tag, a reflog, the index or one of the tips leads to."""
    words = ["rev-list", "--objects", "--no-object-names", "--ignore-missing", "--all", "--reflog"]
    place = _place(root, store)
    said = "".join(f"{tip}\n" for tip in tips).encode()
    answer = ask(root, [place, *words, "--indexed-objects", "--stdin"], said)
    return set(answer.decode().split()) if answer is not None else None


def leading_to(
    root: str, store: str, tips: Iterable[str], but: Iterable[str], *, index: bool
) -> set[str] | None:
    """Every object that one of the tips or the index leads to, and none of the others does."""
    words = ["rev-list", "--objects", "--no-object-names", "--ignore-missing"]
    words += ["--indexed-objects"] if index else []
    place = _place(root, store)
    said = "".join([*(f"{tip}\n" for tip in tips), *(f"^{tip}\n" for tip in but)]).encode()
    answer = ask(root, [place, *words, "--stdin"], said)
    return set(answer.decode().split()) if answer is not None else None


def only_from(root: str, store: str, tips: Iterable[str], others: Iterable[str]) -> int | None:
    """How many commits one of the tips leads to, and none of the others does."""
    place = _place(root, store)
    said = "".join([*(f"{tip}\n" for tip in tips), *(f"^{tip}\n" for tip in others)]).encode()
    answer = ask(root, [place, "rev-list", "--count", "--ignore-missing", "--stdin"], said)
    return int(answer) if answer and answer.strip().isdigit() else None


def unreached(root: str, store: str, tips: Iterable[str], others: Iterable[str]) -> set[str] | None:
    """Those of the tips with a commit that none of the others leads to.

    So is an annotated tag that is none of the others: its message is nowhere else.
    """
    every, place = list(tips), _place(root, store)
    peeled = _each(root, [f"{tip}^{{commit}}" for tip in every], place)
    said = "".join([*(f"{tip}\n" for tip in every), *(f"^{tip}\n" for tip in others)]).encode()
    answer = ask(root, [place, "rev-list", "--ignore-missing", "--stdin"], said)
    if peeled is None or answer is None:
        return None
    commits, kept = set(answer.decode().split()), {*others}
    found = {tip: told.split()[0] for tip, told in zip(every, peeled, strict=True)
             if told.endswith(" commit")}  # fmt: skip
    tags = {tip for tip, commit in found.items() if tip != commit}
    return {tip for tip, commit in found.items() if commit in commits or tip in tags - kept}


def parents(root: str, store: str, commit: str) -> list[str]:
    """The commits that one was made from; none where git does not answer."""
    words = [_place(root, store), "rev-list", "--no-walk", "--parents", commit]
    return (ask(root, words) or b"").decode().split()[1:]


def differing(
    root: str, store: str, before: str, after: str
) -> list[tuple[tuple[str, str], tuple[str, str], bytes]] | None:
    """The files that differ between two commits, or all of one: modes, names of contents, path."""
    words = ["diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", "--no-commit-id"]
    answer = ask(root, [_place(root, store), *words, *([before] if before else ["--root"]), after])
    if answer is None:
        return None
    fields = answer.split(b"\0")
    rows = []
    for told, path in zip(fields[0::2], fields[1::2], strict=False):
        mode, other, name, now, _ = told.decode().removeprefix(":").split(" ")
        rows.append(((mode, other), (name, now), path))
    return rows


def blob_contents(root: str, store: str, names: Iterable[str]) -> dict[str, bytes] | None:
    """What blobs of a repository hold; None where one is not there, or is large."""
    wanted = sorted(names)
    sizes = ["cat-file", "--batch-check=%(objectname) %(objectsize)"]
    said = "".join(f"{name}\n" for name in wanted).encode()
    told = ask(root, [_place(root, store), *sizes], said)
    counts = [line.split()[1] for line in (told or b"").decode().splitlines()]
    if len(counts) != len(wanted) or not all(count.isdigit() for count in counts):
        return None
    if sum(map(int, counts)) > LARGEST_PACK:
        return None
    answer = ask(root, [_place(root, store), "cat-file", "--batch"], said)
    found, at = {}, 0
    for name, size in zip(wanted, map(int, counts), strict=True):
        at = (answer or b"").find(b"\n", at) + 1
        found[name] = (answer or b"")[at : at + size]
        at += size + 1
    return found if answer is not None else None


def listed(root: str, index: bytes, length: int) -> set[str] | None:
    """The objects that the index of a pack lists."""
    answer = ask(root, ["show-index", f"--object-format={_format(length)}"], index)
    return {line.split()[1] for line in answer.decode().splitlines()} if answer else None


def packed(root: str, objects: Objects, digest: str, length: int) -> set[str]:
    """The objects that are really in a pack, found by unpacking it; none if it is not one."""
    with tempfile.TemporaryDirectory() as folder, objects.open(digest) as content:
        if os.fstat(content.fileno()).st_size > LARGEST_PACK:
            return set()
        pack, index = (os.path.join(folder, name) for name in ("x.pack", "x.idx"))
        with open(pack, "wb") as copy:
            copy.write(content.read())
        words = ["index-pack", f"--object-format={_format(length)}", "-o", index, pack]
        if ask(root, words, cwd=folder) is None:
            return set()
        with open(index, "rb") as made:
            return listed(root, made.read(), length) or set()


def _place(root: str, store: str) -> str:
    return f"--git-dir={os.path.join(root, on_disk(store))}"


def _format(length: int) -> str:
    return "sha256" if length == 64 else "sha1"
