"""Which changes of a command still fit a workspace that others changed meanwhile.

A folder goes only when nothing of others is in it; nothing comes where its folder is gone. One such
path is not a reason to lose the rest.
"""

from collections.abc import Collection, Sequence

from steersman.operations.journal.folders import ROOT, Tree, depth, parent
from steersman.records.change import Change


def unfit(
    tree: Tree, changes: Sequence[Change], remove: Collection[str] = ()
) -> tuple[list[Change], list[Change]]:
    """Changes of folders that others use, and changes in folders that are there no more."""
    going = {change.path for change in changes if _goes(change)} | set(remove)
    used = []
    for change in sorted(changes, key=lambda one: depth(one.path), reverse=True):
        if change.path in going and change.before.kind == "folder" and _left(tree, change, going):
            going.discard(change.path)
            used.append(change)
    still = {change.path for change in used}
    made: set[str] = set()
    homeless = []
    for change in sorted(changes, key=lambda one: depth(one.path)):
        if change.path in still or change.after.kind == "absent" or change.path == ROOT:
            continue
        above = parent(change.path)
        if above not in made and (above in going or not tree.is_folder(above)):
            homeless.append(change)
        elif change.after.kind == "folder":
            made.add(change.path)
    return used, homeless


def _goes(change: Change) -> bool:
    before, after = change.before.kind, change.after.kind
    return before != "absent" and (after == "absent" or (before == "folder") != (after == "folder"))


def _left(tree: Tree, change: Change, going: Collection[str]) -> bool:
    """Whether something stays in a folder."""
    if not tree.is_folder(change.path):
        return False
    return any(f"{change.path}/{name}" not in going for name in tree.names(change.path))
