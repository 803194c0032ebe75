"""The results as a picture: a row of bars for every model, written as SVG by hand."""

import shutil
from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path

from steersman import children
from steersman.records.bench import Row

NAMES, COLUMN, GAP, LINE, TOP = 260, 200, 30, 34, 70
INK, FAINT = "#1f2933", "#e4e7eb"
COLOURS = ("#2f855a", "#2b6cb0", "#b7791f", "#805ad5")
PNG = b"\x89PNG\r\n\x1a\n"
CONVERTERS = (
    ("rsvg-convert", ["-o", "{png}", "{svg}"]),
    ("resvg", ["{svg}", "{png}"]),
    ("inkscape", ["--export-filename={png}", "{svg}"]),
    ("magick", ["{svg}", "{png}"]),
)

Measure = tuple[str, Callable[[Row], float | None], Callable[[float], str]]
MEASURES: tuple[Measure, ...] = (
    ("tasks passed", lambda row: row.share, lambda value: f"{value:.0%}"),
    ("seconds a task", lambda row: row.seconds, lambda value: f"{value:.1f} s"),
    ("tokens a task", lambda row: row.input + row.output, lambda value: f"{value:,.0f}"),
    ("dollars a task", lambda row: row.cost, lambda value: f"${value:.4f}"),
)


def svg(rows: Sequence[Row], title: str) -> str:
    """The picture."""
    width = NAMES + len(MEASURES) * (COLUMN + GAP)
    height = TOP + len(rows) * LINE + 20
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="13" fill="{INK}">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
        f'<text x="16" y="26" font-size="16" font-weight="bold">{escape(title)}</text>',
    ]
    for number, measure in enumerate(MEASURES):
        parts += _column(rows, measure, NAMES + number * (COLUMN + GAP), COLOURS[number])
    for number, row in enumerate(rows):
        name = row.model if len(row.model) <= 34 else f"…{row.model[-33:]}"
        parts.append(f'<text x="16" y="{TOP + number * LINE + 16}">{escape(name)}</text>')
    return "\n".join([*parts, "</svg>", ""])


def _column(rows: Sequence[Row], measure: Measure, left: int, colour: str) -> list[str]:
    name, value_of, told = measure
    values = [value_of(row) for row in rows]
    most = 1.0 if name == "tasks passed" else max((value or 0.0 for value in values), default=0.0)
    parts = [f'<text x="{left}" y="{TOP - 14}" font-weight="bold">{escape(name)}</text>']
    for number, value in enumerate(values):
        y = TOP + number * LINE
        length = COLUMN * (value or 0.0) / most if most else 0.0
        parts.append(f'<rect x="{left}" y="{y}" width="{COLUMN}" height="22" fill="{FAINT}"/>')
        parts.append(
            f'<rect x="{left}" y="{y}" width="{length:.1f}" height="22" fill="{colour}" '
            'fill-opacity="0.55"/>'
        )
        words = "unknown" if value is None else told(value)
        parts.append(f'<text x="{left + 6}" y="{y + 16}">{escape(words)}</text>')
    return parts


def png(path: Path) -> Path | None:
    """The picture as PNG beside it, if this machine has a program that can make one."""
    made = path.with_suffix(".png")
    for program, words in CONVERTERS:
        found = shutil.which(program)
        if found is None:
            continue
        command = [found, *(word.format(svg=path, png=made) for word in words)]
        done = children.run(command, seconds=60)
        if done.returncode == 0 and made.exists() and made.read_bytes()[:8] == PNG:
            return made
    return None
