"""What a result is shown as, and the small parts that all kinds of results are made of."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct
from rich.text import Text

from steersman.ports.tui.drawing.lines import clean_line, pieces, split
from steersman.ports.tui.drawing.look import Palette
from steersman.ports.tui.drawing.sgr import carried, printed_line
from steersman.records.wording import for_people

JSON = Any
LONGEST_PATH = 40


class Body(Struct, frozen=True):
    """What is shown of a result: `head` in its first line, `rows` below, folded to `most`.

    `lines` is how many lines the rows are of, where that is another number; 0 when nobody knows.
    """

    head: str = ""
    rows: Sequence[Text] = ()
    most: int = 6
    lines: int | None = None
    tail: bool = False
    bad: bool = False  # it was done, and what was done went wrong


class Lazy(Sequence[Text]):
    """Lines that are made when they are shown: of a long result most never are."""

    def __init__(self, rows: Sequence[Any], make: Callable[[Any], Text]) -> None:
        self._rows = rows
        self._make = make

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self._make(row) for row in self._rows[index]]
        return self._make(self._rows[index])


def plain_rows(text: str, palette: Palette) -> Sequence[Text]:
    """Lines of text as they are."""
    return Lazy(pieces(split(text)), lambda line: Text(clean_line(line), palette.text, end=""))


def printed_rows(text: str, palette: Palette) -> tuple[Sequence[Text], int]:
    """What a program printed, coloured as it wished, in rows; and how many lines that is."""
    lines = split(text, overwrites=True)
    rows = carried(pieces(lines))
    return Lazy(rows, lambda row: printed_line(row, palette)), len(lines)


def place(path: Any, line: Any, palette: Palette) -> Text:
    """A place in a file; of a long path the end, as that is what tells files apart."""
    name = clean_line(str(path))
    if len(name) > LONGEST_PATH:
        name = f"…{name[1 - LONGEST_PATH :]}"
    text = Text(end="").append(name, palette.accent)
    if line:
        text.append(f":{line}", palette.dim)
    return text


def listed(output: Mapping[str, JSON], name: str) -> list[Any]:
    found = output.get(name)
    return found if isinstance(found, list) else []


def records(output: Mapping[str, JSON], name: str) -> list[dict[str, Any]]:
    return [one for one in listed(output, name) if isinstance(one, dict)]


def notes(output: Mapping[str, JSON], palette: Palette) -> list[Text]:
    """What a tool says about what it left out."""
    told = [for_people(str(output.get(name) or "")) for name in ("more", "note")]
    return [Text(clean_line(one), palette.dim, end="") for one in told if one]


def number(value: Any) -> int:
    return value if isinstance(value, int) else 0


def spent(ms: int) -> str:
    """A time a person can read."""
    if ms < 1000:
        return f"{ms} ms"
    return f"{ms / 1000:.1f} s" if ms < 60_000 else f"{ms // 60_000} min {ms // 1000 % 60} s"


def pretty(value: JSON) -> str:
    """JSON on several lines; whatever cannot be shown so is described in words."""
    if value is None:
        return ""
    try:
        return msgspec.json.format(msgspec.json.encode(value), indent=2).decode("utf-8", "replace")
    except (TypeError, ValueError, msgspec.MsgspecError, RecursionError):
        return repr(value)[:10_000]


def hit(hit: Mapping[str, Any], palette: Palette) -> Text:
    text = place(hit.get("file", hit.get("path", "")), hit.get("line"), palette)
    text.append("  ")
    text.append(clean_line(str(hit.get("text", "")).strip()), palette.text)
    return text
