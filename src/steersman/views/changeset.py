"""What a turn changed, as a person reviews it: source first, git a line, parts to choose."""

import re
import shlex
from collections.abc import Collection, Mapping, Sequence
from pathlib import PurePosixPath

from msgspec import Struct
from msgspec.structs import replace

from steersman.host import Host
from steersman.records.change import Change, Seen
from steersman.records.errors import NothingToUndo, UsageProblem
from steersman.records.git_names import inner
from steersman.records.message import Message
from steersman.records.names import shown
from steersman.records.undo import Part, UndoPlan
from steersman.views.arranging import arranged, ignored_words, rank
from steersman.views.hunks import FileDiff, Kind, read_diff
from steersman.views.hunks import Part as Place
from steersman.views.plans import git_line
from steersman.views.text import counted, flat

MOST = 500  # files whose diffs are read; the others are named
LISTED = 8  # files that are printed
_HEADS = "refs/heads/"
_HUNK = re.compile(r"(.+):(\d+(?:,\d+)*)")


class Changeset(Struct, frozen=True):
    """What a turn changed and still stands. `paths` name each of `files` for an undo.

    Each ignored folder is one of the files, after the others; `ignored` is how many files each of
    them has. What git notes for itself is the last of the files, and `git` says it in words.
    `moved` has the old paths of files that were renamed, by the new ones. `reverted` counts the
    files that are as before the turn, though nothing was undone here.
    """

    turn: int
    files: tuple[FileDiff, ...]
    paths: tuple[str, ...]
    git: str = ""
    ignored: tuple[int, ...] = ()
    moved: Mapping[str, str] = {}
    reverted: int = 0

    def without(self, paths: Collection[str]) -> "Changeset | None":
        """The rest of it, when some of its own files need no review; None when nothing is left."""
        own = len(self.own)
        left = [at for at, path in enumerate(self.paths)
                if at >= own or not {path, self.moved.get(path, path)} <= {*paths}]  # fmt: skip
        if not left or len(left) == len(self.files):
            return self if left else None
        return replace(
            self,
            files=tuple(self.files[at] for at in left),
            paths=tuple(self.paths[at] for at in left),
        )

    @property
    def own(self) -> tuple[FileDiff, ...]:
        """The files without ignored folders and git's bookkeeping."""
        return self.files[: len(self.files) - len(self.ignored) - bool(self.git)]

    @property
    def folders(self) -> tuple[FileDiff, ...]:
        """The ignored folders."""
        return self.files[len(self.own) :][: len(self.ignored)]

    @property
    def head(self) -> str:
        """All of it in a line."""
        told = []
        ignored = sum(self.ignored)
        if self.own:
            added, removed = self.counts
            more = f", {ignored} ignored" if ignored else ""
            told.append(f"{counted(len(self.own), 'file')} changed{more}, +{added} −{removed}")
        elif ignored:
            told.append(f"{counted(ignored, 'ignored file')} changed")
        told += [self.git] if self.git else []
        told += [f"{self.reverted} reverted since"] if self.reverted else []
        return " · ".join(told)

    @property
    def counts(self) -> tuple[int, int]:
        """Lines added and removed."""
        both = [file.counts for file in self.own]
        return sum(added for added, _ in both), sum(removed for _, removed in both)

    def parts(self, chosen: Collection[Place]) -> tuple[Part, ...]:
        """What an undo of the chosen hunks names.

        All hunks of a file are not the file: what someone else changed in it since is none of them.
        """
        found = []
        for at, file in enumerate(self.files):
            hunks = tuple(file.number(hunk) for place, hunk in sorted(chosen) if place == at)
            if hunks:
                whole = file.whole or file.kind != "changed"
                path = self.paths[at]
                found += [Part(self.moved[path])] if path in self.moved else []
                found.append(Part(path, () if whole else hunks))
        return tuple(found)


def changeset(host: Host, thread: str, turn: int | None = None) -> Changeset | None:
    """What a turn changed (the last that did, if none is named); None when nothing stands.

    It comes from the log, which knows of an undo before the files do, and is compared with what is
    there by now.
    """
    try:
        plan = host.way_back.made(thread, turn=turn)
    except NothingToUndo:
        return None
    return of_plan(host, thread, plan)


def of_thread(host: Host, thread: str) -> Changeset | None:
    """What stands of all that a thread changed, as one step; None when nothing does."""
    try:
        plan = host.way_back.made_in_all(thread)
    except NothingToUndo:
        return None
    return of_plan(host, thread, plan)


def of_plan(host: Host, thread: str, plan: UndoPlan) -> Changeset | None:
    """What a plan would undo, as it was done; None when that is nothing."""
    done = [change.reversed() for change in plan.changes]
    above = {str(folder) for one in done for folder in PurePosixPath(one.path).parents}
    noted = [one for one in done if inner(one.path)]
    own = [one for one in done if not inner(one.path) and not _goes_along(one, above)]
    if not own and not noted:
        return None
    sorted_out = arranged(host, thread, own, rank)
    heads = [one for one in noted if inner(one.path).startswith(_HEADS)]
    since = host.way_back.since(thread, [*sorted_out.shown, *heads])
    if heads and not any(since.get(one.path, (1,)) for one in heads):
        noted = []  # the branch is where it was
    left = [one for one in sorted_out.shown if since.get(one.path, (1,))]
    if not left and not noted and not sorted_out.ignored:
        return None
    found = host.way_back.seen(thread, left)
    diffs = host.way_back.diffs(thread, found[:MOST])
    diffs += [""] * (len(found) - len(diffs))
    names = host.way_back.names(thread)
    files = [(_since(_file(one, diff, names), since.get(one.change.path)), one.change.path)
             for one, diff in zip(found, diffs, strict=True)]  # fmt: skip
    for folder, count in sorted_out.ignored.items():
        why = ignored_words(folder, count)
        files.append((FileDiff(shown(folder), "changed", why_whole=why), folder))
    git = ""
    if noted:
        git = git_line(host, thread, noted)
        whole = FileDiff(git, "changed", why_whole="git's own files are undone together")
        files.append((whole, noted[0].path))
    return Changeset(
        host.way_back.turn_of(thread, plan),
        tuple(file for file, _ in files),
        tuple(path for _, path in files),
        git,
        tuple(sorted_out.ignored.values()),
        {one.change.path: one.moved_from for one in found if one.moved_from},
        len(sorted_out.shown) - len(left),
    )


