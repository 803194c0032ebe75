"""Threads that other processes run: start one in the background, speak to any, wait for it."""

import asyncio
import os
import signal
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import click

from steersman.host import Host, ThreadHandle
from steersman.host.carrying import READY, report
from steersman.ports.cli.answering import how_to_answer
from steersman.ports.cli.connecting import (
    connected,
    connecting,
    folders_there,
    open_threads,
    thread_argument,
    work_there,
)
from steersman.ports.cli.options import (
    at_terminal,
    folder_from,
    folders_from,
    open_host,
    settings_from,
    spending,
    working,
)
from steersman.ports.cli.prompts import consent
from steersman.ports.cli.watch import Job, Watched
from steersman.ports.cli.watch import watch as watch_job
from steersman.ports.cli.work import outputs
from steersman.records.errors import Exit, SteersmanError, ThreadBusy, UsageProblem
from steersman.records.message import (
    ConfirmRequest,
    Question,
    TurnEnd,
)
from steersman.records.outcomes import ENDINGS
from steersman.records.thread import Waiting
from steersman.views.images import images_from
from steersman.views.text import ending_words, safe

if TYPE_CHECKING:
    from steersman.host.remote import Remote

_thread = thread_argument()


def begin(text: str, flags: dict[str, Any]) -> int:
    """Start a thread in the background and print its id, alone."""
    click.echo(asyncio.run(_begin(text, flags)))
    return Exit.DONE


async def _begin(text: str, flags: dict[str, Any]) -> str:
    if connected():
        async with open_threads() as there:
            return (await begin_there(there, text, flags)).id
    async with open_host() as host:
        folder = folder_from(flags["workspace"])
        await consent(host, folder, attended=at_terminal())
        own = host.permissions.settings_file(folder)
        settings = settings_from(flags, own, attended=at_terminal())
        images = images_from(flags["images"])
        handle = await host.start_background(folder, text, settings, images, yes=flags["yes"])
        await host.chose_model(flags["model"])
        return handle.id


async def begin_there(host: "Host | Remote", text: str, flags: dict[str, Any]) -> ThreadHandle:
    """Start a thread on the machine that the command connects to."""
    from steersman.host.remote import Remote

    assert isinstance(host, Remote)
    folder, how = work_there(flags)
    return await host.start(folder, text, images_from(flags["images"]), **how)


@click.command(hidden=True)
@click.argument("thread")
def carry(thread: str) -> int:
    """Run THREAD until nothing is left to do; started by the host, not by people."""
    return asyncio.run(_carry(thread))


async def _carry(thread_id: str) -> int:
    async with open_host() as host:
        try:
            thread = host.find(thread_id)
            kept = host.kept(thread.id, all_=True)
            settings = settings_from(kept, host.permissions.settings_file(thread.workspace))
            handle = await host.open(thread.id, settings, attended=True, carries=True)
        except ThreadBusy:
            _say(READY)  # someone runs it, which is all that was wanted
            return Exit.DONE
        except SteersmanError as problem:
            _say(report(problem))
            return problem.exit
        stopped = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, stopped.set)
        _say(READY)
        return await _finish(host, handle, stopped)


async def _finish(host: Host, handle: ThreadHandle, stopped: asyncio.Event) -> int:
    """Work until there is nothing more to do, or someone ends this process politely."""
    working = asyncio.create_task(host.drained(handle.id))
    ending = asyncio.create_task(stopped.wait())
    await asyncio.wait({working, ending}, return_when=asyncio.FIRST_COMPLETED)
    ending.cancel()
    code = Exit.INTERRUPTED
    if working.done():
        end = working.result()
        code = ENDINGS[end.ending] if end else Exit.DONE
    working.cancel()
    if handle.here:
        await (handle.close(code) if working.done() else host.let_go(handle.id))
    return code


def _say(line: bytes) -> None:
    """Tell whoever started this process how it went, if they are still there."""
    with suppress(BrokenPipeError):
        sys.stdout.buffer.write(line)
        sys.stdout.flush()
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@click.command()
@thread_argument(required=False)
@connecting
@click.option("--plain", is_flag=True, help="Line by line, for screen readers and dumb terminals.")
@working
@spending
@outputs
def attach(thread: str | None, plain: bool, **flags: Any) -> int:
    """Open the terminal on THREAD (default: the newest here), whichever process runs it.

    Without a terminal, or with --json or --quiet, it is shown until its turn ends. So is a thread
    of another machine: URL#ID, or --connect URL.
    """
    host, workspace = open_threads(), flags["workspace"]
    folders = folders_there(workspace) if connected() else folders_from(workspace)
    found = host.find(thread) if thread else host.latest(*folders)
    if connected():
        return watch_job(lambda: AttachJob(found.id), flags)
    shown = flags["as_json"] or flags["quiet"] or not (at_terminal() and sys.stderr.isatty())
    if shown and not plain:
        return watch_job(lambda: AttachJob(found.id), flags)
    if not plain:
        from steersman.ports.cli.leaving import split

        split()
    from steersman.ports.tui.opening import open_terminal

    return open_terminal({**flags, "plain": plain, "resume": found.id, "task": ()})


