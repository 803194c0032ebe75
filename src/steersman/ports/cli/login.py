"""`steer login`, `steer logout`, `steer models`: keys for providers, and what they can use."""

import asyncio
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import click
import msgspec

from steersman.ports.cli.asking import forget_typed
from steersman.ports.cli.flowing import flowing
from steersman.ports.cli.options import at_terminal, json_flag, settings_from
from steersman.records.errors import Exit, UsageProblem
from steersman.views.commands.stage import Row
from steersman.views.login import Given, log_in
from steersman.views.text import ago, one_line, safe

LISTED = 30
LARGEST = 100_000


class Lines:
    """A person at the command line, asked by lines."""

    def tell(self, text: str, advice: str = "") -> None:
        """Say one thing."""
        click.echo(flowing(safe("\n".join(filter(None, (text, advice))))))

    @contextmanager
    def working(self, text: str) -> Iterator[None]:
        """Say what is being done."""
        self.tell(text)
        yield

    async def pick(self, title: str, rows: Sequence[Row]) -> str | None:
        """A list with numbers; a name is an answer, too."""
        click.echo(flowing(safe(title)))
        for number, row in enumerate(rows[:LISTED], 1):
            click.echo(f"{number:>3}  {one_line(row.text)}  {one_line(row.detail)}".rstrip())
        if len(rows) > LISTED:
            click.echo(f"     and {len(rows) - LISTED} more; type a name")
        while True:
            said = (await self._read("Number or name", default="1")).strip()
            if said.isdecimal() and 0 < int(said) <= len(rows):
                return rows[int(said) - 1].key
            if said in [row.key for row in rows]:
                return said
            click.echo("There is no such number or name.")

    async def ask(self, title: str, default: str = "", why: str = "") -> str | None:
        """A line of text."""
        self._complain(why)
        return await self._read(title, default=default)

    async def secret(self, title: str, why: str = "") -> str | None:
        """A line that is not shown."""
        self._complain(why)
        return await self._read(title, default="", hidden=True)

    def _complain(self, why: str) -> None:
        if why:
            click.echo(flowing(safe(why), err=True), err=True)

    async def _read(self, title: str, *, default: str, hidden: bool = False) -> str:
        forget_typed()
        text: str = click.prompt(
            flowing(safe(title)), default=default, hide_input=hidden, show_default=bool(default)
        )
        return text


@click.command("login")
@click.argument("provider", required=False)
@click.option("--key-stdin", is_flag=True, help="Read the key from standard input; ask nothing.")
@click.option("--url", metavar="URL", default="", help="Address of another server.")
@click.option("--name", metavar="NAME", default="", help="What to call that server.")
@click.option("--model", "-m", metavar="NAME", default="", help="Model to use from now on.")
@click.option("--no-test", is_flag=True, help="Keep the key without trying it.")
def login(
    provider: str | None, key_stdin: bool, url: str, name: str, model: str, no_test: bool
) -> int:
    """Log in with the key of a provider: try it, keep it, choose a model.

    PROVIDER is openai, anthropic, gemini, openrouter, or `compatible` for any other server with
    OpenAI's API, whose address is --url. The key is kept in your system's keyring, or in a file
    that only you can read; a variable such as OPENAI_API_KEY counts more.
    """
    if not key_stdin and not at_terminal():
        raise UsageProblem(
            "There is no terminal to paste the key in.",
            try_this="Pipe it in: steer login PROVIDER --key-stdin < FILE",
        )
    key = _from_stdin() if key_stdin else None
    given = Given(provider or "", key, model, url, name, test=not no_test, alone=key_stdin)
    used = asyncio.run(log_in(Lines(), os.environ, given))
    if used:
        click.echo("Start with: steer")
    return Exit.DONE


def _from_stdin() -> str:
    key = sys.stdin.read(LARGEST).strip()
    if not key:
        raise UsageProblem(
            "There is no key on standard input.",
            try_this="Pipe it in: steer login PROVIDER --key-stdin < FILE",
        )
    return key


@click.command("logout")
@click.argument("provider")
def logout(provider: str) -> None:
    """Forget the key of PROVIDER, and the model that was chosen with it."""
    from steersman.host import login as logins

    done = logins.log_out(provider, os.environ)
    click.echo(f"Logged out of {done.provider}. The key is forgotten.")
    if variable := logins.key_variable(done.provider, os.environ):
        click.echo(f"{variable} is still set, and is used.", err=True)


@click.command("models")
@click.argument("provider", required=False)
@click.option("--refresh", is_flag=True, help="Ask the providers now, also if a list is new.")
@json_flag
def models(provider: str | None, refresh: bool, as_json: bool) -> int:
    """List the models that your keys and the servers on this machine offer.

    Providers are asked once a day; without a network the last list is shown with its age.
    """
    from steersman.host.catalogue import check_provider, offered

    settings = settings_from({})
    check_provider(provider or "", settings, os.environ)
    offers = asyncio.run(offered(settings, os.environ, provider or "", refresh=refresh))
    if as_json:
        for offer in offers:
            click.echo(msgspec.json.encode(offer).decode())
        return Exit.DONE
    for offer in offers:
        click.echo(safe(f"{offer.name}, listed {ago(offer.time)}"))
        for one in offer.models:
            click.echo(safe(f"  {one.name}  {one.facts}".rstrip()))
        if offer.problem:
            click.echo(safe(f"  {offer.problem}"), err=True)
    if not offers:
        raise UsageProblem(
            "There is no key and no model server on this machine.",
            try_this="Log in with `steer login`, or start a server such as Ollama.",
        )
    return Exit.DONE if any(offer.models for offer in offers) else Exit.FAILED
