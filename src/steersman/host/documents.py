"""Markdown files that people write for agents: their fields and their text."""

from msgspec import Struct

from steersman.identity.front_matter import parse
from steersman.identity.places import read_text


class Document(Struct, frozen=True):
    """The fields at the beginning of a file, the text after them, and the size in bytes."""

    fields: dict[str, str]
    body: str
    size: int


def read_document(path: str, most: int) -> Document:
    """A file, up to `most` bytes of it; raises `OSError`."""
    text, size = read_text(path, most)
    fields, body = parse(text)
    return Document(fields, body, size)
