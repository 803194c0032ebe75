"""What language servers send, as records. Only the fields that are used; all others are passed
over, and so is an entry that does not fit, for one odd entry must not lose an answer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

import msgspec
from msgspec import Struct


class Position(Struct, frozen=True):
    """Line and units of the agreed encoding, both from 0."""

    line: int
    character: int


class Range(Struct, frozen=True):
    """From a position up to another, which is not a part of it."""

    start: Position
    end: Position

    def holds(self, other: Range) -> bool:
        """Whether another range lies in this one."""
        return _key(self.start) <= _key(other.start) and _key(other.end) <= _key(self.end)

    def has(self, place: Position) -> bool:
        """Whether a position lies in it."""
        return _key(self.start) <= _key(place) <= _key(self.end)


class Location(Struct, frozen=True):
    """A place in a file."""

    uri: str
    range: Range


class LocationLink(Struct, frozen=True, rename="camel"):
    """A place in a file, said in another way."""

    target_uri: str
    target_range: Range
    target_selection_range: Range


class DocumentSymbol(Struct, frozen=True, rename="camel"):
    """A definition with what is defined in it."""

    name: str
    kind: int
    range: Range
    selection_range: Range
    detail: str | None = None
    children: list[DocumentSymbol] | None = None


class SymbolInformation(Struct, frozen=True, rename="camel"):
    """A definition with its place, as older servers list them and searches find them."""

    name: str
    kind: int
    location: Location
    container_name: str | None = None


class SymbolFile(Struct, frozen=True):
    """The file of a definition whose range was left out."""

    uri: str


class WorkspaceSymbol(Struct, frozen=True, rename="camel"):
    """What a search found."""

    name: str
    kind: int
    location: SymbolFile
    container_name: str | None = None


class WireDiagnostic(Struct, frozen=True, rename="camel"):
    """What a server says about a place."""

    range: Range
    message: str
    severity: int | None = None
    code: int | str | None = None
    source: str | None = None


T = TypeVar("T")


def each(kind: type[T], found: Any) -> list[T]:
    """The entries of a list that fit."""
    return [entry for entry in (one(kind, item) for item in listed(found)) if entry is not None]


def one(kind: type[T], found: Any) -> T | None:
    """An entry, if it fits."""
    try:
        return msgspec.convert(found, kind)
    except (msgspec.ValidationError, RecursionError):
        return None


def listed(found: Any) -> Iterable[Any]:
    """An answer as a list: nothing, one thing or several."""
    if found is None:
        return ()
    return found if isinstance(found, list) else (found,)


def locations(found: Any) -> list[Location]:
    """Places, however a server says them."""
    places: list[Location] = []
    for item in listed(found):
        link = one(LocationLink, item)
        if link is not None:
            places.append(Location(link.target_uri, link.target_selection_range))
        elif (place := one(Location, item)) is not None:
            places.append(place)
    return places


def _key(place: Position) -> tuple[int, int]:
    return place.line, place.character
