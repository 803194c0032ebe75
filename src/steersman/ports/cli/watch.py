"""A piece of work shown while it runs: opens it, prints it, asks the user, ends it rightly."""

import asyncio
import errno
import os
import signal
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any, cast

import click
from msgspec import Struct

from steersman.host import Host, ThreadHandle
from steersman.ports.cli.connecting import connected, open_threads
from steersman.ports.cli.options import at_terminal
from steersman.ports.cli.outlet import Outlet, outlet, polite, shown
from steersman.ports.cli.prompts import Asker
from steersman.ports.cli.views import AnswerView, JsonView, PlainView, View
from steersman.records.clock import now
from steersman.records.errors import Exit, SteersmanError, StorageProblem
from steersman.records.message import (
    Answer,
    ConfirmRequest,
    ConfirmResponse,
    Error,
    Message,
    Question,
    SessionEnd,
    SettingsChanged,
    TurnEnd,
    TurnStart,
)
from steersman.records.outcomes import ENDINGS, STATUS
from steersman.views.review import due


class Watched(Struct, frozen=True):
    """A thread at work, and the message after which it is shown.

    `lingers`: when the terminal goes away, the work continues without it.
    """

    handle: ThreadHandle
    after: int
    lingers: bool = False


class Job(ABC):
    """What is to be done."""

    @abstractmethod
    async def open(self, host: Host, *, attended: bool) -> Watched:
        """Open the thread."""

    @abstractmethod
    async def say(self, handle: ThreadHandle, *, attended: bool) -> None:
        """Start the work."""

    def outcome(self, end: TurnEnd | None) -> tuple[Exit, str]:
        """What came of it, given how the last turn ended, if there was one."""
        return (ENDINGS[end.ending], end.reason) if end else (Exit.DONE, "")


class Seen:
    """The number of the newest message that was shown."""

    def __init__(self, seq: int) -> None:
        self.seq = seq
        self.more = asyncio.Event()

    def note(self, seq: int) -> None:
        """A message was shown."""
        self.seq = max(self.seq, seq)
        self.more.set()


class Shown(Struct, frozen=True):
    """What shows a thread, and how far it is; `asked`: to end."""

    task: "asyncio.Task[str]"
    seen: Seen
    asked: asyncio.Event

    async def until(self, seq: int) -> None:
        """Wait until a message is shown, if it still can be."""
        ending = asyncio.create_task(self.asked.wait())
        while self.seen.seq < seq and not self.task.done() and not ending.done():
            self.seen.more.clear()
            more = asyncio.create_task(self.seen.more.wait())
            either: set[asyncio.Task[Any]] = {more, self.task, ending}
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            more.cancel()
        ending.cancel()


def watch(make: Callable[[], Job], flags: dict[str, Any]) -> Exit:
    """Make a job and do it, shown as the flags say."""
    view: View = PlainView(yes=bool(flags.get("yes")))
    if flags["as_json"]:
        view = JsonView(deltas=flags["deltas"], events=True)
    elif flags["quiet"]:
        view = AnswerView()
    attended = at_terminal() and isinstance(view, PlainView)
    try:
        return asyncio.run(do(make(), view, attended=attended))
    except SteersmanError as problem:
        if isinstance(view, JsonView) and not view.ended:
            _last_lines(problem)
        raise


def _last_lines(problem: SteersmanError) -> None:
    """Work that could not begin, or not be written, still ends its JSON with a `session_end`."""
    end = SessionEnd(STATUS[problem.exit], int(problem.exit), problem.what)
    view = JsonView(deltas=True, events=True)
    for body in (Error(problem.what, problem.why, problem.try_this), end):
        view.show(Message("", 0, now(), 0, body.kind, "steersman", None, body))


async def do(job: Job, view: View, *, attended: bool) -> Exit:
    """Do a job and end its thread's session with the exit code that is returned."""
    async with open_threads() as near:
        host = cast("Host", near)  # a command that connects asks only what both of them can
        watched = await job.open(host, attended=attended)
        with nullcontext() if attended else outlet() as output:
            return await _do(job, host, watched, view, output)


async def _do(job: Job, host: Host, watched: Watched, view: View, output: Outlet | None) -> Exit:
    """The same with its thread open; without an `output` to wait for, a person is attending."""
    attended, asked, seen = output is None, asyncio.Event(), Seen(watched.after)
    showing = asyncio.create_task(_show(host, watched, view, output, seen))
    working = asyncio.create_task(_work(job, watched.handle, attended=attended))
    with _signals(watched, working, showing, asked):
        await asyncio.wait({working, showing}, return_when=asyncio.FIRST_COMPLETED)
        left = showing.done() and not showing.cancelled() and showing.result() == "terminal"
        if not working.done() and not (watched.lingers and (left or showing.cancelled())):
            working.cancel()  # nobody reads what is shown any more
        return await _ended(job, host, watched.handle, working, Shown(showing, seen, asked))


