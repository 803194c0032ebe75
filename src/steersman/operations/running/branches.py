"""Branches, tags and stashes that changes take away, where nothing else leads to their commits.

Git keeps such commits for a while, but only someone who knows their numbers finds them. A branch
that was renamed, packed or merged loses nothing, nor does one that the thread made itself, unless
work is in it that was not the thread's, nor a stash whose work is in the folder, until that is
thrown away, too: one of your own, or what a rebase or a merge put away (an autostash). One that
moves loses nothing as long as its log says where it was.
"""

import re
from collections.abc import Callable, Collection, Iterable, Sequence

from msgspec import Struct

from steersman.operations.journal.journal import Journal
from steersman.operations.journal.undoing import squash
from steersman.operations.running import repository
from steersman.operations.running.contents import blob_names, content_of, key, lasts
from steersman.operations.running.git_needs import (
    Led,
    logged,
    named_now,
    packed_on_disk,
    packed_refs,
)
from steersman.operations.running.history import is_object, leads_on, piece
from steersman.records.change import Change, FileState
from steersman.records.patterns import pattern

_REF = pattern(
    r"(?P<store>(?:.*/)?)(?<!logs/)(?:(?P<ref>refs/.+)|(?P<many>packed-refs)|(?P<head>HEAD)"
    r"|(?P<auto>rebase-(?:merge|apply)/autostash|MERGE_AUTOSTASH)"
    r"|logs/(?P<log>refs/(?!remotes/).+))",
    re.DOTALL,
)
_OBJECT = pattern(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
STASH = "refs/stash"
_AUTOSTASH = "autostash"  # what a rebase or a merge put away, until it is done
_STASHES = (STASH, _AUTOSTASH)
STASHES = (STASH, _AUTOSTASH, _AUTOSTASH.upper())  # what is in the paths of their files
_REPLACED = "refs/replace/"
_PASSING = ("refs/remotes/", "refs/bisect/", "refs/rewritten/", "refs/prefetch/")  # nobody's own
_DETACHED = (40, 41, 64, 65)  # bytes of a HEAD that is on no branch
_KINDS = {"heads": "branch", "tags": "tag"}
_MOST = 20_000  # files of which contents are looked up

Names = dict[str, str]  # of objects, and of what led there


class Unnamed(Struct, frozen=True):
    """What is taken away, in words, and how many commits only that led to.

    `hidden` are objects in whose place git shows others from now on. `tags` are those that only
    have a message of their own.
    """

    names: tuple[str, ...] = ()
    commits: int = 0
    hidden: int = 0
    tags: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.commits or self.hidden or self.tags)


def takes_names(change: Change) -> bool:
    """Whether a file that names branches, tags or stashes, or logs where they were, is another.

    A file for a branch may hide where it was in `packed-refs`, and a HEAD may be all that is left
    of one.
    """
    found = _REF.fullmatch(change.path)
    if found and found["head"]:
        return change.before.kind == "file" and change.before.size in _DETACHED
    return found is not None and (change.before.kind == "file" or not found["log"])


