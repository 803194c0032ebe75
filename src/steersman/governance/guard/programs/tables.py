"""Tables of verbs, one per program; their language is told in `verbs.py`."""

from msgspec import Struct, convert

from steersman.governance.guard.programs.tables_build import BUILD
from steersman.governance.guard.programs.tables_cloud import CLOUD


class Table(Struct, frozen=True, forbid_unknown_fields=True):
    """The verbs of a program, its options that take a value, and the names it also goes by."""

    text: str
    valued: str = ""
    names: str = ""
    single: bool = False
    dry: str = ""


TABLES = {name: convert(row, Table) for name, row in (CLOUD | BUILD).items()}
