"""Words for messages: one line each, safe for a terminal."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from steersman.records.clock import local
from steersman.records.counting import counted as counted
from steersman.records.exits import end_words, exit_words
from steersman.records.git_names import inner
from steersman.records.in_context import typed
from steersman.records.message import (
    AgentDone,
    AgentSpawn,
    Answer,
    Assistant,
    Audit,
    Body,
    Checkpoint,
    Compaction,
    ConfirmRequest,
    ConfirmResponse,
    DiffReady,
    Error,
    GuardBlock,
    HookRun,
    JobEnd,
    Meanwhile,
    Message,
    Policy,
    Question,
    RequestReceipt,
    RequestResult,
    Rewind,
    SessionEnd,
    SessionStart,
    SettingsChanged,
    Steer,
    Summary,
    ToolCall,
    ToolResult,
    TurnEnd,
    UndoEnd,
    UsageReport,
    User,
)
from steersman.records.names import shown
from steersman.records.patterns import pattern
from steersman.records.undo import Part
from steersman.records.visible import UNSAFE, visible
from steersman.records.wording import elsewhere, requested
from steersman.views.git_notes import counted_changes, files_first, named_commits, undo_words

PARTS = 5  # of an undo, that are named
_NAMED = 10  # files of a summary
IMPORTED_WORDS = "Imported from a file. What it describes may never have happened here."


def safe(text: str) -> str:
    """Text that cannot move the cursor, change colours or hide itself."""
    return visible(shown(text).replace("\r\n", "\n"))


def safe_json(text: str) -> str:
    """JSON that says the same, with nothing in it that a terminal would follow."""
    return UNSAFE.sub(lambda found: json_escape(ord(found[0])), text)


def json_line(encoded: bytes) -> bytes:
    """JSON as one line for every reader, with nothing in it that a terminal would follow."""
    if encoded.isascii() and b"\x7f" not in encoded:
        return encoded
    return safe_json(encoded.decode()).encode()


def json_escape(code: int) -> str:
    """A character as JSON spells it."""
    if code < 0x10000:
        return f"\\u{code:04x}"
    high, low = divmod(code - 0x10000, 0x400)
    return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"


def one_line(text: str, width: int = 100) -> str:
    """The beginning of a text on one line."""
    flat = " ".join(safe(text).split())
    return flat if len(flat) <= width else flat[: width - 1] + "…"


def sentence(text: str) -> str:
    """Text of a line or a few: what continues in another line is set in, and passes for no line."""
    return safe(text).replace("\n", "\n  ")


def call_words(tool: str, arguments: dict[str, Any], *, typed: bool = False) -> str:
    """A call as a person would say it: the tool and what it is about; or as they `typed` it."""
    match arguments:
        case {"command": str(about)} | {"path": str(about)} | {"task": str(about)}:
            pass
        case {"url": str(about)} | {"query": str(about)}:
            pass
        case {"questions": list(asked)}:
            about = counted(len(asked), "question")
        case {"files": list(files)}:
            about = ", ".join(str(f.get("path", "?")) for f in files if isinstance(f, dict))
        case _:
            about = ""
    return one_line(f"{'!' if typed else tool.removeprefix('workspace_')} {about}")


def what_happened(result: ToolResult) -> str:
    """The fact in a result's message: below it are reasons, and advice for the model."""
    return result.message.removeprefix("Denied: ").partition("\n")[0]


def result_words(result: ToolResult) -> str:
    """A result in a few words."""
    return flat(_result_words(result))


def _result_words(result: ToolResult) -> str:
    if result.message:
        return one_line(f"{result.status}: {what_happened(result)}")
    match result.output:
        case {"exit_code": code, "wall_ms": ms, **rest}:
            found = rest.get("changes")
            changed = found if isinstance(found, list) else []
            told = counted_changes([str(one) for one in changed]) if changed else ""
            return f"{exit_words(code)} after {ms / 1000:.1f} s{f' · {told}' if told else ''}"
        case {"background_process_id": process}:
            return f"continues in the background as {process}"
        case {"lines_read": read, "total_lines": int(total)}:
            return f"{read} of {counted(total, 'line')}"
        case {"files": list(files)}:
            return counted(len(files), "file")
        case {"path": path, "bytes": int(size)}:
            return f"{path}, {counted(size, 'byte')}"
        case str(text):
            return one_line(text)
        case _:
            return result.status


