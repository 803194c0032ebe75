"""What a command changed, as it is said and shown."""

import asyncio
from collections.abc import Sequence

from msgspec import Struct

from steersman.operations.journal.journal import Journal
from steersman.operations.matching import counted
from steersman.operations.running.effects import verb
from steersman.operations.tool import Bench
from steersman.records.change import Change
from steersman.records.message import Body, DiffReady
from steersman.records.protection import git_bookkeeping

SHOWN_DIFFS = 20
SHOWN_NAMES = 40


class Told(Struct, frozen=True):
    """Changes as they are shown: the diffs of the first files, and all of them in words."""

    diffs: Sequence[Body] = ()
    words: Sequence[str] = ()

    def show(self, bench: Bench) -> list[str]:
        """Have the diffs in the log with the result of the call; the answer is the words."""
        bench.lane.later(*self.diffs, corr=bench.call)
        return list(self.words)


async def tell(journal: Journal, changes: Sequence[Change], bench: Bench) -> None:
    """Show the diffs of the first files."""
    (await asyncio.to_thread(telling, journal, changes)).show(bench)


def telling(journal: Journal, changes: Sequence[Change]) -> Told:
    """Changes as they are shown, which reads what the files held and hold."""
    texts = [
        change
        for change in changes
        if "file" in (change.before.kind, change.after.kind) and not git_bookkeeping(change.path)
    ]
    diffs = [(one.title(), journal.diff_of(one)) for one in journal.seen(texts)[:SHOWN_DIFFS]]
    bodies = [DiffReady(name, diff, *counted(diff)) for name, diff in diffs]
    return Told(bodies, names_of(journal, changes))


def names_of(journal: Journal, changes: Sequence[Change]) -> list[str]:
    """Changes as a short list of words."""
    found = journal.seen(changes)
    listed = [f"{'renamed' if one.moved_from else verb(one.change)} {one.title()}"
              for one in found[:SHOWN_NAMES]]  # fmt: skip
    more = len(found) - SHOWN_NAMES
    return [*listed, f"and {more} more"] if more > 0 else listed
