"""What is on the screen at any moment: the story in the panes, the layout for the size.

A part of the application, kept apart because it only reads.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

from textual.screen import ModalScreen
from textual.scroll_view import ScrollView
from textual.widget import Widget

from steersman.ports.tui.composer import Composer
from steersman.ports.tui.keys import Now, hints
from steersman.ports.tui.layout import SIDE, Layout, lay_out
from steersman.ports.tui.notices import Notices, driver_write
from steersman.ports.tui.panes.footer import Keys
from steersman.ports.tui.panes.mentioned import Mentioned
from steersman.ports.tui.panes.passing import Passing
from steersman.ports.tui.panes.queued import SENDING, Queued
from steersman.ports.tui.panes.review import Review
from steersman.ports.tui.panes.side import Side
from steersman.ports.tui.panes.status import StatusBar, StatusPane, Title
from steersman.ports.tui.panes.strip import TodoStrip
from steersman.ports.tui.panes.tasklog import TaskLog
from steersman.ports.tui.panes.welcome import Welcome
from steersman.ports.tui.status_line import StatusLine
from steersman.ports.tui.transcript import Transcript
from steersman.records.message import TurnEnd
from steersman.views.attachments import Mentions
from steersman.views.blocks import Block, Person, Remark
from steersman.views.facts import Facts, Gathering
from steersman.views.questions import STILL_PLANNING, still_planning
from steersman.views.story import Story

if TYPE_CHECKING:
    from steersman.ports.tui.app import SteersmanApp
    from steersman.ports.tui.approvals import Approvals

APPROVALS = "approvals"
PROSE = ("reading", "elsewhere")  # where a letter that is not a command is meant for the composer
WATCH = 2.0  # seconds between looks at the branch
BEAT = 0.12  # seconds between the beats of the mark that shows that work continues


def _exists(folder: str, name: str) -> bool:
    return os.path.exists(os.path.join(folder, name))


class Showing:
    """Keeps the screen as the story is."""

    def __init__(self, app: SteersmanApp, gathering: Gathering) -> None:
        self._app = app
        self._gathering = gathering
        self._story = Story()
        self._asking: Approvals | None = None
        self._known: tuple[object, ...] = ()  # what the seat did at the last beat
        self._unread = 0  # up to which message the thread was there before one sat down
        self.notices = Notices(driver_write(app), app.environ)
        self._status_line = StatusLine(app)
        self.layout: Layout = lay_out(80, 24, ())
        self._entitled: set[str] = set()  # threads that were given a title, or need none
        self._drawn = False  # whether the screen was there once
        self.over = ""  # the pane that a narrow screen shows instead of the conversation
        self.closed = False  # Esc closed what is asked, and nothing was written since

    def begin(self, story: Story) -> None:
        """Another thread is followed."""
        self._story = story
        thread = self._app.seat.thread
        self._unread = thread.head if thread else 0
        self._app.query_one(Transcript).show(story)
        self.everything()

    def news(self, story: Story, changed: list[Block]) -> None:
        """Something happened."""
        if not self._app.is_running:  # the screen is being taken down
            return
        self._app.query_one(Transcript).refresh_blocks(changed)
        if any(block.state != "running" for block in changed):
            self._gathering.look()
        for block in changed:
            if isinstance(block, Remark) and isinstance(block.body, TurnEnd) and not self._unread:
                self.notices.ended(block.body.ending)
                if block.body.ending == "done":
                    self._app.spawn(self._entitle())
                if still_planning(block.body, self._app.seat.settings.mode):
                    self._app.tell(STILL_PLANNING)
        self._app.reviewing.heard(changed)
        self.everything()

    async def _entitle(self) -> None:
        """After the first answer, a thread that nobody named gets a title; once."""
        from steersman.views.titles import entitle

        thread = self._app.seat.id
        if thread and thread not in self._entitled:
            self._entitled.add(thread)
            if await entitle(self._app.seat):
                self.everything()

    def everything(self) -> None:
        """All panes as the story is now."""
        app, story = self._app, self._story
        if not app.is_running:
            return
        facts = self._gathering.facts(story)
        app.query_one(Title).show(facts)
        app.query_one(StatusBar).show(facts)
        app.query_one(StatusPane).show(facts)
        app.query_one(TodoStrip).show(story.todo)
        waiting = [(one.corr, one.text, one.receipt) for one in story.queued()]
        there = {text for _, text, _ in waiting}  # the log has it before whoever sent it knows
        sending = [("", text, SENDING) for text in app.steering.saying if text not in there]
        app.query_one(Queued).show([*waiting, *sending])
        app.query_one(Review).show(app.reviewing.found)
        empty = not story.blocks
        welcome = app.query_one(Welcome)
        welcome.show(facts)
        welcome.display = empty
        app.query_one(Transcript).display = not empty
        self._ask(story)
        self._write(facts)
        self.notices.state(facts.doing, facts.title or "steersman", facts.waiting)
        self.fit()
        self._log(story.blocks)
        self._diff()
        self.keys()
        self._status_line.look(facts)

    def _ask(self, story: Story) -> None:
        """Put what waits to the user; keys go there unless they are writing."""
        app = self._app
        waiting = story.waiting()
        idle = app.attention == "writing" and not app.query_one(Composer).text
        grab = not isinstance(app.screen, ModalScreen) and (idle or app.attention in PROSE)
        place = self._approvals(needed=bool(waiting))
        if place is not None:
            place.show(waiting, story.running(), grab=grab)
        self._cover()
        self.notices.waiting(waiting)

    def _approvals(self, *, needed: bool = False) -> Approvals | None:
        """Where answers are asked for; it is made when the first is needed."""
        app = self._app
        if self._asking is None and needed:
            from steersman.ports.tui.approvals import Approvals

            back = app.keymap_.of("approvals_now")
            self._asking = Approvals(
                id=APPROVALS, patience=app.seen, hold=app.patience, way_back=back,
                folder=lambda: app.seat.folder, drafting=lambda: bool(app.query_one(Composer).text),
            )  # fmt: skip
            app.screen_stack[0].mount(self._asking, before=app.query_one(Queued))
            app.call_after_refresh(self.everything)
        return self._asking if self._asking is not None and self._asking.is_mounted else None

    def fold(self) -> None:
        """Keys go elsewhere, or come back: what waits is a line, or all of it."""
        if self._asking is not None and self._asking.is_mounted:
            self._asking.fold()
        self._cover()

    @property
    def _card(self) -> Approvals | None:
        """What is asked, where all of it is shown."""
        asking = self._asking
        shown = asking is not None and asking.is_mounted and asking.unfolded
        return asking if shown else None

    def _cover(self) -> None:
        """What was said in passing before something is asked waits until that is out of the way."""
        self._app.query_one(Passing).cover(self._card is not None)

    def note(self, text: str, seconds: float | None) -> bool:
        """Say something where something is asked, for its time, so that it covers none of it."""
        card = self._card
        if card is None or seconds is None:
            return False
        card.tell(text)
        card.set_timer(seconds, partial(card.withdraw, text))
        return True

    def reopen(self, corr: str) -> None:
        """An answer did not arrive: it can be given again."""
        if self._asking is not None:
            self._asking.reopen(corr)
            self.everything()

    def emptied(self) -> None:
        """Let keys go back to the composer, unless something new is asked by now."""
        if self._asking is None or self._asking.current is None:
            self._app.query_one(Composer).focus()

    def answer(self) -> None:
        """Let keys go to what waits."""
        if self._asking is not None:
            self._asking.take_keys()

    def _write(self, facts: Facts) -> None:
        """Tell the composer where it is."""
        app, seat = self._app, self._app.seat
        composer = app.query_one(Composer)
        composer.doing, composer.waiting = facts.doing, len(self._story.queued())
        fresh = seat.folder == composer.folder and not composer.thread
        if (composer.folder, composer.thread) != (seat.folder, seat.id):
            composer.move(seat.folder, seat.id, composer.mentions if fresh else Mentions())
        if self._unread and self._story.seq >= self._unread:
            self._unread = 0
            said = (one.sent for one in self._story.blocks if isinstance(one, Person))
            exists = partial(_exists, seat.folder)
            composer.move(seat.folder, seat.id, Mentions.told(said, exists))

    def _log(self, blocks: Sequence[Block]) -> None:
        if self.layout.left:
            self._app.query_one("#left-pane", TaskLog).show(blocks)
        elif "log" in (*self.layout.side, self.layout.over):
            self._app.query_one("#log-pane", TaskLog).show(blocks)

    def _diff(self) -> None:
        """The pane with the last changes; it is made when it is first wanted."""
        if "diff" not in (*self.layout.side, self.layout.over):
            return
        if not self._drawn:  # the composer comes first
            self._drawn = True
            self._app.call_after_refresh(self.everything)
            return
        from steersman.ports.tui.diff_pane import DiffPane

        title, files = self._app.reviewing.shown
        panes = self._app.query(DiffPane)
        if panes:
            panes.first().show(files, title)
            return
        self._app.query_one(Side).mount(DiffPane(files, id="diff-pane", title=title, keys=False))

    def scroll_pane(self, how: str) -> bool:
        """Scroll the pane that is in the conversation's place; False when none does."""
        if not self.layout.over:
            return False
        pane: Widget = self._app.query_one(f"#{self.layout.over}-pane")
        for view in pane.query(ScrollView):
            pane = view
        pages = {"page_up": -1, "page_down": 1}.get(how, 0)
        pane.scroll_relative(y=pages * max(1, pane.size.height - 1), animate=False)
        return True

    def beat(self) -> None:
        """Time passes: show that the work continues, and what a turn that ended leaves."""
        seat = self._app.seat
        if not self._app.is_running:
            return
        known = (seat.doing, seat.owner, *self._app.steering.saying)
        if known != self._known:
            self._known = known
            self.everything()
        self.keys()
        if not self._app.steering.stopping:
            self._app.acting.stopped()
        if seat.doing == "working":
            spent = self._story.spent(datetime.now(UTC))
            self._app.query_one(StatusBar).working(self._story.step, spent)

    async def watch(self) -> None:
        """See whether the branch or its commit is another: another terminal may have changed it."""
        await self._app.reviewing.check()
        branch, commit = await self._gathering.look_again()
        if commit:
            self._app.reviewing.git_moved()
        if branch:
            self.everything()

    def keys(self) -> None:
        """The keys that are of use now."""
        app = self._app
        if not app.query(Composer):
            return  # the last words were cleared while the screen closed
        app.query_one(Keys).show(hints(app.keymap_, self.now))

    @property
    def now(self) -> Now:
        """What decides what keys do."""
        app, composer = self._app, self._app.query_one(Composer)
        running = "running" if app.steering.running else "nothing"
        asking = self._asking
        return Now(
            doing="working" if app.seat.doing == "working" else running,
            focus="dialog" if isinstance(app.screen, ModalScreen) else app.attention,
            queued=bool(composer.waiting),
            asked=asking is not None and asking.current is not None,
            written=bool(composer.text),
            closed=self.closed,
            card=asking.escape if asking is not None else "",
            over=bool(self.layout.over),
        )

    def close_over(self) -> bool:
        """Close the pane that covers the conversation; False: none does."""
        covered, self.over = bool(self.layout.over), ""
        if covered:
            self.everything()
        return covered

    def fit(self) -> None:
        """Lay everything out for the size of the screen."""
        app = self._app
        width, height = app.size
        panes = set(app.memory.shown(width))
        if app.query_one(TodoStrip).empty:
            panes.discard("todo")  # its rows are for others
        story = self._story
        asking = bool(story.waiting())
        listing = story.working and story.todo_turn == story.turn
        fitted = partial(lay_out, width, height, over=self.over, asking=asking, listing=listing)
        layout = self.layout = fitted(panes)
        app.set_class(not layout.status, "small-screen")
        side = app.query_one(Side)
        if not story.blocks and "log" in layout.side:
            layout = self.layout = fitted(panes - {"log"})
        shown = (*layout.side, *([layout.over] if layout.over else []))
        for name in SIDE:
            for pane in app.query(f"#{name}-pane"):
                pane.display = name in shown
                pane.set_class(name in shown[1:], "below")
        left = app.query_one("#left-pane")
        left.display = layout.left
        left.styles.width = layout.side_width
        side.display = bool(shown)
        side.set_class(bool(layout.over), "alone")
        side.styles.width = "100%" if layout.over else layout.side_width
        app.query_one("#talk").display = not layout.over
        app.query_one(Title).display = layout.title
        app.query_one(StatusBar).display = layout.status
        app.query_one(Keys).display = layout.footer
        todo, queued = app.query_one(TodoStrip), app.query_one(Queued)
        todo.fold(max(1, layout.todo))
        review = app.query_one(Review)
        review.fold(max(1, layout.review))
        review.display = bool(layout.review) and not review.empty and not asking
        queued.most = max(1, layout.queued)
        app.query_one(Passing).fold(layout.passing)
        mentioned = app.query_one(Mentioned)
        mentioned.show(app.query_one(Composer).mentions.files)
        mentioned.display = layout.mentioned and bool(mentioned.files)
        todo.display = bool(layout.todo) and not todo.empty
        queued.display = bool(layout.queued and queued.items)
        composer = app.query_one(Composer)
        composer.styles.max_height = layout.composer
        if self._asking is not None:
            self._asking.styles.max_height = layout.asking