def unnamed(
    journal: Journal, changes: Sequence[Change], thread: Callable[[], Sequence[Change]]
) -> Unnamed:
    """What these changes take away; commits that the thread made itself are its own.

    A name that it moved before counts as it was when the thread began.
    """
    from steersman.operations.running.stashes import blobs_of

    latest = [change for change in changes if takes_names(change)]
    earlier = thread()
    popped = [change for change in earlier if _is_stash(change)]
    found = [match for change in [*latest, *popped] if (match := _REF.fullmatch(change.path))]
    paths = {change.path for change in latest}
    paths |= {f"{match['store']}{match['log']}" for match in found if match["log"]}
    whole = [*earlier, *changes]
    taken = [*latest, *(change for change in squash(whole) if change.path in paths), *popped]
    after = {change.path: change.after for change in changes}
    names: list[str] = []
    tags: list[str] = []
    commits = hidden = 0
    for store in sorted({match["store"] for match in found}):
        left = named_now(journal, store, after)
        replaced = _replaced(journal, store, latest)
        hidden += len(replaced - _made(store, whole)) if replaced else 0
        lost = _lost(journal, store, taken, left)
        if left:
            lost = _let_go(journal, store, whole, changes, left) | lost
        own = _made(store, whole) & lost.keys() if lost else set()
        if own and left and not _hold_work(journal, store, own, left, whole):
            lost = {one: ref for one, ref in lost.items() if one not in own}
        stashes = {one for one, ref in lost.items() if ref in _STASHES}
        new = _lost(journal, store, latest, None).keys()
        for one in stashes - _thrown_away(journal, store, stashes, changes, new):
            del lost[one]
        if left and stashes & lost.keys():
            kept = _kept(journal, store, changes, left.objects)
            for one in stashes & lost.keys():
                if blobs_of(journal.root, store, one) <= kept:
                    del lost[one]
        if not lost:
            continue
        led = left.objects | _moved(journal, store, latest).difference(lost) if left else set()
        gone = repository.only_from(journal.root, store, lost, led) if left else None
        if gone != 0:
            alone = {*lost} if len(lost) == 1 else _unsafe(journal.root, store, lost, left)
            names += sorted({_called(lost[one]) for one in alone})
            commits += len(lost) if gone is None else gone
        else:
            kinds = repository.kinds(journal.root, store, lost) or {}
            annotated = {one for one, kind in kinds.items() if kind == "tag"} - led
            tags += sorted({_called(lost[one]) for one in annotated})
    return Unnamed(tuple(names), commits, hidden, tuple(tags))


def _let_go(
    journal: Journal, store: str, whole: Sequence[Change], changes: Sequence[Change], left: Led
) -> Names:
    """What the thread found under names that it took away before, and lets go of only now."""
    names = [change for change in squash(whole) if _REF.fullmatch(change.path)]
    lost = _lost(journal, store, names, left)
    before = {change.path: change.before for change in changes}
    lost = {one: ref for one, ref in lost.items() if ref not in _STASHES}
    if not lost:
        return {}
    held = named_now(journal, store, before)
    let_go = _unsafe(journal.root, store, lost, left) - _unsafe(journal.root, store, lost, held)
    return {one: ref for one, ref in lost.items() if one in let_go}


def _unsafe(root: str, store: str, names: Names, left: Led | None) -> set[str]:
    """The objects that nothing leads to which is left, or of which that is not known."""
    found = repository.unreached(root, store, names, left.objects) if left else None
    return {*names} if found is None else found


def _replaced(journal: Journal, store: str, changes: Sequence[Change]) -> set[str]:
    """The objects in whose place git shows others once the changes are made."""
    was: dict[str, str] = {}
    now: dict[str, str] = {}
    for change in changes:
        if change.path == f"{store}packed-refs":
            was |= packed_refs(content_of(journal, change.before))
            now |= packed_refs(content_of(journal, change.after))
    for change in changes:  # a file of its own hides where a name is in `packed-refs`
        for names, state in ((was, change.before), (now, change.after)):
            if change.path.startswith(f"{store}{_REPLACED}") and state.kind == "file":
                text = content_of(journal, state).decode(errors="replace")
                names[change.path.removeprefix(store)] = text.strip()
    changed = (ref for ref, one in now.items() if was.get(ref) != one)
    objects = {ref.removeprefix(_REPLACED) for ref in changed if ref.startswith(_REPLACED)}
    return {one for one in objects if _OBJECT.fullmatch(one)}


def _lost(journal: Journal, store: str, changes: Sequence[Change], left: Led | None) -> Names:
    """The objects that names of one repository led to, and that their logs do not report."""
    lost: Names = {}
    for change in changes:
        found = _REF.fullmatch(change.path)
        if not found or found["store"] != store:
            continue
        was, now = (_read(journal, found, state) for state in (change.before, change.after))
        if found["ref"] and not was:
            was = _hidden(journal, store, found["ref"], changes)
        lost |= {one: ref for one, ref in was.items()
                 if one not in now and not ref.startswith(_PASSING)
                 and not (left and _logged(left, ref, one))}  # fmt: skip
    return lost


def _logged(left: Led, ref: str, one: str) -> bool:
    """Whether a name that still leads somewhere has a log that says where it was."""
    return ref != STASH and ref in left.refs and one in left.logs.get(ref, ())


