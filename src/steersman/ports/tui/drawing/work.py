"""A call of a tool: what was asked, its state, and what came of it."""

from typing import Any

from rich.text import Text

from steersman.ports.tui.drawing import diffs
from steersman.ports.tui.drawing.bodies import Body, printed_rows, spent
from steersman.ports.tui.drawing.lines import (
    clean_line,
    cut,
    folded,
    hinted,
    shifted,
    split,
    wrap,
    wrapped,
)
from steersman.ports.tui.drawing.look import Look, Palette, state_mark
from steersman.ports.tui.drawing.results import body_of
from steersman.records.call_ids import COMMIT
from steersman.records.message import DiffReady, ToolResult
from steersman.records.tool_names import ASK_USER
from steersman.views.blocks import Work
from steersman.views.git_notes import made_again
from steersman.views.git_work import commit_line, message_in
from steersman.views.story.work import TAIL
from steersman.views.text import call_words, counted, one_line, what_happened

LIVE = 6  # lines of what a running tool shows
DIFF = 14  # lines of a diff before it is folded
PROBLEM = 5  # lines of what went wrong
SLOW = 2_000  # milliseconds after which it is worth telling how long a call took
_VERBS = {
    "workspace_read_file": "read", "workspace_search_files": "search",
    "workspace_search_pattern": "search", "workspace_list_files": "list",
    "workspace_run_command": "$", "workspace_edit_files": "edit", "workspace_write_file": "write",
    "workspace_apply_patch": "patch", "workspace_get_diagnostics": "check",
    "workspace_get_symbols_overview": "outline", "workspace_find_symbol": "find symbol",
    "workspace_find_declaration": "find declaration",
    "workspace_find_references": "find uses of", "workspace_ranked_context": "find context",
    "workspace_update_todo": "todo", "workspace_status": "status",
    "workspace_read_command_output": "read output", "workspace_signal_process": "signal",
    "workspace_list_processes": "processes", "workspace_propose_refactoring": "refactor",
    "web_fetch": "fetch", "web_search": "search the web for",
    ASK_USER: "ask", "mcp_call_tool": "mcp", "mcp_list_tools": "mcp tools",
}  # fmt: skip
_ABOUT = ("query", "pattern", "name_path", "name", "question", "process_id", "words", "message")


def draw_work(block: Work, width: int, look: Look) -> list[Text]:
    """The lines of a call."""
    palette = look.palette
    if not look.open and (told := _committed(block)):
        return [cut(state_mark(block.state, palette).append(clean_line(told), palette.text), width)]
    body = _body(block, palette)
    lines = _head(block, body, width, look)
    room = max(width - 4, 1)
    runs = block.call.tool == "workspace_run_command"  # its body says what tools made
    shown = [one for one in block.diffs if not (runs and made_again(one.file))]
    below = [
        *_told(block, room, look),
        *(line for one in shown for line in _diff(one, len(block.diffs), room, look)),
    ]
    if body.rows and (look.open or body.most):
        below += folded(
            body.rows, _same, room, look, most=body.most, tail=body.tail, lines=body.lines
        )
    return [*lines, *(shifted(line, "    ") for line in below)]


def _same(line: Text) -> Text:
    return line


def _commits(block: Work) -> bool:
    """Whether it commits what a person chose; no call of a model can pass for one."""
    return block.turn == 0 and block.corr.startswith(COMMIT)


def _committed(block: Work) -> str:
    """What was committed, in a line; how is the host's own business."""
    match block.result:
        case ToolResult(status="ok", output={"exit_code": 0, "output": str(text)}):
            return commit_line(text) if _commits(block) else ""
    return ""


def call_about(tool: str, arguments: dict[str, Any]) -> tuple[str, str]:
    """The verb for a call, and what it is about."""
    verb = _VERBS.get(tool)
    match arguments:
        case {"server": str(server), "tool": str(name)} if tool == "mcp_call_tool":
            return "mcp", f"{server} {name}"
        case {"paths": list(paths)}:
            return verb or tool, ", ".join(map(str, paths))
    for name in _ABOUT:
        if isinstance(arguments.get(name), str) and "command" not in arguments:
            return verb or tool.removeprefix("workspace_"), str(arguments[name])
    words = call_words(tool, arguments)
    short = tool.removeprefix("workspace_")
    about = words.removeprefix(short).strip()
    if isinstance(arguments.get("command"), str):
        about = arguments["command"]
    return verb or short.replace("_", " "), about