def compaction_words(body: Compaction) -> str:
    """What a compaction did, in a few words."""
    if body.undone:
        return f"the compaction at message {body.until} is undone"
    what = f"a digest up to message {body.until}" if body.until else "long results shortened"
    why = {"window": "the window was full", "user": "asked for", "context_length": "too long"}
    after = counted(body.tokens_after, "token")
    return f"{what}: {body.tokens_before:,} to {after} ({why[body.cause]})"


def summary_lines(body: Summary) -> list[str]:
    """What a turn that asked nobody came to, line by line: files, tests, denials, the log."""
    lines = [f"{counted(body.count, 'file')} changed, +{body.added} −{body.removed}"]
    for file in body.files[:_NAMED]:
        what = "" if file.what == "changed" else f" ({file.what})"
        name = " → ".join(filter(None, (file.moved_from, file.path)))
        lines.append(f"  {name} +{file.added} −{file.removed}{what}")
    if body.count > _NAMED:
        lines.append(f"  and {body.count - _NAMED} more")
    if body.commits:
        lines.append(f"git: {named_commits(body.commits)}")
    for test in body.tests:
        ended = {None: "still running", 0: "passed"}.get(
            test.exit_code, f"failed with exit code {test.exit_code}"
        )
        lines.append(f"tests: {one_line(test.command, 80)} {ended}: {one_line(test.result)}")
    if not body.tests:
        lines.append("no tests were run")
    if body.denied:
        lines.append(f"{counted(body.denied, 'call')} denied")
    return [*lines, f"log: {body.log}"]


def ending_words(name: str) -> str:
    """How a turn or a session ended, as people say it."""
    return "needs an answer" if name == "needs_answer" else name


def job_words(job: JobEnd) -> str:
    """How a background job ended, in a line."""
    name = f"{job.process_id} ({one_line(job.command, 60)})"
    return f"Background job {name} {end_words(job)}."


def words(body: Body) -> str:
    """A message in one line."""
    for voice in (_course_words, _toll_words, _talk_words, _work_words):
        found = voice(body)
        if found is not None:
            return flat(found)
    return ""


def _course_words(body: Body) -> str | None:
    """How things go: sessions, turns, agents, errors."""
    match body:
        case SessionStart(model=model, mode=mode, approvals=approvals):
            return f"model {model or '-'} · mode {mode} · approvals {approvals}"
        case SessionEnd(status=status, exit=code, reason=reason):
            ended = f"{ending_words(status)} (exit {'-' if code is None else code})"
            return f"{ended} {one_line(reason)}".strip()
        case TurnEnd(ending=ending, steps=steps, reason=reason):
            return (
                f"{ending_words(ending)} after {counted(steps, 'step')} {one_line(reason)}".strip()
            )
        case Summary() as done:
            return one_line(" · ".join(line.strip() for line in summary_lines(done)))
        case AgentSpawn(agent=agent, task=task):
            return one_line(f"{agent}: {task}")
        case AgentDone(agent=agent, ending=ending):
            return f"{agent}: {ending_words(ending)}"
        case Error(what=what, why=why):
            return one_line(f"{what} {why}")
    return None


def _toll_words(body: Body) -> str | None:
    """What it costs, what was left out for room, and what people should know about it all."""
    match body:
        case UsageReport(input=given, cached=cached, output=made, cost=cost):
            paid = f" · ${cost:.4f}" if cost else ""
            return f"{given} in ({cached} cached), {made} out{paid}"
        case Compaction() as compaction:
            return compaction_words(compaction)
        case SettingsChanged() as changed:
            named = ("mode", "model", "effort", "approvals", "trust", "title", "engine")
            told = [f"{name} {value}" for name in named if (value := getattr(changed, name))]
            told += [f"may read {', '.join(changed.add_dir)}"] if changed.add_dir else []
            if changed.skills_off is not None:
                told.append(f"skills off: {', '.join(changed.skills_off) or 'none'}")
            return one_line(" · ".join(told))
        case RequestResult(problem=problem) if problem is not None:
            return f"failed: {problem.what}"
        case RequestResult():
            return "done"
        case RequestReceipt(what=what, sender=sender, outcome=outcome, reason=reason):
            return one_line(f"{what} from {sender}: {outcome.replace('_', ' ')} {reason}")
        case Audit(about=about, what=what, why=why):
            return one_line(f"{about}: {what} {why}")
    return None


