"""A person in a conversation by lines: what is typed, what is asked, when it is their turn."""

import asyncio
import os
import signal
from collections.abc import Coroutine, Mapping, Sequence
from typing import Any

from steersman import __version__
from steersman.host import models
from steersman.ports.cli.prompts import Leaving, Prompter
from steersman.ports.tui.opening import parting
from steersman.ports.tui.plain.lines import Lines
from steersman.ports.tui.plain.stage import LineStage
from steersman.ports.tui.wanted import Wanted
from steersman.records.counting import counted
from steersman.records.errors import Exit, SteersmanError, UsageProblem
from steersman.records.message import (
    Answer,
    ConfirmRequest,
    ConfirmResponse,
    Message,
    Question,
    TurnEnd,
    User,
)
from steersman.views.attachments import HUGE, Mentions, clean
from steersman.views.commands.registry import Registry, is_command
from steersman.views.interactive import check_terminal
from steersman.views.leaving import agreed
from steersman.views.questions import STILL_PLANNING, still_planning
from steersman.views.review import due
from steersman.views.seat import Seat
from steersman.views.text import safe

ANSWERING, PUT, OWN = "answering", "put", "own command"


class Plain(LineStage):
    """A person at a seat, by lines."""

    def __init__(self, seat: Seat, lines: Lines, environ: Mapping[str, str]) -> None:
        super().__init__(seat, lines, environ)
        self._exit = Exit.DONE
        self._asker = Prompter(leaves=True)
        self._tasks: set[asyncio.Task[None]] = set()
        self._following: asyncio.Task[None] | None = None
        self._questions: asyncio.Queue[Message] = asyncio.Queue()
        self._later: list[Message] = []  # requests about calls that others go before
        self._teller.asked_later = lines.interactive
        self._defect: BaseException | None = None
        self._asked: str | None = None  # what is being put
        self._dropped: tuple[tuple[str, str], ...] = ()  # files, each with its thread
        self._pressed = 0  # Ctrl+C since the last line

    async def say(self, prompt: str) -> None:
        """Say it to the model, and tell when the turn has ended."""
        await self._seat.say(prompt)
        self._do(self._wait())

    async def moved(self) -> None:
        """Show the other thread from where it is."""
        await self._follow_no_more()
        self._teller.turn_to()
        self._following = asyncio.create_task(self._follow())
        self._following.add_done_callback(self._check)
        await self._take_up()

    async def _take_up(self) -> None:
        """Put what the thread asked before one sat down, and is still waiting for."""
        seat = self._seat
        if seat.thread is None or not self._lines.interactive:
            return
        waiting = {one.corr for one in (await seat.handle.state()).activity.waiting}
        if waiting:
            asked = seat.host.messages(seat.id, kinds={"confirm_request", "question"})
            for message in [one for one in asked if one.corr in waiting]:
                if message.seq <= seat.handle.thread.head:
                    self._questions.put_nowait(message)

    # The conversation

    async def run(self, wanted: Wanted) -> Exit:
        """Until the user leaves."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, self._signal, number)
        settings = self._seat.settings
        self.tell(f"Steersman {__version__} · mode {settings.mode} · /help shows what you can do.")
        try:
            if wanted.resume:
                await self._seat.take(wanted.resume)
            await self.moved()
            self._lines.start()
            self._do(self._answer(), ANSWERING)
            if wanted.choose:
                await self._command("/resume")
            if not models.chosen(self._seat.settings, self._environ):
                await self._without_model(ask=not wanted.say)
            if wanted.say:
                await self._heard(wanted.say)
            await self._listen()
        finally:
            loop.remove_signal_handler(signal.SIGTERM)
            for number in (signal.SIGINT, signal.SIGHUP):  # it ends now; nothing more to stop
                signal.signal(number, signal.SIG_IGN)
            await self._end()
        if self._defect is not None:
            raise self._defect
        return self._exit

    async def _without_model(self, *, ask: bool) -> None:
        """Help whoever has chosen no model: let them choose, or say what there is."""
        from steersman.views.beginning import choose_model, tell_models

        if ask and self._lines.interactive:
            self._do(self._safely(choose_model(self)))
        else:
            await tell_models(self)

    async def _end(self) -> None:
        self._lines.stop()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        thread = self._seat.id
        if self.detached:
            await self._follow_no_more()
            self.tell(parting(thread, detached=True))
            return
        await self._seat.leave()
        await self._follow_no_more()
        if thread:
            for message in self._seat.host.messages(thread, after=self._teller.shown):
                self._teller.take(message)  # its last output
            self.tell(f"Thread {thread} is kept: steer resume {thread}")

    async def _follow_no_more(self) -> None:
        if self._following is not None:
            self._following.cancel()
            await asyncio.gather(self._following, return_exceptions=True)

    async def _listen(self) -> None:
        leaving = asyncio.create_task(self._left.wait())
        try:
            while not self._left.is_set():
                if not self._lines.interactive:
                    await self._rest()
                self._invite()
                line = asyncio.create_task(self._lines.queue.get())
                await asyncio.wait({line, leaving}, return_when=asyncio.FIRST_COMPLETED)
                if self._left.is_set() or not line.done():
                    line.cancel()
                    return
                said = line.result()
                if said is None:
                    if not self._lines.interactive:
                        await self._rest()  # a file waits for what it began
                    elif not self._lines.gone and not await agreed(self):
                        continue
                    self._ended()
                    return
                self._pressed = 0
                self._teller.typed()
                await self._heard(said)
        finally:
            leaving.cancel()

    async def _rest(self) -> None:
        """Wait until nothing runs."""
        while busy := self._tasks_at_work():
            await asyncio.wait(busy)

    def _tasks_at_work(self) -> list[asyncio.Task[None]]:
        return [task for task in self._tasks if task.get_name() != ANSWERING]

    async def _heard(self, line: str) -> None:
        """A line of the user: a command, a shell command, or words."""
        text = self._begun + line
        self._begun = ""
        if text.endswith("\\") and not text.endswith("\\\\"):
            self._begun = text[:-1] + "\n"
        elif not text.strip():
            await self._safely(self._hasten())
        elif is_command(text):
            self._do(self._command(text))
        elif text.startswith("!") and text[1:].strip():
            self._do(self._shell(text[1:].strip()), OWN)
        else:
            await self._safely(self._say_it(clean(text)))

    async def _say_it(self, text: str) -> None:
        """Say it; a pipe learns from the exit code that it could not be said, as of `steer run`."""
        try:
            await self._speak(text)
        except SteersmanError as problem:
            self._exit = Exit.DONE if self._lines.interactive else problem.exit
            raise

    async def _speak(self, text: str) -> None:
        if len(text) > HUGE:
            raise UsageProblem(
                f"That is too long to send: {counted(len(text), 'character')}.",
                try_this="Save it as a file and name that with @.",
            )
        if self._seat.doing == "working" and self._lines.interactive:
            await self._seat.queue(text)
        else:
            await self.say(self._with_files(text))

    async def _hasten(self) -> None:
        """Enter alone: the oldest words that are queued go to the model now."""
        if self._seat.thread is None or not self._lines.interactive:
            return
        queued = (await self._seat.handle.state()).activity.queued
        if queued:
            await self._seat.handle.hasten(queued[0])
            self._do(self._wait())

    def _with_files(self, text: str) -> str:
        """Words, and the files named in the thread before: they stay in context."""
        if self._seat.thread is None or self._seat.doing == "working":
            return text
        whole = self._mentions().applied(text)
        self._dropped = ()
        return whole

    def _mentions(self) -> Mentions:
        """What the thread says, without what was dropped since."""
        seat = self._seat
        if seat.thread is None:
            return Mentions()
        said = (m.body for m in seat.host.messages(seat.id, kinds={"user"}))
        texts = [body.text for body in said if isinstance(body, User)]
        known = Mentions.told(texts, lambda name: os.path.exists(os.path.join(seat.folder, name)))
        for thread, file in self._dropped:
            known = known.remove(file) if thread == seat.id else known
        return known

    def files(self) -> Sequence[str]:
        """The files in context."""
        return self._mentions().files

    def drop(self, file: str) -> None:
        """Take a file out of context, from the next words on."""
        self._dropped = (*self._dropped, (self._seat.id, file))

    async def _leave_if_agreed(self) -> None:
        if await agreed(self):
            self.leave()
        else:
            self._invite()

    async def _command(self, line: str) -> None:
        await self._safely(self._run_command(line))

    async def _run_command(self, line: str) -> None:
        await Registry.at(self).run(self, line)

    async def _shell(self, command: str) -> None:
        await self._safely(self._run_shell(command))

    async def _run_shell(self, command: str) -> None:
        check_terminal(command)
        try:
            await self._seat.run(command)
        finally:  # also what it printed until it was stopped
            await self._teller.caught_up()

    async def _safely(self, doing: Coroutine[Any, Any, object]) -> None:
        try:
            await doing
        except SteersmanError as problem:
            self.tell(problem.facts, problem.try_this)

    async def _wait(self) -> None:
        """Until the turn has ended and all of it is shown."""
        await self._safely(self._wait_for_turn())

    async def _wait_for_turn(self) -> None:
        await self._seat.handle.wait()
        await self._teller.caught_up()

    def _do(self, doing: Coroutine[Any, Any, None], name: str = "work") -> None:
        """Work that continues while lines are read; the user is invited again after it."""
        task = asyncio.create_task(doing, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._check(task)
        self._invite()

    def _check(self, task: asyncio.Task[None]) -> None:
        """What nobody expected ends the conversation; `run` shows it."""
        if not task.cancelled() and (error := task.exception()) is not None:
            self._defect = self._defect or error
            self.leave()

    def _invite(self) -> None:
        """The prompt, when it is the user's turn to speak."""
        asked = self._putting is not None or not self._questions.empty()
        at_work = asked or self._tasks_at_work() or self._seat.doing == "working"
        if self._lines.interactive and not at_work and not self._left.is_set():
            shown = self._begun.replace("\n", "\n  ")
            self._teller.invite("> " + safe(shown))

    # What the log shows, and what it asks

    async def _follow(self) -> None:
        live = self._seat.thread.head if self._seat.thread else 0
        async for message in self._seat.follow(self._teller.shown):
            if not self._teller.take(message):
                continue
            self._asker.note(message)
            if message.seq > live and due(message.body, self._seat.settings.approvals):
                self._do(self._safely(self._review(message)))
            if self._seat.heard(message) and message.seq > live:
                await self._seat.look()
            if message.seq > live:
                self._attend(message)

    async def _review(self, end: Message) -> None:
        """What the turn changed."""
        from steersman.views.changeset import review_lines

        for text in await asyncio.to_thread(review_lines, self._seat.host, end, inside=True):
            self._teller.print(text)

    def _attend(self, message: Message) -> None:
        match message.body:
            case ConfirmRequest() | Question() if self._lines.interactive:
                self._later.append(message)
            case ConfirmResponse() | Answer():
                self._drop(message.corr)
            case TurnEnd() as end:
                self._drop(None)
                if self._lines.interactive and still_planning(end, self._seat.settings.mode):
                    self.tell(STILL_PLANNING)
        for later in [one for one in self._later if self._asker.ready(one)]:
            self._later.remove(later)
            self._questions.put_nowait(later)

    def _drop(self, corr: str | None) -> None:
        """What was answered elsewhere, or all of it, is not asked any more."""
        self._later = [one for one in self._later if corr is not None and one.corr != corr]
        left = []
        while not self._questions.empty():
            left.append(self._questions.get_nowait())
        for message in left:
            if corr is not None and message.corr != corr:
                self._questions.put_nowait(message)
        put = self._putting is not None and self._putting.get_name() == PUT
        if put and self._putting is not None and corr in (None, self._asked):
            self._putting.cancel()

    async def _answer(self) -> None:
        """Put requests and questions to the user, one after the other."""
        while True:
            message = await self._questions.get()
            self._asked = message.corr
            self._lines.pause()
            self._putting = asyncio.create_task(self._asker.put(message), name=PUT)
            try:
                await asyncio.wait({self._putting})
                if not self._putting.cancelled():
                    answer = self._putting.result()
                    await self._seat.handle.answer(message.corr or "", answer)
            except EOFError:
                self._ended()
            except Leaving:
                self.detach()
            except SteersmanError as problem:
                self.tell(problem.facts, problem.try_this)
            finally:
                self._putting.cancel()
                self._putting = None
                self._lines.start()
                self._invite()

    def _stop_own(self) -> bool:
        """Stop the commands that the user runs; False: none runs that is not being stopped."""
        own = [one for one in self._tasks if one.get_name() == OWN and not one.cancelling()]
        return any([one.cancel() for one in own])

    def _signal(self, number: int) -> None:
        """Ctrl+C stops a question, then a command of one's own, a turn, the conversation."""
        self._pressed += 1
        if number == signal.SIGHUP:
            self.hang_up()
        elif number != signal.SIGINT:
            self._exit = Exit.INTERRUPTED
            self.leave()
        elif self._putting is not None and self._putting.get_name() != PUT:
            self._pressed = 0
            self._teller.print("")
            self._putting.cancel()
        elif self._stop_own():
            self._pressed = 0
            self.tell("\nStopping the command.")
        elif self._pressed > 1:
            self._pressed = 0
            self._do(self._safely(self._leave_if_agreed()))
        elif self._seat.doing == "working":
            self.tell("\nStopping the turn. Ctrl+C again quits.")
            self._do(self._safely(self._seat.handle.cancel()))
        else:
            self.tell("\nCtrl+C again quits.")
            self._invite()
