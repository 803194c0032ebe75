"""Compaction: a model is shown what fits in its window. A view, never a deletion.

What is decided is one `compaction` message; the context, which watches the log, does the rest.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Literal
from weakref import WeakKeyDictionary

from msgspec.structs import replace

from steersman.intelligence.context import KINDS, Context
from steersman.intelligence.tokens import DENSEST, Counter
from steersman.records.dialogue import Item, ToolSpec
from steersman.records.errors import SteersmanError
from steersman.records.message import Compaction
from steersman.store.log import Lane

Cause = Literal["window", "user", "context_length"]
Summarise = Callable[[str, Lane], Awaitable[str]]  # the lane is for what it costs

RESERVE, MOST_RESERVE = 0.2, 16_000  # of the window, for the answer and for what estimates miss
ENDLESS = 1_000_000_000
LONGEST_NOTES = 200_000  # tokens a model is asked to condense, at most
PATIENCE = 120.0  # seconds a model may take for a digest


class Tally:
    """What one context's view weighs: counted once, then only what was added."""

    def __init__(self) -> None:
        self.view: Sequence[Item] = ()
        self.seen = 0
        self.units = 0.0
        self.unread = False  # whether sizes of stored items stand in for them
        self.sent = 0  # tokens of the request that was measured last
        self.hopeless = 0.0  # units that could not be brought into the window

    def measure(self, context: Context, counter: Counter, *, read: bool = False) -> float:
        """The units of what is shown; with `read`, of nothing but what was looked at."""
        view = context.view
        if view is not self.view or read:
            self.view, self.seen, self.units, self.unread = view, 0, 0.0, False
        behind = len(context.items) - len(view)
        for place in range(self.seen, len(view)):
            index, item = place + behind, view[place]
            known = 0 <= index < len(context.sizes) and item is context.items[index]
            stored = context.sizes[index] if known else 0
            if stored and not read:
                self.unread = True
                self.units += stored / DENSEST
            else:
                self.units += counter.of_item(item)
        self.seen = len(view)
        return self.units


