"""What people did to a thread's work between two turns, in the words that its model gets.

Only from the log, so that it is the same in every process. What the model did itself it knows. What
programs print says nothing here (it is in `printed.py`), and every name, subject and command of
others is quoted.
"""

from collections.abc import Iterable, Sequence

from msgspec import Struct

from steersman.intelligence.shortening import MEANWHILE
from steersman.operations.journal.journal import Journal
from steersman.operations.journal.undoing import Entry, void
from steersman.records.call_ids import only_looks
from steersman.records.change import Change
from steersman.records.counting import counted
from steersman.records.exits import end_words, exit_words
from steersman.records.hunks import hunks_of
from steersman.records.message import (
    Checkpoint,
    JobEnd,
    Message,
    Rewind,
    ToolCall,
    ToolResult,
    TurnEnd,
)
from steersman.records.patterns import pattern
from steersman.records.protection import git_bookkeeping
from steersman.records.visible import quoted
from steersman.threads.new_commits import new_commits

KINDS = frozenset({
    "tool_call", "tool_result", "checkpoint", "job_end", "turn_end", "rewind", "meanwhile",
})  # fmt: skip
OPENING = f"{MEANWHILE}, this happened. Files may differ from what you saw: read them again.]"
SIGNAL = "workspace_signal_process"
MOST, NAMED, RANGES = 12, 8, 4  # lines, files or commits of one, places in a file
LONGEST = 160  # characters of a command or a name
SHORT_ID = 12
_HUNK = pattern(r"@@ -\S+ \+(\d+)")


class _Made(Struct, frozen=True):
    """Changes of files by people, and the call that made them."""

    entry: Entry
    call: str | None


def meanwhile(messages: Sequence[Message], journal: Journal) -> str:
    """What is to be known of the messages since the last turn began; empty for nothing.

    Calls whose results are among them may have begun before that.
    """
    called = {m.corr: m.body for m in messages if isinstance(m.body, ToolCall) and m.turn == 0}
    ended = max((m.seq for m in messages if isinstance(m.body, TurnEnd)), default=0)
    points = [m for m in messages if isinstance(m.body, Checkpoint) and m.turn == 0]
    entries = journal.entries(points)
    never = void(entries)
    made = {point.seq: _Made(entry, point.corr)
            for point, entry in zip(points, entries, strict=True)
            if entry.seq not in never and entry.cause != "void"}  # fmt: skip
    jobs = {m.body.process_id: m.body.command for m in messages if isinstance(m.body, JobEnd)}
    stopped = {m.body.output.get("process_id") for m in messages
               if isinstance(m.body, ToolResult) and m.body.tool == SIGNAL and m.turn == 0
               and isinstance(m.body.output, dict)
               and m.body.output.get("state") != "running"}  # fmt: skip
    lines: list[str] = []
    own: list[int] = []  # which of them are an undo or a redo
    for message in messages:
        match message.body:
            case Checkpoint() as point if message.seq in made and point.cause != "effect":
                told = _went_back(point, made[message.seq].entry, journal)
                own += range(len(lines), len(lines) + len(told))
                lines += told
            case ToolResult(status="ok") as result if message.corr in called:
                if not only_looks(message.corr, message.turn):
                    entry = [one.entry for one in made.values() if one.call == message.corr]
                    changes = [change for one in entry for change in one.changes]
                    lines += _called(called[message.corr], result, changes, jobs, journal)
            case Rewind():
                kept = [one.entry for one in made.values() if one.call == message.corr]
                lines += _rewound([change for one in kept for change in one.changes])
            case JobEnd() as job if message.seq > ended and job.process_id not in stopped:
                lines.append(_job_ended(job))
            case _:
                continue
    return _told(lines, own) if lines else ""


def _told(lines: Sequence[str], own: Sequence[int]) -> str:
    """The latest lines; what people undid goes before all that commands and jobs did."""
    others = [at for at in range(len(lines)) if at not in own]
    kept = sorted([*others, *own][-MOST:])
    left = len(lines) - len(kept)
    more = [f"({counted(left, 'other step')} left out.)"] if left else []
    return "\n".join([OPENING, *more, *(f"- {lines[at]}" for at in kept)])


