"""From a question to excerpts: the best files are opened, the best parts of them chosen."""

from collections.abc import Callable, Iterable, Sequence, Set

from msgspec import Struct, structs

from steersman.operations.code.index.excerpts import (
    OVERHEAD,
    Chosen,
    Piece,
    Scale,
    Span,
    Unit,
    choose,
    tokens,
    units,
)
from steersman.operations.code.index.ranking import Order, Picture, Ranked, last_part, order
from steersman.records.code_index import Excerpt, RankedContext

BACKEND = "index"
# How many files are opened for a question, and how many of them are at least named.
OPENED = 16
ALSO = 10
PARTS = 4
NO_WORDS = 0.01

Spans = Callable[[str], Iterable[Span]]
Read = Callable[[str], str | None]


class Asked(Struct, frozen=True):
    """A question, what it may cost, and hints: paths and symbols, paths that are open.

    `below` restricts the answer to paths that begin with it.
    """

    question: str
    budget: int = 4000
    files: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()
    opened: tuple[str, ...] = ()
    below: str = ""


def answer(
    picture: Picture, asked: Asked, spans: Spans, read: Read, now: float = 0.0
) -> RankedContext:
    """The excerpts that fit the budget, best first."""
    ordered = ranked(picture, asked, now)
    lines: dict[int, Sequence[str]] = {}
    found: list[Piece] = []
    scale = Scale(ordered.weights)
    names = ordered.question.names | {last_part(name) for name in asked.symbols}
    for one in ordered.files:
        path = picture.paths[one.file]
        text = read(path)
        if text is not None:
            lines[one.file] = text.splitlines()
            found += _pieces(
                one, units(spans(path), lines[one.file]), lines[one.file], names, scale
            )
        if len(lines) == OPENED:
            break
    chosen = choose(found, lines, scale, asked.budget)
    why = {one.file: one.why for one in ordered.files}
    excerpts = tuple(_excerpt(picture, one, lines[one.file], why[one.file]) for one in chosen)
    shown = {one.file for one in chosen}
    # What was not opened is not named either: nobody knows whether it may be looked into.
    also = [picture.paths[file] for file in lines if file not in shown][:ALSO]
    spent = sum(OVERHEAD + tokens(excerpt.text) for excerpt in excerpts)
    return RankedContext(BACKEND, excerpts, spent, tuple(also))


def ranked(picture: Picture, asked: Asked, now: float = 0.0) -> Order:
    """The files that matter, best first."""
    numbers = picture.numbers
    ordered = order(
        picture,
        asked.question,
        files=[numbers[path] for path in asked.files if path in numbers],
        symbols=asked.symbols,
        opened=[numbers[path] for path in asked.opened if path in numbers],
        now=now,
    )
    if not asked.below:
        return ordered
    top = asked.below.rstrip("/") + "/"
    inside = (r for r in ordered.files if f"{picture.paths[r.file]}/".startswith(top))
    return structs.replace(ordered, files=tuple(inside))


def _pieces(
    one: Ranked, parts: Sequence[Unit], lines: Sequence[str], names: Set[str], scale: Scale
) -> list[Piece]:
    """The best parts of a file; one that defines a name that is mentioned is among them."""
    found = []
    for unit in parts:
        worth, _ = scale.weigh(unit, lines)
        if unit.name.rpartition("/")[2] in names:
            worth += scale.heaviest
        if worth > 0:
            found.append(Piece(one.file, unit, worth * one.score))
    if not found and parts:
        found = [Piece(one.file, parts[0], NO_WORDS * one.score)]
    found.sort(key=lambda piece: -piece.worth)
    return found[:PARTS]


def _excerpt(picture: Picture, one: Chosen, lines: Sequence[str], why: tuple[str, ...]) -> Excerpt:
    names = [piece.unit.name for piece in one.pieces if piece.unit.name]
    said = [f"in {', '.join(names[:3])}"] if names else []
    said += why
    text = "\n".join(lines[one.line - 1 : one.end_line])
    worth = max(piece.worth for piece in one.pieces)
    return Excerpt(
        picture.paths[one.file], one.line, one.end_line, text, round(worth, 3), "; ".join(said)
    )
