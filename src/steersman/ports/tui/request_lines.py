"""What a person is asked, in lines: the actions, what is known of them, and what answers cover.

Pure; diffs are shown by `diff_view.py`.
"""

from collections.abc import Sequence

import msgspec
from rich.cells import cell_len
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
    Setting,
    SpawnAgent,
)
from steersman.records.message import ConfirmRequest
from steersman.records.wording import described, reached
from steersman.views.blocks import Asked, Request
from steersman.views.requests import asker, headline, keys_of, plain, title, why, wish
from steersman.views.requests import who as whose
from steersman.views.text import counted, fact_parts, fact_words, flat

HEAD = 2  # lines for what is wanted
ROOM = 32  # columns for who wants it, and how many wait
LONGEST = 200  # lines of a command or of arguments


def head(
    block: Request | Asked, place: int, count: int, width: int, palette: Palette, together: int = 1
) -> list[Text]:
    """Who wants what, on two lines at most, and how many wait."""
    who = asker(block)
    match block:
        case Request() if together > 1:
            told = f"{whose(block.request, who)} do {counted(together, 'thing')}"
        case Request():
            told = headline(block)
        case Asked(question=question):
            about = f": {flat(question.header)}" if question.header else ""
            told = (f"A question of {who}" if who else "A question") + about
    right = Text(f"  {place + 1} of {count}" if count > 1 else "", palette.strong)
    room = max(width - right.cell_len, 1)
    lines = wrapped(told, room, palette.strong, "? ", "  ")
    if len(lines) > HEAD:
        lines = [*lines[: HEAD - 1], cut(Text(" … ").join(lines[HEAD - 1 :]), room)]
    lines[0].pad_right(max(room - lines[0].cell_len, 0))
    return [cut(Text.assemble(lines[0], right), width), *lines[1:]]


def folded(block: Request | Asked, count: int, key: str, width: int, palette: Palette) -> Text:
    """What waits while the keys are elsewhere, on one line with the way back to it."""
    told = wish(block) if isinstance(block, Request) else f"A question: {flat(block.question.text)}"
    more = f" (and {count - 1} more)" if count > 1 else ""
    right = Text.assemble((more, palette.dim), ("  ", ""), (key, palette.accent), " answers")
    left = cut(Text("? ", palette.warn).append(told, palette.strong), width - right.cell_len)
    return cut(Text.assemble(left, right), width)


def listed(
    together: Sequence[Request], current: Request | Asked | None, width: int, palette: Palette
) -> list[Text]:
    """What is wanted at once, a line for each; the one that the keys answer is marked."""
    lines = []
    for block in together:  # numbers are for the answers
        marked = block is current
        mark, style = ("› ", palette.strong) if marked else ("  ", palette.text)
        lines.append(cut(Text(f"{mark}{title(block.request)}", style), width))
    return lines


def about(request: ConfirmRequest, folder: str, width: int, palette: Palette) -> list[Text]:
    """What the diffs and the headline do not say: each action, what is in it, why it is asked."""
    lines: list[Text] = []
    said = title(request)
    if cell_len(said) > width - ROOM or len(request.actions) > 1:
        said = ""  # not all of it can be read there
    for action in request.actions:
        lines += _action(action, folder, width, palette, said)
    lines += _running(request, width, palette)
    for does in _effects(request):
        lines += wrapped(does, width, palette.text, "· ", "  ")
    told = why(request)
    return [*lines, *(wrapped(told, width, palette.warn, "why: ", "     ") if told else [])]


def _effects(request: ConfirmRequest) -> list[str]:
    """What the parts of a command do; the whole command and what it sends are said above it."""
    found = [fact_parts(one, sends=False) for one in request.facts]
    return [does if len(found) == 1 else f"{words} {does}" for words, does in found if does]