class AttachJob(Job):
    """A thread that someone else runs, shown until its turn ends."""

    def __init__(self, thread_id: str) -> None:
        self._id = thread_id

    async def open(self, host: "Host | Remote", *, attended: bool) -> Watched:
        """Look at the thread, from the beginning of its newest turn."""
        handle = await host.attach(self._id)
        turns = await asyncio.to_thread(lambda: list(host.messages(self._id, kinds={"turn_start"})))
        return Watched(handle, turns[-1].seq - 1 if turns else 0)

    async def say(self, handle: ThreadHandle, *, attended: bool) -> None:
        """Nothing: whoever runs it works on."""


@click.command()
@_thread
@connecting
@click.argument("text", nargs=-1, required=True)
@click.option("--queue", is_flag=True, help="For the next turn, not the running one.")
def tell(thread: str, text: tuple[str, ...], queue: bool) -> None:
    """Send TEXT to THREAD: the running turn gets it at its next step; an idle thread starts one.

    `-` reads the text from standard input.
    """
    words = sys.stdin.read().strip() if text == ("-",) else " ".join(text)
    if not words:
        raise UsageProblem("There is nothing to say.", try_this="steer tell THREAD TEXT")
    asyncio.run(_tell(thread, words, queue=queue))


async def _tell(thread: str, words: str, *, queue: bool) -> None:
    async with open_threads() as host:
        handle = await host.attach(thread)
        busy = bool((await handle.state()).activity.turn)
        name = await (handle.queue(words) if queue else handle.steer(words))
        when = "at its next step" if busy and not queue else "in its next turn"
        click.echo(name)
        click.echo(f"Thread {handle.id} gets it {when}.", err=True)


@click.command()
@_thread
@connecting
def cancel(thread: str) -> None:
    """Stop the turn that runs in THREAD, its tools and their processes."""
    asyncio.run(_cancel(thread))


async def _cancel(thread: str) -> None:
    async with open_threads() as host:
        handle = await host.attach(thread)
        await handle.cancel()
        click.echo(f"Stopped thread {handle.id}.", err=True)


@click.command()
@_thread
@connecting
@click.option("--timeout", type=click.FloatRange(0, min_open=True), help="Seconds at most.")
def wait(thread: str, timeout: float | None) -> int:
    """Wait until no turn runs in THREAD; the exit code is that of the last one."""
    return asyncio.run(_wait(thread, timeout))


async def _wait(thread: str, seconds: float | None) -> int:
    async with open_threads() as host:
        handle = await host.attach(thread)
        asking = asyncio.create_task(_say_what_is_asked(host, handle))
        try:
            async with asyncio.timeout(seconds):
                end: TurnEnd | None = await handle.wait()
        except TimeoutError:
            state = await handle.state()
            waiting = state.activity.waiting
            asks = f" It waits for an answer: {waiting[0].what}" if waiting else ""
            click.echo(f"Thread {handle.id} is still {state.state}.{safe(asks)}", err=True)
            return Exit.NEEDS_ANSWER if waiting else Exit.FAILED
        finally:
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)
        if end is not None and end.ending == "done":
            click.echo(safe(await handle.last_words()))
        elif end is not None:
            how = ending_words(end.ending)
            click.echo(safe(f"{how}: {end.reason}" if end.reason else how), err=True)
        return ENDINGS[end.ending] if end else Exit.DONE


async def _say_what_is_asked(host: "Host | Remote", handle: ThreadHandle) -> None:
    """Tell whoever waits that an answer is wanted, and how to give it."""

    async def say(asked: Waiting) -> None:
        how = await how_to_answer(host, handle, asked)
        click.echo(safe(f"It asks: {asked.what}\n  {how}"), err=True)

    for one in (await handle.state()).activity.waiting:
        await say(one)
    async for message in handle.events(handle.thread.head):
        if isinstance(message.body, ConfirmRequest | Question):
            for one in (await handle.state()).activity.waiting:
                if one.corr == message.corr:
                    await say(one)
