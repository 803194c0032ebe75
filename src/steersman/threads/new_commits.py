"""The commits that a command made: by what it did to branches and objects, never by its output."""

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from steersman.operations.journal.journal import Journal
from steersman.records.change import Change
from steersman.records.commits import kept
from steersman.records.git_names import inner, repository
from steersman.records.patterns import pattern

MOST = 200  # that are followed
_ID = re.compile(rb"[0-9a-f]{40,64}")
_TIP = pattern(r"HEAD|refs/heads/.+")


class NewCommit(Struct, frozen=True):
    """A commit, by its name and the first line of its message."""

    id: str
    subject: str


def new_commits(changes: Sequence[Change], journal: Journal) -> list[NewCommit]:
    """Commits whose objects are new and to which a branch that moved leads, the oldest first."""
    objects = {
        change.path: change for change in changes
        if change.before.kind == "absent" and inner(change.path).startswith("objects/")
    }  # fmt: skip
    found: dict[str, NewCommit] = {}
    for folder, tip in _tips(changes, journal):
        waiting = [tip]
        while waiting and len(found) < MOST:
            name = waiting.pop()
            change = objects.get(f"{folder}/objects/{name[:2]}/{name[2:]}")
            content = journal.content(change.after) if change and name not in found else None
            commit = kept(name, content) if content is not None else None
            if commit is not None:
                found[name] = NewCommit(name, commit.subject)
                waiting += commit.parents
    return list(found.values())[::-1]


def _tips(changes: Sequence[Change], journal: Journal) -> Iterator[tuple[str, str]]:
    """The repository of each branch that moved, and where it points now."""
    for change in changes:
        if _TIP.fullmatch(inner(change.path)):
            content = (journal.content(change.after) or b"").strip()
            if _ID.fullmatch(content):
                yield repository(change.path), content.decode()