SCOPES = {
    "once": "once", "turn": "in this turn", "thread": "in this thread", "here": "always here",
}  # fmt: skip


def _talk_words(body: Body) -> str | None:
    """What is said between the user and the model."""
    match body:
        case User(text=text):
            return one_line(typed(text))
        case Meanwhile(text=text) | Question(text=text) | Answer(text=text):
            return one_line(text)
        case Steer(state=state, how=how, text=text):
            return one_line(f"{how} {state} {typed(text)}")
        case Assistant(text=text, calls=calls):
            return one_line(text) or counted(len(calls), "call")
        case ConfirmRequest(actions=actions, facts=facts, reason=reason):
            return one_line(f"{requested(actions, facts)}: {reason}")
        case Rewind(source=source, at=at, undo=undo):
            files = "files were restored" if undo else "files stayed as they were"
            return f"rewound to message {at} of thread {source}; {files} · /redo reverses it"
        case ConfirmResponse(decision=decision, guidance=guidance, scope=scope):
            lasts = SCOPES[scope] if scope != "once" else ""
            return one_line(f"{decision} {lasts} {guidance}")
    return None


def _work_words(body: Body) -> str | None:
    """What is done, and what the gate says to it."""
    match body:
        case ToolCall(tool=tool, arguments=arguments, typed=own):
            return call_words(tool, arguments, typed=own)
        case ToolResult() as result:
            return result_words(result)
        case Policy(action=action, verdict=verdict):
            kind = type(action).__name__.lower()
            return one_line(f"{verdict.decision} {kind} ({verdict.rule}): {verdict.reason}")
        case GuardBlock(command=command, rule=rule, reason=reason):
            return one_line(f"blocked ({rule}): {reason}: {command}")
        case JobEnd() | HookRun() as ended:
            return job_words(ended) if isinstance(ended, JobEnd) else hook_words(ended)
        case Checkpoint() | UndoEnd() as step:
            return _checkpoint_words(step)
        case DiffReady(file=file, added=added, removed=removed):
            return f"{file} +{added} -{removed}"
    return None


def hook_words(ran: HookRun) -> str:
    """What came of a hook, in a line."""
    came = ran.problem and f"failed: {ran.problem}"
    said = " · ".join(filter(None, (came, ran.decision, ran.reason, ran.message)))
    return one_line(f"hook {ran.event} ({one_line(ran.command, 40)}): {said or 'done'}")


def _checkpoint_words(body: Checkpoint | UndoEnd) -> str:
    if isinstance(body, UndoEnd):
        return f"over: message {body.checkpoint}"
    if body.cause == "void":
        return f"not carried out: message {', '.join(map(str, body.undoes))}"
    if body.parts:
        return one_line(f"undo of a part: {parts_words(body.parts)}")
    paths = [change.path for change in body.changes]
    names = one_line(", ".join(files_first(paths)[:5]), 60)
    return f"{body.cause}: {undo_words(paths, body.count)} {names}".rstrip()


def parts_words(parts: Sequence[Part]) -> str:
    """What was undone of a turn, in a line: files, and hunks by number."""
    told = []
    for part in parts[:PARTS]:
        name = "git" if inner(part.path) else flat(part.path)
        hunks = ", ".join(map(str, part.hunks))
        told.append(f"{name} hunk{'s' * (len(part.hunks) > 1)} {hunks}" if hunks else name)
    more = len(parts) - PARTS
    return ", ".join([*told, *([f"{more} more"] if more > 0 else [])])


