"""What is seen of a long story: which lines, which of them changed, what is open. Pure.

Blocks are drawn when they come near the window; of the others the height is guessed. What was
drawn is kept, up to a limit, as long as block, version, width, theme and fold are the same.
"""

from collections import OrderedDict
from collections.abc import Iterable

from rich.text import Text

from steersman.ports.tui.drawing import Look, Palette, draw, estimate, foldable, gap
from steersman.ports.tui.drawing.heights import Heights
from steersman.ports.tui.drawing.lines import folds, shifted
from steersman.ports.tui.drawing.look import MOST
from steersman.ports.tui.drawing.searching import has_words, lines_with
from steersman.views.blocks import Agent, Block, Person, Request
from steersman.views.story import Story

KEPT = 8_000  # lines that are kept drawn
LEAST = 200  # blocks that are kept however long they are
INNER = "│ "  # before the lines of an agent's lane


class Drawn:
    """A block as it was drawn: its lines.

    `changed` is the first line that is not as it was when the block was drawn before; the lines
    above it are the same objects.
    """

    __slots__ = ("changed", "key", "lines")

    def __init__(self, key: tuple[object, ...], lines: list[Text], before: "Drawn | None") -> None:
        self.key = key
        self.lines = lines
        self.changed = 0
        if before is None or before.key[2:] != key[2:]:
            return
        for at, (line, old) in enumerate(zip(lines, before.lines, strict=False)):
            if line is not old and (line.plain != old.plain or line.spans != old.spans):
                break
            lines[at] = old
            self.changed = at + 1