class Compactor:
    """Keeps what a model is shown within its window, for every capsule that uses it.

    `window` is in tokens, None where nobody knows it; then a provider's refusal teaches it.
    `summarise` asks a model for a digest; without one, or when it fails, an outline does.
    """

    def __init__(
        self, window: int | None, counter: Counter, summarise: Summarise | None = None
    ) -> None:
        self.window = window
        self.counter = counter
        self._summarise = summarise
        self.before: Callable[[Cause, Lane], Awaitable[bool]] | None = None  # may call it off
        self._frame: tuple[str, Sequence[ToolSpec], float] = ("", (), 0)
        self._tallies: WeakKeyDictionary[Context, Tally] = WeakKeyDictionary()

    def use(self, window: int | None, counter: Counter, summarise: Summarise | None) -> None:
        """Serve another model from now on; what was measured for the last one is forgotten."""
        self.window = window
        self.counter = counter
        self._summarise = summarise
        self._frame = ("", (), 0)
        self._tallies.clear()

    @property
    def limit(self) -> int:
        """How many tokens a request may have."""
        window = ENDLESS if self.window is None else self.window
        return window - min(int(RESERVE * window), MOST_RESERVE)

    def tokens(self, context: Context, system: str = "", tools: Sequence[ToolSpec] = ()) -> int:
        """About how many tokens the next request has."""
        shown = self._tally(context).measure(context, self.counter)
        return self.counter.tokens(self._framed(system, tools) + shown)

    def learn(self, context: Context, reported: int) -> None:
        """Correct the estimates by the input tokens that the provider reported last."""
        self.counter.calibrate(self._tally(context).sent, reported)

    async def fit(
        self,
        context: Context,
        lane: Lane,
        *,
        system: str = "",
        tools: Sequence[ToolSpec] = (),
        cause: Cause = "window",
    ) -> bool:
        """Before a request: compact if it would not fit; True when that was done.

        A person's wish (`user`) and a provider's refusal (`context_length`) compact in any case,
        if there is anything to gain. `lane` is where the capsule thinks; nothing else may be said
        in it meanwhile.
        """
        frame, tally = self._framed(system, tools), self._tally(context)
        units = tally.measure(context, self.counter)
        full = self.counter.tokens(frame + units) > self.limit
        if tally.unread and (full or cause != "window"):
            units = tally.measure(context, self.counter, read=True)
        before = tally.sent = self.counter.tokens(frame + units)
        if cause == "window" and (before <= self.limit or units < 1.1 * tally.hopeless):
            return False
        if self.before is not None:
            if not await self.before(cause, lane):
                return False
            units = tally.measure(context, self.counter)  # something may have been said
        body, saved = await self._body(context, lane, self._room(frame, units, cause), cause)
        if saved <= 0:
            return False
        after = self.counter.tokens(frame + units - saved)
        await lane.append(replace(body, cause=cause, tokens_before=before, tokens_after=after))
        tally.sent = self.tokens(context, system, tools)
        tally.hopeless = tally.units if tally.sent > self.limit else 0.0
        return True

    async def undo(self, context: Context, lane: Lane) -> bool:
        """Take the compaction in force back: the model sees what it saw before it."""
        _number(context, lane)
        cut = context.cut
        if cut is None:
            return False
        await lane.append(Compaction(until=cut.seq, cause="user", undone=True))
        return True

    def _room(self, frame: float, units: float, cause: Cause) -> float:
        """How many units the conversation may have."""
        if cause == "context_length":  # it was more than we thought
            before = self.counter.tokens(frame + units)
            self.window = self.window or before
            self.counter.calibrate(before, max(before, self.window))
        room = max(self.limit / self.counter.ratio - frame, 0.0)
        return min(room, 0.5 * units) if cause == "context_length" else room

    async def _body(
        self, context: Context, lane: Lane, room: float, cause: Cause
    ) -> tuple[Compaction, float]:
        """The compaction, and the units it saves."""
        from steersman.intelligence import planning
        from steersman.intelligence.digest import outline
        from steersman.intelligence.facts import gather

        _number(context, lane)
        cut = context.cut
        latest, start = (cut.body, cut.start) if cut else (Compaction(), 0)
        sheet = planning.Sheet(context.items, context.seqs, self.counter, start, latest)
        made = planning.plan(sheet, room, digest=cause != "window")
        news = sheet.numbered(start, made.boundary)
        kept, digest, by = gather(latest.kept, news), latest.digest, latest.by
        if news:
            digest, rules = await self._digest(latest.digest, news, room, lane)
            kept = planning.with_rules(kept, rules)
            by = "model" if digest else "rules"
            digest = digest or outline(latest.digest, news, int(planning.DIGEST * room * 3))
        body = replace(planning.compose(sheet, made, kept, digest, room), by=by)
        return body, self._tally(context).units - planning.shown_by(body, sheet)

    async def _digest(
        self, before: str, news: list[tuple[Item, int]], room: float, lane: Lane
    ) -> tuple[str, set[int]]:
        """What a model makes of it, and which messages it takes for rules; nothing if it fails."""
        from steersman.intelligence.digest import question, understood

        if self._summarise is None:
            return "", set()
        most = int(2 * min(self.limit, LONGEST_NOTES) / self.counter.ratio)  # well within it
        asked = question(before, news, most, words=max(80, int(0.06 * room)))
        try:
            async with asyncio.timeout(PATIENCE):
                return understood(await self._summarise(asked, lane))
        except (SteersmanError, TimeoutError):
            return "", set()

    def _framed(self, system: str, tools: Sequence[ToolSpec]) -> float:
        if (system, tools) != self._frame[:2]:
            self._frame = system, tools, self.counter.of_frame(system, tools)
        return self._frame[2]

    def _tally(self, context: Context) -> Tally:
        found = self._tallies.get(context)
        if found is None:
            found = self._tallies[context] = Tally()
        return found


def _number(context: Context, lane: Lane) -> None:
    if not context.numbered:
        context.number(lane.log.store.read(lane.log.thread, kinds=KINDS))
