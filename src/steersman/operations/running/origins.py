"""Where contents come from: what the thread made itself, and what was there before it. Pure."""

from collections.abc import Iterable, Mapping, Sequence

from steersman.operations.running.contents import key
from steersman.records.change import ABSENT, Change, FileState

Place = tuple[str, str]  # a path, and what tells its content from others
_HOLDS = ("file", "link")


def origins(changes: Sequence[Change]) -> Mapping[Place, FileState]:
    """For each content that a thread gave to a path: what it was before the thread touched it.

    It is `ABSENT` for what the thread made. A content that was moved or copied comes from where it
    was first, and so does what became of it; where someone else changed a file in between, their
    content is the first one.
    """
    carried: dict[str, FileState] = {}
    while True:
        found, seen = _traced(changes, carried)
        if seen.keys() <= carried.keys():
            return found
        carried = {**seen, **carried}


def _traced(
    changes: Iterable[Change], carried: Mapping[str, FileState]
) -> tuple[dict[Place, FileState], dict[str, FileState]]:
    """The origins, given contents known to come from before; and all contents that do."""
    now: dict[str, tuple[str, FileState]] = {}
    found: dict[Place, FileState] = {}
    seen: dict[str, FileState] = {}
    for change in changes:
        before, after = change.before, change.after
        content, origin = now.get(change.path, ("", ABSENT))
        if content != key(before):
            origin = carried.get(key(before), before)
        if before.kind not in _HOLDS:
            origin = ABSENT
        elif _is_kept(before) and _is_kept(origin):
            seen.setdefault(key(before), origin)
        if after.kind not in _HOLDS:
            now[change.path] = ("", ABSENT)
            continue
        origin = carried.get(key(after), origin) if _is_kept(after) else origin
        if _is_kept(after) and _is_kept(origin):
            seen.setdefault(key(after), origin)
        now[change.path] = (key(after), origin)
        found[change.path, key(after)] = origin
    return found, seen


def _is_kept(state: FileState) -> bool:
    """Whether there is something in it; what is empty is nobody's."""
    return state.kind == "link" or (state.kind == "file" and state.size > 0)
