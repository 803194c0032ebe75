"""Where threads last and processes meet; which database that is, a URL says."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from steersman.store.contract import Store


def open_store(url: str, home: Path, environ: Mapping[str, str]) -> "Store":
    """The store a URL names; SQLite in the data folder when it is empty."""
    from steersman.store.sqlite import SqliteStore

    return SqliteStore(home)
