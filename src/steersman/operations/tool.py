"""What a tool is: a docstring, typed arguments, a `plan` with its actions, and `perform`.

A tool never checks permission. It plans in a workspace that asks the gate before it looks, and
performs on a `Bench` whose workspace does only what the gate allowed.
"""

from __future__ import annotations

import asyncio
import os
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from enum import Enum
from inspect import getdoc
from typing import Any, Generic, TypeVar

import msgspec
from msgspec import Struct

from steersman.operations.changes import FileChange
from steersman.operations.journal.journal import Journal
from steersman.operations.workspace import PlanningWorkspace, Workspace
from steersman.records import validation
from steersman.records.action import Action
from steersman.records.arguments import Arguments as Arguments
from steersman.records.arguments import schema as schema
from steersman.records.change import Change
from steersman.records.dialogue import Call, ToolSpec
from steersman.records.errors import ToolProblem
from steersman.records.message import MASK, Checkpoint
from steersman.records.names import shown
from steersman.records.profile import PLAIN, Profile
from steersman.store.log import Lane
from steersman.systems import Permit


class Family(Enum):
    """Kinds of tools, each with how many calls of one answer may run at the same time."""

    READ = ("read", 8)
    EDIT = ("edit", 1)
    RUN = ("run", 1)
    AGENTS = ("agents", 4)
    HOOKS = ("hooks", 4)

    @property
    def limit(self) -> int:
        """How many calls of one answer may run at the same time."""
        return self.value[1]


class Malformed(ToolProblem):
    """A call that does not fit the tool."""


class Answered(Struct, frozen=True):
    """An answer of an MCP server: `output` for the log, `whole` as it was sent for the caller.

    `failed` is set instead of an output when the server says that the call went wrong.
    """

    output: Any
    whole: Mapping[str, Any]
    failed: ToolProblem | None = None


class Bench(Struct, frozen=True):
    """What a running tool has in reach; commands run as far as `profile` lets them.

    `admit` puts effects before the gate and raises when it says no; `record` informs it of effects
    of a command that was allowed to run on the folder itself. `typed` when a person waits for what
    they typed, and no model reads advice.
    """

    workspace: Workspace
    journal: Journal
    lane: Lane
    call: str
    progress: Callable[[str], None]
    admit: Callable[[Sequence[Action]], Awaitable[Permit]]
    record: Callable[[Sequence[Action]], Awaitable[None]]
    profile: Profile = PLAIN
    typed: bool = False

    async def commit(self, contents: Mapping[str, bytes | None]) -> None:
        """Give files (real paths) the contents that the gate allowed, all or none.

        None deletes a file. Originals are kept, so that all of it can be undone.
        """
        changes = await asyncio.to_thread(self._checked, contents)
        if lost := await asyncio.to_thread(self._lost, changes):
            await self.admit([lost])
        await self.journal.make(Checkpoint("effect", tuple(changes)), self.lane, self.call)

    def _lost(self, changes: Sequence[Change]) -> Action | None:
        """What the changes destroy that is nowhere else, together with the rest of the turn."""
        if all(change.before.kind == "absent" for change in changes):
            return None
        from steersman.operations.journal.past import LoggedPast
        from steersman.operations.running.effects import summed_up
        from steersman.operations.running.losses import loss_of

        past = LoggedPast(self.journal, self.lane)
        loss = loss_of(self.journal, changes, "", past)
        if loss and (agreed := past.agreed(self.call)):
            left = [change for change in changes if change.path not in agreed]
            loss = loss_of(self.journal, left, "", past)
        return summed_up(self.journal, changes, loss, named=True) if loss else None

    def _checked(self, contents: Mapping[str, bytes | None]) -> list[Change]:
        """The changes of files that give them the contents, if that is what was decided on."""
        for path, content in contents.items():
            self.workspace.may_write(path, content)
        changes = self.journal.plan(contents)
        for change in changes:
            path = os.path.join(self.workspace.root, change.path)
            before = change.before
            # A folder or a link that appeared meanwhile has no digest, and is not nothing.
            present = "" if before.kind == "absent" else before.digest or before.kind
            self.workspace.check_before(path, present)
            self._refuse_masks(change, contents.get(path) or b"")
        return changes

    def _refuse_masks(self, change: Change, content: bytes) -> None:
        """Refuse to write the words that stand for a secret in the place of the secret."""
        mask = MASK.encode()
        if mask not in content or not self.journal.objects.has(change.before.digest):
            return
        with self.journal.objects.open(change.before.digest) as file:
            if content.count(mask) <= file.read().count(mask):
                return
        raise ToolProblem(
            f"“{MASK}” masks a secret in {shown(change.path)} that you cannot see.",
            "Written like this, the file would lose it.",
            "Change the other parts with workspace_edit_files.",
        )


A = TypeVar("A", bound=Arguments)


class Plan(Struct, Generic[A], frozen=True):
    """What a call would do, worked out once: judged by its `actions`, then performed.

    `changes` are the new contents of files, where the call is about nothing else: their hunks can
    be accepted one by one.
    """

    args: A
    actions: Sequence[Action] = ()
    changes: tuple[FileChange, ...] = ()

    @property
    def contents(self) -> dict[str, bytes | None]:
        """What the changed files will hold, by real path."""
        return {change.path: change.after for change in self.changes}


def changing(args: A, changes: Sequence[FileChange]) -> Plan[A]:
    """The plan of a call that changes files and does nothing else."""
    return Plan(args, [change.action for change in changes], tuple(changes))


class Tool(ABC, Generic[A]):
    """One thing an agent can do; where it is not `offered`, only those who call it by name can."""

    name: str
    family: Family
    offered: bool = True
    Args: type[A]

    @abstractmethod
    async def plan(self, args: A, workspace: PlanningWorkspace) -> Plan[A]:
        """What the call would do; has no effects, and looks only at what it asked for."""

    @abstractmethod
    async def perform(self, plan: Plan[A], bench: Bench) -> Any:
        """Do it. The answer is a record or something else that JSON can say."""

    def always(self) -> Action | None:
        """What every call of it does, where that is known before: a mode may forbid it."""
        return None

    def spec(self) -> ToolSpec:
        """The tool as a model sees it."""
        kind = self.family.value[0]
        return ToolSpec(self.name, self.description(), schema(self.Args), kind)

    def description(self) -> str:
        """What the tool does, in words for the model."""
        return getdoc(type(self)) or ""

    def parse(self, call: Call) -> A:
        """The typed arguments of a call, or what is wrong with them."""
        if call.malformed is not None:
            raise Malformed(
                f"The arguments of {self.name} are not a JSON object.",
                f"They were: {call.malformed[:500]}",
                "Send the call again with valid JSON.",
            )
        try:
            return msgspec.convert(call.arguments, self.Args)
        except msgspec.ValidationError as error:
            fields = ", ".join(schema(self.Args)["properties"])
            raise Malformed(
                f"The arguments of {self.name} are not valid: {validation.in_words(error)}.",
                f"It takes: {fields or 'no arguments'}.",
                "Send the call again with valid arguments.",
            ) from error
