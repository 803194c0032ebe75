"""`steer run` and `steer resume`: one piece of work on a thread, watched from the command line."""

import sys
from typing import Any

import click

from steersman.host import Host, ThreadHandle
from steersman.ports.cli.asking import answer
from steersman.ports.cli.connecting import connected, connecting
from steersman.ports.cli.options import (
    at_terminal,
    folder_from,
    folders_from,
    json_flag,
    settings_from,
    spending,
    working,
)
from steersman.ports.cli.prompts import consent
from steersman.ports.cli.values import thread_ids
from steersman.ports.cli.watch import Job, Watched, watch
from steersman.records.errors import UsageProblem
from steersman.records.settings import Settings
from steersman.records.thread import Thread
from steersman.views.images import images_from
from steersman.views.text import safe


def outputs(command: Any) -> Any:
    """The flags that choose how the work is shown."""
    for option in (
        click.option(
            "--image", "images", metavar="FILE", multiple=True, help="A picture (repeatable)."
        ),
        click.option("--deltas", is_flag=True, help="With --json: also print streamed pieces."),
        click.option("--quiet", "-q", is_flag=True, help="Print the final answer only."),
        json_flag,
    ):
        command = option(command)
    return command


@click.command()
@click.argument("task", nargs=-1)
@click.option("-e", "expression", metavar="TASK", help="The task as one argument.")
@click.option("--detach", is_flag=True, help="Work in the background; print the thread's id.")
@connecting
@working
@spending
@outputs
def run(task: tuple[str, ...], expression: str | None, detach: bool, **flags: Any) -> int:
    """Do one task in this folder and end.

    TASK is what you want, in your own words; `-` reads it from standard input.
    """
    if detach:
        from steersman.ports.cli.background import begin

        return begin(_task(task, expression), flags)
    return watch(lambda: RunJob(_task(task, expression), flags), flags)


class RunJob(Job):
    """A new thread with one prompt."""

    def __init__(self, text: str, flags: dict[str, Any]) -> None:
        self._text = text
        self._flags = flags

    async def open(self, host: Host, *, attended: bool) -> Watched:
        """Make the thread; on another machine it works at once, whether or not it is shown."""
        if connected():
            from steersman.ports.cli.background import begin_there

            return Watched(await begin_there(host, self._text, self._flags), 0)
        folder = folder_from(self._flags["workspace"])
        await consent(host, folder, attended=attended)
        own = host.permissions.settings_file(folder)
        settings = settings_from(self._flags, own, attended=attended)
        yes = self._flags["yes"]
        handle = await host.start(folder, self._text, settings, attended=attended, yes=yes)
        await host.chose_model(self._flags["model"])
        return Watched(handle, 0, attended and settings.on_hangup == "detach")

    async def say(self, handle: ThreadHandle, *, attended: bool) -> None:
        """Give it the task."""
        if connected():
            return
        await handle.send(self._text, images_from(self._flags["images"]))


@click.command()
@click.argument("thread", shell_complete=thread_ids, required=False)
@click.argument("task", nargs=-1)
@working
@spending
@outputs
def resume(thread: str | None, task: tuple[str, ...], **flags: Any) -> int:
    """Continue a thread.

    THREAD is an id or the beginning of one; without it, the newest thread of this folder. TASK is
    what to say; without it, the terminal chat opens on the thread, or, where there is no terminal,
    messages that wait are delivered.
    """
    words = bool(task) or (thread is not None and " " in thread)
    if not words and not flags["as_json"] and not flags["quiet"] and _whole_terminal():
        from steersman.ports.cli.chat import open_chat, thread_meant

        return open_chat({**flags, "resume": thread_meant(thread, flags), "plain": False})
    return watch(lambda: ResumeJob(thread, task, flags), flags)


def _whole_terminal() -> bool:
    return at_terminal() and sys.stderr.isatty()


def kept_settings(host: Host, thread: Thread, flags: dict[str, Any], folder: str) -> Settings:
    """The settings for continuing with a thread: flags, then how it was worked on before."""
    given = {name: value for name, value in flags.items() if value is not None}
    chosen = {**flags, **host.kept(thread.id), **given}
    return settings_from(chosen, host.permissions.settings_file(folder))


class ResumeJob(Job):
    """A thread that exists, with a prompt, a waiting message, or a question for one."""

    def __init__(self, named: str | None, task: tuple[str, ...], flags: dict[str, Any]) -> None:
        self._named = named
        self._task = task
        self._flags = flags
        self._text = ""
        self._title = ""

    async def open(self, host: Host, *, attended: bool) -> Watched:
        """Take the thread up where it was left."""
        flags = self._flags
        thread, self._text = self._which(host)
        self._title = thread.title
        moved = folder_from(flags["workspace"]) if flags["workspace"] else None
        folder = moved or thread.workspace
        await consent(host, folder, attended=attended)
        settings = kept_settings(host, thread, flags, folder)
        how = {"folder": moved, "attended": attended, "yes": flags["yes"]}
        handle = await host.open(thread.id, settings, resume=not self._text, **how)
        await host.chose_model(flags["model"])
        return Watched(handle, thread.head, attended and settings.on_hangup == "detach")

    async def say(self, handle: ThreadHandle, *, attended: bool) -> None:
        """Say what there is to say."""
        if not self._text and not handle.busy and not await handle.go_on():
            self._text = await self._ask(handle, attended=attended)
        if self._text:
            await handle.send(self._text, images_from(self._flags["images"]))

    async def _ask(self, handle: ThreadHandle, *, attended: bool) -> str:
        if not attended:
            said = f'Pass a task: steer resume {handle.id} "go on".'
            click.echo(f"Thread {handle.id} is complete. {said}", err=True)
            return ""
        click.echo(safe(f"{self._title}\n{await handle.last_words()}\n"))
        try:
            return await answer("› ")
        except EOFError:
            return ""

    def _which(self, host: Host) -> tuple[Thread, str]:
        """The thread and the words a person meant; words alone go to the newest thread here."""
        here = folders_from(self._flags["workspace"])
        if self._named is None:
            return host.latest(*here), ""
        if " " in self._named and not self._task:
            return host.latest(*here), self._named
        text = sys.stdin.read() if self._task == ("-",) else " ".join(self._task)
        return host.find(self._named), text.strip()


def _task(words: tuple[str, ...], expression: str | None) -> str:
    given = [*([expression] if expression else []), *words]
    text = sys.stdin.read() if given == ["-"] else " ".join(given)
    if not text.strip():
        raise UsageProblem("There is no task.", try_this='Pass a task: steer run "fix the bug".')
    return text.strip()
