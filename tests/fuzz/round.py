"""One round through a real host: commands of a plan, then everything undone, and the evidence."""

import asyncio
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import msgspec
from msgspec import Struct

from steersman.host import Host
from steersman.operations.running import containment
from steersman.operations.running.bubblewrap import Bubblewrap, Unavailable, find
from steersman.records.action import ChangeMany, Delete, Execute, Write
from steersman.records.errors import Halted, SteersmanError
from steersman.records.message import ConfirmRequest, ConfirmResponse, Message, ToolResult
from steersman.records.settings import Settings
from steersman.threads.handle import ThreadHandle
from tests.fuzz.plan import Machine, Plan, Step, lasting
from tests.fuzz.world import Tree, World, tree

PATIENCE = 120
LONG = 1.5  # seconds for one command: some wait for ever, at a pipe
RUN = "workspace_run_command"


class Evidence(Struct, frozen=True):
    """What a round left behind; `asked` are requests with the answer to each."""

    before: Tree
    after: Tree
    undone: Tree
    outside: tuple[Tree, Tree]
    around: tuple[list[str], list[str]]
    secrets: dict[bytes, str]
    messages: tuple[Message, ...]
    asked: tuple[tuple[ConfirmRequest, str], ...]
    by_person: tuple[str, ...]
    visited: bool
    left: tuple[str, ...]
    flaws: tuple[str, ...]
    refused: str


def play(plan: Plan, folder: Path) -> Evidence:
    """Play it in an empty folder."""
    world = World(folder, plan)
    try:
        with on_machine(plan.machine):
            return asyncio.run(asyncio.wait_for(Round(plan, world).play(), PATIENCE))
    finally:
        world.close()


@contextmanager
def on_machine(machine: Machine) -> Iterator[None]:
    """A machine without views, or without bubblewrap."""

    def found(workspace: str, scratch: str) -> Bubblewrap | Unavailable:
        if machine == "direct":
            return Unavailable("There is no bubblewrap.")
        there = find(workspace, scratch)
        if machine == "copy" and isinstance(there, Bubblewrap):
            return msgspec.structs.replace(there, attributes="")
        return there

    with patch.object(containment, "find", found):
        yield


