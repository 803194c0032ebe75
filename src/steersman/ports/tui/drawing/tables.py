"""Tables of Markdown: columns as wide as they need to be, narrower where there is no room."""

from rich.text import Text

from steersman.ports.tui.drawing.lines import cut, wrap
from steersman.ports.tui.drawing.look import Palette

GAP = 2  # cells between columns
NARROWEST = 4


def table_lines(rows: list[list[Text]], width: int, palette: Palette) -> list[Text]:
    """Rows with a rule below the first; in a very narrow place one cell below the other."""
    columns = max(map(len, rows), default=0)
    if not columns:
        return []
    rows = [[*row, *(Text() for _ in range(columns - len(row)))] for row in rows]
    wanted = [max(row[at].cell_len for row in rows) or 1 for at in range(columns)]
    room = width - GAP * (columns - 1)
    if room < NARROWEST * columns:
        return [line for row in rows for cell in row for line in wrap(cell, width)]
    widths = _fitted(wanted, room)
    lines: list[Text] = []
    for number, row in enumerate(rows):
        lines += _row(row, widths)
        if number == 0 and len(rows) > 1:
            rule = (" " * GAP).join("─" * one for one in widths)
            lines.append(Text(rule, palette.dim, end=""))
    return lines


def _fitted(wanted: list[int], room: int) -> list[int]:
    """Widths that fit: the widest column gives way first."""
    widths = wanted[:]
    over = sum(widths) - room
    while over > 0:
        widest = max(range(len(widths)), key=lambda at: widths[at])
        others = sorted(widths)[-2] if len(widths) > 1 else NARROWEST
        step = max(1, min(over, widths[widest] - max(others, NARROWEST)))
        widths[widest] -= step
        over -= step
    return widths


def _row(row: list[Text], widths: list[int]) -> list[Text]:
    """A row; cells that are too wide take several lines."""
    cells = [wrap(cell, wide) for cell, wide in zip(row, widths, strict=True)]
    lines = []
    for at in range(max(map(len, cells))):
        line = Text(end="")
        for column, wide in enumerate(widths):
            part = cut(cells[column][at], wide) if at < len(cells[column]) else Text()
            line.append_text(part)
            if column + 1 < len(widths):
                line.append(" " * (wide - part.cell_len + GAP))
        lines.append(line)
    return lines
