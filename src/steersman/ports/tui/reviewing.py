"""The changes that stand, shown and reviewed: the pane, the card above the composer, the choice."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from steersman.ports.tui.panes.review import Review, What
from steersman.records.errors import SteersmanError
from steersman.records.undo import Part
from steersman.views.blocks import Block
from steersman.views.hunks import FileDiff, all_parts
from steersman.views.standing import Standing, title_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from steersman.host import Host
    from steersman.ports.tui.app import SteersmanApp
    from steersman.views.changeset import Changeset

VANISHED = "The files are as they were before the turn. Nothing of it is left to review."
MEANWHILE = "The files changed meanwhile, so nothing was undone. The card shows what is there now."


class Reviewing:
    """Looks at what stands when something happened, and does with it what the user decides."""

    def __init__(self, app: SteersmanApp) -> None:
        self._app = app
        self._standing = Standing(app.seat)
        self._looking = self._stale = False
        self._behind = False  # nobody looked at what a turn changes while it runs

    @property
    def found(self) -> Changeset | None:
        """What is to be reviewed now."""
        return self._standing.to_review(self._app.follower.story)

    @property
    def shown(self) -> tuple[str, Sequence[FileDiff]]:
        """What stands, for the pane that is on the screen: whose changes, and each file once."""
        if self._behind:
            self._look_soon()
        changes = self._standing.changes
        return self._standing.title, changes.files if changes else ()

    def heard(self, changed: Sequence[Block]) -> None:
        """Something happened: maybe something else stands now. In a turn, only the pane asks."""
        if self._standing.heard(changed):
            self._behind = True
            if not self._app.follower.story.working:
                self._look_soon()

    async def check(self) -> None:
        """Look again where someone else wrote to the files; say so where nothing is left."""
        before = self.found
        if await self._standing.touched():
            await self._find()
            self._app.showing.everything()
            if before is not None and self.found is None and self._standing.vanished:
                self._app.tell(VANISHED)

    def git_moved(self) -> None:
        """Another program committed."""
        if self._standing.git_moved(self._app.follower.story):
            self._look_soon()

    def _look_soon(self) -> None:
        """One look at a time; what happens meanwhile is seen by the next."""
        self._stale, self._behind = True, False
        if not self._looking:
            self._looking = True
            self._app.spawn(self._look())

    async def _look(self) -> None:
        try:
            while self._stale:
                self._stale = False
                await self._find()
                self._app.showing.everything()
        finally:
            self._looking = False

    async def _find(self) -> None:
        try:
            await self._standing.look()
        except SteersmanError as problem:
            self._app.tell(problem.facts, problem.try_this)

    def do(self, what: What) -> None:
        """What the user decided on the card."""
        found = self.found
        if found is None:
            return
        if what == "keep":
            self._standing.keep(found)
            self._app.showing.everything()
        else:
            self._app.spawn(self._act(what, found))

    async def _act(self, what: What, shown: Changeset) -> None:
        """Undo or choose, of what is there now: only what the user saw is undone at once."""
        await self.check()
        found = self.found
        if found is None:
            return
        if what == "open":
            await self._choose(found)
        elif found == shown:
            await self._undo(found, found.parts(all_parts(found.files)))
        else:
            self._app.tell(MEANWHILE)
            self._app.query_one(Review).focus()

    async def open(self) -> bool:
        """Show what stands, to choose what of it is undone unless a turn runs; False if nothing."""
        from steersman.views.changeset import changeset

        found = await self._made(changeset)  # what an undo would undo, the user's own included
        if found is None:
            return False
        if self._app.follower.story.working:
            self._look_at(found, title_of(found))
        else:
            await self._choose(found)
        return True

    async def open_thread(self) -> bool:
        """Show what stands of all that the thread changed; False if nothing."""
        from steersman.views.changeset import of_thread

        found = await self._made(of_thread)
        if found is not None:
            self._look_at(found, "changes of this thread")
        return found is not None

    def _look_at(self, found: Changeset, title: str) -> None:
        from steersman.ports.tui.diff_pane import DiffScreen

        self._app.push_screen(DiffScreen(found.files, title=title))

    async def _made(self, find: Callable[[Host, str], Changeset | None]) -> Changeset | None:
        seat = self._app.seat
        try:
            return await asyncio.to_thread(find, seat.host, seat.id) if seat.id else None
        except SteersmanError as problem:
            self._app.tell(problem.facts, problem.try_this)
            return None

    async def _choose(self, found: Changeset) -> None:
        from steersman.ports.tui.diff_pane import REVIEWING, DiffScreen

        title = title_of(found)
        screen = DiffScreen(found.files, title=title, choosing=True, choice=REVIEWING)
        kept = await self._app.answered(screen)
        if kept is None or isinstance(kept, str):
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
            self._app.tell(problem.facts, problem.try_this)
        self._app.moved()
