"""What the keys of the application do, by the names that `keys.py` gives them."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from steersman.ports.tui.composer import Composer
from steersman.ports.tui.keys import escape, reminder
from steersman.ports.tui.layout import SIDE
from steersman.ports.tui.panes.mentioned import Mentioned
from steersman.ports.tui.panes.queued import Queued
from steersman.ports.tui.panes.review import Review
from steersman.ports.tui.steering import Twice
from steersman.ports.tui.transcript import Transcript
from steersman.records.errors import SteersmanError
from steersman.views.commands.builtin.modes import next_mode
from steersman.views.commands.stage import Row
from steersman.views.commands.words import fenced
from steersman.views.leaving import agreed, question
from steersman.views.story.reading import again
from steersman.views.text import one_line

if TYPE_CHECKING:
    from steersman.ports.tui.app import SteersmanApp


STOPPING = "Stopping …"
SAID = 4.0  # seconds that a mode is said for
LEAVING = 2.0  # seconds within which the second key quits


class Acting:
    """The keys, done."""

    def __init__(self, app: SteersmanApp) -> None:
        self._app = app
        self.leaves = Twice(seconds=LEAVING)
        self.backs = Twice()
        self.stops = Twice()
        self._going = False  # the user is asked whether to stop jobs and quit
        self._sought = ""  # what was last searched for
        self._said_mode = 0  # the notice that says the mode
        self._reminded = 0  # the one that names the keys
        self._quits = 0  # the one that says that the same key again quits
        self._stopping = 0  # the one that says that what runs is being stopped
        self._modes = asyncio.Lock()  # each press continues from where the one before came to
        self._table: dict[str, Callable[[], None]] = {
            "help": self._help, "ask_help": self._help,
            "palette": self._palette,
            "stop": self._stop, "leave": self._leave, "mode": self._mode,
            "quit": self._quit, "quit_now": self.go, "detach": app.detach,
            "suspend": self._suspend,
            "status": lambda: self.pane("status"), "log": lambda: self.pane("log"),
            "diff_pane": lambda: self.pane("diff"), "diff": self._diff,
            "todo": lambda: self.pane("todo"),
            "page_up": lambda: self._scroll("page_up"),
            "page_down": lambda: self._scroll("page_down"),
            "down": lambda: self._scroll("down"), "up": lambda: self._scroll("up"),
            "top": lambda: self._scroll("top"), "end": lambda: self._scroll("end"),
            "approvals": self._approve, "approvals_now": self._approvals,
            "queued": self._queued, "mentioned": self._mentioned, "retry": self._retry,
            "write": self._write, "read": self._read,
            "search": self._find,
        }  # fmt: skip

    def do(self, name: str) -> None:
        """Do what a key stands for."""
        self._table[name]()

    def pane(self, name: str, *, toggle: bool = True) -> None:
        """Show or hide a pane; where there is room for one column only, instead of the talk."""
        app, showing = self._app, self._app.showing
        shown = name in app.memory.shown(app.size.width)
        if showing.layout.wide or name not in SIDE:
            if toggle or not shown:
                app.memory.toggle(name, app.size.width)
        else:
            showing.over = "" if toggle and showing.over == name else name
        if app.attention == "reading":
            self._write()
        showing.everything()

    def _diff(self) -> None:
        """What was changed, over everything; what to undo of it can be chosen."""
        self._app.spawn(self._review())

    async def _review(self) -> None:
        if not await self._app.reviewing.open():
            self._app.tell("There are no changes to show.")

    def _palette(self) -> None:
        """Everything that can be done, by name."""
        self._app.spawn(self._choose())

    async def _choose(self) -> None:
        from steersman.views.commands.palette import capabilities, choose

        app = self._app
        rows = [
            Row(one.key, one.name, one.about or one.detail)
            for one in capabilities(app.stage, app.registry)
        ]
        chosen = await app.stage.pick("Do anything", rows)
        if chosen:
            try:
                await choose(app.stage, app.registry, chosen)
            except SteersmanError as problem:
                app.tell(problem.facts, problem.try_this)
            app.moved()

    def remind(self) -> None:
        """The keys, above the composer, until something is written or they are asked for again."""
        said, self._reminded = self._reminded, 0
        if said:
            self._app.withdraw(said)
        else:
            self._reminded = self._app.say_for(reminder(self._app.keymap_), None)

    def wrote(self) -> None:
        """Something was written: what a key twice would have done is not meant."""
        self.backs.forget()
        if self._reminded:
            self.remind()

    def _help(self) -> None:
        self._app.show_help()

    def _stop(self) -> None:
        """Close what covers the conversation, go back to writing from elsewhere; else stop."""
        app = self._app
        does = escape(app.showing.now)
        if does == "answer":
            app.showing.answer()
            return
        if does == "close":
            app.showing.close_over()
            return
        if does not in ("", "stop"):
            self._write()  # the turn continues; what waits, waits
            app.showing.closed = does == "later"
            return
        twice = self.stops.again()
        if app.steering.stop() and not twice:
            self._stopping = self._stopping or app.say_for(STOPPING, None)
            return
        if twice and self.withdraw_newest():
            return
        if app.seat.thread and not app.query_one(Composer).text and self.backs.again():
            app.spawn(app.command("/rewind"))

    def stopped(self) -> None:
        """Nothing is being stopped any more."""
        said, self._stopping = self._stopping, 0
        if said:
            self._app.withdraw(said)

    def withdraw_newest(self) -> bool:
        """Put the newest words that wait back where they were written; False: there are none."""
        app = self._app
        waiting = app.follower.story.queued()
        if not waiting or app.query_one(Composer).text:
            return False
        newest = waiting[-1]
        self.withdraw(newest.corr, lambda: app.write(newest.text))
        return True

    def withdraw(self, corr: str, then: Callable[[], None] | None) -> None:
        """Withdraw words; the next ones name the files in context if these did."""
        app, composer = self._app, self._app.query_one(Composer)
        if any(one.corr == corr and one.sent != one.text for one in app.follower.story.queued()):
            composer.mentions = composer.mentions.untold()
        app.steering.withdraw(corr, then)

    def _suspend(self) -> None:
        """Give the terminal back to the shell; one that can take it made a process group for us."""
        app = self._app
        if os.getpgrp() != os.getsid(0):
            app.action_suspend_process()
        else:
            detach, leave = app.keymap_.of("detach"), app.keymap_.of("quit_now")
            app.tell(f"There is no shell to return to. {detach} detaches, {leave} quits.")

    def _mode(self) -> None:
        self._app.spawn(self._next_mode())

    async def _next_mode(self) -> None:
        async with self._modes:
            try:
                told = await next_mode(self._app.stage)
            except SteersmanError as problem:
                self._app.tell(problem.facts, problem.try_this)
            else:
                self._app.withdraw(self._said_mode)
                self._said_mode = self._app.say_for(told, SAID)
        self._app.moved()

    def _quit(self) -> None:
        self._app.spawn(self._asked_to_quit())

    async def _asked_to_quit(self) -> None:
        jobs = self._app.seat.jobs
        told = await question(self._app.seat, jobs) if jobs else ("Quit?", "The thread is kept.")
        if await self._sure(*told):
            self._app.exit()

    def go(self) -> None:
        """Quit; where that stops a turn or jobs, ask first, and pressed again, do."""
        seat = self._app.seat
        if self._going or not (seat.jobs or self._app.carries):
            self._app.exit()
        else:
            self._going = True  # before another key can come
            self._app.spawn(self._asked_to_go())

    async def _asked_to_go(self) -> None:
        try:
            if await self._let_go() and await agreed(self._app.stage):
                self._app.exit()
        finally:
            self._going = False

    async def _let_go(self) -> bool:
        """Whether a turn that runs here may be stopped."""
        if not self._app.carries:
            return True
        detach = self._app.keymap_.of("detach")
        body = f"{detach} leaves without stopping it: `steer attach` comes back to it."
        return await self._app.stage.confirm("Quit and stop the turn?", body)

    async def _sure(self, title: str, body: str) -> bool:
        """An approval to what a letter asked for, which may have been the first of a sentence."""
        from steersman.ports.tui.screens.dialogs import Confirm

        answer = await self._app.answered(
            Confirm(title, body, self._app.patience, seen=self._app.seen)
        )
        return bool(answer)

    def _leave(self) -> None:
        """Stop what runs; then clear what is written; then, twice: quit."""
        app = self._app
        composer = app.query_one(Composer)
        if app.steering.stop():
            return
        if composer.text:
            composer.put_away()
        elif self.leaves.again():
            self.go()
        else:
            key = app.keymap_.of("leave")
            said = f"{key} again quits; the thread is kept."
            self._quits = app.say_for(said, self.leaves.seconds)  # as long as it is true

    def stay(self) -> None:
        """Another key was pressed: the one that would have quit when pressed again will not."""
        self.leaves.forget()
        said, self._quits = self._quits, 0
        if said:
            self._app.withdraw(said)

    def _scroll(self, how: str) -> None:
        if self._app.showing.scroll_pane(how):
            return
        transcript = self._app.query_one(Transcript)
        match how:
            case "down":
                transcript.action_line_down()
            case "up":
                transcript.action_line_up()
            case "page_down":
                transcript.action_page_down()
            case "page_up":
                transcript.action_page_up()
            case "top":
                transcript.action_top()
            case "end":
                transcript.action_end()

    def _approve(self) -> None:
        """What waits is approved there, with the same key; with nothing waiting: how it asks."""
        if self._app.follower.story.waiting():
            self._app.showing.answer()
        else:
            self._app.spawn(self._app.command("/approvals"))

    def _approvals(self) -> None:
        app = self._app
        review = app.query_one(Review)
        if app.follower.story.waiting():
            app.showing.answer()
        elif review.display:
            review.focus()
            app.spawn(app.reviewing.check())
        else:
            app.tell("Nothing waits for an answer.")

    def _queued(self) -> None:
        queued = self._app.query_one(Queued)
        if queued.display:
            queued.focus()
        else:
            self._app.tell("Nothing is queued.")

    def _mentioned(self) -> None:
        mentioned = self._app.query_one(Mentioned)
        if mentioned.display:
            mentioned.focus()
        else:
            self._app.tell("No files are in context. Name one with @.")

    def _retry(self) -> None:
        said = again(self._app.follower.story)
        if said:
            self._app.spawn(self._asked_to_retry(said))
        else:
            self._app.tell("There is nothing to try again.")

    async def _asked_to_retry(self, said: str) -> None:
        if await self._sure("Try the last step again? It says:", fenced(said)):
            self._app.steering.say(said)

    def _read(self) -> None:
        """The only way to where letters are keys, and back."""
        app = self._app
        if app.attention == "reading":
            self._write()
            return
        app.showing.close_over()
        if app.follower.story.blocks:
            app.query_one(Transcript).read()
        else:
            app.tell("There is nothing to read yet.")

    def _find(self) -> None:
        self._app.spawn(self._search())

    async def _search(self) -> None:
        """Go up to the nearest place in the conversation that has some words."""
        app, transcript = self._app, self._app.query_one(Transcript)
        words = await app.stage.ask("Search the conversation", self._sought)
        transcript.read()
        if words and words.strip():
            self._sought = transcript.sought = words
            transcript.window.hit = ("", 0)
            if not transcript.find(words):
                app.tell(f"“{one_line(words, 40)}” is not in this conversation.")

    def _write(self) -> None:
        self._app.query_one(Composer).focus()
