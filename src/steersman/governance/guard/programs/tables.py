"""Tables of verbs, one per program; their language is told in `verbs.py`."""

from typing import NamedTuple

from steersman.governance.guard.programs.tables_build import BUILD
from steersman.governance.guard.programs.tables_cloud import CLOUD


class Table(NamedTuple):
    """The verbs of a program, its options that take a value, and the names it also goes by."""

    text: str
    valued: str = ""
    names: str = ""
    single: bool = False
    dry: str = ""


TABLES: dict[str, Table] = {name: Table(**row) for name, row in (CLOUD | BUILD).items()}  # type: ignore[arg-type]
