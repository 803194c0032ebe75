"""Contents that messages name by their digests: images, and what else the store keeps."""

from steersman.host.application import Host
from steersman.records.errors import Missing
from steersman.records.message import Body, Checkpoint, User
from steersman.records.thread import Thread

_NAMING = frozenset({User.kind, Checkpoint.kind})


def blob(host: Host, digest: str, thread: Thread | None = None) -> bytes:
    """A content by its digest; of a thread, only if one of its messages has it.

    That a text in it says the digest does not count: anyone can write that.
    """
    found = host.store.blob(digest)
    if found is not None and thread is not None:
        messages = host.messages(thread.id, kinds=_NAMING)
        found = found if any(_has(one.body, digest) for one in messages) else None
    if found is None:
        raise Missing("There is no such content here.")
    return found


def _has(body: Body, digest: str) -> bool:
    match body:
        case User(images=images):
            return any(one.digest == digest for one in images)
        case Checkpoint(changes=changes, manifest=manifest):
            states = (state for one in changes for state in (one.before, one.after))
            return manifest == digest or any(state.digest == digest for state in states)
    return False
