"""How a running or stored thread is shown: as JSON lines, as plain text, or as its answer only."""

import shutil
import sys
import time
from typing import Protocol, TextIO

import click
import msgspec

from steersman.ports.cli.flowing import Flow, flowing
from steersman.records.action import ChangeMany, Delete, Execute, McpCall, Network, Write
from steersman.records.counting import counted
from steersman.records.escapes import without_escapes
from steersman.records.in_context import typed
from steersman.records.message import (
    Answer,
    Assistant,
    AssistantDelta,
    Audit,
    Body,
    ConfirmRequest,
    ConfirmResponse,
    DiffReady,
    Error,
    GuardBlock,
    HookRun,
    JobEnd,
    Message,
    Question,
    SessionEnd,
    Summary,
    ToolCall,
    ToolProgress,
    ToolResult,
    TurnEnd,
    User,
    encode_message,
)
from steersman.records.tool_names import outward
from steersman.records.wording import described, reached, wants
from steersman.views.events import Events
from steersman.views.text import (
    call_words,
    ending_words,
    fact_words,
    flat,
    hook_words,
    job_words,
    json_line,
    next_words,
    one_line,
    result_words,
    safe,
    sentence,
    summary_lines,
    what_happened,
)


class View(Protocol):
    """A reader of the log that shows what it reads."""

    def show(self, message: Message) -> None:
        """Show one message."""
        ...

    def tick(self) -> None:
        """Time has passed: show that the work continues."""
        ...


class JsonView:
    """One message a line; with `deltas` also what is only broadcast, with `events` also what
    follows from messages."""

    def __init__(self, *, deltas: bool = False, events: bool = False) -> None:
        self._deltas = deltas
        self._events = Events() if events else None
        self.ended = False

    def show(self, message: Message) -> None:
        """Print the message."""
        self.ended = isinstance(message.body, SessionEnd)
        if message.seq or self._deltas:
            follow = self._events.feed(message) if self._events else ()
            for one in (message, *follow):
                sys.stdout.buffer.write(json_line(encode_message(one)) + b"\n")
            sys.stdout.buffer.flush()

    def tick(self) -> None:
        """Nothing: a machine reads this."""


class AnswerView:
    """Only what the model says at the end of a turn; what went wrong goes to standard error."""

    def __init__(self) -> None:
        self._last = ""
        self._request: ConfirmRequest | None = None
        self._calls: dict[str | None, ToolCall] = {}
        self._hosts: set[str] = set()  # that someone was asked about, as `host:port`

    def show(self, message: Message) -> None:
        """Remember answers, print the last one of a turn."""
        match message.body:
            case ToolCall() as call:
                self._calls[message.corr] = call
            case ToolResult() as result:
                self._ended(message.corr, result)
            case Assistant(text=text) if message.path.count("/") == 1:
                self._last = text
            case ConfirmRequest() as request:
                self._request = request
                self._hosts.update(
                    place
                    for one in request.actions
                    if isinstance(one, Network)
                    for place in one.registries or (f"{one.host}:{one.port}",)
                )
            case Error(retry_in=None) as error:
                click.echo(error_words(error), err=True)
            case TurnEnd() as end:
                self._end(end)

    def _ended(self, corr: str | None, result: ToolResult) -> None:
        call = self._calls.pop(corr, None)
        refused = result.output.get("refused") if isinstance(result.output, dict) else None
        for place in refused if isinstance(refused, list) else ():
            asked = f" (needs approval; --domain {place} allows it)" if place in self._hosts else ""
            click.echo(safe(flat(f"denied: a connection to {place}{asked}")), err=True)
        if call is None or result.status != "denied":
            return
        why = what_happened(result)
        if self._request is not None and self._request.call == corr:
            name = outward(call.tool, call.arguments, "")[0]
            why = f"needs approval; --allow {name} allows it"
        told = call_words(call.tool, call.arguments)
        click.echo(safe(flat(f"denied: {told} ({why})")), err=True)

    def _end(self, end: TurnEnd) -> None:
        if self._last:
            click.echo(safe(self._last))
        if end.ending == "needs_answer" and self._request:
            click.echo(request_words(self._request), err=True)
        if end.ending != "done":
            click.echo(f"{ending_words(end.ending)}: {sentence(end.reason)}", err=True)

    def tick(self) -> None:
        """Nothing to show."""


