"""Changes of a workspace that can be undone: first they are in the log, then on the disk.

Which files to change is decided elsewhere; here originals are kept, the checkpoint is written, and
all of the changes are made or none.
"""

import asyncio
import os
import stat
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing, suppress
from types import MappingProxyType

import msgspec

from steersman.operations.journal.changeset import same
from steersman.operations.journal.commit import HalfDone, apply
from steersman.operations.journal.folders import Tree
from steersman.operations.journal.looking import Special, examine
from steersman.operations.journal.moves import moves, seen
from steersman.operations.journal.objects import Objects
from steersman.operations.journal.siblings import with_siblings
from steersman.operations.journal.undoing import Entry
from steersman.operations.matching import unified_diff
from steersman.records.action import Action, Delete, Origin, Write
from steersman.records.change import ABSENT, Change, FileState, Seen
from steersman.records.counting import counted
from steersman.records.errors import SteersmanError
from steersman.records.message import MASK, Checkpoint, HookRun, Message, ToolResult, TurnStart
from steersman.records.names import shown, written
from steersman.store.log import Draft, Lane, unbroken
from steersman.store.redactor import Redactor

INLINE = 200
LARGEST_DIFF = 400_000


class Journal:
    """The way to change files of one workspace."""

    def __init__(self, root: str, objects: Objects) -> None:
        self.root = root
        self.objects = objects

    async def make(
        self,
        body: Checkpoint,
        lane: Lane,
        corr: str | None,
        *,
        times: Mapping[str, int] | None = None,
        remove: Sequence[str] = (),
        check: bool = True,
    ) -> int:
        """Write the checkpoint, then make its changes, all or none; a cancel waits for that.

        The answer is the checkpoint's place in the log.

        What fails and leaves nothing behind is void: it never happened, and what it undoes stays.
        Without `check`, paths are changed from whatever they are now, which the log then names.
        """
        if not check:
            body = await asyncio.to_thread(self._as_found, body)
        return await unbroken(self._make(body, lane, corr, times, remove))

    async def _make(
        self,
        body: Checkpoint,
        lane: Lane,
        corr: str | None,
        times: Mapping[str, int] | None,
        remove: Sequence[str],
    ) -> int:
        seq = await self._record(body, lane, corr)
        try:
            await asyncio.to_thread(
                apply, self.root, body.changes, self.objects,
                times=times, remove=remove, checkpoint=(lane.log.thread, seq),
            )  # fmt: skip
        except HalfDone:
            raise
        except SteersmanError:
            await lane.log.owe(lane.draft(Checkpoint("void", undoes=(seq,)), corr))
            raise
        return seq

    async def record(self, body: Checkpoint, lane: Lane, corr: str | None) -> int:
        """Write a checkpoint of changes that someone else makes, or has made; gives its place."""
        return await unbroken(self._record(body, lane, corr))

    async def _record(self, body: Checkpoint, lane: Lane, corr: str | None) -> int:
        (message,) = await lane.log.append(await self.draft(body, lane, corr))
        return message.seq

    async def draft(self, body: Checkpoint, lane: Lane, corr: str | None) -> Draft:
        """The same, not yet written: for who writes it together with its cause."""
        kept = await asyncio.to_thread(self._kept, body, lane.log.redactor)
        return lane.draft(kept, corr)

    def _as_found(self, body: Checkpoint) -> Checkpoint:
        """Changes from what there is now, which is kept: an undo of them brings it back."""
        found = []
        with closing(Tree(self.root)) as tree:
            try:
                for change in body.changes:
                    before = change.before
                    with suppress(Special):  # cannot be kept, so the change is refused later
                        before = tree.examine(change.path, self.objects, durable=False).state
                    found.append(msgspec.structs.replace(change, before=before))
            finally:
                tree.settle()
        self.objects.settle()
        pairs = zip(body.changes, found, strict=True)
        own = {old.path: old for old, new in pairs if not same(old.before, new.before)}
        own |= {change.path: change for change in body.own}
        return msgspec.structs.replace(
            body, changes=tuple(found), own=tuple(own.values()) if body.parts else ()
        )

    def _kept(self, body: Checkpoint, redactor: Redactor) -> Checkpoint:
        """A checkpoint for the log, which masks; names that must stay exact are kept beside it."""
        few = len(body.changes) <= INLINE
        if few and not _masked(body, redactor):
            return body
        manifest, _ = self.objects.put_bytes(msgspec.json.encode((*body.changes, *body.own)))
        changes = body.changes if few else ()
        return msgspec.structs.replace(
            body, changes=changes, count=len(body.changes), manifest=manifest
        )

    def entries(self, messages: Iterable[Message]) -> list[Entry]:
        """Every change the log reports, in order."""
        found = []
        for message in messages:
            if isinstance(message.body, Checkpoint):
                body = message.body
                (changes, own), partial = self.all_of(body), bool(body.parts)
                exact, undoes = bool(body.manifest), body.undoes
                found.append(
                    Entry(
                        message.seq, changes, body.cause, undoes, partial, own, exact, body.special
                    )
                )
        return found

    def never_made(self, messages: Iterable[Message]) -> list[Message]:
        """The checkpoints of a session that was cut off before their commit was even noted.

        Only the files tell: changes are made all or none, so one path is enough, unless a later
        change is of it, too. Commits that were noted must have been dealt with before.
        """
        touched: set[str] = set()
        never = []
        for message in reversed(_unsettled(messages)):
            with suppress(SteersmanError, OSError):  # of what cannot be compared, the log is right
                (entry,) = self.entries([message])
                if self._as_before([one for one in entry.changes if one.path not in touched]):
                    never.append(message)
                else:
                    touched |= {change.path for change in entry.changes}
        return never[::-1]

    def _as_before(self, changes: Sequence[Change]) -> bool:
        """Whether nothing is as changes leave it, and something is as they find it."""
        found = False
        with closing(Tree(self.root)) as tree:
            for change in changes:
                with suppress(Special):
                    now = tree.examine(change.path).state
                    if same(now, change.after):
                        return False
                    found = found or same(now, change.before)
        return found

    def changes_of(self, body: Checkpoint) -> tuple[Change, ...]:
        """The changes of a checkpoint."""
        return self.all_of(body)[0]

    def all_of(self, body: Checkpoint) -> tuple[tuple[Change, ...], tuple[Change, ...]]:
        """The changes of a checkpoint, and its own."""
        if not body.manifest:
            return body.changes, body.own
        with self.objects.open(body.manifest) as kept:
            every = msgspec.json.decode(kept.read(), type=tuple[Change, ...])
        return every[: body.count], every[body.count :] or body.own

    def masked(self, body: Checkpoint) -> dict[str, str]:
        """The paths of a checkpoint that the log masks, and what it has for them."""
        if not body.manifest or not body.changes:
            return {}
        pairs = zip(self.all_of(body)[0], body.changes, strict=True)
        return {real.path: seen.path for real, seen in pairs if real.path != seen.path}

    def plan(self, contents: Mapping[str, bytes | None]) -> list[Change]:
        """The changes that give files (real paths) new contents, or take them away when None."""
        changes: dict[str, Change] = {}
        for path, content in contents.items():
            before = examine(path, keep=self.objects, durable=False).state
            if content is None:
                after = ABSENT
            else:
                digest, size = self.objects.put_bytes(content, durable=False)
                mode = before.mode if before.kind == "file" else 0o666 & ~umask()
                after = FileState("file", mode, digest, size)
                for folder in self._missing_folders(path):
                    changes.setdefault(
                        folder, Change(folder, ABSENT, FileState("folder", _folder()))
                    )
            changes[self.relative(path)] = Change(self.relative(path), before, after)
        self.objects.settle()
        return with_siblings(self.root, list(changes.values()))

    def _missing_folders(self, path: str) -> Iterable[str]:
        folder = os.path.dirname(path)
        while not os.path.lexists(folder):
            yield self.relative(folder)
            folder = os.path.dirname(folder)

    def relative(self, path: str) -> str:
        """A real path as changes name it."""
        return written(os.path.relpath(path, self.root))

    def named(self, path: str) -> str:
        """The path of an action as changes name it; its bytes are written already."""
        return os.path.relpath(path, self.root)

    def actions(self, changes: Iterable[Change], origin: Origin) -> list[Action]:
        """What the gate must say to changes: one action a path, with a diff where one can be."""
        listed = list(changes)
        shown = len(listed) <= INLINE
        origins = moves(listed, self.content) if shown else {}
        return [self._action(change, origin, self.diff(change) if shown else "", origins)
                for change in listed]  # fmt: skip

    def _action(
        self, change: Change, origin: Origin, diff: str, origins: Mapping[str, str]
    ) -> Action:
        path = self._real(change.path)
        if change.after.kind == "absent":
            return Delete(path, change.before.digest, diff, origin)
        before, after = change.before.digest, change.after.digest
        old = self._real(origins[change.path]) if change.path in origins else ""
        return Write(path, before, after, diff, origin, moved_from=old, opened=opened(change))

    def _real(self, path: str) -> str:
        return os.path.normpath(os.path.join(self.root, path))

    def seen(self, changes: Sequence[Change]) -> list[Seen]:
        """Changes as people look at them: a file that was moved is one."""
        return seen(changes, self.content)

    def diff_of(self, one: Seen, names: Mapping[str, str] = MappingProxyType({})) -> str:
        """A change as people read it, under its own name or one of others."""
        before, after, path = one.change.before, one.change.after, one.change.path
        if not one.moved_from:
            return self.diff(one.change, names.get(path))
        old, new = (shown(names.get(name, name)) for name in (one.moved_from, path))
        if before.digest == after.digest:
            return unified_diff(new, b"", b"", old)
        return unified_diff(new, self.content(before), self.content(after), old)

    def diff(self, change: Change, name: str | None = None) -> str:
        """A change of one path as people read it, under its own name or another."""
        before, after, name = change.before, change.after, shown(name or change.path)
        if "file" in (before.kind, after.kind) and before.digest != after.digest:
            if max(before.size, after.size) > LARGEST_DIFF:
                return f"{name}: {before.size:,} → {counted(after.size, 'byte')}\n"
            return unified_diff(name, self.content(before), self.content(after))
        if before.kind == after.kind == "file" or before.kind == after.kind == "folder":
            return f"{name}: mode {before.mode:o} → {after.mode:o}\n"
        return f"{name}: {_words(before)} → {_words(after)}\n"

    def content(self, state: FileState) -> bytes | None:
        """What a file holds in a state; None when there is none, or none was kept."""
        if state.kind != "file" or not self.objects.has(state.digest):
            return None
        with self.objects.open(state.digest) as kept:
            return kept.read()


