"""Names and text below a folder, by ripgrep where there is one and in Python where there is none.

Both give the same answers in the same order: by path, then by line.
"""

from steersman.operations.finding.engine import find, list_names
from steersman.operations.finding.records import Found, Hit, Names, Query, SearchPlace

__all__ = ["Found", "Hit", "Names", "Query", "SearchPlace", "find", "list_names"]
