"""What a command's changes amount to: each as an action, or many as one, with what would be lost.

Lost is content that no version control has: untracked files that are deleted, and uncommitted work
that is thrown away (`git reset --hard`, `git checkout .`, `git clean`). Git is asked for objects
only, so that nothing a repository configures is run.
"""

import hashlib
import os
import re
import subprocess
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress

from msgspec import Struct

from steersman.operations.journal.journal import INLINE, Journal
from steersman.operations.running.programs import found
from steersman.records.action import Action, ChangeMany
from steersman.records.change import Change
from steersman.records.names import on_disk
from steersman.records.protection import protected_name, runs_host

EXAMPLES = 3
LARGEST = 20_000_000  # a file above this is not hashed; it counts as lost
MOST = 20_000  # files that are looked up one by one
PATIENCE = 30
# What a tool makes again whenever it is needed.
MADE_AGAIN = frozenset(
    {"node_modules", "__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".tox", ".nox",
     ".venv", ".git", ".hypothesis"}
)  # fmt: skip

_LOOSE = re.compile(r"(?:.*/)?\.git/objects/([0-9a-f]{2})/([0-9a-f]{38})", re.DOTALL)
_PACK = re.compile(r"(?:^|/)\.git/objects/pack/[^/]+\.pack$")


class Loss(Struct, frozen=True):
    """Files whose content is nowhere else."""

    deleted: tuple[Change, ...] = ()
    discarded: tuple[Change, ...] = ()


def actions_for(journal: Journal, changes: Sequence[Change], command: str = "git") -> list[Action]:
    """What the gate must say to a command's effects; very many are judged as one.

    Protected files are named one by one in any case, and so is a loss.
    """
    loss = loss_of(journal, changes, command)
    many = len(changes) > INLINE
    own = [change for change in changes if many and _is_own(journal, change)]
    named = [change for change in changes if not many or protected_name(change.path)]
    actions = journal.actions([*named, *own[:EXAMPLES]], "command")
    if many or loss.deleted or loss.discarded:
        kinds = [verb(change) for change in changes]
        lost = (*loss.discarded, *loss.deleted)
        actions.append(
            ChangeMany(
                path=journal.root,
                created=kinds.count("created"),
                changed=kinds.count("changed"),
                deleted=kinds.count("deleted"),
                lost=len(loss.deleted),
                lost_bytes=sum(change.before.size for change in loss.deleted),
                discarded=len(loss.discarded),
                examples=tuple(change.path for change in lost[:EXAMPLES]),
                named=not many,
                origin="command",
            )
        )
    return actions


def _is_own(journal: Journal, change: Change) -> bool:
    return runs_host(os.path.join(journal.root, change.path), journal.root)


def verb(change: Change) -> str:
    """What happened to a path, in a word."""
    if change.before.kind == "absent":
        return "created"
    return "deleted" if change.after.kind == "absent" else "changed"


def loss_of(journal: Journal, changes: Sequence[Change], command: str = "git") -> Loss:
    """What these changes would lose.

    A file that is still there was thrown away only if git took it back; so where neither the
    command nor its changes have to do with git, nobody asks git about it.
    """
    by_git = "git" in command or any(".git/" in change.path for change in changes)
    at_risk = [
        change
        for change in changes
        if change.before.kind == "file"
        and (by_git or change.after.kind == "absent")
        and change.before.digest != change.after.digest
        and MADE_AGAIN.isdisjoint(change.path.split("/"))
    ]
    history = _history_lost(changes)
    if not at_risk:
        return Loss(history)
    names = {change: _blob_name(journal, change.before.digest, change.before.size)
             for change in at_risk[:MOST]}  # fmt: skip
    known = _known(journal.root, [name for name in names.values() if name])
    if known is None:  # no repository: nothing has a copy
        return Loss((*history, *(change for change in at_risk if verb(change) == "deleted")))
    made = set(_made(journal, changes))
    unsafe = [change for change in at_risk if names.get(change, "") not in known | made]
    deleted = tuple(change for change in unsafe if verb(change) == "deleted")
    changed = [change for change in unsafe if verb(change) == "changed"]
    return Loss((*history, *deleted), tuple(_thrown_away(journal, changed)))


def _history_lost(changes: Sequence[Change]) -> tuple[Change, ...]:
    """Objects of git that are gone, when nothing was packed instead."""
    if any(_PACK.search(change.path) for change in changes if verb(change) == "created"):
        return ()
    return tuple(
        change for change in changes
        if verb(change) == "deleted" and change.before.kind == "file"
        and (_LOOSE.search(change.path) or _PACK.search(change.path))
    )  # fmt: skip


def _made(journal: Journal, changes: Sequence[Change]) -> Iterator[str]:
    """The names of contents that the command itself put into the repository, if it really did."""
    for change in changes:
        found = _LOOSE.fullmatch(change.path)
        if not found or change.after.size > LARGEST or not journal.objects.has(change.after.digest):
            continue
        with journal.objects.open(change.after.digest) as file, suppress(zlib.error):
            content = zlib.decompressobj().decompress(file.read(), LARGEST)
            name = hashlib.sha1(content, usedforsecurity=False).hexdigest()
            if name == found[1] + found[2]:
                yield name


def _thrown_away(journal: Journal, changed: Sequence[Change]) -> Iterator[Change]:
    """Changed files that are now as they were committed."""
    committed = _committed(journal.root, [change.path for change in changed])
    for change, names in zip(changed, committed, strict=True):
        if names and _blob_name(journal, change.after.digest, change.after.size) in names:
            yield change


def _blob_name(journal: Journal, digest: str, size: int) -> str:
    """The name git gives to a content; empty where it is not known."""
    if not digest or size > LARGEST or not journal.objects.has(digest):
        return ""
    with journal.objects.open(digest) as file:
        content = file.read()
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def _known(root: str, names: Iterable[str]) -> set[str] | None:
    """The objects that a repository has; None where there is no repository."""
    answers = _ask_git(root, list(names))
    if answers is None:
        return None
    return {answer.split()[0] for answer in answers if not answer.endswith(" missing")}


def _committed(root: str, paths: Sequence[str]) -> list[set[str]]:
    """For each path the names of its content in the last commit and in the index."""
    fit = [on_disk(path) if "\n" not in path else "" for path in paths]
    asked = [f"{where}:./{path}" for path in fit for where in ("HEAD", "")]
    answers = _ask_git(root, asked) or [""] * len(asked)
    found = [answer.split()[0] if answer.endswith(" blob") else "" for answer in answers]
    return [{*found[at : at + 2]} - {""} for at in range(0, len(found), 2)]


def _ask_git(root: str, questions: Sequence[str]) -> list[str] | None:
    """One answer for each name of an object."""
    environ = {
        **{name: value for name, value in os.environ.items() if not name.startswith("GIT_")},
        "GIT_ALLOW_PROTOCOL": "none",  # a repository's own config cannot lift it
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
    }
    git = found("git", os.environ, root)
    if git is None:
        return None
    safe = ("-c", "core.fsmonitor=false", "-c", "safe.directory=*")
    shape = "--batch-check=%(objectname) %(objecttype)"
    try:
        ran = subprocess.run(
            [git, *safe, "cat-file", shape],
            cwd=root, env=environ, capture_output=True, timeout=PATIENCE, check=False,
            input="".join(f"{name}\n" for name in questions).encode(errors="surrogateescape"),
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return None
    answers = ran.stdout.decode(errors="replace").splitlines()
    return answers if ran.returncode == 0 and len(answers) == len(questions) else None
