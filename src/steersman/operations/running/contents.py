"""What a file or a link held, what git calls it, and whether it lasts where it is."""

import hashlib
import os
import re
from collections.abc import Iterator

from steersman.operations.journal.journal import Journal
from steersman.operations.journal.objects import CHUNK
from steersman.records.change import FileState
from steersman.records.names import on_disk
from steersman.records.patterns import pattern
from steersman.records.secret_files import MADE_AGAIN

LARGEST = 20_000_000  # bytes that are held in memory
_KINDS = ("sha1", "sha256")
_IDENT = re.compile(rb"\$Id:[^$\n]*\$")
_ONLY_COPIES = pattern(r"(?:^|/)\.git/(?:.+/)?(?:lfs|annex)/objects/")
_POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:{}\nsize {}\n"


def key(state: FileState) -> str:
    """What tells one content from another: of a file its digest, of a link where it leads."""
    return f"link to {state.target}" if state.kind == "link" else state.digest


def is_own(path: str) -> bool:
    """Whether a path is someone's, and not among what tools make again."""
    return MADE_AGAIN.isdisjoint(path.split("/"))


def lasts(path: str) -> bool:
    """Whether what is at a path is someone's own file, and stays until someone deletes it.

    Among git's own files that is what its extensions keep for large files.
    """
    return is_own(path) and (not of_git(path) or bool(_ONLY_COPIES.search(path)))


def of_git(path: str) -> bool:
    """Whether a path is among git's own files."""
    return ".git" in path.split("/")


def content_of(journal: Journal, state: FileState) -> bytes:
    """A kept content; nothing when it is not kept or too large."""
    if state.size > LARGEST or not journal.objects.has(state.digest):
        return b""
    with journal.objects.open(state.digest) as file:
        return file.read()


def blob_names(journal: Journal, state: FileState) -> frozenset[str]:
    """The names git may give to a content, as it is or as it stores it; none if it is not known."""
    if state.kind == "link":
        return frozenset(_named(os.fsencode(on_disk(state.target))))
    if not journal.objects.has(state.digest):
        return frozenset()
    if state.size > LARGEST:
        return frozenset(_streamed(journal, state))
    plain = content_of(journal, state)
    unix = plain.replace(b"\r\n", b"\n")
    return frozenset(name for form in {plain, unix, _IDENT.sub(b"$Id$", unix)}
                     for name in _named(form))  # fmt: skip


def stored_names(journal: Journal, state: FileState) -> frozenset[str]:
    """The names of what git may have given a content for, and those of a pointer to it."""
    pointer = _POINTER.format(state.digest, state.size).encode()
    return blob_names(journal, state).union(_named(pointer))


def _named(content: bytes) -> Iterator[str]:
    head = b"blob %d\0" % len(content)
    for kind in _KINDS:
        yield hashlib.new(kind, head + content, usedforsecurity=False).hexdigest()


def _streamed(journal: Journal, state: FileState) -> Iterator[str]:
    sums = [hashlib.new(kind, b"blob %d\0" % state.size, usedforsecurity=False) for kind in _KINDS]
    with journal.objects.open(state.digest) as file:
        while piece := file.read(CHUNK):
            for summed in sums:
                summed.update(piece)
    return (summed.hexdigest() for summed in sums)