def details(request: ConfirmRequest, width: int, palette: Palette) -> list[Text]:
    """What the answers would allow that hold longer, and all that is known of a request."""
    lines = [*_running(request, width, palette), *_covers(request, width, palette)]
    lines += wrapped(flat(request.reason), width, palette.warn, "why: ", "     ")
    for action in request.actions:
        if isinstance(action, Execute):
            lines += wrapped(f"in {flat(action.cwd)}", width, palette.dim)
    for fact in request.facts:
        lines += wrapped(fact_words(fact), width, palette.text, "· ", "  ")
    return lines


def _covers(request: ConfirmRequest, width: int, palette: Palette) -> list[Text]:
    """What each answer would allow, where its key does not say it, or why none holds longer."""
    once = plain(request)
    lines = wrapped(once, width, palette.dim, "y ", "  ") if once else []
    for lasting in request.lasting:
        keys = "/".join(keys_of(request, lasting))
        if keys:
            told = "; ".join(map(flat, lasting.sentences))
            lines += wrapped(f"would allow {told}", width, palette.dim, f"{keys} ", "  ")
    if request.only_once:
        told = f"the approval cannot be remembered: {flat(request.only_once)}"
        lines += wrapped(told, width, palette.dim)
    return lines


def _action(action: Action, folder: str, width: int, palette: Palette, said: str) -> list[Text]:
    """An action beyond what was `said`; where a command runs, unless one works in that folder."""
    match action:
        case Execute(command=command, cwd=cwd, direct=direct):
            place = [] if cwd == folder else [f"in {flat(cwd)}"]
            place += ["on the folder itself, so it can only be recorded"] if direct else []
            told = wrapped(", ".join(place), width, palette.dim, "  ", "  ") if place else []
            return [*_command(command, width, palette), *told]
        case Network(registries=registries):
            lines = list[Text]()
            for one in reached(action) if registries or not said else ():
                lines += wrapped(flat(one), width, palette.strong, "→ ", "  ")
            return lines
        case McpCall(arguments=arguments, effect=effect):
            only_reads = "the server says that it only reads; it gets"
            head = only_reads if effect == "reads" else "it may change something; it gets"
            text = msgspec.json.format(msgspec.json.encode(arguments), indent=2).decode()
            return [*wrapped(head, width, palette.dim), *_block(text, width, palette)]
        case ChangeMany():
            return _many(action, width, palette, said)
        case SpawnAgent(task=task):
            return [] if said.endswith(f": {task}") else _block(task, width, palette)
        case Read() | List() | Search() | Setting() if not said:
            return wrapped(flat(described(action)), width, palette.text)
    return []  # a change of a file: its diff is shown


def _running(request: ConfirmRequest, width: int, palette: Palette) -> list[Text]:
    """The command that wants to reach a host."""
    return _command(request.command, width, palette) if request.command else []


def _command(command: str, width: int, palette: Palette) -> list[Text]:
    """A command as it is; further lines are marked, so that none is taken for words of ours."""
    lines: list[Text] = []
    for number, line in enumerate(_bounded(command)):
        mark = "> " if number else "$ "
        lines += wrapped(line, width, palette.strong, mark, "  ")
    return lines


def _many(many: ChangeMany, width: int, palette: Palette, said: str) -> list[Text]:
    lines, of_them = list[Text](), ""
    if many.created + many.changed + many.deleted > many.lost + many.discarded:
        told = f"{many.created:,} created, {many.changed:,} changed, {many.deleted:,} deleted"
        lines += wrapped(f"{told} below {flat(many.path)}", width, palette.strong)
        of_them = f"{many.lost:,} of them "
    if many.lost:
        size = counted(many.lost_bytes, "byte")
        kept = f"{of_them}({size})" if of_them else size
        where = "not committed" if many.tracked else "not in version control"
        lines += wrapped(f"{kept} {where}", width, palette.bad, "! ", "  ")
    for example in map(flat, many.examples):
        if f"`{example}`" not in said:
            lines += wrapped(example, width, palette.dim, "  ", "  ")
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