class Round:
    """A plan in a world."""

    def __init__(self, plan: Plan, world: World) -> None:
        self._plan = plan
        self._world = world
        self._asked: list[tuple[ConfirmRequest, str]] = []
        self._by_person: list[str] = []
        self._background: list[str] = []
        self._results = 0

    async def play(self) -> Evidence:
        """Everything, from the first call to the last look."""
        world = self._world
        before, outside, around = tree(world.root), tree(world.outside), _around(world)
        async with Host.at(world.state, world.environ) as host:
            thread = await self._start(host)
            listening = asyncio.create_task(self._listen(thread))
            await self._work(thread)
            await thread.close()
            await listening
            after = tree(world.root)
            refused = await self._undo(host, thread.id)
            messages = tuple(host.messages(thread.id))
            flaws = tuple(map(str, host.verify(thread.id)))
        return Evidence(
            before=before,
            after=after,
            undone=tree(world.root),
            outside=(outside, tree(world.outside)),
            around=(around, _around(world)),
            secrets=world.secrets,
            messages=messages,
            asked=tuple(self._asked),
            by_person=tuple(self._by_person),
            visited=world.visited(),
            left=tuple(_left(lasting(self._plan.seed))),
            flaws=flaws,
            refused=refused,
        )

    async def _start(self, host: Host) -> ThreadHandle:
        calls = [self._call(number, step) for number, step in enumerate(self._plan.steps)]
        turns: list[dict[str, Any]] = [
            {"tool_calls": [{"name": name, "arguments": arguments}]} for name, arguments in calls
        ]
        script = self._world.state / "script.json"
        script.write_bytes(msgspec.json.encode({"turns": [*turns, {"text": "Done."}]}))
        how = "never" if self._plan.answers == "nobody" else "on-request"
        settings = Settings(model=f"scripted:{script}", approvals=how)
        root = str(self._world.root)
        return await host.start(root, "fuzz", settings, attended=how != "never")

    async def _work(self, thread: ThreadHandle) -> None:
        """The calls, in one turn of a model or one by one; then what goes on is waited for."""
        if self._plan.turn:
            await thread.send("go")
            await thread.wait()
        for number, step in enumerate(self._plan.steps):
            if number >= self._results:  # a turn may be stopped
                with suppress(Halted):  # the guard stops the run, not the one who asks next
                    await thread.call(*self._call(number, step))
        for process in self._background:
            wait = {"process_id": process, "wait_timeout": LONG}
            await thread.call("workspace_read_command_output", wait)

    def _call(self, number: int, step: Step) -> tuple[str, dict[str, Any]]:
        if step.way == "edit":
            content = f"edited {number}\n"
            return "workspace_write_file", {"path": step.command, "content": content}
        command = self._world.fill(step.command, number)
        if step.way == "background":
            return RUN, {"command": command, "background": True, "wait_timeout": 0.01}
        return RUN, {"command": command, "wait_timeout": LONG, "kill_on_timeout": True}

    async def _listen(self, thread: ThreadHandle) -> None:
        """Answer what is asked, and work beside what goes on."""
        async for message in thread.events():
            if isinstance(message.body, ToolResult):
                self._beside(self._results, message.body)
                self._results += 1
            if isinstance(message.body, ConfirmRequest):
                answer = self._answer(message.body)
                self._asked.append((message.body, answer.decision))
                await thread.answer(message.corr or "", answer)

    def _answer(self, request: ConfirmRequest) -> ConfirmResponse:
        """Nobody lets a command out or shows it a secret; to changes it is yes or no."""
        dice = Random(f"{self._plan.seed} {len(self._asked)}")
        for action in request.actions:
            if not isinstance(action, Write | Delete | ChangeMany | Execute):
                return ConfirmResponse("deny")
            if isinstance(action, Execute) and action.outside:
                return ConfirmResponse("deny")
        if isinstance(request.actions[0], Execute):
            return ConfirmResponse("allow")
        if self._plan.answers == "either":
            return ConfirmResponse(dice.choice(("allow", "deny")))
        return ConfirmResponse("allow" if self._plan.answers == "allow" else "deny")

    def _beside(self, number: int, result: ToolResult) -> None:
        """What a person does while a command goes on in the background."""
        output = result.output if isinstance(result.output, dict) else {}
        if process := output.get("background_process_id"):
            self._background.append(process)
            name = f"by-person-{number}.txt"
            with suppress(PermissionError):  # a command may have locked the person out
                (self._world.root / name).write_text("by a person\n")
                self._by_person.append(name)

    async def _undo(self, host: Host, thread_id: str) -> str:
        """Undo everything; the answer says why that was refused, if so."""
        handle = await host.attach(thread_id, Settings(approvals="never"), thinks=False)
        try:
            plan = await handle.plan_undo(to=0)
            await handle.undo(plan)
        except SteersmanError as problem:
            return "" if problem.what == "There is nothing to undo." else str(problem)
        finally:
            await handle.close()
        return ""


def _around(world: World) -> list[str]:
    """Names in places where a command may try to leave something."""
    names = [name for name in os.listdir("/tmp") if name.startswith("fuzz-escaped")]
    above = [name for name in os.listdir(world.folder.parent) if "escaped" in name]
    return sorted([*names, *above, *os.listdir(world.folder)])


def _left(words: str) -> Iterator[str]:
    """Processes of the round that still run."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            line = Path("/proc", pid, "cmdline").read_bytes()
        except OSError:
            continue
        if words.encode() in line:
            yield line.replace(b"\0", b" ").decode(errors="replace").strip()
