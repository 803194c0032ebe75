"""What a command changed, as it is said and shown."""

import asyncio
from collections.abc import Sequence

from steersman.operations.journal.journal import Journal
from steersman.operations.matching import counted
from steersman.operations.running.effects import verb
from steersman.operations.tool import Bench
from steersman.records.change import Change
from steersman.records.message import Body, DiffReady
from steersman.records.protection import git_bookkeeping

SHOWN_DIFFS = 20
SHOWN_NAMES = 40


async def tell(journal: Journal, changes: Sequence[Change], bench: Bench) -> list[str]:
    """Show the diffs of the first files; the answer is all of the changes in words."""
    texts = [
        change
        for change in changes
        if "file" in (change.before.kind, change.after.kind) and not git_bookkeeping(change.path)
    ]

    def made() -> tuple[list[Body], list[str]]:
        diffs = [(one.title(), journal.diff_of(one)) for one in journal.seen(texts)[:SHOWN_DIFFS]]
        bodies: list[Body] = [DiffReady(name, diff, *counted(diff)) for name, diff in diffs]
        return bodies, names_of(journal, changes)

    bodies, words = await asyncio.to_thread(made)
    bench.lane.later(*bodies, corr=bench.call)  # the result of the call comes next
    return words


def names_of(journal: Journal, changes: Sequence[Change]) -> list[str]:
    """Changes as a short list of words."""
    found = journal.seen(changes)
    listed = [f"{'renamed' if one.moved_from else verb(one.change)} {one.title()}"
              for one in found[:SHOWN_NAMES]]  # fmt: skip
    more = len(found) - SHOWN_NAMES
    return [*listed, f"and {more} more"] if more > 0 else listed
