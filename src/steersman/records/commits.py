"""Commits as `git commit` reports them, and as git keeps them. Pure."""

import re
import zlib
from hashlib import sha1, sha256

from msgspec import Struct

from steersman.records.patterns import pattern

_REPORTED = pattern(r"^\[[^\]\n]+ [0-9a-f]{7,40}\] .", re.MULTILINE)
_KEPT = re.compile(rb"commit \d+\0((?:[a-z]+ [^\n]*\n(?: [^\n]*\n)*)+)\n([^\n]*)")
_PARENT = re.compile(rb"^parent ([0-9a-f]{40,64})$", re.MULTILINE)
LARGEST = 1 << 16
SHA1 = 40  # characters of a name; longer ones are of SHA-256


class Kept(Struct, frozen=True):
    """What the object of a commit says."""

    parents: tuple[str, ...]
    subject: str


def reported(output: str) -> bool:
    """Whether an output looks as if something was committed; any program can print that."""
    return _REPORTED.search(output) is not None


def kept(name: str, content: bytes) -> Kept | None:
    """A commit from the file of its object; None when that is something else, or very long."""
    try:
        text = zlib.decompressobj().decompress(content, LARGEST)
    except zlib.error:
        return None
    found = _KEPT.match(text)
    digest = sha1(text, usedforsecurity=False) if len(name) == SHA1 else sha256(text)
    if found is None or digest.hexdigest() != name:
        return None
    parents = tuple(name.decode() for name in _PARENT.findall(found[1]))
    return Kept(parents, found[2].decode(errors="replace"))