def _goes_along(change: Change, above: Collection[str]) -> bool:
    """A folder that came or went with what is in it, which is what people look at."""
    folder = "folder" in (change.before.kind, change.after.kind)
    return folder and change.path in above and change.before.kind != change.after.kind


def _since(file: FileDiff, left: Sequence[int] | None) -> FileDiff:
    """A file with what is left of its hunks, where someone else edited it since."""
    if left is None:
        return file
    if file.whole or file.kind != "changed":
        return replace(file, since=True)
    hunks = tuple(file.hunks[number - 1] for number in left)
    return replace(file, hunks=hunks, numbers=tuple(left), since=True)


def _file(one: Seen, diff: str, names: Mapping[str, str]) -> FileDiff:
    change, name = one.change, shown(names.get(one.change.path, one.change.path))
    if diff.startswith(("--- ", "Binary files ")):
        return read_diff(diff, name)
    kinds = change.before.kind, change.after.kind
    kind: Kind = "created" if kinds[0] == "absent" else "changed"
    kind = "deleted" if kinds[1] == "absent" else kind
    told = diff.strip().removeprefix(f"{name}: ") or "its diff is not shown"
    if one.moved_from:
        old = shown(names.get(one.moved_from, one.moved_from))
        return FileDiff(name, "renamed", why_whole=told, moved_from=old)
    return FileDiff(name, kind, why_whole=told)


def lines(found: Changeset, undo: str, *more: str) -> list[str]:
    """A changeset as lines, with the commands that undo all of it, a file or a hunk."""
    told = [found.head]
    for file in found.own[:LISTED]:
        added, removed = file.counts
        hunks = f"  {counted(len(file.hunks), 'hunk')}" if file.parts > 1 else ""
        remarks = "".join(f"  {remark}" for remark in file.remarks)
        told.append(f"  {flat(file.title)}  +{added} −{removed}{remarks}{hunks}")
    if len(found.own) > LISTED:
        told.append(f"  … and {counted(len(found.own) - LISTED, 'more file')}")
    told += [f"  {flat(one.name)}: {one.why_whole}" for one in found.folders[:LISTED]]
    if len(found.folders) > LISTED:
        told.append(f"  … and {counted(len(found.folders) - LISTED, 'more ignored folder')}")
    return [*told, f"  undo all: {undo}", *(f"  {one}" for one in more)]


def numbered(found: Changeset) -> list[str]:
    """Every file with its hunks and their numbers, each a diff to read."""
    told = [f"{found.head}\n"]
    for file in found.files:
        if file.whole:
            told.append(f"{flat(file.title)}: {file.why_whole or 'undone as a whole'}\n")
            told += [hunk.text() for hunk in file.hunks]
            continue
        for at, hunk in enumerate(file.hunks):
            told.append(f"{flat(file.name)}:{file.number(at)}\n{hunk.text()}")
    return told


def named(words: Sequence[str], paths: Collection[str] = ()) -> tuple[Part, ...]:
    """Parts as a person names them: `PATH`, or `PATH:N` for a hunk, `PATH:1,3` for some."""
    found = []
    for word in words:
        hunk = None if word in paths else _HUNK.fullmatch(word)
        if hunk is None:
            found.append(Part(word))
        else:
            found.append(Part(hunk[1], tuple(int(number) for number in hunk[2].split(","))))
    return tuple(found)


def hunk_named(word: str) -> Part:
    """A hunk as a person names it."""
    (part,) = named([word])
    if not part.hunks:
        raise UsageProblem(f"{flat(word)} names no hunk.", try_this="For example: src/app.py:2")
    return part


def review_lines(host: Host, end: Message, *, inside: bool = False) -> list[str]:
    """What the turn that ends with a message changed, as lines; none when it changed nothing.

    `inside` a conversation the commands are those that begin with a slash.
    """
    found = changeset(host, end.thread, end.turn) if end.turn else None
    if found is None:
        return []
    file = next((file for file in found.own if file.parts > 1), None)
    path = shlex.quote(flat((file or found.files[0]).name))
    hunk = f"{path}:{file.number(len(file.hunks) - 1)}" if file else ""
    if inside:
        some = [f"undo a file: /undo {path}", *([f"undo a hunk: /undo {hunk}"] if hunk else [])]
        return lines(found, "/undo", *some, "see all: /diff")
    undo = f"steer undo {end.thread} --turn {end.turn}"
    some = [f"undo a file: {undo} --file {path}"]
    some += [f"undo a hunk: {undo} --hunk {hunk}"] if hunk else []
    return lines(found, undo, *some, f"see all: {undo} --list")
