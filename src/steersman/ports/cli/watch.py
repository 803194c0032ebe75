"""A piece of work shown while it runs: opens it, prints it, asks the person, ends it rightly."""

import asyncio
import errno
import os
import signal
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from msgspec import Struct

from steersman.host import Host
from steersman.intelligence.loop import error_body
from steersman.ports.cli.options import at_terminal, open_host
from steersman.ports.cli.prompts import Asker
from steersman.ports.cli.views import AnswerView, JsonView, PlainView, View
from steersman.records.errors import Exit, SteersmanError, StorageProblem
from steersman.records.message import ConfirmRequest, Message, Question, SessionEnd, TurnEnd
from steersman.store.log import now
from steersman.threads.session import ENDINGS, STATUS


class Watched(Struct, frozen=True):
    """An opened thread, and the message after which it is shown."""

    thread: str
    after: int


class Job(ABC):
    """What is to be done."""

    @abstractmethod
    async def open(self, host: Host, *, attended: bool) -> Watched:
        """Open the thread."""

    @abstractmethod
    async def say(self, host: Host, thread_id: str, *, attended: bool) -> None:
        """Start the work."""

    def outcome(self, end: TurnEnd | None) -> tuple[Exit, str]:
        """What came of it, given how the last turn ended, if there was one."""
        return (ENDINGS[end.ending], end.reason) if end else (Exit.DONE, "")


def watch(make: Callable[[], Job], flags: dict[str, Any]) -> Exit:
    """Make a job and do it, shown as the flags say."""
    view: View = PlainView()
    if flags["as_json"]:
        view = JsonView(deltas=flags["deltas"])
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
    for body in (error_body(problem), end):
        JsonView(deltas=True).show(Message("", 0, now(), 0, body.kind, "steersman", None, body))


async def do(job: Job, view: View, *, attended: bool) -> Exit:
    """Do a job and end its thread's session with the exit code that is returned."""
    async with open_host() as host:
        watched = await job.open(host, attended=attended)
        showing = asyncio.create_task(_show(host, watched, view, attended=attended))
        working = asyncio.create_task(_work(job, host, watched.thread, attended=attended))
        with _signals(host, watched.thread, working):
            await asyncio.wait({working, showing}, return_when=asyncio.FIRST_COMPLETED)
            if not working.done():  # nobody reads what is shown any more
                working.cancel()
            problem: SteersmanError | None = None
            try:
                code, reason = job.outcome(await working)
            except asyncio.CancelledError:
                code, reason = Exit.INTERRUPTED, "interrupted"
            except SteersmanError as error:
                problem, code, reason = error, error.exit, error.what
            try:
                await host.close(watched.thread, code, reason)
                await showing
            except StorageProblem as error:
                raise problem or error from error
        if problem is not None:
            raise problem
        return code


async def _work(job: Job, host: Host, thread_id: str, *, attended: bool) -> TurnEnd | None:
    await job.say(host, thread_id, attended=attended)
    return await host.wait(thread_id)


async def _show(host: Host, watched: Watched, view: View, *, attended: bool) -> None:
    """Show messages until the thread is closed, and put requests to the person."""
    asker = Asker(host)
    questions: set[asyncio.Task[None]] = set()
    ticking = asyncio.create_task(_tick(view))
    try:
        async for message in host.subscribe(watched.thread, watched.after):
            if not _shown(view, message):
                return
            asker.note(message)
            if attended and isinstance(message.body, ConfirmRequest | Question):
                questions.add(asyncio.create_task(asker.ask(message)))
    finally:
        for task in (ticking, *questions):
            task.cancel()
        await asyncio.gather(ticking, *questions, return_exceptions=True)


def _shown(view: View, message: Message) -> bool:
    """Show a message; False when there is nobody to see it: a closed pipe, a closed terminal."""
    try:
        view.show(message)
    except OSError as error:
        if error.errno not in (errno.EPIPE, errno.EIO):
            raise
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for stream in (sys.stdout, sys.stderr) if error.errno == errno.EIO else (sys.stdout,):
            os.dup2(nowhere, stream.fileno())
        return False
    return True


async def _tick(view: View) -> None:
    while True:
        await asyncio.sleep(0.5)
        view.tick()


@contextmanager
def _signals(host: Host, thread_id: str, working: asyncio.Task[Any]) -> Iterator[None]:
    """Ctrl-C and a polite kill stop the turn, once, and leave a log that says so.

    Afterwards the process is about to end, and another Ctrl-C must not disturb that.
    """
    loop = asyncio.get_running_loop()
    stopping: list[asyncio.Task[Any]] = []

    def stop() -> None:
        if stopping:
            return
        if host.busy(thread_id):
            stopping.append(loop.create_task(host.cancel(thread_id)))
        else:
            stopping.append(working)
            working.cancel()

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, stop)
    try:
        yield
    finally:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            loop.remove_signal_handler(number)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
