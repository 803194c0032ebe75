"""Numbered SQL files that bring a database to the shape this version needs."""

import sqlite3
from importlib.resources import files
from pathlib import Path

from steersman.records.errors import StorageProblem

LATEST = 1


def script(version: int) -> str:
    """The SQL that leads from the version before to `version`."""
    folder = files(__name__)
    name = next(f.name for f in folder.iterdir() if f.name.startswith(f"{version:04d}_"))
    return (folder / name).read_text(encoding="utf-8")


def refuse_newer(connection: sqlite3.Connection, path: Path) -> None:
    """Raise before anything is changed in a database this version does not know."""
    version = _version(connection)
    if version > LATEST:
        raise StorageProblem(
            f"The database {path} was written by a newer Steersman.",
            f"It has schema {version}; this version knows schemas up to {LATEST}.",
            "Update Steersman, or set STEERSMAN_HOME to another folder. Nothing was changed.",
        )


def migrate(connection: sqlite3.Connection, path: Path) -> None:
    """Bring the database at `path` to `LATEST`, one transaction a step, keeping a copy first."""
    version = _version(connection)
    if 0 < version < LATEST:
        copy = path.with_name(f"{path.name}.v{version}.bak")
        if not copy.exists():
            connection.execute("VACUUM INTO ?", (str(copy),))
    for step in range(version + 1, LATEST + 1):
        _step(connection, step)


def _step(connection: sqlite3.Connection, step: int) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        if _version(connection) < step:  # another process may have done it meanwhile
            for statement in script(step).split(";"):
                if statement.strip():
                    connection.execute(statement)
            connection.execute(f"PRAGMA user_version={step}")
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])
