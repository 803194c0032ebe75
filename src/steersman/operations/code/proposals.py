"""Refactorings as proposals: Serena changes a copy, and its changes pass the gate like an edit.

Serena's writers change files at once and past everything. Here they are run on a copy of the
workspace, by a Serena of its own with a home of its own; nothing has happened until the gate has
seen every diff, and all of it can be undone.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from steersman.operations.code import serena_reading
from steersman.operations.code.copies import Changed, Copy
from steersman.operations.code.crosscheck import occurrences
from steersman.operations.code.records import Reference
from steersman.operations.code.renames import as_it_was, damaged
from steersman.operations.code.serena_home import CONFIG, environment, keep_settings, prepare_home
from steersman.operations.matching import counted, unified_diff
from steersman.operations.mcp.server_slot import Link
from steersman.operations.running.scratch import Scratch
from steersman.operations.tool import Bench
from steersman.operations.workspace import digest
from steersman.records import counting
from steersman.records.action import Action, Delete, McpCall, Write
from steersman.records.errors import ToolProblem
from steersman.records.mcp_server import Server
from steersman.records.mcp_tools import Outcome
from steersman.records.plain_files import read_plain

PATIENCE = 180.0
MOST_CHANGED = 500
MOST_LEFT = 20
_LARGEST_CONFIG = 1 << 20
_REFERENCED = re.compile(r"is referenced in: (\{.*\})", re.S)
_NOTES = re.compile(r"^project_serena_folder_location:.*$", re.M)

Operation = Literal[
    "rename_symbol",
    "replace_symbol_body",
    "insert_before_symbol",
    "insert_after_symbol",
    "safe_delete_symbol",
]


class Refactoring(Struct, frozen=True):
    """What is to be done to a symbol: its name path, the file it is defined in, the new text."""

    operation: Operation
    name_path: str
    path: str
    text: str = ""

    def arguments(self) -> dict[str, Any]:
        """The arguments of Serena's tool."""
        name = "name_path_pattern" if self.operation == "safe_delete_symbol" else "name_path"
        given: dict[str, Any] = {name: self.name_path, "relative_path": self.path}
        if self.operation == "rename_symbol":
            given["new_name"] = self.text
        elif self.operation != "safe_delete_symbol":
            given["body"] = self.text
        return given


class ChangedFile(Struct, frozen=True):
    """One file and how many lines of it came and went."""

    path: str
    added: int
    removed: int


class Refactored(Struct, frozen=True, omit_defaults=True):
    """What was changed. `left_over` are places where the text still has the old name."""

    backend: str
    symbol: str
    files: tuple[ChangedFile, ...]
    left_over: tuple[Reference, ...] = ()
    note: str = ""


class Proposer:
    """Tries refactorings on copies below `scratch`; `serena` shows which server to copy."""

    def __init__(
        self,
        serena: Callable[[], Server | None],
        connect: Callable[[Server], Link],
        scratch: str,
        environ: Mapping[str, str],
    ) -> None:
        self._serena = serena
        self._connect = connect
        self._scratch = scratch
        self._environ = environ

    async def propose(self, wanted: Refactoring, bench: Bench) -> Refactored:
        """Try it, put what changed before the gate, and make it so."""
        server = self._serena()
        if server is None or server.transport != "stdio":
            raise ToolProblem(
                "Serena, which does this, is not set up.",
                "Refactorings are done by Serena, started on a copy of the workspace.",
                "Use workspace_find_references and workspace_edit_files.",
            )
        os.makedirs(self._scratch, mode=0o700, exist_ok=True)
        scratch = await asyncio.to_thread(Scratch, os.path.realpath(self._scratch))
        try:
            changes = await self._tried(wanted, server, scratch, bench)
            await self._made(changes, wanted, bench)
        finally:
            await asyncio.to_thread(scratch.discard)
        left, note = await self._left_over(wanted, bench)
        files = tuple(ChangedFile(c.path, *counted(_diff(c))) for c in changes)
        return Refactored(server.name, f"{wanted.name_path} ({wanted.path})", files, left, note)

    async def _tried(
        self, wanted: Refactoring, server: Server, scratch: Scratch, bench: Bench
    ) -> list[Changed]:
        """What Serena changes in a copy."""
        arguments = wanted.arguments()
        # On a copy of the workspace it changes nothing that is anyone's.
        await bench.admit([McpCall(server.name, wanted.operation, arguments, "reads")])
        root = bench.workspace.root
        top = os.path.join(scratch.inner("tree"), os.path.basename(root) or "workspace")
        copy = await Copy.of(bench.workspace, top, self._environ)
        home = await asyncio.to_thread(_home, server, scratch.path("home"), self._environ)
        link = self._connect(on_copy(server, root, top, home))
        try:
            async with asyncio.timeout(PATIENCE):
                await link.start()
                outcome = await link.call(wanted.operation, arguments)
        except TimeoutError:
            raise ToolProblem(f"Serena did not finish within {PATIENCE:g} seconds.") from None
        finally:
            await link.stop()
        _check(outcome, wanted)
        changes = _kept(await asyncio.to_thread(copy.changes))
        if not changes:
            raise ToolProblem(f"{wanted.operation} of {wanted.name_path} would change nothing.")
        if len(changes) > MOST_CHANGED:
            raise ToolProblem(
                f"It would change {counting.counted(len(changes), 'file')}, too many for one step."
            )
        _refuse_damage(changes, wanted)
        return changes

    async def _made(self, changes: Sequence[Changed], wanted: Refactoring, bench: Bench) -> None:
        """Put every change with its diff before the gate, and write all of them or none."""
        root = bench.workspace.root
        permit = await bench.admit([_action(change, root) for change in changes])
        granted = bench.workspace.granted(permit.actions, permit.secret)
        contents = {os.path.join(root, change.path): change.after for change in changes}
        await replace(bench, workspace=granted).commit(contents)
        bench.workspace.written.extend(granted.written)

    async def _left_over(
        self, wanted: Refactoring, bench: Bench
    ) -> tuple[tuple[Reference, ...], str]:
        """Where the text still has a name that was renamed or deleted."""
        name = wanted.name_path.rpartition("/")[2]
        if wanted.operation not in ("rename_symbol", "safe_delete_symbol"):
            return (), ""
        try:
            found = await occurrences(name, bench.workspace, self._environ)
        except ToolProblem as problem:
            return (), f"not compared with the text: {problem.what}"
        places = [Reference(h.file, h.line, h.column, h.text.strip()) for h in found.hits]
        total = sum(count for _, count in found.counts)
        if not total:
            return (), f"{name} no longer appears in the text"
        more = f", {MOST_LEFT} shown" if total > MOST_LEFT else ""
        note = (
            f"{name} still appears in {counting.counted(total, 'line')}{more}: they may be "
            "comments, strings or other symbols; look at them"
        )
        return tuple(places[:MOST_LEFT]), note


