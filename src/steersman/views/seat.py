"""A person's place: which thread is shown, and the settings of the next new one.

Knows nothing of screens. What is done to the thread is asked of its handle, whichever process runs
it. A seat may be empty: the first words make a thread.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager
from typing import Any, Literal

import msgspec

from steersman.host import Host, ThreadHandle
from steersman.records.call_ids import COMMIT, LOOK, fresh
from steersman.records.dialogue import Image
from steersman.records.errors import UsageProblem
from steersman.records.message import Message, SessionStart, SettingsChanged, ToolCall, TurnStart
from steersman.records.settings import Settings, Value
from steersman.records.shell_words import without_ampersand
from steersman.records.thread import Process, Thread

Doing = Literal["nothing", "working"]
OWN = ("skills_off",)  # what is changed for one thread, and not for those after it
RUN = "workspace_run_command"
ADOPTED = ("mode", "trust", "approvals", "output_style", "effort")


class Seat:
    """Where a person is. `settings` are those of the thread, and of the next new one.

    `given` names settings that the user chose: they hold in every thread; for the others a thread
    keeps its own, which is not a choice for the next new one. `attended`: someone can answer.
    `yes`: every permission is answered with yes. `owner` is the other process that
    runs the thread, as far as is known.
    """

    def __init__(
        self,
        host: Host,
        folder: str,
        settings: Settings,
        *,
        given: Collection[str] = (),
        attended: bool = True,
        yes: bool = False,
    ) -> None:
        self.host = host
        self.folder = folder
        self.settings = settings
        self._given = given
        self._how: dict[str, Any] = {"attended": attended, "yes": yes}
        self._lent: dict[str, Any] = {}  # the user's own, while a thread that was taken has its
        self.owner: Process | None = None
        self._handle: ThreadHandle | None = None
        self._arrived = asyncio.Event()
        self._moving = asyncio.Lock()  # two words said at once begin one thread, not two
        self._there = asyncio.Event()  # words wait while the user is on the way to a thread
        self._there.set()

    @property
    def handle(self) -> ThreadHandle:
        """The thread; raises while there is none."""
        if self._handle is None:
            raise UsageProblem("There is no thread yet.", try_this="Send a message first.")
        return self._handle

    @property
    def thread(self) -> Thread | None:
        """The thread's record; None while there is none."""
        return self._handle.thread if self._handle else None

    @property
    def id(self) -> str:
        """The thread's id; empty while there is none."""
        return self._handle.id if self._handle else ""

    @property
    def here(self) -> bool:
        """Whether this process runs the thread."""
        return self._handle is not None and self._handle.here

    @property
    def doing(self) -> Doing:
        """Whether a turn runs, here or elsewhere."""
        return "working" if self._handle is not None and self._handle.busy else "nothing"

    @property
    def jobs(self) -> dict[str, str]:
        """The background commands that end when the user leaves, by their names."""
        try:
            return self.host.jobs(self.id) if self.here else {}
        except UsageProblem:  # it was closed just now
            return {}

    @asynccontextmanager
    async def on_the_way(self) -> AsyncIterator[None]:
        """What is said meanwhile is said where the user arrives."""
        self._there.clear()
        try:
            yield
        finally:
            self._there.set()

    async def take(self, thread_id: str) -> None:
        """Sit down at a thread, whichever process runs it."""
        thread = await asyncio.to_thread(self.host.find, thread_id)
        await self.leave()
        kept = await asyncio.to_thread(self.host.kept, thread.id)
        own = {name: value for name, value in kept.items() if name not in self._given}
        self._lent = {name: getattr(self.settings, name) for name in (*ADOPTED, *OWN, "add_dir")}
        self.settings = msgspec.structs.replace(self.settings, **own)
        self._settle(await self.host.attach(thread.id, self.settings, **self._how))
        await self._note_model()
        self.folder = self.handle.thread.workspace
        await self.look()

    async def leave(self) -> None:
        """Get up. What runs here is stopped, what runs elsewhere continues; everything is kept."""
        handle, self._handle, self.owner = self._handle, None, None
        self.settings = msgspec.structs.replace(self.settings, **self._lent)
        self._lent = {}
        self._arrived.clear()
        if handle is not None:
            await (handle.close() if handle.here else handle.detach())

    def _settle(self, handle: ThreadHandle) -> None:
        self._handle = handle
        self._arrived.set()

    async def look(self) -> None:
        """Find out who runs the thread, and whether a turn runs."""
        if self._handle is None or self._handle.here:
            self.owner = None
            return
        state = await self._handle.state()
        own = self.here or state.owner == self.host.process
        self.owner = None if own else state.owner

    def heard(self, message: Message) -> bool:
        """Take in what a message says about the thread; True when it is time for another look."""
        match message.body:
            case SessionStart() | SettingsChanged() | TurnStart() as said:
                named = {name: getattr(said, name, "") for name in ADOPTED}
                if isinstance(said, SettingsChanged):
                    named["model"] = said.model
                values: dict[str, Any] = {name: value for name, value in named.items() if value}
                if isinstance(said, SessionStart) or (
                    isinstance(said, SettingsChanged) and said.add_dir
                ):
                    values["add_dir"] = said.add_dir
                if isinstance(said, SettingsChanged) and said.skills_off is not None:
                    values["skills_off"] = said.skills_off
                self.settings = msgspec.structs.replace(self.settings, **values)
        return message.kind in ("session_start", "session_end", "turn_start", "turn_end")

    async def say(self, text: str, images: tuple[Image, ...] = ()) -> None:
        """Begin a turn, or steer the one that runs."""
        await self._there.wait()
        async with self._moving:
            handle = await self._spoken(text)
            if handle.busy:
                await handle.steer(text)
            else:
                await handle.send(text, images)

    async def queue(self, text: str) -> None:
        """Queue a message for the next turn."""
        await self._there.wait()
        async with self._moving:
            handle = await self._spoken(text)
            if handle.busy:
                await handle.queue(text)
            else:
                await handle.send(text)

    async def query(self, tool: str, arguments: dict[str, Any]) -> Message:
        """Call a tool to show the user something; the model learns nothing of it."""
        return await self.call(tool, arguments, fresh(LOOK))

    async def commit(self, tool: str, arguments: dict[str, Any]) -> Message:
        """Call a tool that commits what the user chose; people see what came of it."""
        return await self.call(tool, arguments, fresh(COMMIT))

    async def run(self, command: str) -> Message:
        """Run a command that the user typed; what ends with `&` is a background job."""
        alone = without_ampersand(command)
        wanted = {"command": alone, "background": True} if alone else {"command": command}
        return await self.call(RUN, wanted, typed=True)

    async def call(
        self, tool: str, arguments: dict[str, Any], name: str = "", *, typed: bool = False
    ) -> Message:
        """Call a tool oneself, through the same gate."""
        await self._there.wait()
        async with self._moving:
            handle = await self._ready(_called(tool, arguments, name))
        return await handle.call(tool, arguments, name, typed=typed)

    async def _spoken(self, text: str) -> ThreadHandle:
        """A thread for a message; the first one names a thread that only had commands so far."""
        handle = await self._ready(text)
        if await asyncio.to_thread(self._named_by_call):
            await handle.set(title=" ".join(text.split())[:80])
        return handle

    def _named_by_call(self) -> bool:
        first = next(iter(self.host.messages(self.id, kinds={"user", "tool_call"})), None)
        if first is None or not isinstance(first.body, ToolCall):
            return False
        called = _called(first.body.tool, first.body.arguments, first.corr or "")
        return self.host.find(self.id).title == " ".join(called.split())[:80]

    async def _ready(self, title: str) -> ThreadHandle:
        """A thread to speak in: a new one if there is none."""
        if self._handle is None:
            self._settle(await self.host.start(self.folder, title, self.settings, **self._how))
            await self._note_model()
        elif not self.here:
            await self.look()
        return self.handle

    async def _note_model(self) -> None:
        if self.here and "model" in self._given:
            await self.host.chose_model(self.settings.model)

    async def change(self, **values: Value) -> None:
        """Another mode, model, trust, approvals or added folders, in a running turn too."""
        if self._handle is not None:
            await self._handle.set(**values)
        lent = {name: getattr(self.settings, name) for name in OWN if name in values} | self._lent
        self._lent = {name: lent[name] for name in lent if name in OWN or name not in values}
        self.settings = msgspec.structs.replace(self.settings, **values)
        await self.host.chose_model(str(values.get("model", "")))

    async def fork(self, at: int | None = None, remark: str = "") -> Thread:
        """Continue in a new thread that shares this one's history up to a message."""
        copy = await asyncio.to_thread(self.host.fork, self.handle.id, at, remark)
        await self.take(copy.id)
        return copy

    def threads(self, *, here: bool = True) -> list[Thread]:
        """Threads one can sit down at, the newest first."""
        folders = [os.path.realpath(self.folder)] if here else []
        return [one for one in self.host.threads(*folders) if one.origin != "call"]

    async def follow(self, after: int = 0) -> AsyncIterator[Message]:
        """Every message of the thread after `after`, and what happens from then on.

        It begins when there is a thread, and ends when the user sits somewhere else.
        """
        await self._arrived.wait()
        async for message in self.handle.events(after):
            yield message


def _called(tool: str, arguments: Mapping[str, Any], name: str) -> str:
    """What a thread is called that begins with a call of the user's own."""
    if name.startswith((LOOK, COMMIT)):
        return "New thread"  # the command is none of the user's words
    return f"!{arguments['command']}" if "command" in arguments else tool
