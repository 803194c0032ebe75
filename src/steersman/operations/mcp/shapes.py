"""Shapes of JSON that the protocol library insists on, as questions; and fields that fail them."""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

Json = dict[str, Any]
Fits = Callable[[Any], bool]

MOST_SHOWN = 2000  # characters of something unexpected
ROLES = ("user", "assistant")
THEMES = (None, "light", "dark")
TASKS = (None, "forbidden", "optional", "required")


def text(value: Any) -> bool:
    """True for a text or nothing."""
    return isinstance(value, str | None)


def flag(value: Any) -> bool:
    """True for yes, no or nothing."""
    return isinstance(value, bool | None)


def whole(value: Any) -> bool:
    """True for a whole number or nothing."""
    return value is None or (isinstance(value, int) and not isinstance(value, bool))


def record(value: Any) -> bool:
    """True for an object or nothing."""
    return isinstance(value, dict | None)


def texts(value: Any) -> bool:
    """True for a list of texts or nothing."""
    return value is None or (isinstance(value, list) and all(isinstance(one, str) for one in value))


def icons(value: Any) -> bool:
    """True for pictures of a tool or nothing."""
    return value is None or (isinstance(value, list) and all(map(_icon, value)))


def execution(value: Any) -> bool:
    """True for how a tool may be run or nothing."""
    return value is None or (isinstance(value, dict) and value.get("taskSupport") in TASKS)


def remarks(value: Any) -> bool:
    """True for annotations of a block of content or nothing."""
    if not isinstance(value, dict):
        return value is None
    audience, priority = value.get("audience"), value.get("priority")
    return (
        (audience is None or (isinstance(audience, list) and all(one in ROLES for one in audience)))
        and (priority is None or (isinstance(priority, int | float) and 0 <= priority <= 1))
        and text(value.get("lastModified"))
    )


def resource(value: Any) -> bool:
    """True for the contents of a resource."""
    return (
        isinstance(value, dict)
        and isinstance(value.get("uri"), str)
        and text(value.get("mimeType"))
        and record(value.get("_meta"))
        and (isinstance(value.get("text"), str) or isinstance(value.get("blob"), str))
    )


def without_odd(found: Mapping[str, Any], fields: Mapping[str, Fits]) -> Json:
    """An object without those of its fields that do not fit."""
    odd = [name for name, fits in fields.items() if name in found and not fits(found[name])]
    return {name: value for name, value in found.items() if name not in odd}


def shown(value: Any) -> str:
    """Something unexpected as text, not too much of it."""
    try:
        said = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    except (TypeError, ValueError, RecursionError, UnicodeError):
        said = f"something that cannot be shown ({type(value).__name__})"
    return said if len(said) <= MOST_SHOWN else f"{said[:MOST_SHOWN]}…"


def _icon(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("src"), str)
        and text(value.get("mimeType"))
        and value.get("theme") in THEMES
        and texts(value.get("sizes"))
    )