def line(message: Message) -> str:
    """A message as a line of the ledger."""
    time = local(message.time).strftime("%H:%M:%S")
    return f"{message.seq:>6}  {time}  {message.kind:<16}  {words(message.body)}".rstrip()


def ago(time: datetime) -> str:
    """How long ago something was, in words."""
    seconds = (datetime.now(UTC) - local(time, UTC)).total_seconds()
    for size, name in ((86400, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= size:
            count = int(seconds // size)
            return f"{counted(count, name)} ago"
    return "just now"


def flat(text: str) -> str:
    """Safe text that stays on its line, whatever names are in it."""
    return safe(text).replace("\n", "\\n")


def next_words(error: Error) -> str:
    """What happens after an error: it is tried again, or else what the user can do."""
    if error.retry_in is None:
        return error.try_this
    return f"Trying again in {error.retry_in:g} s." if error.retry_in else "Trying again."


# What a shell and the chat have other words for. What only a shell has stays as it is.
_IN_CHAT = (
    (pattern(r"pass --model provider:name"), "choose one with `/model`"),
    (pattern(r"(?:steer )?--(mode|model|approvals|trust)\b"), r"/\1"),
    (pattern(r"\bsteer models\b"), "/model"),
    (pattern(r"\bsteer (config|mcp|skills) (?:list|edit)\b"), r"/\1"),
    (pattern(r"\bsteer policy list\b"), "/permissions"),
    (pattern(r"\bsteer policy forget\b(?! --)"), "/permissions forget"),
    (pattern(r"\bsteer threads list\b"), "/resume"),
    (pattern(r"\bsteer (login|logout|docs|config|mcp (?:en|dis)able)\b(?! --)"), r"/\1"),
    (pattern(r"\bsteer undo\b(?=[`.]|$)"), "/undo"),
)


def in_chat(text: str) -> str:
    """Advice as one follows it inside the chat: with `/model` instead of `--model`."""
    for found, said in _IN_CHAT:
        text = found.sub(said, text)
    return text


def advised(text: str, advice: str) -> str:
    """Something said in the chat, and our advice for there; other words stay as they are."""
    return "\n".join(filter(None, (text, in_chat(advice))))


def fact_words(fact: Mapping[str, Any]) -> str:
    """What the guard read in one part of a command."""
    return " ".join(filter(None, fact_parts(fact)))


def fact_parts(fact: Mapping[str, Any], *, sends: bool = True) -> tuple[str, str]:
    """The words of one part of a command, and in brackets what it does.

    Without `sends`, not what it does to other machines.
    """
    words = " ".join(fact.get("words", ()))
    via = f"{' '.join(fact['via'])} → " if fact.get("via") else ""
    does = [
        f"{name} {one_line(', '.join(fact[name]), 80)}"
        for name in ("reads", "writes", "deletes", "network")
        if fact.get(name) and (sends or name != "network" or not fact.get("remote"))
    ]
    if fact.get("remote") and sends:
        does.append(f"changes elsewhere: {flat(elsewhere(fact['words'], fact['remote']))}")
    if fact.get("unknown_code"):
        does.append("runs unreviewed code")
    return one_line(f"{via}{words}", 100), f"({'; '.join(does)})" if does else ""


def amount(number: int) -> str:
    """Tokens in few letters: 900, 12k, 1.2M."""
    if number < 1000:
        return str(number)
    if number < 1_000_000:
        return f"{number / 1000:.1f}k" if number < 10_000 else f"{number // 1000}k"
    return f"{number / 1_000_000:.1f}M"


def tokens(number: int) -> str:
    """So many tokens, in words."""
    return f"{amount(number)} token{'' if number == 1 else 's'}"


def lasting(seconds: int) -> str:
    """A time that passes, in few letters: 12 s, 3 min 05 s, 2 h 07 min."""
    minutes, left = divmod(seconds, 60)
    if not minutes:
        return f"{left} s"
    if minutes < 60:
        return f"{minutes} min {left:02} s"
    return f"{minutes // 60} h {minutes % 60:02} min"
