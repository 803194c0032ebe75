"""The programs the guard knows, by name; what knows them is imported when one is met."""

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING

from steersman.governance.guard.programs.names import OWNERS

if TYPE_CHECKING:
    from steersman.governance.guard.call import ProgramCall

Handler = Callable[["ProgramCall"], None]
_OWNER = {name: owner for owner, names in OWNERS.items() for name in names.split()}
_FOUND: dict[str, Handler] = {}


def known(name: str) -> bool:
    """True when some handler knows this program."""
    return _owner(name) is not None


def _owner(name: str) -> str | None:
    owner = _OWNER.get(name)
    if owner is None:
        from steersman.governance.guard.programs.reads import short_tables

        owner = "verbs.by_table" if name in short_tables() else None
    return owner


def handler_of(name: str) -> Handler | None:
    """The function that judges calls of a program; None for one the guard does not know."""
    found = _FOUND.get(name)
    if found is None:
        owner = _owner(name)
        if owner is None:
            return None
        module, _, function = owner.partition(".")
        found = getattr(import_module(f"{__name__}.{module}"), function)
        _FOUND[name] = found
    return found
