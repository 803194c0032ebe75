"""What a person is asked, in lines: the actions, what is known of them, and what answers cover.

Pure; diffs are shown by `diff_view.py`.
"""

from collections.abc import Sequence

import msgspec
from rich.text import Text

from steersman.ports.tui.drawing.lines import clean_line, cut, wrapped
from steersman.ports.tui.drawing.look import Palette
from steersman.records.action import (
    Action,
    ChangeMany,
    Execute,
    List,
    McpCall,
    Network,
    Read,
    Search,
    SpawnAgent,
)
from steersman.records.message import ConfirmRequest, Question
from steersman.views.blocks import Asked, Request
from steersman.views.requests import asker, keys_of, title
from steersman.views.text import counted, fact_words, flat

LONGEST = 200  # lines of a command or of arguments


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
        keys = "/".join(keys_of(request, lasting))
        if keys:
            told = "; ".join(map(flat, lasting.sentences))
            lines += wrapped(f"would allow {told}", width, palette.dim, f"{keys} ", "  ")
    if request.only_once:
        told = f"only this once: {flat(request.only_once)}"
        lines += wrapped(told, width, palette.dim)
    return lines


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
        kept = (
            f"{many.lost:,} of them ({counted(many.lost_bytes, 'byte')}) are not in version control"
        )
        lines += wrapped(kept, width, palette.bad, "! ", "  ")
    if many.turn_lost > many.lost:
        so_far = (
            f"with this, the turn has lost {counted(many.turn_lost, 'file')} that are not in git"
        )
        lines += wrapped(so_far, width, palette.bad, "! ", "  ")
    if many.commits or many.objects:
        told = f"{counted(many.commits, 'commit')} and {counted(many.objects, 'other object')}"
        lines += wrapped(f"{told} of git's history would be gone", width, palette.bad, "! ", "  ")
    if many.discarded:
        told = f"uncommitted changes of {counted(many.discarded, 'file')} would be discarded"
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
    return (
        [*lines[:LONGEST], f"… {counted(hidden, 'more line')} (e shows all)"]
        if hidden > 0
        else lines
    )
