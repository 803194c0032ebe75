"""The changes of a turn that ended, reviewed: the card above the composer, and what it leads to."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from steersman.records.errors import SteersmanError
from steersman.records.message import Checkpoint, TurnEnd
from steersman.records.settings import REVIEW
from steersman.records.undo import Part
from steersman.views.blocks import Block, Remark
from steersman.views.committed import commits, without_committed
from steersman.views.hunks import all_parts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steersman.ports.tui.app import SteersmanApp
    from steersman.ports.tui.panes.review import What
    from steersman.views.changeset import Changeset


def _went_back(block: Block) -> bool:
    return isinstance(block, Remark) and isinstance(block.body, Checkpoint)


class Reviewing:
    """Knows what the last turn changed, and does with it what the user decides."""

    def __init__(self, app: SteersmanApp) -> None:
        self._app = app
        self._found: tuple[str, Changeset] | None = None  # and whose thread it is
        self._kept: set[tuple[str, int]] = set()  # threads and turns
        self._committed = False  # something was, since the last turn ended

    @property
    def found(self) -> Changeset | None:
        """What is to be reviewed now; to begin another turn is to keep it."""
        story, thread = self._app.follower.story, self._app.seat.id
        if self._found is None or story.working or self._found[0] != thread:
            return None
        found = self._found[1]
        return None if (thread, found.turn) in self._kept or found.turn != story.turn else found

    def heard(self, changed: Sequence[Block]) -> None:
        """A turn ended, or something was undone or redone: look at what there is to review."""
        news = False
        for one in changed:
            ended = isinstance(one, Remark) and isinstance(one.body, TurnEnd)
            made = commits(one)
            news = news or ended or made or _went_back(one)
            self._committed = made or (self._committed and not ended)
        if not news:
            return
        if self._app.seat.settings.approvals == REVIEW:
            self._app.run_worker(self._look(), group="review", exclusive=True)

    async def _look(self) -> None:
        seat, turn = self._app.seat, self._app.follower.story.turn
        if not seat.id or not turn:
            return
        thread = seat.id
        found = await self._changes(thread, turn)
        if found is not None and self._committed:
            found = await without_committed(seat, found)
        if thread == seat.id:
            self._found = (thread, found) if found else None
            self._app.showing.everything()

    async def _changes(self, thread: str, turn: int | None) -> Changeset | None:
        from steersman.views.changeset import changeset

        try:
            return await asyncio.to_thread(changeset, self._app.seat.host, thread, turn)
        except SteersmanError as problem:
            self._app.tell(str(problem))
            return None

    def do(self, what: What) -> None:
        """What the user decided on the card."""
        found = self.found
        if found is None:
            return
        if what == "keep":
            self._kept.add((self._app.seat.id, found.turn))
            self._app.showing.everything()
        elif what == "undo":
            self._app.spawn(self._undo(found, found.parts(all_parts(found.files))))
        else:
            self._app.spawn(self._choose(found))

    async def open(self) -> bool:
        """Show what the last turn changed, to choose what of it is undone; False if nothing is."""
        seat = self._app.seat
        if not seat.id or self._app.follower.story.working:
            return False
        found = await self._changes(seat.id, None)
        if found is not None:
            await self._choose(found)
        return found is not None

    async def _choose(self, found: Changeset) -> None:
        from steersman.ports.tui.diff_pane import REVIEWING, DiffScreen

        title = f"changes of turn {found.turn}" if found.turn else "changes"
        screen = DiffScreen(found.files, title=title, choosing=True, choice=REVIEWING)
        kept = await self._app.answered(screen)
        if kept is None:
            return
        back = all_parts(found.files) - kept
        if back:
            await self._undo(found, found.parts(back))

    async def _undo(self, found: Changeset, parts: Sequence[Part]) -> None:
        from steersman.views.commands.builtin.back import carry_out

        try:
            plan = await self._app.seat.handle.plan_undo(turn=found.turn, parts=parts)
            await carry_out(self._app.stage, plan, seen=True)
        except SteersmanError as problem:
            self._app.tell(str(problem))
        self._app.moved()
