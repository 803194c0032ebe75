"""Where contents come from: what the thread made itself, and what was there before it. Pure."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property

from msgspec import Struct

from steersman.operations.running.contents import key
from steersman.records.change import ABSENT, Change, FileState

Place = tuple[str, str]  # a path, and what tells its content from others
_HOLDS = ("file", "link")


class Origin(Struct, frozen=True):
    """Where something was before the thread touched it, and what it was; nowhere if it was not."""

    path: str = ""
    state: FileState = ABSENT


_MADE = Origin()


class Origins:
    """Origins of what a thread touched, worked out when the first is asked for."""

    def __init__(self, thread: Callable[[], Sequence[Change]]) -> None:
        self._thread = thread

    @cached_property
    def _found(self) -> Mapping[Place, Origin]:
        return origins(self._thread())

    def of(self, change: Change) -> Origin:
        """Where what a change replaces or deletes comes from."""
        own = Origin(change.path, change.before)
        return self._found.get((change.path, key(change.before)), own)


def origins(changes: Sequence[Change]) -> Mapping[Place, Origin]:
    """For each content that a thread gave to a path: what it was before the thread touched it.

    A content that was moved or copied comes from where it
    was first, and so does what became of it; where someone else changed a file in between, their
    content is the first one.
    """
    carried: dict[str, Origin] = {}
    while True:
        found, seen = _traced(changes, carried)
        if seen.keys() <= carried.keys():
            return found
        carried = {**seen, **carried}


def _traced(
    changes: Iterable[Change], carried: Mapping[str, Origin]
) -> tuple[dict[Place, Origin], dict[str, Origin]]:
    """The origins, given contents known to come from before; and all contents that do."""
    now: dict[str, tuple[str, Origin]] = {}
    found: dict[Place, Origin] = {}
    seen: dict[str, Origin] = {}
    for change in changes:
        before, after = change.before, change.after
        content, origin = now.get(change.path, ("", _MADE))
        if content != key(before):
            origin = carried.get(key(before), Origin(change.path, before))
        if before.kind not in _HOLDS:
            origin = _MADE
        elif _is_kept(before) and _is_kept(origin.state):
            seen.setdefault(key(before), origin)
        if after.kind not in _HOLDS:
            now[change.path] = ("", _MADE)
            continue
        origin = carried.get(key(after), origin) if _is_kept(after) else origin
        if _is_kept(after) and _is_kept(origin.state):
            seen.setdefault(key(after), origin)
        now[change.path] = (key(after), origin)
        found[change.path, key(after)] = origin
    return found, seen


def _is_kept(state: FileState) -> bool:
    """Whether there is something in it; what is empty is nobody's."""
    return state.kind == "link" or (state.kind == "file" and state.size > 0)