def _went_back(point: Checkpoint, entry: Entry, journal: Journal) -> list[str]:
    """An undo or a redo: which files, and of those undone in part, which lines."""
    hunks = {part.path for part in point.parts if part.hunks}
    files = _files(entry.changes)
    named = [_state(change, journal, change.path in hunks) for change in files[:NAMED]]
    if any(git_bookkeeping(change.path) for change in entry.changes):
        named.append("what git had recorded, such as a commit")
    did = "undid your changes" if point.cause == "undo" else "restored undone changes"
    return [f"The user {did}: {_listed(named, len(files))}."] if named else []


def _rewound(changes: Sequence[Change]) -> list[str]:
    """A rewind that left files as they were: which of them are newer than the conversation."""
    files = _files(changes)
    names = _listed([_quoted(change.path) for change in files[:NAMED]], len(files))
    told = "The user went back to this point of the conversation, but kept later changes"
    return [f"{told}: {names}."] if names else []


def _state(change: Change, journal: Journal, some: bool) -> str:
    """A path, and what is there now."""
    name = _quoted(change.path)
    if change.after.kind == "absent":
        return f"{name} (no longer exists)"
    if change.before.kind == "absent":
        return f"{name} (exists again)"
    return f"{name} (only {_lines(journal.diff(change))})" if some else name


def _lines(diff: str) -> str:
    """The lines of a file as it is now that a diff is about."""
    found: list[int] = []
    for hunk in hunks_of(diff):
        head, *rest = hunk.split("\n")
        start = _HUNK.match(head)
        number = int(start[1]) if start else 1
        for line in rest:
            if line[:1] in ("+", "-"):
                found.append(number)
            number += line[:1] in ("+", " ")
    spans: list[list[int]] = []
    for number in sorted(set(found)):
        if spans and number <= spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    told = [str(a) if a == b else f"{a}-{b}" for a, b in spans[:RANGES]]
    more = " and more" if len(spans) > RANGES else ""
    return f"line{'s' * (len(set(found)) != 1)} {', '.join(told)}{more}" if told else "a part of it"


def _called(
    call: ToolCall,
    result: ToolResult,
    changes: Sequence[Change],
    jobs: dict[str, str],
    journal: Journal,
) -> list[str]:
    """A call of a person: a command with its commits, a stopped job, or changes of files."""
    files = _files(changes)
    names = _listed([_quoted(change.path) for change in files[:NAMED]], len(files))
    match call.tool, result.output:
        case "workspace_run_command", {"output": str(), **rest}:
            command = _quoted(str(call.arguments.get("command", "")))
            if job := rest.get("background_process_id"):
                return [f"The user started {command} in the background as {job}."]
            code = rest.get("exit_code")
            told = exit_words(code) if isinstance(code, int) else "still running"
            changed = f"; it changed {names}" if names else ""
            return [f"The user ran {command}: {told}{changed}{_committed(changes, journal)}."]
        case "workspace_signal_process", {"process_id": str(job), "state": str(state), **rest}:
            name = f"{job} ({_quoted(jobs[job])})" if job in jobs else job
            if state == "running":
                return [f"The user sent {rest.get('signal')} to the background job {name}."]
            return [f"The user stopped the background job {name}."]
    return [f"The user changed {names}."] if names else []


def _committed(changes: Sequence[Change], journal: Journal) -> str:
    """The commits that a command made, the latest of very many."""
    made = new_commits(changes, journal)
    named = [f"{one.id[:SHORT_ID]} {_quoted(one.subject)}" for one in made[-NAMED:]]
    return f"; it committed {_listed(named, len(made), 'other commit')}" if named else ""


def _job_ended(job: JobEnd) -> str:
    return f"The background job {job.process_id} ({_quoted(job.command)}) {end_words(job)}."


def _files(changes: Iterable[Change]) -> list[Change]:
    """Changes of files, without git's own and without folders."""
    found = {change.path: change for change in changes
             if not git_bookkeeping(change.path)
             and not {change.before.kind, change.after.kind} <= {"folder", "absent"}}  # fmt: skip
    return list(found.values())


def _listed(names: Sequence[str], count: int, other: str = "other file") -> str:
    more = f" and {counted(count - NAMED, other)}" if count > NAMED else ""
    return ", ".join(names) + more


def _quoted(text: str) -> str:
    return quoted(text, LONGEST)