def _hidden(journal: Journal, store: str, ref: str, changes: Iterable[Change]) -> Names:
    """Where a branch was that had no file of its own."""
    many = next((one.before for one in changes if one.path == f"{store}packed-refs"), None)
    text = content_of(journal, many) if many else packed_on_disk(journal, store)
    was = packed_refs(text).get(ref)
    return {was: ref} if was else {}


def _hold_work(
    journal: Journal, store: str, own: Collection[str], left: Led, whole: Sequence[Change]
) -> bool:
    """Whether only commits that the thread made have work that was there before it."""
    gone = repository.leading_to(journal.root, store, own, left.objects, index=False)
    if gone is None:
        return True
    work = (change for change in squash(whole) if change.before.kind in ("file", "link")
            and key(change.before) != key(change.after) and lasts(change.path))  # fmt: skip
    return any(
        not gone.isdisjoint(blob_names(journal, change.before))
        for change, _ in zip(work, range(_MOST), strict=False)
    )


def _is_stash(change: Change) -> bool:
    """Whether a file says which stashes there are."""
    found = _REF.fullmatch(change.path)
    return found is not None and (bool(found["auto"]) or STASH in (found["ref"], found["log"]))


def _thrown_away(
    journal: Journal,
    store: str,
    stashes: Collection[str],
    changes: Sequence[Change],
    new: Collection[str],
) -> set[str]:
    """Those of the stashes that are gone whose work the changes take from the folder.

    So is that of `new` ones, which go just now, if it is not in the folder then.
    """
    from steersman.operations.running.stashes import committed, unpacked

    if not stashes:
        return set()
    after = {change.path: change.after for change in changes}
    absent = {*stashes} - unpacked(journal, store, stashes, after)
    absent -= committed(journal, store, absent)
    before = {change.path: change.before for change in changes}
    return absent & {*new, *unpacked(journal, store, absent.difference(new), before)}


def _kept(
    journal: Journal, store: str, changes: Iterable[Change], named: Collection[str]
) -> set[str]:
    """The objects that names lead to through commits which the changes bring: another stash."""
    brought: dict[str, set[str]] = {}
    for change in changes:
        found = piece(change.path) if change.after.kind == "file" else None
        real = found and found.store == store and is_object(journal, change.after, found.name)
        if found and real:
            brought[found.name] = leads_on(journal, change.after, found.name)
    kept: set[str] = set()
    follow = {*named} & brought.keys()
    while follow:
        kept |= follow
        follow = {one for name in follow & brought.keys() for one in brought[name]} - kept
    old = kept - brought.keys()
    reached = repository.leading_to(journal.root, store, old, {*named} - kept, index=False)
    return kept | (reached or set())


def _moved(journal: Journal, store: str, changes: Sequence[Change]) -> set[str]:
    """The objects that names led to which are there still: the new ones may not be known yet."""
    pairs = ((_REF.fullmatch(one.path), one) for one in changes if one.after.kind == "file")
    return {name for found, one in pairs if found and found["store"] == store
            for name in _read(journal, found, one.before)}  # fmt: skip


def _read(journal: Journal, found: "re.Match[str]", state: FileState) -> Names:
    """The objects that a file leads to; a log does so only for stashes."""
    if state.kind != "file":
        return {}
    text = content_of(journal, state).decode(errors="replace")
    if found["ref"] or found["auto"]:
        return {one: found["ref"] or _AUTOSTASH for one in _OBJECT.findall(text)}
    if found["head"]:
        return {}
    if found["log"]:
        return dict.fromkeys(logged(text.encode()) if found["log"] == STASH else (), STASH)
    packed = packed_refs(text.encode(errors="replace"))
    return {one: ref for ref, one in packed.items()}


def _called(ref: str) -> str:
    if ref in _STASHES:
        return ref.removeprefix("refs/")
    _, kind, *rest = ref.split("/")
    return f"{_KINDS[kind]} {'/'.join(rest)}" if kind in _KINDS else ref


def _made(store: str, thread: Iterable[Change]) -> set[str]:
    """The objects that the thread made."""
    pieces = (piece(change.path) for change in thread if change.before.kind == "absent")
    return {made.name for made in pieces if made and made.store == store and not made.pack}
