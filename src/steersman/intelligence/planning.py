"""What of a conversation is shown when not all of it fits: the plan of a compaction. Pure.

Large old results are shortened first, each with a handle to the whole; if that is not enough, older
turns give way to a digest, next to what is kept word for word.
"""

from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from steersman.intelligence.digest import fitted, head_items, outline, to_size
from steersman.intelligence.facts import gather
from steersman.intelligence.shortening import SMALLEST, shorten_item
from steersman.intelligence.tokens import Counter
from steersman.records.dialogue import Item, ResultItem, UserItem
from steersman.records.message import Compaction, Kept, Shortened

TAIL, KEPT, DIGEST = 0.3, 0.4, 0.1  # of the room for the conversation
TURN = 0.45  # of the room: the running turn is kept whole if it takes no more
ENOUGH = 0.7  # shortening alone will do when it leaves this much or less
RECENT = 0.3  # of the room: what is so new is not shortened just for being long
LARGE, SHORT = 400, 1_200  # units above which an old result is large; characters that remain of it
CHARACTERS = 3  # a unit has about so many, at the least
# How far head and tail are tightened, step by step, when what is shown does not fit.
TIGHTER = ((1.0, 1.0), (0.7, 1.0), (0.7, 0.4), (0.5, 0.15), (0.35, 0.05), (0.1, 0.0))


class Sheet(Struct, frozen=True):
    """A conversation before a compaction: all of it, and how much of it is shown now.

    `latest` is the compaction in force, and `start` the first item that it shows as such.
    """

    items: Sequence[Item]
    seqs: Sequence[int]
    counter: Counter
    start: int = 0
    latest: Compaction = Compaction()

    def shown(self, index: int, rooms: dict[int, int]) -> float:
        """The units of an item, as it is or shortened."""
        item = self.items[index]
        if index in rooms:
            item = shorten_item(item, rooms[index], self.seqs[index])
        return self.counter.of_item(item)

    def rooms(self) -> dict[int, int]:
        """Which items are shortened now, and to how many characters."""
        return {self.start + one.place: one.room for one in self.latest.shortened}

    def numbered(self, start: int, end: int) -> list[tuple[Item, int]]:
        """Items with the messages they came from."""
        return list(zip(self.items[start:end], self.seqs[start:end], strict=True))


class Plan(Struct, frozen=True):
    """What to do: items before `boundary` go into the digest, those in `rooms` are shortened."""

    boundary: int
    rooms: dict[int, int]


def plan(sheet: Sheet, room: float, *, digest: bool = False) -> Plan:
    """How to bring a conversation into so many units; with `digest`, not by shortening alone."""
    shortened = shortening(sheet, room)
    shown = range(sheet.start, len(sheet.items))
    total = sum(sheet.shown(index, shortened) for index in shown)
    if not digest:
        head = sum(map(sheet.counter.of_item, head_items(sheet.latest)))
        if head + total <= ENOUGH * room:
            return Plan(sheet.start, shortened)
    made = tail(sheet, TAIL * min(room, total), shortened)
    turn = _running_turn(sheet)
    if sheet.start < turn < made.boundary:
        shown = range(turn, len(sheet.items))
        if sum(sheet.shown(index, shortened) for index in shown) <= TURN * room:
            return Plan(turn, {index: most for index, most in shortened.items() if index >= turn})
    return made


def _running_turn(sheet: Sheet) -> int:
    """Where the newest turn begins."""
    for index in range(len(sheet.items) - 1, sheet.start - 1, -1):
        item = sheet.items[index]
        if isinstance(item, UserItem) and not item.steer:
            return index
    return sheet.start


def shortening(sheet: Sheet, room: float) -> dict[int, int]:
    """The large results that are old enough to be shortened, besides those that are already."""
    rooms = sheet.rooms()
    newer = 0.0
    for index in range(len(sheet.items) - 1, sheet.start - 1, -1):
        cost = sheet.shown(index, rooms)
        newer += cost
        if newer > RECENT * room and cost > LARGE and isinstance(sheet.items[index], ResultItem):
            rooms[index] = min(SHORT, rooms.get(index, SHORT))
    return rooms


