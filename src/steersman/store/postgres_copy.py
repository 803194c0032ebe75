"""A database on a server that could not be brought up to date, as it would look: a copy to read.

It is made of temporary tables, so each connection makes its own and nobody else sees it.
"""

import psycopg

from steersman.records.errors import StorageProblem
from steersman.store.migrations import LATEST, statements
from steersman.store.postgres_line import SCHEMA, Backend


def copied(db: Backend, version: int) -> None:
    """Let a connection see copies of all tables, brought from `version` to the present shape.

    Whatever step failed is tried again there, statement by statement, so that as much as possible
    has that shape. The tables themselves stay as the last whole step left them.
    """
    db.execute(f"SET search_path TO pg_temp, {SCHEMA}")
    found = db.execute("SELECT tablename FROM pg_tables WHERE schemaname = ?", (SCHEMA,))
    for (name,) in found.fetchall():
        real = f'{SCHEMA}."{name}"'
        db.execute(f'CREATE TEMP TABLE "{name}" (LIKE {real} INCLUDING DEFAULTS INCLUDING INDEXES)')
        db.execute(f'INSERT INTO "{name}" TABLE {real}')
    for step in range(version + 1, LATEST + 1):
        for statement in statements("postgres", step):
            try:
                db.execute(statement)
            except psycopg.Error:
                if db.lost:
                    raise


def outdated(where: str, version: int, cause: StorageProblem) -> StorageProblem:
    """Why such a database can only be read."""
    return StorageProblem(
        f"The database {where} can only be read: bringing it up to date failed.",
        f"{cause.why} It still has schema {version}, and nothing is lost.",
        "Fix what is wrong, then run `steer store migrate`; or set STEERSMAN_STORE to another "
        "database.",
    )
