"""Events that the log implies and orchestrators ask for by name: `diff_commit` and `failure`.

They are made while a log is printed as JSON and stored nowhere: what they say is in the messages
before them. Pure.
"""

from collections.abc import Iterable
from typing import Literal

import msgspec

from steersman.records.change import Change
from steersman.records.counting import counted
from steersman.records.message import (
    Body,
    Checkpoint,
    DiffCommit,
    DiffReady,
    Error,
    Failure,
    HookRun,
    JobEnd,
    Message,
    ToolCall,
    ToolResult,
    TurnEnd,
    TurnStart,
    UndoEnd,
)
from steersman.records.names import shown
from steersman.records.protection import git_bookkeeping
from steersman.records.summary import FileStat
from steersman.views.text import one_line

FAILED = ("failed", "interrupted", "limit", "blocked")  # endings of a turn that are no success
BROKEN = ("error", "malformed", "interrupted")  # the same of a call; a denied one did not fail
ARROW = " → "
LONGEST = 300  # characters of a summary


class Events:
    """Feed it every message in order; each gives the events that follow from it."""

    def __init__(self) -> None:
        self._checkpoints: dict[int, Message] = {}  # what is to be done to files
        self._diffs: dict[str | None, list[DiffReady]] = {}
        self._calls: dict[str | None, ToolCall] = {}
        self._problem = ""

    def feed(self, message: Message) -> list[Message]:
        """What follows from a message; each event has its time, turn, lane and `corr`."""
        self._note(message)
        found = [*self._changed(message), *self._failed(message)]
        return [msgspec.structs.replace(message, seq=0, kind=b.kind, body=b) for b in found]

    def _note(self, message: Message) -> None:
        match message.body:
            case TurnStart():
                self._problem = ""
            case ToolCall() as call:
                self._calls[message.corr] = call
            case Checkpoint(cause="void", undoes=never):
                for seq in never:
                    self._checkpoints.pop(seq, None)
            case Checkpoint():
                self._checkpoints[message.seq] = message
            case DiffReady() as diff:
                self._diffs.setdefault(message.corr, []).append(diff)
            case Error(retry_in=None) as error:
                self._problem = " ".join(filter(None, (error.what, error.why)))

    def _changed(self, ended: Message) -> list[Body]:
        match ended.body:
            case UndoEnd(checkpoint=seq):
                return self._committed({seq}, None)
            case ToolResult() | HookRun() | JobEnd():
                mine = {seq for seq, one in self._checkpoints.items() if one.corr == ended.corr}
                return self._committed(mine, ended.corr)
        return []

    def _failed(self, message: Message) -> list[Body]:
        match message.body:
            case ToolResult() as result:
                return self._result(message, result)
            case HookRun() as ran:
                return _failure(message, "command", f"hook {ran.command}", ran.problem)
            case JobEnd(left=False, copied=False) as job:
                code = job.exit_code
                ended = "lost" if job.lost else f"exit {code}" if code else ""
                return _failure(message, "command", job.command, ended)
            case Error(retry_in=None) if not message.turn:
                return _failure(message, "thread", "", self._problem)
            case TurnEnd(ending=ending, reason=reason) if ending in FAILED:
                return _failure(message, "turn", "", self._problem or reason or ending)
        return []

    def _committed(self, seqs: Iterable[int], corr: str | None) -> list[Body]:
        steps = [self._checkpoints.pop(seq) for seq in sorted(seqs) if seq in self._checkpoints]
        bodies = [one.body for one in steps if isinstance(one.body, Checkpoint)]
        diffs = self._diffs.pop(corr, []) if corr else []
        files = _files([change for body in bodies for change in body.changes], diffs)
        unnamed = sum(body.count for body in bodies if body.manifest)
        count = unnamed or len(files)
        if not count:
            return []
        added, removed = sum(one.added for one in files), sum(one.removed for one in files)
        summary = f"{counted(count, 'file')} changed, +{added} -{removed}"
        return [DiffCommit(steps[0].path, summary, tuple(files), count, added, removed)]

    def _result(self, message: Message, result: ToolResult) -> list[Body]:
        """A call that could not be carried out, or a command that did not end well."""
        call = self._calls.pop(message.corr, None)
        if result.status in BROKEN:
            return _failure(message, "tool", result.tool, result.message or result.status)
        match result.output:
            case {"process_id": _}:
                return []  # of a job that ended, `job_end` says how
            case {"exit_code": int(code), **rest} if code and result.status == "ok":
                name = str(call.arguments.get("command", "")) if call else ""
                why = str(rest.get("error") or f"exit {code}")
                return _failure(message, "command", name or result.tool, why)
        return []


def _failure(
    of: Message, what: Literal["turn", "tool", "command", "thread"], name: str, why: str
) -> list[Body]:
    summary = one_line(": ".join(filter(None, (name, why))), LONGEST)
    return [Failure(of.path, summary, what)] if why else []


def _files(changes: Iterable[Change], diffs: Iterable[DiffReady]) -> list[FileStat]:
    """The files of a changeset; lines are counted where the log has a diff."""
    found: dict[str, FileStat] = {}
    for change in changes:
        kinds = change.before.kind, change.after.kind
        if git_bookkeeping(change.path) or set(kinds) <= {"folder", "absent"}:
            continue
        path = shown(change.path)
        found[path] = FileStat(path, "changed")
        if "absent" in kinds:
            found[path] = FileStat(path, "created" if kinds[0] == "absent" else "deleted")
    for diff in diffs:
        old, _, new = diff.file.rpartition(ARROW)
        if diff.file not in found and {old, new} <= found.keys():
            del found[old]
            found[new] = FileStat(new, "renamed", diff.added, diff.removed, old)
        else:
            known = found.get(diff.file, FileStat(diff.file, "changed"))
            found[diff.file] = FileStat(diff.file, known.what, diff.added, diff.removed)
    return list(found.values())
