"""Text files by lines, in bounded memory: what a file is, and one page of it in a single pass.

Nothing here opens files; a page is made from pieces of bytes, whatever they come from.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator
from typing import BinaryIO, Literal

from msgspec import Struct

LONGEST_LINE = 1024
MOST_LINES = 2000
MOST_BYTES = 32 * 1024
LARGEST_FILE = 1_000_000
HEAD = 1 << 20
PIECE = 1 << 20

_IMAGES = (
    (b"\x89PNG\r\n\x1a\n", "PNG"),
    (b"\xff\xd8\xff", "JPEG"),
    (b"GIF87a", "GIF"),
    (b"GIF89a", "GIF"),
    (b"\x00\x00\x01\x00", "ICO"),
    (b"II*\x00", "TIFF"),
    (b"MM\x00*", "TIFF"),
)
_ORDINARY_CONTROLS = b"\t\n\r\f\b\x1b"
_CONTROLS = bytes(byte for byte in range(32) if byte not in _ORDINARY_CONTROLS)
_UNDEFINED_IN_1252 = b"\x81\x8d\x8f\x90\x9d"


class Shape(Struct, frozen=True):
    """What a file's first bytes say it is: an encoding for text, a format for the rest."""

    kind: Literal["text", "image", "document", "binary"]
    name: str
    mark: int = 0


class Line(Struct, frozen=True):
    """A line as it is shown, with how many of its bytes are not."""

    text: str
    left_out: int = 0


class Page(Struct, frozen=True):
    """Some lines of a file, and what the whole file is like."""

    lines: list[Line]
    total_lines: int
    endings: Literal["lf", "crlf", "mixed"]
    flawed: bool
    nul: bool


def shape(head: bytes) -> Shape:
    """What a file is, from its beginning."""
    image = _image(head)
    if image:
        return Shape("image", image)
    if head.startswith(b"%PDF-"):
        return Shape("document", "PDF")
    if head.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        return Shape("binary", "UTF-32 text")
    for mark, name in (
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
    ):
        if head.startswith(mark):
            return Shape("text", name, len(mark))
    wide = _wide(head)
    return Shape("text", wide) if wide else _narrow(head)


def _image(head: bytes) -> str:
    for magic, name in _IMAGES:
        if head.startswith(magic):
            return name
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "WebP"
    # "BM" may begin a sentence; the four bytes a bitmap keeps empty cannot.
    return "BMP" if head[:2] == b"BM" and head[6:10] == bytes(4) else ""


def _wide(head: bytes) -> str:
    """The name of UTF-16 without a mark: every other byte of mostly Latin text is zero."""
    sample = head[: min(len(head), 4096) & ~1]
    even, odd = sample[::2].count(0), sample[1::2].count(0)
    units = len(sample) // 2
    for name, zero, other in (("utf-16-le", odd, even), ("utf-16-be", even, odd)):
        if units and zero * 10 >= units * 6 and other * 20 <= units:
            try:
                decoded = sample.decode(name)
            except UnicodeDecodeError:
                continue
            if not any(ord(c) < 32 and c not in "\t\n\r\f" for c in decoded):
                return name
    return ""


def _narrow(head: bytes) -> Shape:
    if b"\0" in head[: 1 << 16]:
        return Shape("binary", "binary data")
    sample = head[: 1 << 16]
    if len(sample.translate(None, _CONTROLS)) * 10 < len(sample) * 9:
        return Shape("binary", "binary data")
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        high = set(head) & set(range(0x80, 0xA0))
        windows = high and not high & set(_UNDEFINED_IN_1252)
        return Shape("text", "windows-1252" if windows else "latin-1")
    return Shape("text", "utf-8")


def pieces(file: BinaryIO, found: Shape) -> Iterator[bytes]:
    """The text of a file as UTF-8, without its byte order mark, piece by piece."""
    file.seek(found.mark)
    if found.name == "utf-8":
        while piece := file.read(PIECE):
            yield piece
        return
    decoder = codecs.getincrementaldecoder(found.name)("replace")
    while piece := file.read(PIECE):
        yield decoder.decode(piece).encode()
    yield decoder.decode(b"", final=True).encode()


