"""What is said between the user and the agents: words, thoughts, requests, questions."""

from collections import OrderedDict

from rich.text import Text

from steersman.ports.tui.drawing.lines import (
    capped,
    clean,
    clean_line,
    cut,
    folded,
    hinted,
    shifted,
    split,
    wrap,
    wrapped,
)
from steersman.ports.tui.drawing.look import Look, state_mark
from steersman.ports.tui.drawing.markdown import Flow
from steersman.ports.tui.drawing.work import diff_lines
from steersman.records.action import (
    ChangeMany,
    Delete,
    Execute,
    Network,
    SpawnAgent,
    Write,
)
from steersman.records.message import ConfirmRequest
from steersman.records.wording import described, reached, wants
from steersman.views.blocks import Agent, Asked, Person, Request, Words
from steersman.views.requests import asker, title
from steersman.views.text import SCOPES, counted, fact_words

PERSON = 12  # lines of a person's words before they are folded
THOUGHT = 3  # lines of a thought while it is thought
FLOWS = 8  # texts that grow at the same time
RECEIPTS = {
    "delivered": "delivered",
    "pending": "waits for the next step",
    "queued": "queued for the next turn",
    "withdrawn": "withdrawn",
}
_flows: OrderedDict[tuple[str, int, str], Flow] = OrderedDict()


def draw_person(block: Person, width: int, look: Look) -> list[Text]:
    """Words of the user, with what became of them."""
    palette = look.palette
    heard = block.receipt in ("", "delivered")
    style = palette.person if heard else palette.dim
    lines = wrapped(block.text, width, style, "› ", "  ", look.most)
    if not look.open:
        lines = capped(lines, PERSON, width, look, "  ")
    notes = []
    if block.images:
        notes.append(counted(block.images, "image"))
    if block.attached:
        notes.append(f"{len(block.attached)} attached")
    if block.receipt in RECEIPTS:
        notes.append(RECEIPTS[block.receipt])
    if notes:
        lines.append(cut(Text(f"  └ {', '.join(notes)}", palette.dim, end=""), width))
    return lines


def draw_words(block: Words, width: int, look: Look) -> list[Text]:
    """Words of a model; of its thoughts little unless they are open."""
    if block.thought:
        return _thought(block, width, look)
    told = _flow(block, width, look).lines(block.text)
    if block.state == "cancelled":
        told.append(cut(Text("  – stopped", look.palette.dim, end=""), width))
    return told


def _flow(block: Words, width: int, look: Look) -> Flow:
    """What was drawn of a text that grows."""
    key = (block.key, width, look.palette.name)
    flow = _flows.pop(key, None) or Flow(width, look.palette, "  " if width > 8 else "")
    if block.state == "running":
        _flows[key] = flow
        while len(_flows) > FLOWS:
            _flows.popitem(last=False)
    return flow


def _thought(block: Words, width: int, look: Look) -> list[Text]:
    style = look.palette.thought
    running = block.state == "running"
    if look.open:
        lines = wrapped(block.text, width, style, "✻ ", "  ", look.most)
        return [cut(one, width) for one in lines]
    if running:
        # Only the end is shown, so only the end is looked at.
        lines = wrapped(block.text[-THOUGHT * max(width, 20) :].strip(), width, style, "  ", "  ")
        told = [Text("✻ thinking", style, end=""), *lines[-THOUGHT:]]
        return [cut(line, width) for line in told]
    first = next((line.strip() for line in split(block.text) if line.strip()), "")
    return [hinted(f"✻ {clean_line(first)}", width, look, style)]


def draw_request(block: Request, width: int, look: Look) -> list[Text]:
    """A permission that was asked for, on a line; what it is about is where it is answered.

    The call above shows what became of it; open, everything is there.
    """
    palette = look.palette
    if block.state == "waiting" and not asker(block) and not look.open:
        return []  # the call above says that it waits, and the card what for
    head = state_mark(block.state, palette) + Text(_answered(block), palette.strong)
    head.append(f" · {clean_line(title(block.request))}", palette.dim)
    if not look.open:
        return [cut(head, width)]
    about = request_lines(block.request, width - 4, look)
    return [*wrap(head, width, 2), *(shifted(line, "    ") for line in about)]


