"""What a file is, and a page of it: the pure part of reading."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steersman.operations.finding import reading
from steersman.operations.finding.reading import Line, Shape, page, pieces, shape

LINES = st.lists(st.text(alphabet="ab é😀\t", max_size=6), max_size=12)

SHAPES = {
    "nothing": (b"", Shape("text", "utf-8")),
    "plain text": (b"a\n", Shape("text", "utf-8")),
    "UTF-8 with a mark": (b"\xef\xbb\xbfa\n", Shape("text", "utf-8", 3)),
    "UTF-16 with a mark": ("hé\n".encode("utf-16"), Shape("text", "utf-16-le", 2)),
    "UTF-16 the other way": (b"\xfe\xff\0h\0i", Shape("text", "utf-16-be", 2)),
    "UTF-16 without a mark": ("no mark here\n".encode("utf-16-le"), Shape("text", "utf-16-le")),
    "the other, without": ("no mark here\n".encode("utf-16-be"), Shape("text", "utf-16-be")),
    "Latin-1": ("größe\n".encode("latin-1"), Shape("text", "latin-1")),
    "Windows": ("“größe”\n".encode("cp1252"), Shape("text", "windows-1252")),
    "bytes Windows has not": (b"\x81\xe9 text", Shape("text", "latin-1")),
    "UTF-32": ("a".encode("utf-32"), Shape("binary", "UTF-32 text")),
    "a NUL": (b"some\0thing", Shape("binary", "binary data")),
    "many control bytes": (b"\x01\x02\x03\x04abcdef", Shape("binary", "binary data")),
    "colours of a terminal": (b"\x1b[31mred\x1b[0m\n", Shape("text", "utf-8")),
    "PNG": (b"\x89PNG\r\n\x1a\n\0\0", Shape("image", "PNG")),
    "JPEG": (b"\xff\xd8\xff\xe0", Shape("image", "JPEG")),
    "GIF": (b"GIF89a\1\0", Shape("image", "GIF")),
    "WebP": (b"RIFF\x10\0\0\0WEBPVP8 ", Shape("image", "WebP")),
    "BMP": (b"BM\x46\0\0\0\0\0\0\0\x36\0\0\0", Shape("image", "BMP")),
    "not BMP": (b"BMI is a measure of weight.\n", Shape("text", "utf-8")),
    "ICO": (b"\0\0\1\0\1\0", Shape("image", "ICO")),
    "TIFF": (b"II*\0\x08\0", Shape("image", "TIFF")),
    "SVG is text": (b"<svg xmlns='http://www.w3.org/2000/svg'/>", Shape("text", "utf-8")),
    "PDF": (b"%PDF-1.7\n%\xe2\xe3", Shape("document", "PDF")),
}


@pytest.mark.parametrize(("head", "expected"), SHAPES.values(), ids=SHAPES)
def test_what_a_file_is(head, expected):
    assert shape(head) == expected


@given(LINES, st.integers(1, 14), st.integers(1, 14), st.integers(1, 9), st.booleans())
def test_a_page_is_a_slice_however_the_bytes_come(lines, first, most, size, ended):
    text = "\n".join(lines) + "\n" * ended
    raw = text.encode()
    pieces = [raw[at : at + size] for at in range(0, len(raw), size)]
    whole = text.split("\n")
    whole = whole[:-1] if whole[-1] == "" else whole
    found = page(pieces, first, most)
    assert found.total_lines == len(whole)
    assert found.lines == [Line(line) for line in whole[first - 1 : first - 1 + most]]


@given(LINES, st.integers(1, 5), st.sampled_from(["utf-16-le", "utf-16-be", "latin-1", "cp1252"]))
def test_every_encoding_gives_the_same_page(lines, first, codec):
    text = "\n".join(lines).replace("😀", "e")
    plain = page([text.encode()], first, 10)
    mark = 2 if codec.startswith("utf-16") else 0
    file = io.BytesIO(b"??"[:mark] + text.encode(codec))
    assert page(pieces(file, Shape("text", codec, mark)), first, 10) == plain


@pytest.mark.parametrize(
    ("raw", "endings"),
    [(b"a\nb\n", "lf"), (b"a\r\nb\r\n", "crlf"), (b"a\r\nb", "crlf"), (b"a\r\nb\n", "mixed"),
     (b"", "lf"), (b"a", "lf"), (b"a\rb\n", "lf")],
)  # fmt: skip
@pytest.mark.parametrize("size", [1, 2, 100])
def test_line_endings_are_told_and_not_shown(raw, endings, size):
    found = page([raw[at : at + size] for at in range(0, len(raw), size)], 1, 10)
    assert found.endings == endings
    assert not any(line.text.endswith("\r") for line in found.lines)


@pytest.mark.parametrize("size", [1, 7, 1000, 5000])
@pytest.mark.parametrize(
    ("line", "shown", "left_out"),
    [
        ("x" * 1024, "x" * 1024, 0),
        ("x" * 1025, "x" * 1024, 1),
        ("x" * 1023 + "é", "x" * 1023, 2),
        ("x" * 1021 + "😀" * 3, "x" * 1021, 12),
        ("é" * 2000, "é" * 512, 2976),
    ],
)
def test_a_long_line_is_cut_between_characters(line, shown, left_out, size):
    raw = f"{line}\r\nnext\r\n".encode()
    found = page([raw[at : at + size] for at in range(0, len(raw), size)], 1, 10)
    assert found.lines == [Line(shown, left_out), Line("next")]


def test_bytes_that_are_not_utf_8_are_told():
    found = page([b"good\nbad \xff\n"], 1, 10)
    assert (found.lines, found.flawed) == ([Line("good"), Line("bad �")], True)


def test_an_answer_has_room_for_32_kb():
    found = page([b"y" * 99 + b"\n"] * 2000, 1, 2000)
    assert found.total_lines == 2000
    shown = "\n".join(f"{number}\t{line.text}" for number, line in enumerate(found.lines, 1))
    assert reading.MOST_BYTES - 110 < len(shown) <= reading.MOST_BYTES


@pytest.mark.parametrize("place", range(0, 30_000, 3_001))
def test_a_line_is_found_in_a_long_piece(place):
    text = b"".join(b"%d\n" % number for number in range(30_000))
    assert page([text], place + 1, 1).lines == [Line(str(place))]


def test_a_file_of_newlines_only():
    assert page([b"\n\n\n"], 2, 10) == reading.Page([Line(""), Line("")], 3, "lf", False, False)
