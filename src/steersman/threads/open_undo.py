"""Whether an undo or redo is open: begun, and neither void nor heard of by whoever asked for it."""

from msgspec.structs import replace

from steersman.records.message import (
    Body,
    Checkpoint,
    RequestResult,
    SessionEnd,
    SessionStart,
    UndoEnd,
)
from steersman.records.undo import OpenUndo
from steersman.store.contract import Store, find_thread
from steersman.store.log import read_messages

_KINDS = frozenset({"checkpoint", "undo_end", "request_result", "session_start", "session_end"})


def left_open(store: Store, thread_id: str) -> OpenUndo | None:
    """The last undo or redo of a thread, if it is open.

    What was changed since is what the next undo is about. A session that ended well had said
    what it did, also before the log noted that.
    """
    found: OpenUndo | None = None
    copied = find_thread(store, thread_id).parent_seq or 0
    for message in read_messages(store, thread_id, kinds=_KINDS, after=copied):
        match message.body:
            case Checkpoint(cause=("undo" | "redo") as cause, changes=changes, count=count):
                found = OpenUndo(message.seq, cause, count or len(changes), working=True)
            case Checkpoint(cause="effect"):
                found = None
            case _ if found is not None:
                found = _after(found, message.body)
    return found


def _after(undo: OpenUndo, later: Body) -> OpenUndo | None:
    """An undo, with what the log says next; None when it is over."""
    match later:
        case UndoEnd(checkpoint=undo.seq):
            return None
        case Checkpoint(cause="void", undoes=never) if undo.seq in never:
            return None
        case SessionEnd(status="done") if undo.working:
            return None
        case SessionStart() | RequestResult(result=undo.seq):
            return replace(undo, working=False)
    return undo
