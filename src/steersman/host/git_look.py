"""One look at a repository: its branch, what differs from the last commit, and how.

Nothing that the repository configures is run for it: no filter, no text conversion, no other diff,
no monitor of files, and nothing of a repository inside it. So a file that a filter would change, as
that of Git LFS, is compared as it is. Of secret files the names are shown, and no line.
"""

import os
import re
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Literal

from msgspec import Struct

from steersman.operations.running.git_answers import beginning
from steersman.operations.running.git_pipes import waits_at
from steersman.operations.running.programs import outside
from steersman.records.errors import SteersmanError
from steersman.store.redactor import Redactor, readable

MOST_DIFF = 3 << 20  # bytes
MOST_FILES = 2000
MOST_SECRETS = 500  # that differ; each is a word of the command
PATIENCE = 20.0  # seconds for one question
STATUS = ("status", "--porcelain=v2", "--branch", "-z", "--untracked-files=all", "--no-renames",
          "--ignore-submodules=dirty")  # fmt: skip
DIFF = ("diff", "--raw", "-p", "-z", "--no-color", "--no-ext-diff", "--no-textconv",
        "--ignore-submodules=dirty", "--submodule=short", "--find-renames", "--no-relative",
        "--unified=3", "--inter-hunk-context=0", "--src-prefix=a/", "--dst-prefix=b/")  # fmt: skip
State = Literal[
    "modified", "added", "deleted", "renamed", "copied", "retyped", "conflict", "untracked"
]
_STATES: Mapping[str, State] = {
    "M": "modified", "A": "added", "D": "deleted", "R": "renamed", "C": "copied", "T": "retyped",
    "U": "conflict", "?": "untracked",
}  # fmt: skip
_FIELDS = {b"1": 8, b"u": 10}  # before the name of a file that differs, or is in conflict
_SECTION = re.compile(rb"^diff --", re.MULTILINE)
_USER = re.compile(r"^([a-z][a-z0-9+.-]*)://([^/]*)@", re.IGNORECASE)
_FILTER = re.compile(r"(filter\..*)\.(?:clean|smudge|process|required)\Z", re.DOTALL)


class FileChange(Struct, frozen=True, omit_defaults=True):
    """A file that differs; `shown` when all of its diff is in the repository's.

    `source` is its name before a rename; `not_shown` says why no line of it is shown.
    """

    path: str
    state: State
    shown: bool = False
    source: str = ""
    not_shown: Literal["", "secret"] = ""


class Repository(Struct, frozen=True):
    """How a repository differs from its last commit; secrets are masked.

    `branch` is empty where none is checked out. Untracked files are listed and not in the diff.
    `truncated` when the diff is longer, `more` counts files that are not listed. `removed` when
    there is no repository any more.
    """

    repo_root: str
    branch: str = ""
    remote_origin: str = ""
    unified_diff: str = ""
    files: tuple[FileChange, ...] = ()
    truncated: bool = False
    more: int = 0
    removed: bool = False


def look(
    root: str,
    only: str,
    avoided: tuple[str, ...],
    environ: Mapping[str, str],
    masks: Redactor,
    secret: Callable[[str], bool],
) -> Repository:
    """How the repository at `root` differs, in all of it or below `only`.

    The git that is used is in none of the folders that are `avoided`: threads work there. Of files
    that are `secret`, by their absolute paths, nothing is shown but their names.
    """
    if not os.path.lexists(os.path.join(root, ".git")):
        return Repository(root, removed=True)
    path = environ.get("PATH", "")
    for folder in avoided:
        path = outside(path, folder)
    return _Looking(root, only, {**environ, "PATH": path}, masks, secret).found()


