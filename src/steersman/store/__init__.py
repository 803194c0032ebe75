"""Where threads last and where processes meet."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from steersman.store.contract import Store


def open_store(url: str, home: Path, environ: Mapping[str, str]) -> "Store":
    """The store that a URL names."""
    from steersman.store.sqlite import SqliteStore

    return SqliteStore(home)
