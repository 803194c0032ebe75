"""A piece of work shown while it runs: opens it, prints it, asks the person, ends it rightly."""

import asyncio
import signal
from abc import ABC, abstractmethod
from contextlib import suppress
from typing import Any

from msgspec import Struct

from steersman.errors import Exit, SteersmanError, StorageProblem
from steersman.host import Host
from steersman.intelligence.loop import error_body
from steersman.message import ConfirmRequest, Message, Question, SessionEnd, TurnEnd
from steersman.ports.cli.asking import Asker
from steersman.ports.cli.options import at_terminal, open_host
from steersman.ports.cli.views import AnswerView, JsonView, PlainView, View
from steersman.session import ENDINGS, STATUS
from steersman.store.log import now


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


def watch(job: Job, flags: dict[str, Any]) -> Exit:
    """Do a job, shown as the flags say."""
    view: View = PlainView()
    if flags["as_json"]:
        view = JsonView(deltas=flags["deltas"])
    elif flags["quiet"]:
        view = AnswerView()
    attended = at_terminal() and isinstance(view, PlainView)
    try:
        return asyncio.run(do(job, view, attended=attended))
    except SteersmanError as problem:
        if flags["as_json"]:
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
        _on_signals(host, watched.thread, working)
        await asyncio.wait({working, showing}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():  # nobody reads what is shown any more
            working.cancel()
        try:
            end = await working
            code, reason = job.outcome(end)
        except asyncio.CancelledError:
            code, reason = Exit.INTERRUPTED, "interrupted"
        except StorageProblem:
            with suppress(StorageProblem):
                await host.close(watched.thread, Exit.FAILED)
            raise
        await host.close(watched.thread, code, reason)
        await showing
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
            view.show(message)
            if attended and isinstance(message.body, ConfirmRequest | Question):
                questions.add(asyncio.create_task(asker.ask(message)))
    finally:
        for task in (ticking, *questions):
            task.cancel()
        await asyncio.gather(ticking, *questions, return_exceptions=True)


async def _tick(view: View) -> None:
    while True:
        await asyncio.sleep(0.5)
        view.tick()


def _on_signals(host: Host, thread_id: str, working: asyncio.Task[Any]) -> None:
    """Ctrl-C and a polite kill stop the turn and leave a log that says so."""
    loop = asyncio.get_running_loop()
    stopping: set[asyncio.Task[None]] = set()

    def stop() -> None:
        if host.busy(thread_id) and not stopping:
            stopping.add(loop.create_task(host.cancel(thread_id)))
        elif not host.busy(thread_id):
            working.cancel()

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, stop)
