"""What a person is asked, in lines: the actions and what is known of them, and the keys to answer.

Pure; diffs are shown by `diff_view.py`. The words are those of the command line.
"""

from collections.abc import Sequence

import msgspec
from msgspec import Struct
from rich.text import Text

from steersman.ports.cli.prompts import can_be_changed, lasting_keys
from steersman.ports.cli.text import counted, safe, safe_json
from steersman.ports.cli.views import fact_words, flat
from steersman.ports.tui.blocks import Asked, Request
from steersman.ports.tui.drawing.lines import clean_line, cut, wrapped
from steersman.ports.tui.drawing.look import Palette
from steersman.records.action import (
    Action,
    ChangeMany,
    Delete,
    Execute,
    List,
    McpCall,
    Network,
    Read,
    Search,
    SpawnAgent,
    Write,
)
from steersman.records.message import MASK, ConfirmRequest, Lasting, Question, ToolCall

ROOT = "steersman"
LONGEST = 200  # lines of a command or of arguments


class Offered(Struct, frozen=True):
    """A key, what it does in a few words, and whether that holds longer than this once."""

    key: str
    words: str
    lasts: bool = False


def title(request: ConfirmRequest) -> str:
    """What is wanted, in a few words."""
    kinds = {type(action) for action in request.actions}
    match request.actions:
        case [Execute(outside=outside)]:
            return "run a command outside the sandbox" if outside else "run a command"
        case [Network(host=host, port=port)]:
            return f"reach {flat(host)}, port {port}"
        case [McpCall(server=server, tool=tool)]:
            return f"call {flat(tool)} of the MCP server {flat(server)}"
        case [SpawnAgent(agent=agent)]:
            return f"start the agent {flat(agent)}"
        case [ChangeMany() as many, *_]:
            return f"change {many.created + many.changed + many.deleted:,} files at once"
    if kinds <= {Write, Delete}:
        did = "keep what a command did to" if not can_be_changed(request) else "change"
        return f"{did} {counted(len(request.actions), 'file')}"
    if kinds <= {Read, List, Search}:
        return f"look at {counted(len(request.actions), 'place')}"
    return f"do {counted(len(request.actions), 'thing')}"


def asker(block: Request | Asked) -> str:
    """Whose request it is; empty for the one that the person talks to."""
    return flat(block.lane.removeprefix(ROOT).strip("/"))


def head(block: Request | Asked, place: int, count: int, width: int, palette: Palette) -> Text:
    """What is wanted, by whom, and how many wait."""
    left = Text().append("? ", palette.warn)
    match block:
        case Request(request=request):
            left.append(clean_line(request.tool.removeprefix("workspace_")), palette.strong)
            left.append(f" wants to {title(request)}", palette.warn)
        case Asked():
            left.append("A question", palette.strong)
    right = Text()
    if own := asker(block):
        right.append(f"  {own}", palette.accent)
    if count > 1:
        right.append(f"  {place + 1} of {count}", palette.strong)
    left = cut(left, max(width - right.cell_len, 1))
    left.pad_right(max(width - right.cell_len - left.cell_len, 0))
    return cut(Text.assemble(left, right), width)


def question_lines(
    question: Question, marked: int, width: int, palette: Palette
) -> tuple[list[Text], list[int]]:
    """A question with the answers it offers, and the line at which each of them begins."""
    lines, rows = wrapped(question.text, width, palette.text), list[int]()
    for number, option in enumerate(question.options):
        rows.append(len(lines))
        mark = "›" if number == marked else " "
        key = str(number + 1) if number < 9 else " "
        own = " (default)" if option == question.default else ""
        style = palette.strong if number == marked else palette.text
        lines += wrapped(f"{flat(option)}{own}", width, style, f"{mark} {key} ", "    ")
    return lines, rows


def about(request: ConfirmRequest, width: int, palette: Palette) -> list[Text]:
    """Everything but the diffs: each action, what the guard read in it, and why it is asked."""
    lines = wrapped(flat(request.reason), width, palette.warn, "why: ", "     ")
    for action in request.actions:
        lines += _action(action, width, palette)
    for fact in request.facts:
        lines += wrapped(fact_words(fact), width, palette.text, "· ", "  ")
    return lines


def covers(request: ConfirmRequest, width: int, palette: Palette) -> list[Text]:
    """What each answer that holds longer would allow, or why there is none."""
    lines: list[Text] = []
    for lasting in request.lasting:
        keys = "/".join(_keys_of(request, lasting))
        if keys:
            told = "; ".join(map(flat, lasting.sentences))
            lines += wrapped(f"would allow {told}", width, palette.dim, f"{keys} ", "  ")
    if request.only_once:
        told = f"only this once: {flat(request.only_once)}"
        lines += wrapped(told, width, palette.dim)
    return lines