async def _ended(
    job: Job,
    host: Host,
    handle: ThreadHandle,
    working: "asyncio.Task[TurnEnd | None]",
    shows: Shown,
) -> Exit:
    """Wait for the work, and leave the thread with what came of it."""
    problem: SteersmanError | None = None
    showing = shows.task
    try:
        code, reason = job.outcome(await working)
        if handle.here and showing.cancelled():
            await host.drained(handle.id)  # nobody is here: what others ask for is done, too
        elif not handle.here:
            await shows.until((await asyncio.to_thread(host.find, handle.id)).head)
    except asyncio.CancelledError:
        code, reason = Exit.INTERRUPTED, "interrupted"
    except SteersmanError as error:
        problem, code, reason = error, error.exit, error.what
    try:
        if handle.here:
            await handle.close(code, reason)
            await shown(showing, shows.asked)
        showing.cancel()
        await asyncio.wait({showing})
    except StorageProblem as error:
        raise problem or error from error
    if problem is not None:
        raise problem
    return code


async def _work(job: Job, handle: ThreadHandle, *, attended: bool) -> TurnEnd | None:
    await job.say(handle, attended=attended)
    return await handle.wait()


async def _show(host: Host, watched: Watched, view: View, output: Outlet | None, seen: Seen) -> str:
    """Show messages until the thread is closed, put requests to the user, and show what a turn
    changed where that is reviewed afterwards.

    The answer is "terminal" or "pipe" when that has gone.
    """
    asker, level, attended = Asker(watched.handle), "", output is None
    if attended and isinstance(view, PlainView):
        view.asked_later = True
    yes = isinstance(view, PlainView) and view.yes
    put = Question if yes else ConfirmRequest | Question
    questions: dict[str | None, asyncio.Task[None]] = {}
    ticking = asyncio.create_task(_tick(view))
    try:
        async for message in watched.handle.events(watched.after):
            if gone := await _gone(view, message, output):
                return gone
            asker.note(message)
            if isinstance(message.body, TurnStart | SettingsChanged):
                level = message.body.approvals or level
            if attended and not connected() and due(message.body, level):
                await _review(host, message)
            if attended and isinstance(message.body, put):
                questions[message.corr] = asyncio.create_task(asker.ask(message))
            elif isinstance(message.body, ConfirmResponse | Answer) and message.corr in questions:
                questions.pop(message.corr).cancel()  # whoever was first has answered
            seen.note(message.seq)
        return ""
    finally:
        for task in (ticking, *questions.values()):
            task.cancel()
        await asyncio.gather(ticking, *questions.values(), return_exceptions=True)


async def _gone(view: View, message: Message, output: Outlet | None) -> str:
    """Show a message; where nobody can see it, what has gone: the "pipe" or the "terminal"."""
    try:
        view.show(message)
        if output is not None:
            await output.drain()
    except OSError as error:
        if error.errno not in (errno.EPIPE, errno.EIO):
            raise
        nowhere = os.open(os.devnull, os.O_WRONLY)
        closed = error.errno == errno.EIO
        for stream in (sys.stdout, sys.stderr) if closed else (sys.stdout,):
            os.dup2(nowhere, stream.fileno())
        return "terminal" if closed else "pipe"
    return ""


async def _review(host: Host, end: Message) -> None:
    """Print what the turn that ended changed."""
    from steersman.views.changeset import review_lines

    for text in await asyncio.to_thread(review_lines, host, end):
        click.echo(text)


async def _tick(view: View) -> None:
    while True:
        await asyncio.sleep(0.5)
        view.tick()


@contextmanager
def _signals(
    watched: Watched, working: asyncio.Task[Any], showing: asyncio.Task[Any], asked: asyncio.Event
) -> Iterator[None]:
    """Ctrl-C and a polite kill stop the turn, once, and leave a log that says so.

    A terminal that goes away takes nothing with it where the work lingers. Afterwards the process
    is about to end, and another Ctrl-C or hang-up must not disturb that.
    """
    loop = asyncio.get_running_loop()
    stopping: list[asyncio.Task[Any]] = []

    def stop() -> None:
        asked.set()
        if stopping:
            return
        if watched.handle.here and watched.handle.busy:
            stopping.append(loop.create_task(watched.handle.cancel()))
        else:
            stopping.append(working)
            working.cancel()

    for number in polite():
        lets_go = number is signal.SIGHUP and watched.lingers
        loop.add_signal_handler(number, showing.cancel if lets_go else stop)
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGTERM)
        for number in (signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
