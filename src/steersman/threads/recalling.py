"""What an opened thread remembers: read from the store, page by page, beside the event loop."""

import asyncio
import gc
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice

from steersman.coordination.recovery import Resumption, closing, jobs_ended, resumption
from steersman.intelligence.context import KINDS, Context
from steersman.operations.journal.journal import Journal
from steersman.records.message import Checkpoint, Error, JobEnd, Meanwhile, Message, SessionEnd
from steersman.store.log import Draft, ThreadLog, read_messages, to_message

RECALLED_BYTES = 4_000_000  # about a million tokens
PAGE = 500
LEFT_OUT = (
    "[Steersman: this thread is longer than can be shown. What lies between the request above and "
    "what follows is left out here; the log has all of it.]"
)


def resumable(log: ThreadLog, root: str) -> bool:
    """Whether a turn of the agent there waits for an answer, and can continue when it comes."""
    return bool(log.activity.waiting) and resumption(_cut_off(log), root) is not None


async def recover(log: ThreadLog, journal: Journal, root: str | None) -> Resumption | None:
    """Close what a session that was cut off left open, and say what it did not do to files.

    With `root`, a turn of the agent there that only waits for answers stays open, and is returned.
    """
    left = await asyncio.to_thread(_cut_off, log)
    await _settle(log, journal, left)
    return await _close(log, left, root)


async def settle(log: ThreadLog, journal: Journal) -> None:
    """Only say what a session that was cut off did not do to files: where those are."""
    await _settle(log, journal, await asyncio.to_thread(_cut_off, log))


async def close(log: ThreadLog, root: str | None) -> Resumption | None:
    """Only close what a session that was cut off left open: where the log is."""
    return await _close(log, await asyncio.to_thread(_cut_off, log), root)


async def _settle(log: ThreadLog, journal: Journal, left: Sequence[Message]) -> None:
    from steersman.operations.journal.commit import recover as undo_cut_off
    from steersman.operations.journal.recovery import forget_reverted, reverted

    changed = any(message.kind == "checkpoint" for message in left)
    told, void = list[str](), list[Message]()
    if changed:
        told = await asyncio.to_thread(undo_cut_off, journal.objects)
    # Another thread may have reverted what this one had begun.
    if taken := await asyncio.to_thread(reverted, journal.objects, log.thread):
        void = await log.append(*_void(await asyncio.to_thread(_checkpoints, log, taken)))
        await asyncio.to_thread(forget_reverted, journal.objects, log.thread, taken)
    if changed:
        never = await asyncio.to_thread(journal.never_made, [*left, *void])
        path = f"{left[0].path.partition('/')[0]}/operations"
        await log.append(*_void(never), *(Draft(Error(words), path) for words in told))


async def _close(log: ThreadLog, left: Sequence[Message], root: str | None) -> Resumption | None:
    kept = resumption(left, root) if root is not None else None
    copied = await asyncio.to_thread(_copied, log)
    drafts = [*jobs_ended(left, copied=copied), *closing(left, kept, copied=copied)]
    if drafts:
        await log.append(*drafts)
    return kept


def _checkpoints(log: ThreadLog, places: Sequence[int]) -> list[Message]:
    return [one for at in places
            for one in read_messages(log.store, log.thread, after=at - 1, until=at)]  # fmt: skip


def _void(never: Sequence[Message]) -> list[Draft]:
    """What is to be said of changes that were undone, or not begun: they never happened."""
    return [Draft(Checkpoint("void", undoes=(one.seq,)), one.path, one.turn, one.corr)
            for one in never]  # fmt: skip


def _copied(log: ThreadLog) -> bool:
    """Whether everything in a log is another thread's, of which it is a copy.

    Receipts of what was withdrawn there come after it.
    """
    thread = log.store.thread(log.thread)
    if thread is None or thread.parent_seq is None:
        return False
    own = log.store.read(log.thread, after=thread.parent_seq)
    return all(row.kind == "steer" for row in own)


