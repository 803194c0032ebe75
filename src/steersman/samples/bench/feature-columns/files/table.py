"""Rows of text in columns."""


def render(rows):
    """The rows, a line each, columns two spaces apart."""
    rows = [[str(cell) for cell in row] for row in rows]
    count = max((len(row) for row in rows), default=0)
    widths = [max(len(row[n]) for row in rows if n < len(row)) for n in range(count)]
    lines = []
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths)]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)