def on_copy(server: Server, root: str, top: str, home: str) -> Server:
    """The entry of a Serena that works on a copy instead, with a home of its own."""
    words: list[str] = []
    skip = False
    for word in server.arguments:
        if skip or word == "--project-from-cwd" or word.startswith("--project="):
            skip = False
        elif word == "--project":
            skip = True
        else:
            words.append(word)
    return replace(
        server,
        name=f"{server.name}-copy",
        arguments=(*words, "--project", top),
        cwd=top,
        environ={**server.environ, **environment(home)},
        timeout=PATIENCE,
    )


def _home(server: Server, folder: str, environ: Mapping[str, str]) -> str:
    """A home with the settings of the Serena that is set up, and what that has fetched."""
    theirs = server.environ.get("SERENA_HOME") or os.path.join(
        environ.get("HOME") or os.path.expanduser("~"), ".serena"
    )
    prepare_home(folder)
    with suppress(OSError):
        config = read_plain(os.path.join(theirs, CONFIG), _LARGEST_CONFIG).decode(errors="replace")
        # Notes about the copy must not get among the notes about the workspace.
        notes = f'project_serena_folder_location: "{folder}/notes"'
        keep_settings(folder, _NOTES.sub("", config) + f"\n{notes}\n")
    fetched = os.path.join(theirs, "language_servers")
    if os.path.isdir(fetched):
        os.symlink(fetched, os.path.join(folder, "language_servers"))
    return folder


def _kept(changes: Sequence[Changed]) -> list[Changed]:
    """Changes without those of line endings alone."""
    kept = [replace(change, after=as_it_was(change.before, change.after)) for change in changes]
    return [change for change in kept if change.before != change.after]


def _refuse_damage(changes: Sequence[Changed], wanted: Refactoring) -> None:
    """Raise when a rename changed more than names; nothing has happened yet."""
    if wanted.operation != "rename_symbol":
        return
    old = wanted.name_path.rpartition("/")[2]
    for change in changes:
        if change.before is None or change.after is None:
            continue  # a file may be named after what is in it
        if line := damaged(change.before, change.after, old, wanted.text):
            raise ToolProblem(
                f"Serena's rename would damage line {line} of {change.path}; nothing was changed.",
                f"The line would read: {_line(change.after, line)}",
                "Find the uses with workspace_find_references, change them with "
                "workspace_edit_files.",
            )


def _line(content: bytes, line: int) -> str:
    lines = content.decode("utf-8", "replace").splitlines()
    return lines[line - 1].strip()[:200] if line <= len(lines) else ""


def _check(outcome: Outcome, wanted: Refactoring) -> None:
    """Raise, in our own words, what prevents a refactoring."""
    try:
        text = serena_reading.answer(outcome)
    except ToolProblem as problem:
        raise ToolProblem(
            f"Serena cannot do {wanted.operation} on {wanted.name_path} in {wanted.path}: "
            f"{problem.what}.",
            try_this="See workspace_get_symbols_overview for the symbol's name.",
        ) from problem
    if text.startswith("Cannot delete"):
        raise ToolProblem(
            f"{wanted.name_path} is still used, so it was not deleted.",
            _uses(text),
            "Remove its uses first.",
        )


def _uses(text: str) -> str:
    """The places in Serena's refusal to delete, with lines from 1."""
    found = _REFERENCED.search(text)
    try:
        uses = msgspec.json.decode(found[1] if found else "{}", type=dict[str, list[int]])
    except msgspec.DecodeError:
        return ""
    shown = [f"{path}:{line + 1}" for path, lines in uses.items() for line in lines]
    return f"Used at {', '.join(shown[:MOST_LEFT])}." if shown else ""


def _action(change: Changed, root: str) -> Action:
    path = os.path.join(root, change.path)
    before = "" if change.before is None else digest(change.before)
    if change.after is None:
        return Delete(path, before, _diff(change))
    return Write(path, before, digest(change.after), _diff(change))


def _diff(change: Changed) -> str:
    return unified_diff(change.path, change.before, change.after)
