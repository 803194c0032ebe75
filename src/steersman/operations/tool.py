"""What a tool is: a docstring, typed arguments, the actions it needs, and `run`.

A tool never checks permission. It works on a `Bench` whose workspace does only what the gate
gave leave for.
"""

from __future__ import annotations

import asyncio
import os
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from enum import Enum
from inspect import getdoc
from typing import Any, ClassVar, Generic, TypeVar

import msgspec
from msgspec import Struct

from steersman.operations.journal.journal import Journal
from steersman.operations.workspace import Workspace
from steersman.records.action import Action
from steersman.records.dialogue import Call, ToolSpec
from steersman.records.errors import ToolProblem
from steersman.records.message import Checkpoint
from steersman.records.profile import PLAIN, Profile
from steersman.store.log import Lane
from steersman.systems import Permit


class Family(Enum):
    """Kinds of tools, each with how many calls of one answer may run at the same time."""

    READ = ("read", 8)
    EDIT = ("edit", 1)
    RUN = ("run", 1)
    AGENTS = ("agents", 4)

    @property
    def limit(self) -> int:
        """How many calls of one answer may run at the same time."""
        return self.value[1]


class Arguments(Struct, frozen=True, forbid_unknown_fields=True):
    """Base of every tool's arguments."""


class Malformed(ToolProblem):
    """A call that does not fit the tool."""


class Bench(Struct, frozen=True):
    """What a running tool has in reach; commands run as far as `profile` lets them.

    `admit` puts effects before the gate and raises when it says no; `record` tells it of effects
    of a command that was let run on the folder itself.
    """

    workspace: Workspace
    journal: Journal
    lane: Lane
    call: str
    progress: Callable[[str], None]
    admit: Callable[[Sequence[Action]], Awaitable[Permit]]
    record: Callable[[Sequence[Action]], Awaitable[None]]
    profile: Profile = PLAIN

    async def commit(self, contents: Mapping[str, bytes | None]) -> None:
        """Give files (real paths) the contents that leave was given for, all or none.

        None takes a file away. Originals are kept, so that all of it can be undone.
        """
        for path, content in contents.items():
            self.workspace.may_write(path, content)
        changes = await asyncio.to_thread(self.journal.plan, contents)
        for change in changes:
            path = os.path.join(self.workspace.root, change.path)
            before = change.before
            # A folder or a link that appeared meanwhile has no digest, and is not nothing.
            present = "" if before.kind == "absent" else before.digest or before.kind
            self.workspace.check_before(path, present)
        await self.journal.make(Checkpoint("effect", tuple(changes)), self.lane, self.call)


A = TypeVar("A", bound=Arguments)


class Tool(ABC, Generic[A]):
    """One thing an agent can do."""

    name: str
    family: ClassVar[Family]
    Args: type[A]

    def looks(self, args: A, workspace: Workspace) -> Sequence[Action]:
        """What must be looked at to know the actions; judged before `actions` is asked."""
        return ()

    @abstractmethod
    def actions(self, args: A, workspace: Workspace) -> Sequence[Action]:
        """What the call would do."""

    @abstractmethod
    async def run(self, args: A, bench: Bench) -> Any:
        """Do it. The answer is a record or something else that JSON can say."""

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
                f"The arguments of {self.name} do not fit: {error}.",
                f"It takes: {fields or 'no arguments'}.",
                "Send the call again with arguments that fit.",
            ) from error


def schema(arguments: type[Arguments]) -> dict[str, Any]:
    """A JSON Schema object with every reference written out, as all providers take it."""
    (root,), components = msgspec.json.schema_components([arguments])
    found: dict[str, Any] = _inline(root, components)
    found.pop("title", None)
    return found


def _inline(node: Any, components: dict[str, Any]) -> Any:
    if isinstance(node, list):
        return [_inline(item, components) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        target = dict(components[node["$ref"].rsplit("/", 1)[-1]])
        target.pop("title", None)
        return _inline(target, components)
    return {name: _inline(item, components) for name, item in node.items()}