def _cut_off(log: ThreadLog) -> list[Message]:
    """The messages of the last session, if it has not ended, and of the turn that is open.

    A turn that continued after a restart began in an earlier session.
    """
    left: list[Message] = []
    turn = log.activity.turn
    session, begun = False, not turn
    for row in log.store.read_back(log.thread):
        session = session or row.kind == "session_end"
        if session and begun:
            break
        left.append(to_message(log.thread, row))
        session = session or row.kind == "session_start"
        begun = begun or (row.kind == "turn_start" and row.turn == turn)
        if session and begun:
            break
    left.reverse()
    return left


def open_calls(log: ThreadLog) -> list[Message]:
    """The calls of a session that was cut off which have no result."""
    found: dict[str | None, Message] = {}
    for message in _cut_off(log):
        if message.kind == "tool_call":
            found[message.corr] = message
        elif message.kind == "tool_result":
            found.pop(message.corr, None)
    return list(found.values())


def run_began(log: ThreadLog) -> int:
    """The message after which the work began that a process which died was doing."""
    for row in log.store.read_back(log.thread):
        if row.kind == "session_end":
            body = to_message(log.thread, row).body
            if isinstance(body, SessionEnd) and body.status != "interrupted":
                return row.seq
    return 0


async def last_turn(log: ThreadLog) -> int:
    """The number of the newest turn."""

    def find() -> int:
        for row in log.store.read_back(log.thread):
            if row.turn:
                return row.turn
        return 0

    return await asyncio.to_thread(find)


async def since(log: ThreadLog, seen: int, journal: Journal) -> list[Meanwhile]:
    """What people did since a turn began that had `seen` the log so far, for the model.

    `seen` is 0 where nobody knows it: then it is since the last turn.
    """

    def find() -> list[Meanwhile]:
        from steersman.threads.meanwhile import meanwhile
        from steersman.threads.printed import printed

        found = _of_people(log, seen)
        text = meanwhile(found, journal) if found else ""
        return [told for told in (Meanwhile(text) if text else None, printed(found)) if told]

    return await asyncio.to_thread(find)


async def newly_printed(log: ThreadLog, seen: int) -> list[Meanwhile]:
    """What commands of people printed while a turn ran, for the model, unless it has it."""

    def find() -> list[Meanwhile]:
        from steersman.threads.printed import printed

        told = printed(_of_people(log, seen))
        return [told] if told else []

    return await asyncio.to_thread(find)


def _of_people(log: ThreadLog, seen: int) -> list[Message]:
    """The messages among which are those of what people did; none where they did nothing."""
    from steersman.threads.meanwhile import KINDS as WANTED

    back = log.store.read_back(log.thread) if not seen else ()
    seen = seen or next((row.seq for row in back if row.kind == "turn_start"), 0)
    found = list(read_messages(log.store, log.thread, kinds=WANTED, after=seen))
    if not any(m.turn == 0 or isinstance(m.body, JobEnd) for m in found):
        return []
    calls = {m.corr for m in found if m.kind == "tool_call"}
    if any(m.kind == "tool_result" and m.turn == 0 and m.corr not in calls for m in found):
        found = [*read_messages(log.store, log.thread, kinds={"tool_call"}, until=seen), *found]
    return found


async def messages(log: ThreadLog, kinds: Collection[str], after: int = 0) -> list[Message]:
    """All messages of some kinds, read a page at a time so that the loop continues."""
    found: list[Message] = []
    reading = read_messages(log.store, log.thread, kinds=kinds, after=after)
    while page := await asyncio.to_thread(lambda: list(islice(reading, PAGE))):
        found += page
    return found


async def conversation(log: ThreadLog, context: Context) -> None:
    """Give the model what was said before: all of it, or as much as any model could take."""
    await asyncio.to_thread(_recall, log, context)


def _recall(log: ThreadLog, context: Context) -> None:
    with _no_collection():
        rows = log.store.recall(log.thread, KINDS, RECALLED_BYTES)
        goal = next(log.store.read(log.thread, until=50, kinds={"user"}), None)
        if goal is not None and rows and (goal.kind, goal.body) != (rows[0][0], rows[0][3]):
            context.recall([(goal.kind, goal.path, goal.corr, goal.body)])
            context.remark(LEFT_OUT)
        context.recall(rows)
        log.calls |= {corr for kind, _, corr, _ in rows if kind == "tool_call" and corr}


@contextmanager
def _no_collection() -> Iterator[None]:
    """Many records at once, none of them garbage: looking for some would double the time."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
