"""Calls of inline Python that make a text, a path or a list of them: what they give back.

A value is a text, a number, bytes, a list or tuple of values, a `Dotted` name of something
imported, or `NOTHING` when nobody can know. Texts carry the same marks as words of the shell: a
walk over a folder is a list of one path with a live glob.
"""

import base64
import binascii
import codecs
import posixpath
import re
from collections.abc import Callable
from typing import Protocol

from steersman.governance.guard.marks import ANY_MARK, DEEP, OUT, STAR, UNSET, live
from steersman.governance.guard.options import listed

MOST = 400
_LARGEST = 1_000_000
# A format that would make a text of any length.
WIDE = re.compile(r"\d{4,}|%[^a-zA-Z%]*\*|\{[^}]*\{|\{[^}]*[.\[_]")


class Dotted(str):
    """The full name of something imported: `os.remove`."""

    __slots__ = ()


class Folder(str):
    """A `Path`."""

    __slots__ = ()


class Nothing:
    """A value nobody can know."""


NOTHING = Nothing()
Value = object


class Place(Protocol):
    """Where the code would run."""

    home: str
    cwd: str


def text_of(value: Value) -> str:
    """A value as a piece of text."""
    if isinstance(value, (str, int, float)):
        return str(value)
    return OUT


def items_of(value: Value) -> list[Value] | None:
    """The elements of a value, when they are known."""
    if isinstance(value, dict):
        return [*value]
    if isinstance(value, (list, tuple, bytes)) or type(value) is str:
        return [*value[:MOST]]
    return None


def _clean(text: str) -> str:
    """Letters made by code never are marks."""
    return ANY_MARK.sub("?", text)


def _expanded(at: Place, path: Value) -> Value:
    if not isinstance(path, str):
        return NOTHING
    return type(path)(at.home + path[1:]) if path == "~" or path.startswith("~/") else path


def _below(folder: Value, *parts: str) -> Value:
    base = folder if isinstance(folder, str) else "."
    return posixpath.join(base, *parts)


def _mapped(at: Place, given: list[Value]) -> Value:
    work, items = given[0], items_of(given[1])
    made = FUNCTIONS.get(work) if isinstance(work, Dotted) else None
    return [made(at, [item]) for item in items] if made and items is not None else NOTHING


def _path(at: Place, given: list[Value]) -> Value:
    return Folder(posixpath.join("", *(text_of(part) for part in given)) or ".")


def _imported(at: Place, given: list[Value]) -> Value:
    return Dotted(given[0]) if isinstance(given[0], str) else NOTHING


def _fetched(at: Place, given: list[Value]) -> Value:
    whole, name = given[0], given[1]
    known = isinstance(whole, Dotted) and isinstance(name, str)
    return Dotted(f"{whole}.{name}") if known else NOTHING


def _unpacked(work: Callable[[bytes], bytes]) -> "Function":
    def made(at: Place, given: list[Value]) -> Value:
        raw = given[0].encode() if isinstance(given[0], str) else given[0]
        try:
            return work(raw) if isinstance(raw, bytes) else NOTHING
        except binascii.Error:
            return NOTHING

    return made


def _decoded(at: Place, given: list[Value]) -> Value:
    text, how = given[0], str(given[1]) if len(given) > 1 else "utf-8"
    if how.replace("_", "") == "rot13" and isinstance(text, str):
        return codecs.encode(text, "rot13")
    if how == "hex" and isinstance(text, (str, bytes)):
        return binascii.unhexlify(text)
    return _clean(text.decode(how, "replace")) if isinstance(text, bytes) else NOTHING


def _variable(at: Place, given: list[Value]) -> Value:
    if given[:1] == ["HOME"]:
        return at.home
    return given[1] if len(given) > 1 else UNSET


def _sequence(at: Place, given: list[Value]) -> Value:
    return (items_of(given[0]) or NOTHING) if given else []


def _raw(at: Place, given: list[Value]) -> Value:
    if isinstance(given[0], (list, tuple)):
        return bytes(part for part in given[0] if isinstance(part, int))
    return given[0].encode() if isinstance(given[0], str) else given[0]


def _range(at: Place, given: list[Value]) -> Value:
    return [*range(*(part for part in given if isinstance(part, int)))[:MOST]]


def _number(at: Place, given: list[Value]) -> Value:
    text, *base = given
    if isinstance(text, str | bytes):
        return int(text, *(part for part in base if isinstance(part, int)))
    return text if isinstance(text, int) else NOTHING