class PlainView:
    """The conversation line by line, with a status line while something runs.

    `asked_later`: whoever puts a request to the user shows it then. `yes`: nobody is asked for a
    permission, so of each only is shown that it was given.
    """

    asked_later = False

    def __init__(self, *, prompts: bool = False, yes: bool = False) -> None:
        self._prompts = prompts
        self.yes = yes
        self._streamed = ""
        self._flow = Flow()
        self._running: dict[str | None, str] = {}
        self._together = False
        self._asked: set[str | None] = set()
        self._requests: dict[str | None, ConfirmRequest] = {}
        self._warned: set[Audit] = set()  # each is shown once
        self._status = StatusLine(sys.stderr)

    def tick(self) -> None:
        """Show that the work continues."""
        self._status.draw()

    def show(self, message: Message) -> None:
        """Show one message."""
        match message.body:
            case AssistantDelta(text=text):
                self._stream(text)
            case Assistant() as answer:
                self._answer(answer)
            case User() as user if self._prompts or user.via != "prompt":
                self._print(click.style(f"› {safe(typed(user.text))}", bold=True))
            case ToolCall(tool=tool, arguments=arguments, typed=own):
                self._call(message.corr, call_words(tool, arguments, typed=own))
            case ToolProgress(text=text):
                self._status.detail(text)
            case DiffReady(diff=diff) if message.corr not in self._asked:
                self._print(coloured_diff(diff))
            case ToolResult() as result:
                self._result(result, message.corr)
            case Error() as error:
                self._error(error)
            case TurnEnd() as end:
                self._end(end, message)
            case SessionEnd():
                self._status.clear()
            case body:
                self._asking(body, message.corr)

    def _asking(self, body: Body, corr: str | None) -> None:
        match body:
            case ConfirmRequest() as request:
                self._requests[corr] = request
                if not self.asked_later and not self.yes:
                    self._print(request_words(request))
                if any(isinstance(action, Write | Delete) for action in request.actions):
                    self._asked.add(request.call)  # its diff has been seen
                self._status.rest()
            case Question():
                self._status.rest()
            case ConfirmResponse() as answer:
                self._status.go_on()
                self._answered(self._requests.pop(corr, None), answer)
            case Answer():
                self._status.go_on()
            case GuardBlock(reason=why, rule=rule):
                self._print(click.style(f"✗ blocked ({rule}): {safe(why)}", fg="red", bold=True))
            case Summary() as done:
                self._print("\n".join(map(flat, summary_lines(done))))
            case JobEnd() as job:
                self._print(flat(job_words(job)))
            case HookRun() as ran if (
                ran.problem or ran.message or ran.decision not in ("", "allow")
            ):
                self._print(click.style(f"! {flat(hook_words(ran))}", fg="yellow"))
            case Audit() as audit if audit not in self._warned:
                self._warned.add(audit)
                self._print(click.style(f"! {audit_words(audit)}", fg="yellow"))
            case _:
                pass

    def _answered(self, request: ConfirmRequest | None, answer: ConfirmResponse) -> None:
        """Show a call that the user changed as it runs, and what `--yes` allowed."""
        from steersman.views.requests import made_of, title, who

        if request and self.yes and answer.by == "yes-flag":
            self._print(
                click.style(f"  allowed by --yes: {who(request)} {title(request)}", dim=True)
            )
        made = made_of(request, answer) if request else ""
        if not request or not made:
            return
        self._asked.discard(request.call)  # what is changed is not what was seen
        words = self._running.get(request.call, "")
        if answer.arguments is not None:
            words = call_words(request.tool, answer.arguments)
        self._call(request.call, f"{words} · {made}")

    def _stream(self, text: str) -> None:
        self._status.clear()
        self._streamed += text
        sys.stdout.write(self._flow.take(safe(text)))
        sys.stdout.flush()

    def _answer(self, answer: Assistant) -> None:
        """End a streamed answer; print what of it was not streamed."""
        streamed, self._streamed = self._streamed, ""
        if streamed and answer.text.startswith(streamed):
            self._print(self._flow.take(safe(answer.text[len(streamed) :])) + self._flow.rest())
        elif answer.text:
            self._print(self._flow.rest() + flowing(safe(answer.text)))
        self._status.work("thinking")

    def _call(self, corr: str | None, words: str) -> None:
        self._running[corr] = words
        self._print(click.style("● ", fg="cyan") + words)
        self._status.work(words)

    def _result(self, result: ToolResult, corr: str | None) -> None:
        good = result.status == "ok"
        mark = click.style("  └ ", fg="green" if good else "yellow")
        # Results of calls that ran together come in any order: say whose each is.
        together = len(self._running) > 1 or self._together
        self._together = together and len(self._running) > 1
        words = self._running.pop(corr, "")
        self._print(mark + (f"{words}: " if together else "") + result_words(result))
        match result.output:
            case {"output": str(text)} if text.strip():
                self._print(indented(text))
        self._status.work("thinking")

    def _break_off(self) -> None:
        """Nothing follows a streamed answer; what is streamed next begins afresh."""
        streamed, self._streamed, last = self._streamed, "", self._flow.rest()
        if streamed and not streamed.endswith("\n"):
            self._print(last)

    def _error(self, error: Error) -> None:
        self._break_off()
        self._print(flowing(error_words(error)))

    def _end(self, end: TurnEnd, message: Message) -> None:
        self._break_off()
        good = end.ending == "done"
        mark = click.style("✓ " if good else "✗ ", fg="green" if good else "red")
        reason = f": {sentence(end.reason)}" if end.reason else ""
        steps = counted(end.steps, "step")
        told = f"{mark}{ending_words(end.ending)}{reason} · {steps} · thread {message.thread}"
        self._print(flowing(told))

    def _print(self, text: str) -> None:
        self._status.clear()
        click.echo(text)


