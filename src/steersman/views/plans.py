"""What an undo or a whole thread changes, as people look at it: files first, git in a line."""

import asyncio
from collections.abc import Collection, Sequence

import msgspec

from steersman.host import Host
from steersman.records.change import Change, Seen
from steersman.records.counting import counted
from steersman.records.errors import ThreadBusy
from steersman.records.git_names import inner
from steersman.records.names import shown
from steersman.records.undo import UndoPlan
from steersman.views import git_notes
from steersman.views.arranging import arranged, ignored_words
from steersman.views.hunks import read_diff
from steersman.views.text import flat

STAYS = "Your changes since then stay:"
LOST = "Your changes in the same lines would be overwritten:"
LOG = "logs/HEAD"  # where git notes every commit


class CutOff(msgspec.Struct, frozen=True):
    """What became of an undo or redo that was cut off, in words; `seq` is its place in the log."""

    seq: int
    words: str


async def cut_off(host: Host, thread: str, command: str) -> CutOff | None:
    """Settle an undo or redo that was cut off: whoever asks for another may mean that one.

    `command` is how a person writes commands: `steer ` or `/`.
    """
    way = host.way_back
    last = await asyncio.to_thread(way.left_open, thread)
    busy = await host.tidy(thread)
    alive = bool(busy) or host.session(thread) is not None
    if (busy and way.under_way(thread)) or (alive and last is not None and last.working):
        raise ThreadBusy(
            f"Another process is changing files of thread {thread}, perhaps to undo them.",
            busy,
            "Run it again when that has ended.",
        )
    if last is None:
        return None
    cause = last.cause
    if await asyncio.to_thread(way.never_happened, thread, last.seq):
        became, beyond = "reverted", "the turn"
    else:
        became, beyond = "finished", "the turn before" if cause == "undo" else "the next turn"
    return CutOff(
        last.seq,
        f"The {cause} that was cut off was {became}: {counted(last.changes, 'change')} in thread "
        f"{thread}. Run `{command}{cause}` again to {cause} {beyond}.",
    )


def described(host: Host, thread: str, plan: UndoPlan) -> list[str]:
    """The diffs of a plan; an ignored folder and what git notes for itself are lines at the end."""
    noted = git_line(host, thread, plan.changes)
    own = [one for one in plan.changes if not inner(one.path)]
    found = arranged(host, thread, own, lambda _: 0)
    wanted = msgspec.structs.replace(plan, changes=tuple(found.shown))
    lines = [
        f"{shown(folder)}: {ignored_words(folder, count)}\n"
        for folder, count in found.ignored.items()
    ]
    lines += [f"{noted}\n"] if noted else []
    return [*host.way_back.describe(thread, wanted), *lines]


def overwritten(host: Host, thread: str, plan: UndoPlan, taken: Collection[str]) -> list[str]:
    """What someone else did to files of a plan and would be lost, as diffs."""
    lost = [Seen(one) for one in plan.others if one.path in taken]
    return host.way_back.diffs(thread, lost)


def rest(host: Host, thread: str, plan: UndoPlan, taken: Collection[str]) -> UndoPlan | None:
    """The plan without what would be lost; None where that is all of it, or nothing is lost."""
    found = host.way_back.rest(thread, plan, taken) if taken else None
    return found if found is not None and not host.way_back.conflicts(thread, found) else None


def kept(host: Host, thread: str, plan: UndoPlan, taken: Collection[str]) -> list[str]:
    """What someone else did to files of a plan and stays, a line for each file."""
    names = host.way_back.names(thread)
    counts: dict[str, tuple[int, int]] = {}
    stays = [one for one in plan.others if one.path not in taken]
    for one, diff in zip(stays, host.way_back.diffs(thread, [*map(Seen, stays)]), strict=True):
        name = flat(shown(names.get(one.path, one.path)))
        added, removed = read_diff(diff, name).counts
        before = counts.get(name, (0, 0))
        counts[name] = before[0] + added, before[1] + removed
    return [f"{name}: +{added} −{removed}" for name, (added, removed) in counts.items()]


def git_line(host: Host, thread: str, changes: Sequence[Change]) -> str:
    """What changes, or their undoing, do to what git notes for itself; commits by their names."""
    log = [Seen(one) for one in changes if inner(one.path) == LOG]
    made = git_notes.commits("".join(host.way_back.diffs(thread, log)))
    subjects = host.way_back.commits(thread, changes)
    return git_notes.line((one.path for one in changes), made, subjects)