def _unsettled(messages: Iterable[Message]) -> list[Message]:
    """The checkpoints of which nothing later in the log says that the process outlived them."""
    found: dict[int, Message] = {}
    for message in messages:
        match message.body:
            case TurnStart() | Checkpoint(cause="undo" | "redo"):  # neither begins during the other
                found.clear()
            case ToolResult() | HookRun():
                found = {seq: one for seq, one in found.items() if one.corr != message.corr}
            case Checkpoint(cause="void", undoes=never):
                found = {seq: one for seq, one in found.items() if seq not in never}
        if isinstance(message.body, Checkpoint) and message.body.cause != "void":
            found[message.seq] = message
    return list(found.values())


def _masked(body: Checkpoint, redactor: Redactor) -> bool:
    """Whether the log would not have the names of a checkpoint as they are, or seem not to."""
    redactor.refresh()
    clean, data = redactor.body(body)
    return clean != body or MASK.encode() in data


def _words(state: FileState) -> str:
    return f"link to {shown(state.target)}" if state.kind == "link" else state.kind


def opened(change: Change) -> bool:
    """Whether a change lets others write to a path who could not before."""
    before, after = change.before, change.after
    if after.kind not in ("file", "folder"):
        return False
    # What is new is often the group's by the user's own umask.
    had = before.mode if before.kind == after.kind else stat.S_IWGRP
    return bool(after.mode & ~had & (stat.S_IWGRP | stat.S_IWOTH))


def umask() -> int:
    """The process's umask, read without changing it where the system allows."""
    try:
        with open("/proc/self/status", encoding="ascii", errors="replace") as status:
            line = next(line for line in status if line.startswith("Umask:"))
            return int(line.split()[1], 8)
    except (OSError, StopIteration):
        return stat.S_IWGRP | stat.S_IWOTH


def _folder() -> int:
    return 0o777 & ~umask()
