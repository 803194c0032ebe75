"""A question in lines: its words, the answers it offers, and which of them are marked. Pure."""

from collections.abc import Collection

from rich.text import Text

from steersman.ports.tui.drawing.lines import wrapped
from steersman.ports.tui.drawing.look import Palette
from steersman.records.message import Question
from steersman.views.questions import OWN_WORDS
from steersman.views.text import flat


def question_lines(
    question: Question, marked: int, chosen: Collection[int], width: int, palette: Palette
) -> tuple[list[Text], list[int]]:
    """A question with the answers it offers, and the line at which each of them begins.

    Where an agent asks, the last of them is an answer in one's own words.
    """
    lines, rows = wrapped(question.text, width, palette.text), list[int]()
    own_words = [OWN_WORDS] if question.call else []
    for number, option in enumerate([*question.options, *own_words]):
        rows.append(len(lines))
        mark = "›" if number == marked else " "
        key = str(number + 1) if number < 9 else " "
        box = ""
        if question.multiple and number < len(question.options):
            box = "[x] " if number in chosen else "[ ] "
        kept = "your answer" if question.call else "default"
        own = f" ({kept})" if option == question.default and not question.marked else ""
        style = palette.strong if number == marked else palette.text
        detail = flat(question.details[number]) if number < len(question.details) else ""
        told = wrapped(f"{flat(option)}{own}", width, style, f"{mark} {key} {box}", "    ")
        if detail and told[-1].cell_len + len(detail) + 2 <= width:
            told[-1].append(f"  {detail}", palette.dim)
        elif detail:
            told += wrapped(detail, width, palette.dim, "    ", "    ")
        lines += told
    return lines, rows
