"""The way back of threads that work elsewhere: what `WayBack` is asked goes there and is answered
there, by the same `WayBack`, from the same log."""

from collections.abc import Callable
from functools import cache
from inspect import signature
from pathlib import Path
from typing import Any, get_type_hints

import msgspec

from steersman.records.errors import SteersmanError
from steersman.threads.remote.words import Way
from steersman.threads.way_back import FOUND, WayBack


@cache
def types_of(method: str) -> tuple[dict[str, Any], Any]:
    """The types of what a method takes, in order, and of what it gives."""
    hints = get_type_hints(getattr(WayBack, method))
    gives = hints.pop("return")
    names = list(signature(getattr(WayBack, method)).parameters)[1:]
    return {name: hints[name] for name in names}, gives


def asked(method: str, given: tuple[Any, ...], named: dict[str, Any]) -> Way:
    """A question as it travels."""
    plain = [list(one) if isinstance(one, set | frozenset) else one for one in given]
    return Way(method, tuple(plain), named)


def answered(store: Any, state: Path, way: Way, allowed: Callable[[Any], Any]) -> Any:
    """The answer, found here with what a `FarStore` reads; not on the event loop."""
    if way.method not in FOUND:
        raise SteersmanError(f"The workspace agent does not know “{way.method}”.")
    takes, _ = types_of(way.method)
    given = [
        allowed(msgspec.convert(one, kind))
        for one, kind in zip(way.given, takes.values(), strict=False)
    ]
    named = {name: allowed(msgspec.convert(one, takes[name])) for name, one in way.named.items()}
    return getattr(WayBack(store, state), way.method)(*given, **named)