def offered(request: ConfirmRequest, call: ToolCall | None, *, hunks: bool) -> list[Offered]:
    """The answers there are, and nothing that would not work."""
    made = [Offered("y", "once")]
    made += [Offered(key, told, True) for key, (_, _, told) in lasting_keys(request).items()]
    made += [Offered("n", "deny"), Offered("g", "deny and say why")]
    if editable(request, call):
        made.append(Offered("e", "edit"))
    if any(isinstance(action, Write | Delete) for action in request.actions):
        made.append(Offered("D", "choose hunks" if hunks else "whole diff"))
    return made


def editable(request: ConfirmRequest, call: ToolCall | None) -> bool:
    """Whether the person can change the call: it is what is asked about, and all of it is here."""
    if call is None or call.malformed or not can_be_changed(request):
        return False
    if not all(isinstance(a, Write | Delete | Execute | McpCall | ChangeMany | SpawnAgent)
               for a in request.actions):  # fmt: skip
        return False  # what is only looked at beforehand
    return MASK not in msgspec.json.encode(call.arguments).decode()


def by_command(call: ToolCall) -> bool:
    """Whether a call is edited as a command: it has one, with nothing in it that hides itself."""
    command = call.arguments.get("command")
    return isinstance(command, str) and safe(command) == command


def edited_text(call: ToolCall) -> str:
    """What the person edits: the command, or all arguments as JSON."""
    if by_command(call):
        return str(call.arguments["command"])
    return safe_json(msgspec.json.format(msgspec.json.encode(call.arguments), indent=2).decode())


def edited_arguments(call: ToolCall, text: str) -> dict[str, object] | str:
    """The arguments as the person left them, or what is wrong with them."""
    if by_command(call):
        return {**call.arguments, "command": text} if text.strip() else "The command is empty."
    try:
        return msgspec.json.decode(text, type=dict[str, object])
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        return f"That is not a JSON object: {error}"


def _action(action: Action, width: int, palette: Palette) -> list[Text]:
    match action:
        case Execute(command=command, cwd=cwd, outside=outside, direct=direct):
            lines = _command(command, width, palette)
            place = f"in {flat(cwd)}"
            place += ", outside the sandbox" if outside else ""
            place += ", on the folder itself, so it can only be recorded" if direct else ""
            return [*lines, *wrapped(place, width, palette.dim, "  ", "  ")]
        case Network(host=host, port=port):
            return wrapped(f"{flat(host)}, port {port}", width, palette.strong, "→ ", "  ")
        case McpCall(server=server, tool=tool, arguments=arguments, effect=effect):
            head = f"{flat(server)} / {flat(tool)} ({effect})"
            text = msgspec.json.format(msgspec.json.encode(arguments), indent=2).decode()
            return [*wrapped(head, width, palette.strong), *_block(text, width, palette)]
        case ChangeMany():
            return _many(action, width, palette)
        case SpawnAgent(agent=agent, task=task):
            return [
                *wrapped(flat(agent), width, palette.strong),
                *_block(task, width, palette),
            ]
        case Read(path=path) | List(path=path) | Search(path=path):
            what = type(action).__name__.lower()
            return wrapped(f"{what} {flat(path)}", width, palette.text)
    return []  # a change of a file: its diff is shown


def _command(command: str, width: int, palette: Palette) -> list[Text]:
    """A command as it is; further lines are marked, so that none is taken for words of ours."""
    lines: list[Text] = []
    for number, line in enumerate(_bounded(command)):
        mark = "> " if number else "$ "
        lines += wrapped(line, width, palette.strong, mark, "  ")
    return lines


def _many(many: ChangeMany, width: int, palette: Palette) -> list[Text]:
    told = f"{many.created:,} created, {many.changed:,} changed, {many.deleted:,} deleted"
    lines = wrapped(f"{told} below {flat(many.path)}", width, palette.strong)
    if many.lost:
        kept = f"{many.lost:,} of them ({many.lost_bytes:,} bytes) are in no version control"
        lines += wrapped(kept, width, palette.bad, "! ", "  ")
    if many.discarded:
        told = f"uncommitted changes of {counted(many.discarded, 'file')} would be thrown away"
        lines += wrapped(told, width, palette.bad, "! ", "  ")
    for example in many.examples:
        lines += wrapped(flat(example), width, palette.dim, "  ", "  ")
    return lines


def _block(text: str, width: int, palette: Palette) -> list[Text]:
    return [
        piece
        for line in _bounded(text)
        for piece in wrapped(clean_line(line), width, palette.text, "  ", "  ")
    ]


def _bounded(text: str) -> Sequence[str]:
    lines = text.split("\n")
    hidden = len(lines) - LONGEST
    return [*lines[:LONGEST], f"… {hidden:,} more lines (e shows all)"] if hidden > 0 else lines


def _keys_of(request: ConfirmRequest, lasting: Lasting) -> list[str]:
    return [key for key, (name, _, _) in lasting_keys(request).items() if name == lasting.name]
