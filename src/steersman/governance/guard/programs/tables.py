"""Tables of verbs, one per program; their language is reported in `verbs.py`."""

from functools import cache

from msgspec import Struct, convert

from steersman.governance.guard.programs.reads import as_table, short_tables
from steersman.governance.guard.programs.tables_build import BUILD
from steersman.governance.guard.programs.tables_cloud import CLOUD
from steersman.governance.guard.programs.tables_tools import TOOLS


class Table(Struct, frozen=True, forbid_unknown_fields=True):
    """The verbs of a program, its options that take a value, and the names it also goes by."""

    text: str
    valued: str = ""
    names: str = ""
    single: bool = False
    dry: str = ""
    doubles: bool = False  # may speak to a stand-in on this machine


TABLES = {name: convert(row, Table) for name, row in (CLOUD | BUILD | TOOLS).items()}
_TABLE_OF = {
    alias: name for name, table in TABLES.items() for alias in (name, *table.names.split())
}


@cache
def table_of(program: str) -> tuple[str, Table] | None:
    """The table that judges a program, with its name; short tables are read when one is met."""
    name = _TABLE_OF.get(program)
    if name is not None:
        return name, TABLES[name]
    entry = short_tables().get(program)
    return (entry.names[0], convert(as_table(entry), Table)) if entry else None
