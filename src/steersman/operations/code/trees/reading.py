"""The bytes of a file as the parsers take them: UTF-8, without a byte order mark, not too many."""

from steersman.records.errors import ToolProblem

LARGEST = 2 << 20


class Unreadable(ToolProblem):
    """Nothing can be said about a file: it is too large, no text, or of a language without a
    grammar here."""


def source(content: bytes) -> bytes:
    """The text of a file in UTF-8; raises `Unreadable` for what is not text, or too much of it."""
    if len(content) > LARGEST:
        raise Unreadable(f"it is larger than {LARGEST >> 20} MB, so it was not read")
    for mark, codec in ((b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be")):
        if content.startswith(mark):
            return content[2:].decode(codec, "replace").encode()
    content = content.removeprefix(b"\xef\xbb\xbf")
    if b"\0" in content:
        raise Unreadable("it is not a text")
    if content.isascii():
        return content
    try:
        content.decode()
    except UnicodeDecodeError:
        # An old encoding: every byte is some character, and lines and names stay where they are.
        return content.decode("latin-1").encode()
    return content