class StatusLine:
    """One line at the bottom that says what runs and for how long; only on a terminal."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._on = stream.isatty()
        self._what = ""
        self._detail = ""
        self._since = 0.0
        self._drawn = False
        self._resting = 0

    def work(self, what: str) -> None:
        """Something begins."""
        self._what, self._detail, self._since = what, "", time.monotonic()

    def rest(self) -> None:
        """A person is asked: the line under the question is theirs."""
        self.clear()
        self._resting += 1

    def go_on(self) -> None:
        """The user has answered."""
        self._resting -= 1

    def detail(self, text: str) -> None:
        """The newest line of what runs."""
        lines = without_escapes(text).strip().splitlines()
        self._detail = lines[-1] if lines else self._detail

    def draw(self) -> None:
        """Show it again."""
        if not self._on or not self._what or self._resting:
            return
        width = shutil.get_terminal_size().columns
        spent = time.monotonic() - self._since
        detail = f" · {self._detail}" if self._detail else ""
        text = one_line(f"… {self._what} {spent:.0f} s{detail}", max(width - 1, 10))
        self._stream.write("\r\x1b[2K" + text)
        self._stream.flush()
        self._drawn = True

    def clear(self) -> None:
        """Take it away before something else is printed."""
        if self._drawn:
            self._stream.write("\r\x1b[2K")
            self._stream.flush()
            self._drawn = False


def error_words(error: Error) -> str:
    """What went wrong and, on a line of its own, what to do."""
    what = " ".join(filter(None, (sentence(error.what), sentence(error.why))))
    told = next_words(error)
    advice = f"\n  {sentence(told)}" if told else ""
    return click.style("✗ ", fg="red") + what + advice


def coloured_diff(diff: str) -> str:
    """A unified diff for people."""
    colours = {"+": "green", "-": "red", "@": "cyan"}
    lines = safe(diff).splitlines()
    return "\n".join("  " + click.style(text, fg=colours.get(text[:1])) for text in lines)


def indented(text: str, most: int = 20) -> str:
    """Output of a command: its last lines."""
    lines = safe(without_escapes(text)).rstrip().splitlines()
    hidden = len(lines) - most
    shown = [f"… {counted(hidden, 'more line')}", *lines[hidden:]] if hidden > 0 else lines
    return "\n".join(f"    {text}" for text in shown)


def audit_words(audit: Audit) -> str:
    """A note about how the work is governed."""
    return " ".join(safe(part) for part in (audit.what, audit.why, audit.try_this) if part)


def request_words(request: ConfirmRequest) -> str:
    """A permission request: every action with its diff, or its command and what is in it."""
    from steersman.views.hunks import diffs_of
    from steersman.views.requests import title, who

    lines = [
        click.style(f"? {who(request)} {title(request)}", fg="yellow", bold=True),
        f"  {flat(request.reason)}",
    ]
    diffs = diffs_of(request.actions)
    for action in request.actions:
        match action:
            case Write(path=path) | Delete(path=path):
                lines += [coloured_diff(diffs[path])] if path in diffs else []
            case Execute(command=command, cwd=cwd):
                place = f"in {flat(cwd)}{',' if action.wants else ''}{wants(action)}"
                lines += [_command_lines(command), f"  {place}"]
            case Network():
                lines += [f"  {flat(one)}" for one in reached(action)]
                lines += [_command_lines(request.command)] if request.command else []
            case ChangeMany(created=created, changed=changed, deleted=deleted):
                lines.append(f"  {created:,} created, {changed:,} changed, {deleted:,} deleted")
            case McpCall(arguments=arguments):
                text = msgspec.json.format(msgspec.json.encode(arguments), indent=2).decode()
                lines += [f"  {safe(line)}" for line in text.split("\n")]
            case _ if len(request.actions) > 1:
                lines.append(f"  {flat(described(action))}")
    lines += [f"  · {fact_words(fact)}" for fact in request.facts]
    return "\n".join([*lines, *_covers(request)])


def _command_lines(command: str) -> str:
    """A command; further lines are marked, so that none of them is taken for words of ours."""
    return "  $ " + safe(command).replace("\n", "\n  > ")


def _covers(request: ConfirmRequest) -> list[str]:
    """What each answer would allow, where its key does not say it."""
    from steersman.views.requests import keys_of, plain

    lines: list[str] = []
    if once := plain(request):
        lines.append(click.style(f"  y {once}", dim=True))
    for lasting in request.lasting:
        keys, told = "/".join(keys_of(request, lasting)), "; ".join(map(flat, lasting.sentences))
        if keys:
            lines.append(click.style(f"  {keys} would allow {told}", dim=True))
    if request.only_once:
        lines.append(
            click.style(f"  the approval cannot be remembered: {flat(request.only_once)}", dim=True)
        )
    return lines