def tail(sheet: Sheet, room: float, rooms: dict[int, int]) -> Plan:
    """The newest items that fit; an answer and its results are not torn apart.

    A turn is kept from its beginning if one begins in there. The last answer is always kept, and
    what is too large in it shortened.
    """
    rooms = dict(rooms)
    items, boundary = sheet.items, len(sheet.items)
    turn: int | None = None
    left = room
    for start, end in _groups(items, sheet.start):
        last = boundary == len(items)
        costs = [sheet.shown(index, rooms) for index in range(start, end)]
        most = level(costs, room) if last else room / 4
        for index in range(start, end):
            _squeeze(sheet, index, most, rooms)
        left -= sum(sheet.shown(index, rooms) for index in range(start, end))
        if left < 0 and not last:
            break
        boundary = start
        item = items[start]
        if isinstance(item, UserItem) and not item.steer:
            turn = start
    boundary = boundary if turn is None else turn
    return Plan(boundary, {index: most for index, most in rooms.items() if index >= boundary})


def _groups(items: Sequence[Item], start: int) -> Iterable[tuple[int, int]]:
    """Beginnings and ends of what belongs together, the newest first."""
    end = len(items)
    for index in range(len(items) - 1, start - 1, -1):
        if not isinstance(items[index], ResultItem) or index == start:
            yield index, end
            end = index


def level(costs: Sequence[float], room: float) -> float:
    """The height at which to cut off the largest, so that all of them together fit."""
    left, many = room, len(costs)
    for cost in sorted(costs):
        if cost * many > left:
            return left / many
        left -= cost
        many -= 1
    return room


def _squeeze(sheet: Sheet, index: int, room: float, rooms: dict[int, int]) -> None:
    """Give an item so little room that it fits, if it does not."""
    while sheet.shown(index, rooms) > room:
        before = rooms.get(index)
        if before is not None and before <= SMALLEST:
            return
        rooms[index] = max(int(room * CHARACTERS) if before is None else before // 2, SMALLEST)


def compose(sheet: Sheet, made: Plan, kept: Kept, digest: str, room: float) -> Compaction:
    """The message that carries out a plan, tightened until what is shown fits, if it can."""
    body = Compaction()
    for head, share in TIGHTER:
        if share < 1.0:
            tighter = tail(sheet, share * TAIL * room, made.rooms)
            more = sheet.numbered(made.boundary, tighter.boundary)
            if more:
                kept = gather(kept, more)
                digest = outline(digest, more, int(DIGEST * room * CHARACTERS))
                made = tighter
            else:
                made = Plan(made.boundary, made.rooms | tighter.rooms)
        body = _body(sheet, made, kept, digest, head * room)
        if size(body, sheet, made) <= room:
            break
    return body


def _body(sheet: Sheet, made: Plan, kept: Kept, digest: str, room: float) -> Compaction:
    until = sheet.latest.until
    if made.boundary > sheet.start:
        until = max(sheet.seqs[made.boundary - 1], 1)
    if until:
        kept = fitted(kept, KEPT * room, sheet.counter.units)
        digest = to_size(digest, DIGEST * room, sheet.counter.units)
    shortened = tuple(
        Shortened(index - made.boundary, most, sheet.seqs[index])
        for index, most in sorted(made.rooms.items())
        if index >= made.boundary
    )
    return Compaction(
        until=until,
        tail=len(sheet.items) - made.boundary,
        digest=digest if until else "",
        kept=kept if until else Kept(),
        shortened=shortened,
    )


def size(body: Compaction, sheet: Sheet, made: Plan) -> float:
    """The units of what a compaction would show."""
    head = sum(map(sheet.counter.of_item, head_items(body)))
    shown = range(made.boundary, len(sheet.items))
    return head + sum(sheet.shown(index, made.rooms) for index in shown)


def shown_by(body: Compaction, sheet: Sheet) -> float:
    """The units of what a compaction shows."""
    start = len(sheet.items) - body.tail
    rooms = {start + one.place: one.room for one in body.shortened}
    return size(body, sheet, Plan(start, rooms))


def with_rules(kept: Kept, messages: set[int]) -> Kept:
    """What is kept, with some of the user's words marked as rules."""
    words = (replace(said, why="rule") if said.message in messages else said for said in kept.words)
    return replace(kept, words=tuple(words))
