"""Results of looking: files, names, hits, and what is known about code."""

from collections.abc import Mapping
from typing import Any

from rich.text import Text

from steersman.ports.tui.drawing.bodies import (
    JSON,
    Body,
    Lazy,
    hit,
    listed,
    notes,
    number,
    place,
    records,
)
from steersman.ports.tui.drawing.code import highlighted, language_of
from steersman.ports.tui.drawing.lines import clean_line
from steersman.ports.tui.drawing.look import Palette
from steersman.views.text import counted


def read_file(arguments: Mapping[str, JSON], output: Mapping[str, JSON], palette: Palette) -> Body:
    """Lines of a file, numbered and coloured."""
    lines = str(output.get("content", "")).split("\n")
    numbers = [line.partition("\t")[0] for line in lines]
    texts = [line.partition("\t")[2] for line in lines]
    room = max(map(len, numbers), default=1)
    language = language_of(str(arguments.get("path", "")))
    coloured: list[Text] = []

    def make(at: int) -> Text:
        if not coloured:
            coloured.extend(highlighted(texts, language, palette))
        return Text.assemble((f"{clean_line(numbers[at]):>{room}} ", palette.dim), coloured[at])

    head = f"{output.get('lines_read')} of {counted(number(output.get('total_lines')), 'line')}"
    return Body(head, Lazy(range(len(lines)), make), 0)


def search(arguments: Mapping[str, JSON], output: Mapping[str, JSON], palette: Palette) -> Body:
    """Places where something was found, with the line."""
    total, files = number(output.get("total")), number(output.get("files"))
    if "counts" in output:
        rows = [
            place(one.get("file", ""), "", palette)
            + Text(f"  {one.get('count') or ''}", palette.dim)
            for one in records(output, "counts")
        ]
    else:
        rows = [hit(one, palette) for one in records(output, "results")]
    head = f"{counted(total, 'hit')} in {counted(files, 'file')}" if total else "nothing found"
    return Body(head, [*rows, *notes(output, palette)], 5)


def listing(arguments: Mapping[str, JSON], output: Mapping[str, JSON], palette: Palette) -> Body:
    """Names of files, with their sizes where they are reported."""

    def make(name: Any) -> Text:
        path, _, size = str(name).partition("\t")
        text = Text(end="").append(clean_line(path), palette.text)
        return text.append(f"  {clean_line(size)}", palette.dim) if size else text

    names = listed(output, "files")
    head = counted(number(output.get("total_files")) or len(names), "file")
    left = [Text(clean_line(str(one)), palette.dim, end="") for one in listed(output, "left_out")]
    return Body(head, [*map(make, names), *left], 4)


_SEVERITY = {"error": "✗", "warning": "!", "info": "i", "hint": "·"}


def diagnostics(
    arguments: Mapping[str, JSON], output: Mapping[str, JSON], palette: Palette
) -> Body:
    """What checkers say, the place first."""
    found = records(output, "diagnostics")
    rows = []
    for one in found:
        severity = str(one.get("severity", ""))
        style = {"error": palette.bad, "warning": palette.warn}.get(severity, palette.dim)
        row = Text(end="").append(f"{_SEVERITY.get(severity, '·')} ", style)
        row.append_text(place(one.get("path", ""), one.get("line"), palette))
        row.append(f"  {clean_line(str(one.get('message', '')))}", palette.text)
        if one.get("code"):
            row.append(f" {clean_line(str(one['code']))}", palette.dim)
        rows.append(row)
    errors = sum(one.get("severity") == "error" for one in found)
    total = number(output.get("total")) or len(found)
    head = counted(total, "problem") + (f", {counted(errors, 'error')}" if errors else "")
    return Body(head if total else "no problems", [*rows, *notes(output, palette)], 6)


def symbols(arguments: Mapping[str, JSON], output: Mapping[str, JSON], palette: Palette) -> Body:
    """Definitions, those inside others below them."""
    rows: list[Text] = []

    def add(one: Mapping[str, Any], depth: int) -> None:
        row = Text("  " * min(depth, 6), end="")
        row.append(f"{clean_line(str(one.get('kind', '')))} ", palette.dim)
        row.append(clean_line(str(one.get("signature") or one.get("name_path", ""))), palette.text)
        row.append("  ")
        row.append_text(place(one.get("path", "") if depth == 0 else "", one.get("line"), palette))
        rows.append(row)
        for child in records(one, "children"):
            add(child, depth + 1)

    found = records(output, "symbols")
    for one in found:
        add(one, 0)
    head = counted(number(output.get("total")) or len(found), "symbol")
    return Body(head, [*rows, *notes(output, palette)], 6)


def references(arguments: Mapping[str, JSON], output: Mapping[str, JSON], palette: Palette) -> Body:
    """Uses of a symbol."""
    rows = [hit(one, palette) for one in records(output, "references")]
    only = [hit(one, palette) for one in records(output, "text_only")]
    if only:
        rows += [Text("only found as text:", palette.dim, end=""), *only]
    total, files = number(output.get("total")), number(output.get("files"))
    checked = {"same": ", text search agrees", "differs": ", text search differs"}
    head = f"{counted(total, 'use')} in {counted(files, 'file')}"
    head += checked.get(str(output.get("agreement")), "")
    return Body(head, [*rows, *notes(output, palette)], 6)


def ranked(arguments: Mapping[str, JSON], output: Mapping[str, JSON], palette: Palette) -> Body:
    """Excerpts that matter for a question: where, and why."""
    rows = []
    for one in records(output, "excerpts"):
        row = place(one.get("path", ""), f"{one.get('line')}-{one.get('end_line')}", palette)
        row.append(f"  {clean_line(str(one.get('why', '')))}", palette.dim)
        rows.append(row)
    rows += [
        Text.assemble(("also ", palette.dim), place(one, "", palette))
        for one in listed(output, "files")
    ]
    excerpts = len(listed(output, "excerpts"))
    head = f"{counted(excerpts, 'excerpt')}, {counted(number(output.get('tokens')), 'token')}"
    return Body(head, [*rows, *notes(output, palette)], 4)
