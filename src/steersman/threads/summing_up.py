"""What a turn that asked nobody came to, from its messages: the changes, the tests, the log."""

from collections.abc import Sequence
from typing import Literal

from steersman.operations.journal.journal import Journal
from steersman.operations.journal.undoing import made
from steersman.operations.matching import counted
from steersman.operations.running.contents import is_own
from steersman.operations.running.suites import runs_tests, said
from steersman.records.change import Change, Seen
from steersman.records.message import Message, Summary, ToolCall, ToolResult
from steersman.records.names import shown
from steersman.records.protection import git_bookkeeping
from steersman.records.summary import FileStat, Tested
from steersman.threads.new_commits import new_commits

MOST = 200  # files that are named


def summary(messages: Sequence[Message], journal: Journal, thread: str) -> Summary | None:
    """What is to be said of a turn; nothing of one that changed, tested and was denied nothing."""
    changes = made(journal.entries(messages))
    files = _files(changes, journal)
    commits = [one.subject for one in new_commits(changes, journal)]
    stats = [_stat(journal, one) for one in files[:MOST]]
    tests = _tests(messages)
    results = [one.body for one in messages if isinstance(one.body, ToolResult)]
    denied = sum(result.status == "denied" for result in results)
    if not (files or commits or tests or denied):
        return None
    return Summary(
        files=tuple(stats),
        count=len(files),
        added=sum(stat.added for stat in stats),
        removed=sum(stat.removed for stat in stats),
        commits=tuple(commits),
        tests=tuple(tests),
        denied=denied,
        log=f"steer replay {thread}",
    )


def _files(changes: Sequence[Change], journal: Journal) -> list[Seen]:
    """What the turn changed in the end, without git's own files, folders and what tools make."""
    found = [change for change in changes
             if not git_bookkeeping(change.path) and is_own(change.path)
             and not {change.before.kind, change.after.kind} <= {"folder", "absent"}]  # fmt: skip
    return journal.seen(found)


def _stat(journal: Journal, one: Seen) -> FileStat:
    change = one.change
    what: Literal["created", "changed", "deleted", "renamed"] = "changed"
    if "absent" in (change.before.kind, change.after.kind):
        what = "created" if change.before.kind == "absent" else "deleted"
    if one.moved_from:
        what = "renamed"
    counts = counted(journal.diff_of(one))
    return FileStat(shown(change.path), what, *counts, shown(one.moved_from))


def _tests(messages: Sequence[Message]) -> list[Tested]:
    """The commands that ran tests, in order; of one that ran several times the last counts."""
    commands: dict[str | None, str] = {}
    found: dict[str, Tested] = {}
    for message in messages:
        match message.body:
            case ToolCall(arguments={"command": str(command)}) if runs_tests(command):
                commands[message.corr] = command
            case ToolResult(output={"output": str(output), **ended}) if message.corr in commands:
                command = commands[message.corr]
                code = ended.get("exit_code")
                found.pop(command, None)
                found[command] = Tested(
                    command, code if isinstance(code, int) else None, said(output)
                )
    return list(found.values())
