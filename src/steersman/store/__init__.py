"""Where everything lasts and where processes meet; which database it is, a URL says."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from steersman.store.postgres import PostgresStore
    from steersman.store.sqlite import SqliteStore


def open_store(url: str, home: Path, environ: Mapping[str, str]) -> SqliteStore | PostgresStore:
    """The store that a URL means; without one, the SQLite file in the data folder."""
    if not url:
        from steersman.store.sqlite import SqliteStore

        return SqliteStore(home)
    if url.startswith(("postgresql://", "postgres://")):
        from steersman.store.postgres_problems import psycopg_or_problem

        psycopg_or_problem()
        from steersman.store.postgres import PATIENCE, PostgresStore

        try:
            patience = float(environ.get("STEERSMAN_STORE_PATIENCE", ""))
        except ValueError:
            patience = PATIENCE
        return PostgresStore(url, home, patience)
    from steersman.records.errors import UsageProblem

    kind = url.partition(":")[0] if ":" in url else "an unknown kind of database"
    raise UsageProblem(
        "Steersman does not support the store's URL.",
        f"It names {kind[:20]}.",
        "Leave STEERSMAN_STORE empty for SQLite in the data folder, or set it to "
        "postgresql://USER:PASSWORD@HOST:PORT/DATABASE.",
    )
