"""Bytes to text and back, byte for byte; nothing here knows about lines or edits."""

import codecs
from typing import Literal

from msgspec import Struct

from steersman.operations.matching.records import Refusal, Refused

Encoding = Literal["utf-8", "utf-8-sig", "utf-16-le", "utf-16-be", "bytes"]

BOM = "\ufeff"

_MARKED: tuple[tuple[bytes, Encoding, str], ...] = (
    (codecs.BOM_UTF8, "utf-8-sig", "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le", "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be", "utf-16-be"),
)


class Text(Struct, frozen=True):
    """Decoded text without its byte order mark; `bytes` means one character for each byte."""

    encoding: Encoding
    text: str


def decode(content: bytes) -> Text | Refused:
    """Decode strictly: UTF-8, UTF-16 by its mark, otherwise the bytes as they are."""
    for mark, name, codec in _MARKED:
        if content.startswith(mark):
            return _decode_marked(content[len(mark) :], name, codec)
    if b"\x00" in content:
        return _not_text()
    try:
        return Text("utf-8", content.decode("utf-8"))
    except UnicodeDecodeError:
        return Text("bytes", content.decode("latin-1"))


def encode(text: Text) -> bytes:
    """The bytes `decode` would read back as this text."""
    for mark, name, codec in _MARKED:
        if text.encoding == name:
            return mark + text.text.encode(codec)
    return text.text.encode("latin-1" if text.encoding == "bytes" else "utf-8")


def check_writable(encoding: Encoding, piece: str) -> None:
    """Refuse a piece of an edit that this file cannot hold without damage."""
    if "\x00" in piece:
        raise Refusal("not-text", "The edit contains a NUL character; leave it out.")
    if encoding == "bytes" and not piece.isascii():
        raise Refusal(
            "encoding",
            "The file is not UTF-8, so its letters beyond ASCII have no certain meaning; "
            "use ASCII only in search and replace, or convert the file to UTF-8 first.",
        )
    try:
        piece.encode("utf-8")
    except UnicodeEncodeError:
        raise Refusal(
            "encoding",
            "The edit contains half of a surrogate pair, which cannot be stored in a file; "
            "send the whole character.",
        ) from None


def _decode_marked(body: bytes, name: Encoding, codec: str) -> Text | Refused:
    try:
        text = body.decode(codec)
    except UnicodeDecodeError as error:
        return Refused(
            0,
            "encoding",
            f"The file starts with a {name} mark but is not valid {codec} at byte "
            f"{error.start} after it; repair or convert the file first.",
        )
    return _not_text() if "\x00" in text else Text(name, text)


def _not_text() -> Refused:
    return Refused(
        0, "not-text", "The file contains NUL, so it is not text; it cannot be edited as text."
    )
