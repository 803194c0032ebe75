"""Answers from a person at the terminal: permissions and questions, one at a time."""

import asyncio
from contextlib import suppress
from typing import Any

import click
import msgspec

from steersman.host import Host, ThreadHandle
from steersman.ports.cli.asking import answer, read_line
from steersman.ports.cli.quoting import quoted, wrapped
from steersman.ports.cli.views import request_words
from steersman.records import validation
from steersman.records.errors import TooLate
from steersman.records.message import (
    Answer,
    ConfirmRequest,
    ConfirmResponse,
    Message,
    Question,
    ToolCall,
    ToolResult,
)
from steersman.views.text import flat, safe


class Leaving(Exception):
    """The user leaves; the request continues waiting."""


class Prompter:
    """Puts requests and questions to the user, each shown when it is put.

    `leaves`: `/detach` is not an answer, but raises `Leaving`.
    """

    def __init__(self, *, leaves: bool = False) -> None:
        self._leaves = leaves
        self._calls: dict[str | None, ToolCall] = {}
        self._open: dict[str | None, str] = {}  # calls that have not ended, by their lanes
        self._news = asyncio.Event()

    def note(self, message: Message) -> None:
        """Remember what a call was, in case the user wants to change it."""
        if isinstance(message.body, ToolCall):
            self._calls[message.corr] = message.body
            self._open[message.corr] = _lane(message)
        elif isinstance(message.body, ToolResult):
            self._open.pop(message.corr, None)
            self._news.set()

    def ready(self, message: Message) -> bool:
        """Whether a request is next: by lines, nothing is asked while a call before it runs."""
        if not isinstance(message.body, ConfirmRequest) or message.body.call not in self._open:
            return True
        before = list(self._open)[: list(self._open).index(message.body.call)]
        return all(self._open[corr] != _lane(message) for corr in before)

    async def put(self, message: Message) -> ConfirmResponse | Answer:
        """The user's answer; raises `EOFError` when the terminal is gone."""
        click.echo(self.words(message))
        match message.body:
            case ConfirmRequest() as request:
                return await self._confirm(request)
            case Question() as question:
                return await self._question(question)
            case other:
                raise TypeError(other.kind)

    def words(self, message: Message) -> str:
        """What is asked, as it is shown."""
        from steersman.views.questions import option_lines

        match message.body:
            case ConfirmRequest() as request:
                return wrapped(request_words(request))
            case Question(header=header, text=text) as question:
                head = click.style(
                    quoted(f"? {flat(header)}:" if header else "?", text), fg="yellow", bold=True
                )
                choices = option_lines(question) if header else []
                return wrapped("\n".join([head, *(quoted(" ", line) for line in choices)]))
            case other:
                raise TypeError(other.kind)

    async def _confirm(self, request: ConfirmRequest) -> ConfirmResponse:
        from steersman.views.requests import can_be_changed, lasting_keys, not_offered, of_host

        lasting = lasting_keys(request)
        call = self._calls.get(request.call) if can_be_changed(request) else None
        while True:
            keys = "".join(f", [{key}] {told}" for key, (_, _, told) in lasting.items())
            change = ", [e]dit" if call is not None else ""
            no = "[n]o, [d] no in this thread" if of_host(request) else "[n]o"
            prompt = f"  Approve? [y]es{keys}, {no}{change}, or say what to do instead: "
            said = await answer(prompt)
            if said == "/detach" and self._leaves:
                raise Leaving
            if said in lasting:
                name, scope, _ = lasting[said]
                return ConfirmResponse("allow", scope=scope, lasting=name)
            if said == "e" and call is not None:
                changed = await _changed(call)
                if changed is not None:
                    return ConfirmResponse("allow", arguments=changed)
                continue
            match said:
                case "y" | "Y" | "yes" | "a":
                    return ConfirmResponse("allow")
                case "n" | "N" | "no":
                    return ConfirmResponse("deny")
                case "d" if of_host(request):
                    return ConfirmResponse("deny", scope="thread")
                case _ if len(said) < 2:  # a key that is not offered is no reason to deny
                    if said:
                        click.echo(f"  {not_offered(request, said)}")
                case guidance:
                    return ConfirmResponse("deny", guidance)

    async def _question(self, question: Question) -> Answer:
        if question.header:
            return await self._numbered(question)
        options = " / ".join(question.options)
        said = await answer(safe(f"  {options} [{question.default}]: "))
        chosen = [option for option in question.options if said and option.startswith(said)]
        return Answer(chosen[0] if chosen else said or question.default)

    async def _numbered(self, question: Question) -> Answer:
        """A question of an agent or a server: by numbers, or in one's own words."""
        from steersman.views.questions import answer_from, how_to_answer

        said = await answer(f"  {how_to_answer(question)}: ")
        if said == "/detach" and self._leaves:
            raise Leaving
        return answer_from(question, said)


class Asker(Prompter):
    """Puts one request at a time and hands the answer to the thread."""

    def __init__(self, handle: ThreadHandle) -> None:
        super().__init__()
        self._handle = handle
        self._asking = asyncio.Lock()

    async def ask(self, message: Message) -> None:
        """Ask about one request."""
        while not self.ready(message):
            self._news.clear()
            await self._news.wait()
        async with self._asking:
            try:
                said = await self.put(message)
            except EOFError:
                click.echo()
                self._handle.leave()
            else:
                with suppress(TooLate):  # someone else was first, which is shown
                    await self._handle.answer(message.corr or "", said)


def _lane(message: Message) -> str:
    return message.path.rpartition("/")[0]


async def _changed(call: ToolCall) -> dict[str, Any] | None:
    """A call's arguments as the user changes them; None when they leave them as they are."""
    if isinstance(call.arguments.get("command"), str):
        # Not a question of its own: whoever chose to edit may be typing already.
        said = (await read_line(f"  {safe(call.arguments['command'])}\n  instead: ")).strip()
        return {**call.arguments, "command": said} if said else None
    text = msgspec.json.format(msgspec.json.encode(call.arguments), indent=2).decode()
    edited = await asyncio.to_thread(click.edit, text, extension=".json")
    try:
        return msgspec.json.decode(edited, type=dict[str, Any]) if edited else None
    except msgspec.DecodeError as error:
        click.echo(f"  That is not a JSON object: {validation.in_words(error)}")
        return None


async def consent(host: Host, folder: str, *, attended: bool) -> None:
    """Ask once, and again after changes, whether what a folder comes with may be used."""
    standing = host.permissions.folder(folder)
    if not attended or standing.state not in ("unknown", "changed"):
        return
    told = standing.sentence(folder).removesuffix(" None of it is used.")
    click.echo(click.style(f"? {safe(told)}", fg="yellow", bold=True))
    show_brought(standing)
    trusted = await wants_it("  None of it is used yet. ")
    host.permissions.trust(folder, standing, trusted=trusted)


def show_brought(standing: Any) -> None:
    """What a folder comes with, a line each, and what of it is new since someone was asked."""
    for found in standing.found:
        new = " (new)" if found.path in standing.added else ""
        changed = " (changed)" if found.path in standing.changed else ""
        told = f"  {safe(found.path)}: {safe(found.what)}{new}{changed}"
        click.echo(told.replace("\n", "\\n"))


async def wants_it(before: str = "") -> bool:
    """Whether the user wants what a folder comes with to be used."""
    while True:
        said = (await answer(f"{before}Use it from now on? [y]es, [n]o: ")).lower()
        if said in ("y", "yes", "n", "no"):
            return said.startswith("y")
