"""What a command's changes amount to: each as an action, or many as one, with what is lost."""

import os
from collections.abc import Sequence

from steersman.operations.journal.journal import INLINE, Journal, opened
from steersman.operations.running.losses import NO_PAST, Loss, Past, loss_of
from steersman.records.action import Action, ChangeMany
from steersman.records.change import Change
from steersman.records.git_places import GitPlaces
from steersman.records.protection import protected_name, runs_host

EXAMPLES = 3


def actions_for(
    journal: Journal, changes: Sequence[Change], command: str = "git", past: Past = NO_PAST
) -> list[Action]:
    """What the gate must say to a command's effects; very many are judged as one.

    Protected files are named one by one in any case, and so is a loss.
    """
    loss = loss_of(journal, changes, command, past)
    many = len(changes) > INLINE
    own = [change for change in changes if many and _is_own(journal, change)]
    root, places = journal.root, GitPlaces(journal.root)
    named = [
        one
        for one in changes
        if not many or protected_name(one.path, places, root) or _opens_git(one)
    ]
    actions = journal.actions([*named, *own[:EXAMPLES]], "command")
    if many or loss:
        actions.append(summed_up(journal, changes, loss, named=not many))
    return actions


def summed_up(
    journal: Journal, changes: Sequence[Change], loss: Loss, *, named: bool
) -> ChangeMany:
    """Changes as one action, with what they and their turn lose."""
    kinds = [verb(change) for change in changes]
    lost = (*loss.discarded, *loss.deleted)
    return ChangeMany(
        path=journal.root,
        created=kinds.count("created"),
        changed=kinds.count("changed"),
        deleted=kinds.count("deleted"),
        lost=len(loss.deleted),
        lost_bytes=_size(loss.deleted),
        discarded=len(loss.discarded),
        examples=tuple(change.path for change in lost[:EXAMPLES]),
        named=named,
        origin="command",
        emptied=sum(verb(change) == "changed" for change in loss.deleted),
        commits=loss.history.commits,
        objects=loss.history.others,
        turn_removed=loss.removed,
        turn_lost=len(loss.turn),
        turn_bytes=_size(loss.turn),
    )


def _size(changes: Sequence[Change]) -> int:
    return sum(change.before.size for change in changes)


def _opens_git(change: Change) -> bool:
    return ".git" in change.path.lower().split("/") and opened(change)


def _is_own(journal: Journal, change: Change) -> bool:
    return runs_host(os.path.join(journal.root, change.path), journal.root)


def verb(change: Change) -> str:
    """What happened to a path, in a word."""
    if change.before.kind == "absent":
        return "created"
    return "deleted" if change.after.kind == "absent" else "changed"
