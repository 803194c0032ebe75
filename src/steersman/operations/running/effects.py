"""What a command's changes amount to: each as an action, or many as one, with what is lost."""

import os
from collections.abc import Sequence

from msgspec.structs import replace

from steersman.operations.journal.journal import INLINE, Journal, opened
from steersman.operations.running.losses import NO_PAST, Loss, Past, loss_of
from steersman.records.action import Action, ChangeMany, Delete
from steersman.records.change import Change
from steersman.records.git_places import GitPlaces
from steersman.records.names import shown
from steersman.records.protection import protected_name, runs_host

EXAMPLES, NAMED = 3, 8


def actions_for(
    journal: Journal,
    changes: Sequence[Change],
    command: str = "git",
    past: Past = NO_PAST,
    *,
    remove: Sequence[str] = (),
) -> list[Action]:
    """What the gate must say to a command's effects; very many are judged as one.

    Protected files are named one by one in any case, and so is a loss. `remove` are pipes, sockets
    and the like that go permanently.
    """
    loss = replace(loss_of(journal, changes, command, past), special=tuple(remove))
    many = len(changes) + len(remove) > INLINE
    own = [change for change in changes if many and _is_own(journal, change)]
    root, places = journal.root, GitPlaces(journal.root)
    named = [
        one
        for one in changes
        if not many or protected_name(one.path, places, root) or _opens_git(one)
    ]
    actions = journal.actions([*named, *own[:EXAMPLES]], "command")
    changed = {change.path for change in changes}
    for path in remove:
        if path not in changed and (not many or protected_name(path, places, root)):
            gone = f"{shown(path)}: deleted permanently\n"
            actions.append(Delete(os.path.join(root, path), "", gone, "command"))
    if many or loss:
        touched = _touched(journal, changes, past)
        actions.append(replace(summed_up(journal, changes, loss, named=not many), touched=touched))
    return actions


def _touched(journal: Journal, changes: Sequence[Change], past: Past) -> int:
    """How many files are changed or deleted that no program makes again."""
    changed = [one for one in changes if verb(one) != "created"]
    if len(changed) <= INLINE:
        return len(changed)
    from steersman.operations.running.precious import Keeping

    keeping = Keeping(journal.root, past.thread())
    return sum(keeping.touches(one.path) for one in changed)


def summed_up(
    journal: Journal, changes: Sequence[Change], loss: Loss, *, named: bool
) -> ChangeMany:
    """Changes as one action, with what they and their turn lose."""
    kinds = [verb(change) for change in changes]
    first = (*loss.discarded, *loss.precious, *loss.deleted)
    lost = list(dict.fromkeys([*(change.path for change in first), *loss.special]))
    special = len(loss.special)
    return ChangeMany(
        path=journal.root,
        created=kinds.count("created"),
        changed=kinds.count("changed"),
        deleted=kinds.count("deleted") + special,
        lost=len(loss.deleted) + special,
        lost_bytes=_size(loss.deleted),
        discarded=len(loss.discarded),
        examples=tuple(lost[:NAMED]),
        named=named,
        origin="command",
        emptied=sum(verb(change) == "changed" for change in loss.deleted),
        commits=loss.history.commits,
        objects=loss.history.others,
        names=loss.unnamed.names[:NAMED],
        unnamed=loss.unnamed.commits,
        hidden=loss.unnamed.hidden,
        tags=loss.unnamed.tags[:NAMED],
        turn_removed=loss.removed + special,
        turn_lost=len(loss.turn) + special,
        turn_bytes=_size(loss.turn),
        precious=len(loss.precious),
        tracked=loss.tracked,
        special=special,
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