Function = Callable[[Place, list[Value]], Value]
FUNCTIONS: dict[str, Function] = {
    "chr": lambda at, given: _clean(chr(given[0])) if isinstance(given[0], int) else NOTHING,
    "ord": lambda at, given: ord(given[0]) if isinstance(given[0], str) else NOTHING,
    "int": _number,
    "str": lambda at, given: text_of(given[0]),
    "bytes": _raw,
    "bytearray": _raw,
    "list": _sequence,
    "tuple": _sequence,
    "set": _sequence,
    "sorted": _sequence,
    "reversed": lambda at, given: list(reversed(items_of(given[0]) or [])),
    "range": _range,
    "map": _mapped,
    "filter": lambda at, given: given[1],
    "getattr": _fetched,
    "__import__": _imported,
    "importlib.import_module": _imported,
    "bytes.fromhex": lambda at, given: bytes.fromhex(str(given[0])),
    "binascii.unhexlify": _unpacked(binascii.unhexlify),
    "base64.b64decode": _unpacked(base64.b64decode),
    "base64.urlsafe_b64decode": _unpacked(base64.urlsafe_b64decode),
    "base64.b32decode": _unpacked(base64.b32decode),
    "base64.b16decode": _unpacked(base64.b16decode),
    "codecs.decode": _decoded,
    "codecs.encode": _decoded,
    "os.path.expanduser": lambda at, given: _expanded(at, given[0]),
    "os.path.expandvars": lambda at, given: str(given[0]).replace("$HOME", at.home),
    "os.path.join": lambda at, given: posixpath.join(*(text_of(part) for part in given)),
    "os.path.abspath": lambda at, given: posixpath.join(at.cwd, text_of(given[0])),
    "os.path.realpath": lambda at, given: posixpath.join(at.cwd, text_of(given[0])),
    "os.path.dirname": lambda at, given: posixpath.dirname(str(given[0])),
    "os.getcwd": lambda at, given: at.cwd,
    "os.getenv": _variable,
    "os.environ.get": _variable,
    "os.listdir": lambda at, given: [STAR],
    "os.scandir": lambda at, given: [_below(given[0] if given else ".", STAR)],
    "os.walk": lambda at, given: [(_below(given[0], DEEP), [DEEP], [DEEP])],
    "os.fwalk": lambda at, given: [(_below(given[0], DEEP), [DEEP], [DEEP], NOTHING)],
    "glob.glob": lambda at, given: [live(text_of(given[0]))],
    "glob.iglob": lambda at, given: [live(text_of(given[0]))],
    "pathlib.Path": _path,
    "pathlib.PosixPath": _path,
    "pathlib.PurePath": _path,
    "pathlib.Path.home": lambda at, given: Folder(at.home),
    "pathlib.Path.cwd": lambda at, given: Folder(at.cwd),
    "tempfile.mkdtemp": lambda at, given: "/tmp/made",
    "tempfile.TemporaryDirectory": lambda at, given: "/tmp/made",
    "tempfile.gettempdir": lambda at, given: "/tmp",
}


def _found(at: Place, owner: Value, given: list[Value]) -> Value:
    return [Folder(_below(owner, live(text_of(given[0]))))]


def _same(at: Place, owner: Value, given: list[Value]) -> Value:
    return owner


def _joins(at: Place, owner: Value, given: list[Value]) -> Value:
    items = items_of(given[0])
    if items is None:
        return NOTHING
    if isinstance(owner, bytes):
        return owner.join(part for part in items if isinstance(part, bytes))
    return str(owner).join(text_of(part) for part in items)


def _plainly(name: str) -> "Method":
    """A method of texts that is worked out by itself."""

    def made(at: Place, owner: Value, given: list[Value]) -> Value:
        size = len(str(owner)) * sum(len(text_of(part)) for part in given)
        if any(isinstance(part, Nothing) for part in given) or size > _LARGEST:
            return NOTHING
        if name == "format" and WIDE.search(str(owner)):
            return NOTHING
        words = [part if isinstance(part, int) else text_of(part) for part in given]
        return getattr(owner, name)(*words) if isinstance(owner, str) else NOTHING

    return made


_PLAIN = listed(
    "replace lower upper strip lstrip rstrip split format removeprefix removesuffix swapcase title"
)
Method = Callable[[Place, Value, list[Value]], Value]
METHODS: dict[str, Method] = {
    "join": _joins,
    "joinpath": lambda at, owner, given: _path(at, [owner, *given]),
    "expanduser": lambda at, owner, given: _expanded(at, owner),
    "resolve": _same,
    "absolute": _same,
    "as_posix": lambda at, owner, given: str(owner),
    "decode": lambda at, owner, given: _decoded(at, [owner, *given]),
    "encode": lambda at, owner, given: str(owner).encode(),
    "hex": lambda at, owner, given: owner.hex() if isinstance(owner, bytes) else NOTHING,
    "iterdir": lambda at, owner, given: [Folder(_below(owner, STAR))],
    "values": lambda at, owner, given: [*owner.values()] if isinstance(owner, dict) else NOTHING,
    "items": lambda at, owner, given: [*owner.items()] if isinstance(owner, dict) else NOTHING,
    "glob": _found,
    "rglob": lambda at, owner, given: [Folder(_below(owner, DEEP, live(text_of(given[0]))))],
    "walk": lambda at, owner, given: [(Folder(_below(owner, DEEP)), [DEEP], [DEEP])],
    **{name: _plainly(name) for name in _PLAIN},
}
