"""A question of an agent or a server as every port puts it: its choices by numbers, and what an
answer means. Pure; how its lines look is a port's own."""

from collections.abc import Collection

from steersman.records.message import Answer, Body, Question, TurnEnd
from steersman.views.requests import Offered
from steersman.views.text import flat

DECLINE = "decline"
OWN_WORDS = "Something else: type your own answer"
STILL_PLANNING = "Still in plan mode: say what to change, or /code to leave it."


def option_lines(question: Question) -> list[str]:
    """The choices, a line each."""
    details = (*question.details, *[""] * len(question.options))
    return [
        f"{number} {flat(option)}{f': {flat(detail)}' if detail else ''}"
        for number, (option, detail) in enumerate(zip(question.options, details, strict=False), 1)
    ]


def choices(question: Question) -> list[Offered]:
    """The choices as answers, and one's own words where any may be one: a form takes none."""
    keys = {"yes": "y", "no": "n"} if question.options == ("yes", "no") else {}
    made = [Offered(keys.get(option, ""), flat(option)) for option in question.options]
    own = made and (question.call or not question.header)
    return [*made, *([Offered("" if question.call else "o", OWN_WORDS)] if own else [])]


def how_to_answer(question: Question) -> str:
    """What can be typed."""
    words = "your own words" if question.call else "an answer"
    numbers = "numbers such as 1,2" if question.multiple else "a number"
    typed = f"{numbers} or {words}" if question.options else words
    if not question.default:
        enter = "declines" if question.call else "leaves it empty"
    else:
        enter = f"is “{flat(question.default)}”"
    declines = question.header and enter != "declines" and DECLINE not in question.options
    return f"{typed}; Enter {enter}" + f", “{DECLINE}” declines" * bool(declines)


def answer_from(question: Question, said: str) -> Answer:
    """What a person means by a line: numbers of choices, the first letters of one, or words."""
    if not said:
        declines = question.call and not question.default
        return Answer("", by="declined") if declines else Answer(question.default)
    numbers = [word.strip() for word in said.split(",")] if question.multiple else [said]
    count = len(question.options)
    if all(word.isdecimal() and 1 <= int(word) <= count for word in numbers):
        return chosen(question, {int(word) - 1 for word in numbers})
    begun = [option for option in question.options if option.lower().startswith(said.lower())]
    if question.header and not begun and said.lower() == DECLINE:
        return Answer("", by="declined")
    return Answer(begun[0] if len(begun) == 1 else said)


def chosen(question: Question, places: Collection[int], words: str = "") -> Answer:
    """The choices at some places, and perhaps words beside them."""
    labels = [question.options[place] for place in sorted(places)]
    return Answer(", ".join([*labels, *([words] if words else [])]))


def still_planning(body: Body, mode: str) -> bool:
    """Whether a turn ended without carrying out a plan: none was offered, or it was declined."""
    return isinstance(body, TurnEnd) and body.ending == "done" and mode == "plan"
