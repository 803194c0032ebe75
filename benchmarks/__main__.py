"""`make bench`: run every measurement, or those named, and print one table.

What begins with a dash, and all after it, are options of the one subject that is named.
"""

import sys
from importlib import import_module
from itertools import takewhile

from benchmarks.measure import Figure, table

SUBJECTS = (
    "startup", "turns", "threads", "cancel", "matching", "transactions", "finding", "guard", "door",
    "governance", "redaction", "drivers", "outline", "opening", "completion", "transcript", "frame",
    "http", "remote",
)  # fmt: skip


def main() -> None:
    """Measure and print."""
    figures: list[Figure] = []
    names = list(takewhile(lambda argument: not argument.startswith("-"), sys.argv[1:]))
    options = sys.argv[1 + len(names) :]
    for name in names or SUBJECTS:
        print(f"measuring {name} …", file=sys.stderr, flush=True)
        subject = import_module(f"benchmarks.{name}")
        figures += subject.figures(options) if options else subject.figures()
    if figures:
        print(table(figures))
    sys.exit(any(not figure.good for figure in figures))


main()
