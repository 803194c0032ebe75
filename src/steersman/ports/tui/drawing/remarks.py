"""Everything that is worth a line and is neither talk nor work."""

from rich.style import Style
from rich.text import Text

from steersman.ports.tui.drawing.bodies import spent
from steersman.ports.tui.drawing.lines import clean_line, cut, shifted, wrap
from steersman.ports.tui.drawing.look import Look, Palette
from steersman.ports.tui.drawing.work import diff_lines
from steersman.records.message import (
    Audit,
    Body,
    Checkpoint,
    Compaction,
    DiffReady,
    Error,
    GuardBlock,
    Summary,
    TurnEnd,
)
from steersman.views import git_notes
from steersman.views.blocks import Remark
from steersman.views.text import (
    compaction_words,
    counted,
    in_chat,
    next_words,
    parts_words,
    summary_lines,
    words,
)

ENDINGS = {
    "done": "done", "failed": "failed", "cancelled": "stopped",
    "interrupted": "cut off when Steersman ended",
    "needs_answer": "needs an answer", "limit": "a limit was reached", "blocked": "blocked",
}  # fmt: skip
NEXT = {
    "interrupted": "Say “continue” to go on from here.",
    "failed": "/retry sends your message again.",
}


def draw_remark(block: Remark, width: int, look: Look) -> list[Text]:
    """A remark; what it says at length is wrapped below it."""
    palette = look.palette
    mark, style, said, below = _told(block, palette)
    lines = wrap(Text.assemble((f"{mark} ", style), (clean_line(said), _tone(block, palette))),
                 width, 2)  # fmt: skip
    room = max(width - 2, 1)
    for text in below:
        lines += [shifted(line, "  ") for line in wrap(Text(clean_line(text), palette.dim), room)]
    if isinstance(block.body, DiffReady):
        lines += [shifted(line, "  ") for line in diff_lines(block.body.diff, room, look)]
    if look.open and isinstance(block.body, Compaction) and block.body.digest:
        for text in block.body.digest.split("\n"):
            part = Text(clean_line(text), palette.text)
            lines += [shifted(line, "  ") for line in wrap(part, room)]
    return [cut(line, width) for line in lines]


def _tone(block: Remark, palette: Palette) -> Style:
    return palette.dim if block.state in ("done", "cancelled") else palette.text


def _changed_back(body: Checkpoint, palette: Palette) -> tuple[str, Style, str, list[str]]:
    if body.cause == "void":
        return "✗", palette.bad, "not carried out: the files are as they were", []
    what = "undone" if body.cause == "undo" else "done again"
    if body.parts:
        told = parts_words(body.parts)
        return "↶", palette.accent, f"undone: {told} · the rest of the turn stays", []
    paths = [change.path for change in body.changes]
    made = git_notes.made_files(paths)
    by_tools = f"{counted(made, 'file')} made by tools" if made else ""
    names = [*git_notes.files_first(paths)[:8], *_filled(by_tools, git_notes.line(paths))]
    said = f"{git_notes.undo_words(paths, body.count)} {what}"
    return "↶" if body.cause == "undo" else "↷", palette.accent, said, names


def _digested(body: Compaction | Summary, palette: Palette) -> tuple[str, Style, str, list[str]]:
    if isinstance(body, Compaction):
        return "≡", palette.dim, compaction_words(body), []
    first, *rest = summary_lines(body)
    return "≡", palette.accent, first, rest


def _failed(block: Remark, error: Error, palette: Palette) -> tuple[str, Style, str, list[str]]:
    often = f"· {counted(block.times, 'time')}" if block.times > 1 else ""
    said = " ".join(filter(None, (error.what, error.why, often)))
    if block.state == "done":  # it was tried again, and what came of it is said below
        return "·", palette.dim, said, []
    stops = " Esc stops it." if error.retry_in else ""
    return "✗", palette.bad, said, _filled(in_chat(next_words(error)) + stops)


def _told(block: Remark, palette: Palette) -> tuple[str, Style, str, list[str]]:
    """The mark, its style, what is said in one line, and what is said below."""
    match block.body:
        case TurnEnd() as end:
            return _ended(end, block, palette)
        case Error() as error:
            return _failed(block, error, palette)
        case GuardBlock(reason=reason, rule=rule):
            return "⊘", palette.bad, f"blocked by rule {rule}: {reason}", []
        case Audit(what=what, why=why, try_this=advice):
            said = " ".join(filter(None, (what, why)))
            return "!", palette.warn, said, _filled(in_chat(advice))
        case Compaction() | Summary() as much:
            return _digested(much, palette)
        case Checkpoint() as checkpoint:
            return _changed_back(checkpoint, palette)
        case DiffReady(file=file, added=added, removed=removed):
            return "●", palette.good, f"{file} +{added} -{removed}", []
        case body:
            return "·", palette.dim, words(body) or _name(body), []


def _ended(end: TurnEnd, block: Remark, palette: Palette) -> tuple[str, Style, str, list[str]]:
    good = end.ending == "done"
    elsewhere = end.ending == "interrupted" and end.reason  # it is in the thread this one copies
    told = [elsewhere or ENDINGS[end.ending], counted(end.steps, "step")]
    if block.seconds >= 1:
        told.append(spent(round(1000 * block.seconds)))
    mark, style = ("✓", palette.good) if good else ("–", palette.dim)
    if end.ending in ("failed", "limit", "blocked"):
        mark, style = "✗", palette.bad
    # The error that ended it is right above.
    known = end.ending in ("failed", "limit", "blocked", "needs_answer")
    login = end.ending == "failed" and "steer login" in block.advice  # the same key fails again
    next_ = "After /login, " * login + NEXT.get(end.ending, "")
    below = () if elsewhere else ("" if known else end.reason, next_)
    return mark, style, " · ".join(told), _filled(*below)


def _filled(*texts: str) -> list[str]:
    return [text for text in texts if text]


def _name(body: Body) -> str:
    return body.kind.replace("_", " ")
