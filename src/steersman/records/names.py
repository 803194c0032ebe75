"""File names as records hold them: a name on disk may be any bytes, a record is text.

A byte that is not UTF-8 is written as one character that nobody uses, U+10FF80 to U+10FFFF. A name
that has such a character itself is written by its bytes, so no two names are written alike, and
none of ASCII can be written so.
"""

import os

from steersman.records.patterns import pattern

_BASE = 0x10FF00
_ODD = pattern("[\udc80-\udcff\U0010ff80-\U0010ffff]")
_WRITTEN = pattern("[\U0010ff80-\U0010ffff]+")


def written(name: str) -> str:
    """A name, or a path, as the system gave it, for a record."""
    if name.isascii():
        return name
    return _ODD.sub(lambda odd: "".join(chr(_BASE + byte) for byte in os.fsencode(odd[0])), name)


def on_disk(name: str) -> str:
    """A name of a record as the system knows it."""
    if name.isascii():
        return name
    return _WRITTEN.sub(lambda run: os.fsdecode(bytes(ord(one) - _BASE for one in run[0])), name)


def shown(name: str) -> str:
    """A name of a record for a person: bytes that are not text as `\\xff`."""
    if name.isascii():
        return name
    return _WRITTEN.sub(lambda run: "".join(f"\\x{ord(one) - _BASE:02x}" for one in run[0]), name)
