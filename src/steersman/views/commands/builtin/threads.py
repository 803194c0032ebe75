"""`/new`, `/resume`, `/continue`, `/rename`, `/fork`, `/export`, `/detach`, `/quit`."""

import asyncio
import os
from pathlib import Path

from steersman.host import Host
from steersman.records.errors import UsageProblem
from steersman.records.thread import Thread
from steersman.views.commands.registry import Choice, Command
from steersman.views.commands.stage import Row, Stage
from steersman.views.commands.words import nothing, number
from steersman.views.leaving import agreed
from steersman.views.text import ago, counted, one_line

LISTED = 500
TITLE = 200  # letters of a title
ELSEWHERE = "*"


async def new(stage: Stage, arguments: str) -> None:
    """Get up; the next words begin another thread."""
    if not await agreed(stage):
        return
    await stage.seat.leave()
    await stage.moved()
    stage.tell("Your next message starts a new thread.")
    if arguments:
        await stage.say(arguments)


async def resume(stage: Stage, arguments: str) -> None:
    """Sit down at another thread."""
    seat = stage.seat
    wanted: str | None = arguments.strip()
    if not wanted:
        wanted = await _chosen(stage)
    if not wanted:
        return
    thread = seat.host.find(wanted)
    if thread.id == seat.id:
        stage.tell("You are already in this thread.")
        return
    if not await agreed(stage):
        return
    try:
        await seat.take(thread.id)
    finally:
        await stage.moved()
    stage.tell(f"Thread {thread.id}: {one_line(thread.title, 80)}")


async def go_on(stage: Stage, arguments: str) -> None:
    """Sit down at the thread of this folder that was used last."""
    nothing("continue", arguments)
    seat = stage.seat
    here = await asyncio.to_thread(seat.threads)
    last = next((one for one in here if one.id != seat.id), None)
    if last is None:
        raise UsageProblem("There is no other thread of this folder yet.")
    await resume(stage, last.id)


async def _chosen(stage: Stage) -> str | None:
    """A thread of this folder, or of any, by the user's choice."""
    seat = stage.seat
    here = [one for one in seat.threads()[:LISTED] if one.id != seat.id]
    others = [one for one in seat.threads(here=False)[:LISTED] if one.workspace != _real(stage)]
    rows = [thread_row(one) for one in here]
    if others:
        rows.append(Row(ELSEWHERE, f"threads of other folders ({len(others)})"))
    if not rows:
        raise UsageProblem("There is no other thread yet.")
    found = await stage.pick("Resume a thread", rows)
    if found != ELSEWHERE:
        return found
    return await stage.pick("Resume a thread", [thread_row(one, folder=True) for one in others])


def _real(stage: Stage) -> str:
    return os.path.realpath(stage.seat.folder)


def thread_row(thread: Thread, *, folder: bool = False) -> Row:
    """A thread as a line to choose."""
    detail = f"{thread.id} · {ago(thread.updated)} · {counted(thread.head, 'message')}"
    detail += " · imported" if thread.imported else ""
    place = f" · {one_line(thread.workspace, 50)}" if folder else ""
    return Row(thread.id, one_line(thread.title, 90) or "(without a title)", detail + place)


def _threads(stage: Stage, _: str) -> list[Choice]:
    return [Choice(one.id, one_line(one.title, 60)) for one in stage.seat.threads()[:LISTED]]


async def rename(stage: Stage, arguments: str) -> None:
    """Give the thread another title."""
    seat = stage.seat
    handle = seat.handle
    title: str | None = arguments.strip()
    if not title:
        now = await asyncio.to_thread(seat.host.find, handle.id)
        title = await stage.ask("Title of this thread", now.title)
    title = one_line(title or "", TITLE)
    if not title:
        return
    await handle.set(title=title)
    await stage.moved()
    stage.tell(f"This thread is now called “{title}”.")


async def fork(stage: Stage, arguments: str) -> None:
    """Continue in a copy."""
    at = number("fork", arguments)
    seat = stage.seat
    source = seat.id
    if not await agreed(stage):
        return
    copy = await seat.fork(at)
    await stage.moved()
    told = f" up to message {at}" if at is not None else ""
    stage.tell(f"Thread {copy.id} continues from {source}{told}, which stays as it is.")


async def export(stage: Stage, arguments: str) -> None:
    """Write the thread to a file that `steer threads import` reads."""
    seat = stage.seat
    if seat.thread is None:
        raise UsageProblem("There is no thread yet.", try_this="Send a message first.")
    name = arguments.strip() or f"steersman-{seat.id}.jsonl"
    path = Path(seat.folder, Path(name).expanduser())
    if path.exists() and not await stage.confirm(
        "Overwrite it?", f"`{one_line(str(path))}` already exists."
    ):
        return
    thread = seat.host.find(seat.id)
    await asyncio.to_thread(_write, seat.host, thread, path)
    stage.tell(f"Wrote {path}: {counted(thread.head, 'message')}.")


def _write(host: Host, thread: Thread, path: Path) -> None:
    from steersman.host.ledger import exported

    try:
        with path.open("wb") as file:
            file.writelines(line + b"\n" for line in exported(host, thread))
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise UsageProblem(f"{path} cannot be written.", f"{why}.") from error


async def detach(stage: Stage, arguments: str) -> None:
    """Leave the turn running and give the terminal back."""
    nothing("detach", arguments)
    if stage.seat.thread is None:
        raise UsageProblem("There is no thread yet.", try_this="Use /quit to leave.")
    stage.detach()


async def leave(stage: Stage, arguments: str) -> None:
    """End the application."""
    nothing("quit", arguments)
    if await agreed(stage):
        stage.leave()


COMMANDS = (
    Command("new", "Start a new thread.", new, usage="[TASK]", aliases=("clear",)),
    Command("continue", "Continue the last thread of this folder.", go_on),
    Command(
        "rename",
        "Give this thread another title.",
        rename,
        usage="[TITLE]",
        more="Without a title, you are asked for one.",
        while_working=True,
    ),
    Command(
        "resume",
        "Continue another thread.",
        resume,
        usage="[ID]",
        more="Without an id, a list with search; an id may be shortened.",
        complete=_threads,
    ),
    Command(
        "fork",
        "Continue in a copy of this thread.",
        fork,
        usage="[SEQ]",
        more="SEQ is the last message the copy shares; without it, all of them.",
    ),
    Command(
        "export",
        "Write this thread to a file.",
        export,
        usage="[FILE]",
        more="`steer threads import FILE` reads it on any machine.",
        while_working=True,
    ),
    Command(
        "detach",
        "Detach; the turn keeps running.",
        detach,
        more="What it asks waits for an answer. `steer attach ID` comes back to it, and "
        "`steer answer ID` answers from any shell.",
        while_working=True,
    ),
    Command("quit", "Quit. The thread is kept.", leave, while_working=True, aliases=("exit", "q")),
)
