"""Results of doing: commands, edits, calls of MCP servers, the list of steps, and anything else."""

from collections.abc import Mapping

from rich.text import Text

from steersman.ports.tui.drawing.bodies import (
    JSON,
    Body,
    Lazy,
    hit,
    listed,
    notes,
    number,
    plain_rows,
    pretty,
    printed_rows,
    records,
    spent,
)
from steersman.ports.tui.drawing.lines import clean_line
from steersman.ports.tui.drawing.look import Palette
from steersman.records.exits import exit_words
from steersman.records.wording import for_people
from steersman.views.git_notes import counted_changes, folded
from steersman.views.text import counted


def command(arguments: Mapping[str, JSON], output: Mapping[str, JSON], palette: Palette) -> Body:
    """What a command printed: the end of it, as that is where the news is."""
    words = []
    code, ms = output.get("exit_code"), output.get("wall_ms")
    if code is not None:
        words.append(exit_words(code))
    if output.get("background_process_id"):
        words.append(f"continues in the background as {output['background_process_id']}")
    if output.get("state") and code is None:
        words.append(str(output["state"]))
    if isinstance(ms, int):
        words.append(spent(ms))
    changes = [str(one) for one in listed(output, "changes")]
    if changes:
        words.append(counted_changes(changes))
    printed, lines = printed_rows(str(output.get("output", "")), palette)
    told = [one for one in folded(changes) if not one.startswith("git: ")]
    told += [f"not allowed to reach: {one}" for one in listed(output, "refused")]
    note = for_people(str(output.get("note") or "")).split("; ")
    told += filter(None, ["; ".join(part for part in note if part not in words)])
    count = len(printed)

    def make(at: int) -> Text:
        if at < count:
            row: Text = printed[at]
            return row
        return Text(clean_line(told[at - count]), palette.dim, end="")

    rows = Lazy(range(count + len(told)), make)
    lines = (number(output.get("lines")) or lines) + len(told)
    return Body(" · ".join(words), rows, 8, lines, tail=True, bad=bool(code))


def edited(arguments: Mapping[str, JSON], output: Mapping[str, JSON], palette: Palette) -> Body:
    """What was changed; the diffs tell the rest."""
    files = records(output, "files")
    remarks = [remark for one in files for remark in listed(one, "remarks")]
    rows = [Text(clean_line(str(one)), palette.dim, end="") for one in remarks]
    left = [hit(one, palette) for one in records(output, "left_over")]
    if left:
        rows += [Text("the old name is still here:", palette.dim, end=""), *left]
    head = counted(len(files), "file") if len(files) > 1 else ""
    return Body(head, [*rows, *notes(output, palette)], 6)


def written(arguments: Mapping[str, JSON], output: Mapping[str, JSON], palette: Palette) -> Body:
    """A file that was written whole."""
    what = "created, " if output.get("created") else ""
    if output.get("unchanged"):
        what = "unchanged, "
    return Body(f"{what}{counted(number(output.get('bytes')), 'byte')}")


def said(arguments: Mapping[str, JSON], output: Mapping[str, JSON], palette: Palette) -> Body:
    """What an MCP server answered."""
    content = output.get("content")
    rows = list(plain_rows(content if isinstance(content, str) else pretty(content), palette))
    extra = [*listed(output, "attachments"), *([output["cut"]] if output.get("cut") else [])]
    rows += [Text(clean_line(str(one)), palette.dim, end="") for one in extra]
    return Body(clean_line(str(output.get("source", ""))), rows, 4)


def answered(arguments: Mapping[str, JSON], output: Mapping[str, JSON], palette: Palette) -> Body:
    """Answers of the user: each is shown with its question."""
    return Body("" if listed(output, "answers") else "not answered")


def tools(arguments: Mapping[str, JSON], output: Mapping[str, JSON], palette: Palette) -> Body:
    """Tools of MCP servers by name."""
    found = output.get("tools")
    names = found if isinstance(found, dict) else {}
    rows = [
        Text.assemble(
            (clean_line(name), palette.accent),
            (f"  {clean_line(about)}" if isinstance(about, str) else "", palette.dim),
        )
        for name, about in names.items()
    ]
    return Body(counted(len(names), "tool"), [*rows, *notes(output, palette)], 4)


_BOXES = {"pending": "☐", "doing": "▶", "done": "☑", "dropped": "✗"}


def todo(arguments: Mapping[str, JSON], output: Mapping[str, JSON], palette: Palette) -> Body:
    """The list of steps."""
    rows = []
    items = records(output, "items") or records(output, "todo")
    for one in items:
        state = str(one.get("state", "pending"))
        style = {"doing": palette.strong, "pending": palette.text}.get(state, palette.dim)
        row = Text(end="").append(f"{_BOXES.get(state, '☐')} ", palette.accent)
        rows.append(row.append(clean_line(str(one.get("text", ""))), style))
    done = sum(one.get("state") == "done" for one in items)
    return Body(f"{done} of {len(items)} done" if items else "no steps", rows, 50)


def processes(arguments: Mapping[str, JSON], output: Mapping[str, JSON], palette: Palette) -> Body:
    """Commands that were started, and how they are."""
    rows = []
    found = records(output, "processes")
    for one in found:
        row = Text(end="").append(f"{clean_line(str(one.get('process_id', '')))}  ", palette.accent)
        row.append(f"{clean_line(str(one.get('state', '')))}  ", palette.dim)
        rows.append(row.append(clean_line(str(one.get("command", ""))), palette.text))
    return Body(counted(len(found), "process").replace("processs", "processes"), rows, 6)


def anything(arguments: Mapping[str, JSON], output: JSON, palette: Palette) -> Body:
    """A result of a tool that is not known here."""
    text = output if isinstance(output, str) else pretty(output)
    rows = plain_rows(text, palette)
    if len(rows) == 1 and len(text) < 60:
        return Body(clean_line(text))
    return Body("", rows, 4)
