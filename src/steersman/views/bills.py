"""What was spent, as the lines of a table. Pure."""

from collections.abc import Callable, Sequence

from steersman.records.bill import Bill
from steersman.views.text import one_line, safe

Cell = Callable[[Bill], str]
COLUMNS: tuple[tuple[str, Cell], ...] = (
    ("requests", lambda bill: f"{bill.requests:,}"),
    ("input", lambda bill: f"{bill.input:,}"),
    ("cached", lambda bill: f"{bill.cached:,}"),
    ("output", lambda bill: f"{bill.output:,}"),
    ("reasoning", lambda bill: f"{bill.reasoning:,}"),
    ("cost", lambda bill: dollars(bill)),
)


def table(by: str, found: Sequence[Bill], notes: dict[str, str]) -> list[str]:
    """The bills as lines of a table, numbers to the right."""
    cells = [[by, *(name for name, _ in COLUMNS), ""]]
    for bill in found:
        numbers = [shown(bill) for _, shown in COLUMNS]
        cells.append([one_line(bill.name, 60), *numbers, one_line(notes.get(bill.name, ""), 50)])
    widths = [max(len(row[n]) for row in cells) for n in range(len(cells[0]))]
    told = []
    for row in cells:
        figures = "  ".join(row[n].rjust(widths[n]) for n in range(1, len(row) - 1))
        told.append(safe(f"{row[0]:<{widths[0]}}  {figures}  {row[-1]}".rstrip()))
    return told


def dollars(bill: Bill) -> str:
    """The price of a bill; a dash where nothing in it has one."""
    if bill.cost == 0.0 and bill.unpriced:
        return "–"
    return f"${bill.cost:,.4f}"
