"""Contents that messages name by their digests: images, and what else the store keeps."""

from steersman.host.application import Host
from steersman.host.workbench import Missing
from steersman.records.thread import Thread


def blob(host: Host, digest: str, thread: Thread | None = None) -> bytes:
    """A content by its digest; of a thread, only if one of its messages names it."""
    rows = host.store.read_raw(thread.id) if thread is not None else ()
    if thread is None or any(digest.encode() in row.body for row in rows):
        found = host.store.blob(digest)
        if found is not None:
            return found
    raise Missing("There is no such content here.")
