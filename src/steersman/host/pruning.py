"""Removes contents that no thread refers to: images in the store, originals and long outputs."""

import os
import re
import time
from collections.abc import Iterator
from contextlib import suppress

from msgspec import Struct

from steersman.store.contract import Store

YOUNGEST = 86_400  # seconds; what is younger may be about to be written into a log
_DIGEST = re.compile(rb"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])")


class Pruned(Struct, frozen=True):
    """How many contents were removed, and how many bytes they had."""

    contents: int = 0
    bytes: int = 0


def prune(store: Store, objects: str) -> Pruned:
    """Remove what no message of any thread names.

    Every digest in a log counts, whatever it is said of. Who writes a digest into a log puts the
    content there once more afterwards, or has just touched it, so nothing is lost meanwhile.
    """
    kept = _named(store)
    count = size = 0
    # Other machines remember what they have put into a shared store, and do not look again.
    if not (store.shared and _open(store)):
        gone = [digest for digest in store.digests() if digest not in kept]
        count, size = len(gone), store.forget_blobs(gone)
    for digest, path in _contents(objects):
        if digest not in kept:
            with suppress(FileNotFoundError):
                status = os.stat(path)
                if status.st_mtime < time.time() - YOUNGEST:
                    os.unlink(path)
                    count, size = count + 1, size + status.st_size
    return Pruned(count, size)


def _named(store: Store) -> set[str]:
    found: set[bytes] = set()
    for thread in store.threads():
        for row in store.read_raw(thread.id):
            found.update(_DIGEST.findall(row.body))
    return {digest.decode() for digest in found}


def _open(store: Store) -> bool:
    states = store.states([thread.id for thread in store.threads()])
    return any(state.owner is not None for state in states.values())


def _contents(folder: str) -> Iterator[tuple[str, str]]:
    for first in os.listdir(folder) if os.path.isdir(folder) else ():
        below = os.path.join(folder, first)
        for rest in os.listdir(below) if len(first) == 2 and os.path.isdir(below) else ():
            if len(rest) == 62:
                yield first + rest, os.path.join(below, rest)
