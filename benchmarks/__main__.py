"""`make bench`: run every measurement, or those named, and print one table."""

import sys
from importlib import import_module

from benchmarks.measure import Figure, table

SUBJECTS = (
    "startup", "turns", "threads", "cancel", "matching", "transactions", "finding", "guard", "door",
    "governance", "redaction", "drivers", "outline", "opening", "completion", "transcript", "frame",
)  # fmt: skip


def main() -> None:
    """Measure and print."""
    figures: list[Figure] = []
    for name in sys.argv[1:] or SUBJECTS:
        print(f"measuring {name} …", file=sys.stderr, flush=True)
        figures += import_module(f"benchmarks.{name}").figures()
    print(table(figures))
    sys.exit(any(not figure.good for figure in figures))


main()
