"""What was spent, as the lines of a table. Pure."""

from collections.abc import Callable, Sequence

from steersman.records.bill import Bill
from steersman.views.text import amount, one_line, safe

Cell = Callable[[Bill], str]
COLUMNS: tuple[tuple[str, Cell], ...] = (
    ("requests", lambda bill: f"{bill.requests:,}"),
    ("input", lambda bill: f"{bill.input:,}"),
    ("cached", lambda bill: f"{bill.cached:,}"),
    ("output", lambda bill: f"{bill.output:,}"),
    ("reasoning", lambda bill: f"{bill.reasoning:,}"),
    ("cost", lambda bill: dollars(bill)),
)


# The same in few letters. What a model reasoned is a part of its output.
SHORT: tuple[tuple[str, Cell], ...] = (
    ("requests", lambda bill: amount(bill.requests)),
    ("input", lambda bill: amount(bill.input)),
    ("cached", lambda bill: amount(bill.cached)),
    ("output", lambda bill: amount(bill.output)),
    ("cost", lambda bill: dollars(bill)),
)


def table(by: str, found: Sequence[Bill], notes: dict[str, str]) -> list[str]:
    """The bills as lines of a table, numbers to the right."""
    return _laid_out(by, found, COLUMNS, notes)


def narrow_table(by: str, found: Sequence[Bill], width: int) -> list[str]:
    """The same in so many columns; long names are cut."""
    numbers = [max(len(name), *(len(shown(one)) for one in found)) for name, shown in SHORT]
    return _laid_out(by, found, SHORT, {}, max(width - sum(numbers) - 2 * len(SHORT), 8))


def _laid_out(
    by: str,
    found: Sequence[Bill],
    columns: Sequence[tuple[str, Cell]],
    notes: dict[str, str],
    longest: int = 60,
) -> list[str]:
    cells = [[by, *(name for name, _ in columns), ""]]
    for bill in found:
        numbers = [shown(bill) for _, shown in columns]
        note = one_line(notes.get(bill.name, ""), 50)
        cells.append([one_line(bill.name, longest), *numbers, note])
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