class _Looking:
    def __init__(
        self,
        root: str,
        only: str,
        environ: Mapping[str, str],
        masks: Redactor,
        secret: Callable[[str], bool],
    ) -> None:
        self._root, self._environ, self._masks, self._secret = root, environ, masks, secret
        self._below = ("--", f":(top,literal){only}" if only else ":(top)")
        self._settings: dict[str, str] = {}
        names = self._names()
        self._settings = {"diff.autoRefreshIndex": "true", "diff.orderFile": os.devnull}
        for name in names:
            if matched := _FILTER.match(name):
                driver = matched[1]
                self._settings |= {f"{driver}.clean": "", f"{driver}.process": ""}
                self._settings |= {f"{driver}.smudge": "", f"{driver}.required": "false"}

    def found(self) -> Repository:
        """All there is to say."""
        branch, commit, new, special = self._status()
        files, diff, whole = self._diff(commit, special)
        every = [*files, *(self._changed(("?", [path]), False) for path in new)]
        return Repository(
            self._root,
            branch,
            self._masks.text(origin_of(self._origin())),
            self._masks.text(diff),
            tuple(every[:MOST_FILES]),
            not whole,
            max(0, len(every) - MOST_FILES),
        )

    def _names(self) -> list[str]:
        """All that is configured."""
        found = self._said("config", "--list", "--name-only", "-z")
        if found is None or not found[1]:  # what was not read could name a program
            raise self._problem("read the settings of")
        return os.fsdecode(found[0]).split("\0")

    def _origin(self) -> str:
        """The address of the remote, as the repository itself says; it may include other files."""
        found = self._said("config", "--local", "--no-includes", "-z", "remote.origin.url")
        return os.fsdecode(found[0]).rstrip("\0") if found else ""

    def _status(self) -> tuple[str, str, list[bytes], list[bytes]]:
        """The branch, the last commit, the files that git does not know, and those it cannot read.

        A pipe, socket or device in the place of a file has no content that git could compare.
        """
        said, _ = self._asked("look at", *STATUS, *self._below)
        branch = commit = ""
        new, special = [], []
        for entry in said.split(b"\0"):
            if entry.startswith(b"# branch.head "):
                branch = _name(entry.removeprefix(b"# branch.head "))
            elif entry.startswith(b"# branch.oid "):
                commit = entry.split()[-1].decode("ascii", "replace")
            elif entry.startswith(b"? "):
                new.append(entry[2:])
            elif entry.startswith((b"1 ", b"u ")):
                name = entry.split(b" ", _FIELDS[entry[:1]])[-1]
                if self._is_special(os.fsdecode(name)):
                    special.append(name)
        return ("" if branch == "(detached)" else branch), commit, new, special

    def _is_special(self, name: str) -> bool:
        with suppress(OSError):
            mode = os.lstat(os.path.join(self._root, name)).st_mode
            return not (stat.S_ISREG(mode) or stat.S_ISLNK(mode) or stat.S_ISDIR(mode))
        return False

    def _diff(self, commit: str, special: list[bytes]) -> tuple[list[FileChange], str, bool]:
        """The files that differ from a commit, the diff, and whether it is whole."""
        if commit == "(initial)":
            empty, _ = self._asked("look at", "hash-object", "-t", "tree", os.devnull)
            commit = empty.decode("ascii").strip()
        hidden: list[tuple[str, list[bytes]]] = [("T", [name]) for name in special]
        while True:  # files change meanwhile: what is shown was looked at
            names = [os.fsdecode(name) for _, both in hidden for name in both]
            others = (f":(top,literal,exclude){name}" for name in names)
            said, whole = self._asked("compare", *DIFF, commit, *self._below, *others)
            raw, patch = _parted(said)
            found = [one for one in raw if self._is_secret(one)]
            if not found:
                break
            hidden += found
            if len(hidden) > MOST_SECRETS:
                return [self._changed(one, False) for one in raw], "", False
        whole = whole and len(patch) <= MOST_DIFF
        if not whole:
            patch = patch[:MOST_DIFF]
            starts = [one.start() for one in _SECTION.finditer(patch)]
            # What is cut within a file ends with it, unless it is the first.
            patch = patch[: starts[-1]] if len(starts) > 1 else patch[: patch.rfind(b"\n") + 1]
            shown = len(starts) - 1
        else:
            shown = len(raw)
        files = [self._changed(entry, number < shown) for number, entry in enumerate(raw)]
        files += [self._changed(one, False) for one in hidden]
        return files, patch.decode("utf-8", "replace"), whole

    def _is_secret(self, entry: tuple[str, list[bytes]]) -> bool:
        """Whether a file is secret by its name, or was by the one before."""
        return any(self._secret(os.path.join(self._root, os.fsdecode(name))) for name in entry[1])

    def _changed(self, entry: tuple[str, list[bytes]], shown: bool) -> FileChange:
        letter, names = entry
        source = _name(names[0]) if len(names) > 1 else ""
        why: Literal["", "secret"] = "secret" if self._is_secret(entry) else ""
        state = _STATES.get(letter, "modified")
        return FileChange(_name(names[-1]), state, shown and not why, source, why)

    def _asked(self, doing: str, *words: str) -> tuple[bytes, bool]:
        said = self._said(*words)
        if said is None:
            raise self._problem(doing)
        return said

    def _said(self, *words: str) -> tuple[bytes, bool] | None:
        """What git prints; it uses the repository right here, and looks for none further up."""
        return beginning(
            self._root, self._environ, "--git-dir=.git", "--work-tree=.", *words,
            settings=self._settings, seconds=PATIENCE,
        )  # fmt: skip

    def _problem(self, doing: str) -> SteersmanError:
        if pipe := waits_at(os.path.realpath(self._root)):
            return SteersmanError(
                f"git cannot {doing} {readable(self._root)}: it would wait for {readable(pipe)}, "
                "which is a pipe or a device.",
                try_this="Remove it.",
            )
        return SteersmanError(
            f"git could not {doing} {readable(self._root)}.",
            try_this=f"Run `git status` in {readable(self._root)}.",
        )


def _parted(said: bytes) -> tuple[list[tuple[str, list[bytes]]], bytes]:
    """The entries of the raw part, each with its letter and names; then the patch."""
    entries: list[tuple[str, list[bytes]]] = []
    at = 0
    while said[at : at + 1] == b":":
        end = said.find(b"\0", at)
        letter = said[at:end].rpartition(b" ")[2][:1].decode("ascii", "replace")
        names, at = [], end + 1
        for _ in range(2 if letter in "RC" else 1):
            stop = said.find(b"\0", at)
            if end < 0 or stop < 0:  # so many files that not even their names are all here
                return entries, b""
            names.append(said[at:stop])
            at = stop + 1
        entries.append((letter, names))
    return entries, said[at:].removeprefix(b"\0")


def _name(path: bytes) -> str:
    return readable(os.fsdecode(path))


def origin_of(url: str) -> str:
    """The address of a remote without what lets someone in there."""
    matched = _USER.match(url)
    if matched is None:
        return readable(url)
    scheme, user = matched.groups()
    plain = "ssh" in scheme.lower() and ":" not in user
    return readable(url if plain else f"{scheme}://[redacted]@{url[matched.end() :]}")


def roots(folders: set[str]) -> Iterator[str]:
    """The repositories that folders are in, each once."""
    known: dict[str, str] = {}
    for folder in folders:
        at, passed = folder, []
        while at not in known:
            passed.append(at)
            if os.path.basename(at) != ".git" and os.path.lexists(os.path.join(at, ".git")):
                known[at] = at
            elif at == os.path.dirname(at):
                known[at] = ""
            else:
                at = os.path.dirname(at)
        known |= dict.fromkeys(passed, known[at])
    yield from sorted({known[folder] for folder in folders} - {""})