def page(text: Iterable[bytes], first: int, most: int) -> Page:
    """The lines from number `first` on, as many as `most` and the room in an answer allow."""
    pager = _Pager(first, most)
    for piece in text:
        if piece:
            pager.feed(piece)
    return pager.done()


def cut_at(line: bytes, most: int) -> int:
    """The greatest place up to `most` that is not inside a UTF-8 character."""
    place = min(most, len(line))
    for back in range(4):
        if place - back <= 0 or place == len(line) or line[place - back] & 0xC0 != 0x80:
            return place - back
    return place


class _Pager:
    """Counts every line, keeps the wanted ones, and of each no more than is shown."""

    def __init__(self, first: int, most: int) -> None:
        self._first = first
        self._most = most
        self._room = MOST_BYTES
        self._lines: list[Line] = []
        self._newlines = self._crlf = 0
        self._kept = bytearray()
        self._length = 0
        self._last = b""
        self._open = True
        self._flawed = self._nul = False

    def feed(self, piece: bytes) -> None:
        """Take the next bytes of the file."""
        # Counting steps through every byte; looking for the first is many times faster.
        newlines = piece.count(b"\n") if b"\n" in piece else 0
        if b"\r" in piece:
            self._crlf += piece.count(b"\r\n")
        self._crlf += self._last == b"\r" and piece[:1] == b"\n"
        if self._open and self._newlines + newlines + 1 >= self._first:
            skip = max(self._first - 1 - self._newlines, 0)
            self._collect(piece, _after(piece, skip) if skip else 0)
        self._newlines += newlines
        self._last = piece[-1:]

    def _collect(self, piece: bytes, at: int) -> None:
        while self._open and at < len(piece):
            end = piece.find(b"\n", at)
            stop = len(piece) if end < 0 else end
            self._kept += piece[at : min(stop, at + LONGEST_LINE + 5 - len(self._kept))]
            self._length += stop - at
            if end < 0:
                return
            before = piece[end - 1 : end] if end else self._last
            self._emit(ends_in_cr=before == b"\r" and self._length > 0)
            at = end + 1

    def _emit(self, *, ends_in_cr: bool) -> None:
        length = self._length - ends_in_cr
        kept = bytes(self._kept[:length])
        shown = kept[: cut_at(kept, LONGEST_LINE)]
        text, flawed = _decoded(shown)
        number = self._first + len(self._lines)
        left_out = length - len(shown)
        self._room -= len(str(number)) + len(text.encode()) + 2 + (40 if left_out else 0)
        self._kept.clear()
        self._length = 0
        if self._room < 0:
            self._open = False
            return
        self._flawed |= flawed
        self._nul |= "\0" in text
        self._lines.append(Line(text.replace("\0", "␀"), left_out))
        self._open = len(self._lines) < self._most

    def done(self) -> Page:
        """The page, once the file has ended."""
        unfinished = self._last not in (b"", b"\n")
        if unfinished and self._open and self._newlines + 1 >= self._first:
            self._emit(ends_in_cr=False)
        endings: Literal["lf", "crlf", "mixed"] = "mixed"
        if self._crlf in (0, self._newlines):
            endings = "crlf" if self._crlf else "lf"
        return Page(self._lines, self._newlines + unfinished, endings, self._flawed, self._nul)


def _after(piece: bytes, count: int) -> int:
    """Where the text after the nth newline begins; halves the range instead of stepping."""
    low, high = 0, len(piece)
    while high - low > 4096:
        middle = (low + high) // 2
        within = piece.count(b"\n", low, middle)
        if within >= count:
            high = middle
        else:
            low, count = middle, count - within
    for _ in range(count):
        low = piece.find(b"\n", low) + 1
    return low


def _decoded(raw: bytes) -> tuple[str, bool]:
    try:
        return raw.decode(), False
    except UnicodeDecodeError:
        return raw.decode(errors="replace"), True
