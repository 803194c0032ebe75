"""From places in a file to what is shown of them; the same for every engine."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest

from msgspec import Struct

from steersman.operations.finding.records import Hit
from steersman.records.counting import counted

WIDEST = 400
LEAD = 80
MOST_LINES = 20
MOST_BYTES = 32 * 1024


class Spot(Struct, frozen=True):
    """Where something begins and on which line it ends."""

    line: int
    column: int
    end: int


def hits(file: str, spots: Sequence[Spot], lines: Mapping[int, str], context: int) -> list[Hit]:
    """What is shown of the places in one file; no line is shown as context twice."""
    shown: list[Hit] = []
    told = 0
    for spot, following in zip_longest(spots, spots[1:]):
        until = spot.end + context if following is None else following.line - 1
        before = range(max(spot.line - context, told + 1), spot.line)
        after = range(spot.end + 1, min(spot.end + context, until) + 1)
        told = max(told, spot.end, after.stop - 1)
        shown.append(
            Hit(
                file,
                spot.line,
                spot.column,
                _text(spot, lines),
                spot.end if spot.end > spot.line else 0,
                [narrow(lines[line]) for line in before if line in lines],
                [narrow(lines[line]) for line in after if line in lines],
            )
        )
    return shown


def _text(spot: Spot, lines: Mapping[int, str]) -> str:
    covered = [lines[line] for line in range(spot.line, spot.end + 1) if line in lines]
    shown = [narrow(covered[0], spot.column)] if covered else []
    shown += [narrow(line) for line in covered[1:MOST_LINES]]
    if len(covered) > MOST_LINES:
        shown.append(f"…[{counted(len(covered) - MOST_LINES, 'line')} left out]")
    return "\n".join(shown)


def narrow(line: str, column: int = 1) -> str:
    """A line cut to a window that holds the column; what was cut off is said."""
    start = 0 if column + LEAD <= WIDEST or len(line) <= WIDEST else column - 1 - LEAD
    window = line[start : start + WIDEST]
    rest = len(line) - start - len(window)
    lead = f"[{counted(start, 'character')} left out]… " if start else ""
    tail = f" …[{counted(rest, 'character')} left out]" if rest else ""
    return lead + window + tail


def fitting(found: Iterable[Hit], most: int) -> list[Hit]:
    """The first hits that fit in an answer."""
    shown: list[Hit] = []
    room = MOST_BYTES
    for hit in found:
        room -= 60 + sum(
            len(text.encode()) + 6 for text in (hit.file, hit.text, *hit.before, *hit.after)
        )
        if len(shown) == most or room < 0:
            break
        shown.append(hit)
    return shown


def clean(line: bytes) -> str:
    """A line as it is shown: without its ending, bytes that are not UTF-8 as �."""
    return line.removesuffix(b"\n").removesuffix(b"\r").decode("utf-8", "replace")
