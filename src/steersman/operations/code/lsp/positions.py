"""Places in a text as we say them and as a language server does.

We count lines and columns from 1, columns in characters. Servers count from 0, columns in units of
an encoding that was agreed on: bytes of UTF-8, units of UTF-16 (two for a character beyond the
first 65,536), or characters. Pure.
"""

import os
import re
from typing import Literal

Encoding = Literal["utf-8", "utf-16", "utf-32"]
OFFERED: tuple[Encoding, ...] = ("utf-8", "utf-32", "utf-16")
_LINE_ENDS = re.compile(r"\r\n|\n|\r")
_BEYOND = 0xFFFF


def lines_of(text: str) -> list[str]:
    """The lines of a text as the protocol counts them, without their ends."""
    return _LINE_ENDS.split(text)


def to_units(line: str, column: int, encoding: Encoding) -> int:
    """The column of a character (from 1) in units of an encoding (from 0)."""
    before = line[: max(0, column - 1)]
    if encoding == "utf-8":
        return len(before.encode("utf-8", "surrogatepass"))
    if encoding == "utf-16":
        return len(before) + sum(ord(letter) > _BEYOND for letter in before)
    return len(before)


def to_column(line: str, units: int, encoding: Encoding) -> int:
    """The column (from 1) of the character at so many units; beyond the line is its end.

    Units inside of a character mean that character.
    """
    if encoding == "utf-32" or line.isascii():
        return min(max(units, 0), len(line)) + 1
    passed = 0
    for place, letter in enumerate(line):
        passed += _size(letter, encoding)
        if passed > units:
            return place + 1
    return len(line) + 1


def _size(letter: str, encoding: Encoding) -> int:
    if encoding == "utf-16":
        return 2 if ord(letter) > _BEYOND else 1
    number = ord(letter)
    return 1 if number < 0x80 else 2 if number < 0x800 else 3 if number <= _BEYOND else 4


def uri_of(path: str) -> str:
    """A real path as servers name it."""
    from urllib.parse import quote

    return "file://" + quote(os.fsencode(path), safe="/:@!$&'()*+,;=-._~")


def path_of(uri: str) -> str:
    """The path a server named; empty for what is not a file, such as text a server made up."""
    from urllib.parse import unquote_to_bytes, urlsplit

    try:
        parts = urlsplit(uri)
    except ValueError:
        return ""
    if parts.scheme != "file" or parts.netloc not in ("", "localhost"):
        return ""
    # A `?` or `#` of a name that was not escaped is still a part of the name.
    rest = uri[uri.index("//") + 2 + len(parts.netloc) :]
    path = os.fsdecode(unquote_to_bytes(rest))
    return "" if "\0" in path else path