def _head(block: Work, body: Body, width: int, look: Look) -> list[Text]:
    palette = look.palette
    verb, about = call_about(block.call.tool, block.call.arguments)
    if block.call.typed:
        verb = "!"
    if block.command:
        about = f"{about} ({one_line(block.command, 60)})"
    if _commits(block) and not look.open:
        verb, about = "commit", message_in(about)
    if block.made and block.diffs:  # only some of what was asked for
        about = ", ".join(one.file for one in block.diffs)
    mark = state_mark(block.state, palette)
    lines = split(about)
    more = " …" if len(lines) > 1 and not look.open else ""
    told = mark.append(clean_line(verb), palette.strong)
    if lines:
        told.append(f" {clean_line(lines[0].strip())}{more}", palette.text)
    note, tone = _note(block, body), palette.bad if body.bad else palette.dim
    if note and told.cell_len + len(note) + 3 <= width:
        told.append(f" · {clean_line(note)}", tone)
        note = ""
    head = wrap(told, width, 4) if look.open else [cut(told, width)]
    if look.open:
        for line in lines[1:]:
            head += [
                shifted(part, "    ")
                for part in wrap(Text(clean_line(line), palette.text), max(width - 4, 1))
            ]
    if note:
        head.append(cut(Text(f"  └ {clean_line(note)}", tone, end=""), width))
    return head


def _note(block: Work, body: Body) -> str:
    """Its state, in a few words."""
    parts = [body.head, block.made]
    added, removed = (sum(getattr(d, n) for d in block.diffs) for n in ("added", "removed"))
    if added or removed:
        parts.append(f"+{added} -{removed}")
    match block.state:
        case _ if block.rule:
            parts.append(f"blocked by rule {block.rule}")
        case "waiting":
            parts.append("waits for your answer")
        case "denied":
            parts.append("not allowed")
        case "cancelled":
            parts.append(_left(block.result))
    result = block.result
    if result is not None and result.ms >= SLOW:
        timed = isinstance(result.output, dict) and "wall_ms" in result.output
        parts.append("" if timed else spent(result.ms))
    return " · ".join(part for part in parts if part)


def _left(result: ToolResult | None) -> str:
    """Why a call has no end: someone stopped it, or nobody did."""
    if result is None or result.status != "interrupted":
        return "stopped"
    return "cut off, " + what_happened(result).removeprefix("interrupted: ")


def _body(block: Work, palette: Palette) -> Body:
    if block.result is not None and block.result.status == "ok":
        return body_of(block.call.tool, block.call.arguments, block.result.output, palette)
    shown = block.progress
    match block.result:
        case ToolResult(status="cancelled", output={"output": str(text)}):
            shown = text  # what a command had printed when it was stopped
    rows, lines = printed_rows(shown, palette)
    known = lines if len(shown) < TAIL else 0
    return Body("", rows, LIVE, known, tail=True) if shown else Body()


def _told(block: Work, room: int, look: Look) -> list[Text]:
    """What went wrong, or why it was not allowed."""
    result = block.result
    if result is None or not result.message or block.state == "done":
        return []
    if block.state == "cancelled" and not look.open:
        return []
    style = look.palette.dim if block.state == "cancelled" else look.palette.bad
    lines = wrapped(result.message.removeprefix("Denied: "), room, style, most=look.most)
    fact = wrapped(what_happened(result), room, style, most=look.most)
    shown = min(PROBLEM, len(fact))
    if look.open or shown == len(lines):
        return lines
    return [*lines[:shown], hinted(f"… {counted(len(lines) - shown, 'more line')}", room, look)]


def _diff(diff: DiffReady, of: int, room: int, look: Look) -> list[Text]:
    """A file's diff, with its name when there are several."""
    lines: list[Text] = []
    if of > 1:
        name = Text(clean_line(diff.file), look.palette.accent, end="")
        counts = f" +{diff.added} -{diff.removed}" if diff.added or diff.removed else ""
        lines.append(cut(name.append(counts, look.palette.dim), room))
    return [*lines, *diff_lines(diff.diff, room, look)]


def diff_lines(diff: str, width: int, look: Look, most: int = DIFF) -> list[Text]:
    """The lines of a unified diff."""
    found = diffs.rows(diff)
    numbers = diffs.number_room(found)

    def make(row: diffs.Row) -> Text:
        return diffs.row_line(row, look.palette, numbers)

    return folded(found, make, width, look, most=most, indent=numbers + 3)
