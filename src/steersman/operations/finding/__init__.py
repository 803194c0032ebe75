"""Names and text below a folder, by ripgrep where there is one and in Python where there is none.

Both give the same answers in the same order: by path, then by line. What looks for them is imported
when it is used.
"""

from typing import TYPE_CHECKING, Any

from steersman.operations.finding.records import Found, Hit, Names, Query, SearchPlace

if TYPE_CHECKING:
    from steersman.operations.finding.engine import find, list_names

__all__ = ["Found", "Hit", "Names", "Query", "SearchPlace", "find", "list_names"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(name)
    from steersman.operations.finding import engine

    return getattr(engine, name)
