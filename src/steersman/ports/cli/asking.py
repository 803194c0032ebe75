"""Answers from a person at the terminal: permissions and questions, one at a time."""

import asyncio
import os
import sys

import click

from steersman.host import Host
from steersman.message import Answer, ConfirmRequest, ConfirmResponse, Message, Question
from steersman.ports.cli.text import safe


class Asker:
    """Puts each request to the person and hands the answer to the host."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._asking = asyncio.Lock()

    async def ask(self, message: Message) -> None:
        """Ask about one request; the request itself has been shown already."""
        async with self._asking:
            answer: ConfirmResponse | Answer
            try:
                match message.body:
                    case ConfirmRequest():
                        answer = await self._confirm()
                    case Question() as question:
                        answer = await self._question(question)
                    case _:
                        return
            except EOFError:
                click.echo()
                self._host.leave(message.thread)
            else:
                self._host.answer(message.thread, message.corr or "", answer)

    async def _confirm(self) -> ConfirmResponse:
        while True:
            said = await read_line("  allow? [y]es, [n]o, or tell it what to do instead: ")
            match said.strip():
                case "y" | "Y" | "yes":
                    return ConfirmResponse("allow")
                case "n" | "N" | "no":
                    return ConfirmResponse("deny")
                case "":
                    continue
                case guidance:
                    return ConfirmResponse("deny", guidance)

    async def _question(self, question: Question) -> Answer:
        options = " / ".join(question.options)
        click.echo(click.style(f"? {safe(question.text)}", fg="yellow", bold=True))
        said = (await read_line(f"  {options} [{question.default}]: ")).strip()
        chosen = [option for option in question.options if said and option.startswith(said)]
        return Answer(chosen[0] if chosen else said or question.default)


async def read_line(prompt: str) -> str:
    """A line from the terminal, without keeping a cancelled turn waiting for it."""
    click.echo(prompt, nl=False)
    sys.stdout.flush()
    loop = asyncio.get_running_loop()
    ready: asyncio.Future[str] = loop.create_future()
    descriptor = sys.stdin.fileno()

    def take() -> None:
        data = os.read(descriptor, 65536)
        if not ready.done():
            if data:
                ready.set_result(data.decode(errors="replace"))
            else:
                ready.set_exception(EOFError("the terminal was closed"))

    loop.add_reader(descriptor, take)
    try:
        return await ready
    finally:
        loop.remove_reader(descriptor)