class Window:
    """A window of `rows` lines on a story; `top` is the first line that is seen."""

    def __init__(self, palette: Palette) -> None:
        self.story = Story()
        self.palette = palette
        self.width = 0
        self.rows = 1
        self.top = 0
        self.following = True
        self.chosen = ""  # the key of the block that keys act on
        self.hit = ("", 0)  # the block where a search is, and the line of it
        self.keys = Look(palette).keys  # those that open what is folded
        self._opened: dict[str, bool] = {}
        self._heights = Heights()
        self._settled = 0  # blocks that keep their places, as far as they were taken in
        self._behind: list[str] = []  # the keys of those behind them
        self._measured: dict[str, int] = {}
        self._drawn: OrderedDict[str, Drawn] = OrderedDict()
        self._kept = 0

    # What is there.

    @property
    def total(self) -> int:
        """How many lines there are, as far as one knows."""
        return self._heights.total

    @property
    def lowest(self) -> int:
        """The top of a window at the end."""
        return max(self.total - self.rows, 0)

    def line(self, number: int) -> tuple[Block, Drawn, int] | None:
        """The block that a line belongs to, and which line of it that is; None for a blank one."""
        place, into = self._heights.at(number)
        blocks = self.story.blocks
        if place >= min(len(self._heights), len(blocks)):
            return None
        drawn = self.drawn(blocks[place])
        into -= self._above(place)
        return (blocks[place], drawn, into) if 0 <= into < len(drawn.lines) else None

    def place_at(self, number: int) -> int | None:
        """The place of the block at a line."""
        place = self._heights.at(number)[0]
        return place if place < len(self._heights) else None

    # What happens to it.

    def show(self, story: Story) -> None:
        """Another story, from its end."""
        self.story = story
        self._opened.clear()
        self.chosen, self.hit = "", ("", 0)
        self.following = True
        self.forget()
        self.arrange()

    def resize(self, width: int, rows: int, palette: Palette) -> None:
        """Another size or theme; what is looked at stays where it is."""
        anchor, into = self._heights.at(self.top)
        self.rows = max(rows, 1)
        if (width, palette.name) != (self.width, self.palette.name):
            self.width, self.palette = width, palette
            self.forget()
        self._take_over()
        self._hold(anchor, into)

    def forget(self) -> None:
        """Nothing that was drawn can be used."""
        self._drawn.clear()
        self._measured.clear()
        self._kept = 0
        self._heights = Heights()
        self._settled = 0
        self._behind = []

    def arrange(self, changed: Iterable[str] = ()) -> int | None:
        """Take in what came and what changed; the answer is the first line to paint again."""
        anchor, into = self._heights.at(self.top)
        before = self.total
        first = self._take_over()
        lines = [] if first is None else [self._heights.before(first)]
        for key in changed:
            place = self.place_of(key) if key in self._drawn else None
            if place is not None and place < len(self._heights):
                self._measure(place)
                begins = self._heights.before(place) + self._above(place)
                lines.append(begins + self._drawn[key].changed)
        self._hold(anchor, into)
        if not lines and self.total != before:
            lines.append(0)
        return min(lines) if lines else None

    def move(self, top: int) -> None:
        """A person moved the window; at the end it stays at the end."""
        self.following = top >= self.lowest
        anchor, into = self._heights.at(max(top, 0))
        self._hold(anchor, into)

    def follow(self) -> None:
        """To the end."""
        self.following = True
        self.arrange()

    # Where blocks are.

    def place_of(self, key: str) -> int | None:
        """Where a block is; looked for from the end, as that is where things change."""
        blocks = self.story.blocks
        for place in range(len(blocks) - 1, -1, -1):
            if blocks[place].key == key:
                return place
        return None

    def _take_over(self) -> int | None:
        """Take over the list where it may have changed; the answer is the first place that did."""
        blocks, settled = self.story.blocks, self._settled
        self._heights.truncate(settled)
        for place in range(len(self._heights), len(blocks)):
            self._heights.append(self._guess(place))
        keys = [block.key for block in blocks[settled:]]
        known, self._behind = self._behind, keys[self.story.settled - settled :]
        self._settled = self.story.settled
        if keys == known:
            return None
        same = next(
            (at for at, (a, b) in enumerate(zip(keys, known, strict=False)) if a != b), None
        )
        return settled + (min(len(keys), len(known)) if same is None else same)

    def _above(self, place: int) -> int:
        blocks = self.story.blocks
        return gap(blocks[place - 1] if place else None, blocks[place])

    def _guess(self, place: int) -> int:
        block = self.story.blocks[place]
        if self._hidden(block):
            return 0
        known = self._measured.get(block.key)
        lines = estimate(block, self.width) if known is None else known
        return self._above(place) + lines if lines else 0

    def _hidden(self, block: Block) -> bool:
        """Whether a block is inside an agent's that is folded."""
        agent = self.story.agents.get(block.lane)
        if agent is None or isinstance(block, Request):
            return False
        return not self.is_open(agent) or self._hidden(agent)

    def _measure(self, place: int) -> None:
        """Know how high a block really is."""
        block = self.story.blocks[place]
        lines = 0 if self._hidden(block) else len(self.drawn(block).lines)
        self._heights.set(place, self._above(place) + lines if lines else 0)

    def _measure_back(self, place: int, rows: int) -> None:
        while place and rows > 0:
            place -= 1
            self._measure(place)
            rows -= self._heights[place]

    def _measure_on(self, place: int, rows: int) -> None:
        while place < len(self._heights) and rows > 0:
            self._measure(place)
            rows -= self._heights[place]
            place += 1

    def _hold(self, anchor: int, into: int) -> None:
        """Put the window where it belongs: at the end, or where the anchor is now.

        A screenful above and below is drawn as well, so that a step never meets a guess.
        """
        count = len(self._heights)
        if self.following or not count:
            self._measure_back(count, 2 * self.rows)
            self.top = self.lowest
            return
        anchor = min(anchor, count - 1)
        self._measure_back(anchor, self.rows)
        self._measure_on(anchor, 2 * self.rows)
        inside = min(into, max(self._heights[anchor] - 1, 0))
        self.top = min(self._heights.before(anchor) + inside, self.lowest)

    # What was drawn.

    def is_open(self, block: Block) -> bool:
        """Whether all of a block is shown."""
        return self._opened.get(block.key, False)

    def drawn(self, block: Block) -> Drawn:
        """A block, drawn; from what is kept if it is still the same."""
        opened = self.is_open(block)
        key = (block.key, block.version, self.width, opened, self.palette.name)
        kept = self._drawn.get(block.key)
        if kept is not None and kept.key == key:
            self._drawn.move_to_end(block.key)
            return kept
        lines = self._lines(block, opened=opened)
        fresh = Drawn(key, lines, kept)
        self._drawn[block.key] = fresh
        self._drawn.move_to_end(block.key)
        self._measured[block.key] = len(lines)
        self._kept += len(lines) - (len(kept.lines) if kept else 0)
        while self._kept > KEPT and len(self._drawn) > LEAST:
            self._kept -= len(self._drawn.popitem(last=False)[1].lines)
        return fresh

    def _lines(self, block: Block, *, opened: bool) -> list[Text]:
        inner = block.lane in self.story.agents
        width = self.width - len(INNER) if inner else self.width
        lines = draw(block, width, Look(self.palette, opened, keys=self.keys))
        return [shifted(line, INNER, self.palette.dim) for line in lines] if inner else lines

    # List the keys.

    def current(self) -> int | None:
        """The place of the chosen block; when that is not seen, of the last one that is."""
        place = self.place_of(self.chosen) if self.chosen else None
        if place is not None and place < len(self._heights):
            begins = self._heights.before(place)
            if begins < self.top + self.rows and begins + self._heights[place] > self.top:
                return place
        last = min(self._heights.at(self.top + self.rows - 1)[0], len(self._heights) - 1)
        return last if last >= 0 else None

    def choose(self, place: int, *, at_top: bool = False) -> None:
        """Choose a block, and bring it into the window."""
        if not 0 <= place < len(self._heights):
            return
        self.chosen = self.story.blocks[place].key
        self._measure_back(place, self.rows)
        self._measure(place)
        begins = self._heights.before(place)
        ends = begins + self._heights[place]
        if begins < self.top or at_top or ends - begins > self.rows:
            self.move(begins + self._above(place))
        elif ends > self.top + self.rows:
            self.move(ends - self.rows)

    def step(self, by: int) -> None:
        """Choose the next block that is seen, or the one before."""
        place = self.current()
        if place is None:
            return
        blocks = self.story.blocks
        place += by if self.chosen == blocks[place].key else 0
        while 0 <= place < len(blocks) and self._hidden(blocks[place]):
            place += by
        self.choose(place)

    def to_person(self, by: int) -> None:
        """To the next words of the user, or those before; behind the last ones is the end."""
        blocks = self.story.blocks
        place = self.place_at(self.top)
        if place is None:
            return
        chosen = self.place_of(self.chosen) if self.chosen else None
        if chosen is not None and isinstance(blocks[chosen], Person) and self.current() == chosen:
            place = chosen
        elif by < 0 and self.top > self._heights.before(place) + self._above(place):
            place += 1  # the one at the top has begun above it
        place += by
        while 0 <= place < len(blocks):
            if isinstance(blocks[place], Person):
                self.choose(place, at_top=True)
                return
            place += by
        if by > 0:
            self.follow()

    def folded(self) -> int | None:
        """The place of the block to open or fold: the chosen one, else the last one that is seen
        with something folded."""
        place = self.current()
        if place is None or self.story.blocks[place].key == self.chosen:
            return place
        for at in range(place, -1, -1):
            if self._heights.before(at) + self._heights[at] <= self.top:
                break
            block = self.story.blocks[at]
            if not self._hidden(block) and any(map(folds, self.drawn(block).lines)):
                return at
        return place

    def exceeds(self, block: Block) -> bool:
        """Whether a block that is folded would not fit if it were open."""
        if self.is_open(block) or not foldable(block) or isinstance(block, Agent | Request):
            return False
        whole = draw(block, self.width, Look(self.palette, open=True, most=self.rows + 1))
        return len(whole) > self.rows

    def fold(self, place: int) -> bool:
        """Open or fold a block; its first line stays where it is. False if it cannot be."""
        block = self.story.blocks[place]
        if not foldable(block):
            return False
        begins = self._heights.before(place)
        anchor, into = (place, 0) if begins < self.top else self._heights.at(self.top)
        self.chosen = block.key
        self._opened[block.key] = not self.is_open(block)
        if isinstance(block, Agent):
            for inner in range(place, len(self._heights)):
                if self.story.blocks[inner].lane.startswith(block.inner):
                    self._heights.set(inner, self._guess(inner))
        self._measure(place)
        self.following = False
        self._hold(anchor, into)
        self.following = self.top >= self.lowest
        return True

    def find(self, words: str, *, back: bool = True) -> bool:
        """Go to the nearest line with these words before (or after) the last one that was found.

        What is folded is opened where the words are in it.
        """
        blocks, (key, line) = self.story.blocks, self.hit
        start = self.place_of(key) if key else None
        if start is None:
            start, line = (len(blocks) - 1, MOST + 1) if back else (0, -1)
        for place in range(start, -1, -1) if back else range(start, len(blocks)):
            block = blocks[place]
            if has_words(block, words):
                lines = lines_with(self.drawn(block).lines, words)
                whole = lines_with(self._lines(block, opened=foldable(block)), words)
                opens = len(whole) > len(lines)
                beyond = [
                    at for at in (whole if opens else lines)
                    if place != start or (at < line if back else at > line)
                ]  # fmt: skip
                if beyond:
                    self._opened[block.key] = opens or self.is_open(block)
                    self._go(place, beyond[-1 if back else 0])
                    return True
        return False

    def _go(self, place: int, line: int) -> None:
        """Open what a block is in, and bring one of its lines into the middle."""
        block = self.story.blocks[place]
        self.hit, self.chosen = (block.key, line), block.key
        agent = self.story.agents.get(block.lane)
        while agent is not None:
            self._opened[agent.key] = True
            agent = self.story.agents.get(agent.lane)
        for at in range(len(self._heights)):
            self._heights.set(at, self._guess(at))
        self._measure_back(place, self.rows)
        self._measure(place)
        at = self._heights.before(place) + self._above(place) + line
        self.move(max(at - self.rows // 2, 0))
