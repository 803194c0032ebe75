"""Small words that commands share: arguments understood, lists and tables in Markdown."""

from collections.abc import Iterable, Sequence

from steersman.records.errors import UsageProblem
from steersman.views.commands.registry import Choice
from steersman.views.text import one_line


def nothing(command: str, arguments: str) -> None:
    """Refuse words after a command that takes none."""
    if arguments.strip():
        raise UsageProblem(f"/{command} takes no arguments.", try_this=f"Use /{command} alone.")


def number(command: str, arguments: str) -> int | None:
    """The number of a message after a command; None when there is none."""
    given = arguments.strip().removeprefix("#")
    if not given:
        return None
    if not (given.isascii() and given.isdigit()) or len(given) > 12 or int(given) < 1:
        raise UsageProblem(
            f"“{one_line(given, 40)}” is not the number of a message.",
            try_this=f"For example: /{command} 12",
        )
    return int(given)


def one_of(command: str, arguments: str, known: Sequence[str]) -> str:
    """One of some words, also by its beginning; empty when there is none."""
    given = arguments.strip().lower()
    if not given or given in known:
        return given
    begins = [word for word in known if word.startswith(given)]
    if len(begins) == 1:
        return begins[0]
    raise UsageProblem(
        f"“{one_line(arguments, 40)}” is not valid here.",
        f"/{command} takes {', '.join(known)}.",
    )


def choices(known: Iterable[str], abouts: dict[str, str] | None = None) -> list[Choice]:
    """Words to complete to."""
    return [Choice(word, (abouts or {}).get(word, "")) for word in known]


def cell(text: str, width: int = 100) -> str:
    """Text in a Markdown table or list: one line, and no mark of it means anything."""
    flat = one_line(text, width)
    for mark in ("\\", "`", "*", "_", "|", "[", "<", "#"):
        flat = flat.replace(mark, f"\\{mark}")
    return flat


def fenced(text: str, language: str = "") -> str:
    """A text as it is, in a fence that nothing in it can end."""
    longest = max((len(run) for run in _ticks(text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def _ticks(text: str) -> Iterable[str]:
    run = ""
    for letter in text:
        if letter == "`":
            run += letter
        elif run:
            yield run
            run = ""
    if run:
        yield run
