"""Numbered SQL files, a folder for each dialect, that bring a database to the present shape."""

from pathlib import Path
from typing import Literal

from steersman.records.errors import StorageProblem

LATEST = 3
Dialect = Literal["sqlite", "postgres"]


def script(dialect: Dialect, version: int) -> str:
    """The SQL that leads from the version before to `version`."""
    folder = Path(__file__).parent / dialect
    name = next(f.name for f in folder.iterdir() if f.name.startswith(f"{version:04d}_"))
    return (folder / name).read_text(encoding="utf-8")


def statements(dialect: Dialect, version: int) -> list[str]:
    """The statements of a script, one by one."""
    return [part for part in script(dialect, version).split(";") if part.strip()]


def newer(version: int, where: str, instead: str) -> StorageProblem | None:
    """Why nothing may be changed in a database this version does not know."""
    if version <= LATEST:
        return None
    return StorageProblem(
        f"The database {where} was written by a newer Steersman.",
        f"It has schema {version}; this version knows schemas up to {LATEST}.",
        f"Update Steersman, or {instead}. Nothing was changed.",
    )