def _answered(block: Request) -> str:
    answer = block.response
    if answer is None:
        return "no answer" if block.state == "cancelled" else "waits for an answer"
    how = {"yes-flag": "by --yes", "earlier": "by an earlier answer"}.get(
        answer.by, SCOPES[answer.scope]
    )
    no = "denied in this thread" if answer.scope == "thread" else "denied"
    said = f"allowed {how}" if answer.decision == "allow" else no
    if answer.arguments is not None:
        said += ", changed"
    if answer.guidance:
        said += f": {clean_line(answer.guidance)}"
    return said


def request_lines(request: ConfirmRequest, width: int, look: Look) -> list[Text]:
    """What a request is about: diffs, commands and what is in them, hosts."""
    palette = look.palette
    width = max(width, 1)
    lines: list[Text] = []
    for action in request.actions:
        match action:
            case Write(path=path, diff=diff) | Delete(path=path, diff=diff):
                lines.append(cut(Text(clean_line(path), palette.accent, end=""), width))
                lines += diff_lines(diff, width, look)
            case Execute(command=command):
                for number, line in enumerate(split(command)):
                    before = "> " if number else "$ "
                    lines += wrap(Text(before + clean_line(line), palette.strong), width, 2)
                if action.wants:
                    more = clean_line(wants(action).strip())
                    lines.append(cut(Text(more, palette.warn, end=""), width))
            case Network():
                hosts = clean_line(", ".join(reached(action)))
                lines += wrap(Text(hosts, palette.text), width, 2)
            case ChangeMany(created=created, changed=changed, deleted=deleted):
                said = f"{created:,} created, {changed:,} changed, {deleted:,} deleted"
                lines.append(cut(Text(said, palette.text, end=""), width))
            case SpawnAgent(agent=agent, task=task):
                lines.append(cut(Text(clean_line(f"{agent}: {task}"), palette.text), width))
            case _:
                lines.append(cut(Text(clean_line(described(action)), palette.text, end=""), width))
    facts = [f"· {fact_words(fact)}" for fact in request.facts if isinstance(fact, dict)]
    return lines + [cut(Text(clean_line(fact), palette.dim, end=""), width) for fact in facts]


def draw_asked(block: Asked, width: int, look: Look) -> list[Text]:
    """A question and its answer."""
    palette = look.palette
    mark = state_mark(block.state, palette)
    asked = " ".join(clean(block.question.text).split())
    if block.answer is not None:
        words = {"default": " (by default)", "declined": " declined", "back": " went back"}
        by = words.get(block.answer.by, "")
        told = f" → {f'{clean_line(block.answer.text)}{by}'.strip()}"
        text = Text.assemble(
            ("asked: ", palette.dim), (asked, palette.text), (told, palette.strong)
        )
        return wrap(mark + text, width, 2)
    lines = wrap(mark + Text(asked, palette.strong), width, 2)
    if block.state == "waiting":
        options = [f"    {clean_line(option)}" for option in block.question.options]
        lines += [cut(Text(option, palette.accent, end=""), width) for option in options]
    return lines


def draw_agent(block: Agent, width: int, look: Look) -> list[Text]:
    """An agent: its task, what it does, its result."""
    palette = look.palette
    mark = state_mark(block.state, palette)
    task = " ".join(block.spawn.task.split())
    head = mark.append(f"{clean_line(block.spawn.agent)} ", palette.strong)
    head.append(clean_line(task), palette.text)
    lines = wrap(head, width, 2) if look.open else [cut(head, width)]
    count = counted(block.calls, "call")
    note = f"{count} · {block.now}" if block.now else count
    if block.done is not None and block.done.ending != "done":
        note += f" · {block.done.ending}"
    lines.append(hinted(f"  └ {clean_line(note)}", width, look))
    if block.done is not None and block.done.text and not look.open:
        rows = [Text(clean_line(line), palette.text, end="") for line in split(block.done.text)]
        room = max(width - 4, 1)
        below = folded(rows, lambda row: row, room, look, most=3)
        lines += [shifted(line, "    ") for line in below]
    return lines
