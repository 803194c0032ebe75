"""Logging in, step by step, wherever a person is asked: which provider, the key, which model."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Protocol

import msgspec
from msgspec import Struct

from steersman.host import login
from steersman.records.errors import UsageProblem
from steersman.views.commands.stage import Row


class Desk(Protocol):
    """Where a person is asked; see `commands/stage.py`."""

    def tell(self, text: str) -> None:
        """Say one thing in passing."""
        ...

    async def pick(self, title: str, rows: Sequence[Row]) -> str | None:
        """Let the user choose a row."""
        ...

    async def ask(self, title: str, default: str = "") -> str | None:
        """Ask for a line of text."""
        ...

    async def secret(self, title: str) -> str | None:
        """Ask for a line that nobody should see."""
        ...


class Given(Struct, frozen=True):
    """What was said beforehand; `key` None asks for it. `alone`: nobody can be asked."""

    provider: str = ""
    key: str | None = None
    model: str = ""
    url: str = ""
    name: str = ""
    test: bool = True
    alone: bool = False

    def __repr__(self) -> str:
        """Without the key."""
        return f"Given({self.provider!r})"


async def log_in(desk: Desk, environ: Mapping[str, str], given: Given) -> str:
    """Ask what is missing, try the key, keep it; the model's whole name, empty if left."""
    account = await _account(desk, given)
    if account is None:
        return ""
    if given.key is None:
        account = await _with_key(desk, account)
        if account is None:
            return ""
    names: tuple[str, ...] = ()
    if given.test:
        desk.tell(f"Trying it at {account.name} …")
        names = await login.listed(account, environ)
    model = given.model.removeprefix(f"{account.provider}:") or await _model(
        desk, account, names, given
    )
    if model is None:
        desk.tell("Nothing was kept.")
        return ""
    whole = f"{account.provider}:{model}" if model else ""
    told = [f"Logged in at {account.name}." + f" The model is {whole}." * bool(whole)]
    if model and given.test:
        told.append((await login.tried(account, model, environ)).told)
    told.append(await asyncio.to_thread(login.keep, account, model, environ))
    desk.tell("\n".join(told))
    return whole


async def _account(desk: Desk, given: Given) -> login.Account | None:
    provider: str | None = given.provider or (login.COMPATIBLE if given.url else "")
    if not provider:
        if given.alone:
            raise UsageProblem(
                "The provider is missing.", try_this="Name it: steer login PROVIDER --key-stdin"
            )
        rows = [Row(one.provider, one.name, one.keys_at) for one in login.choices()]
        provider = await desk.pick("Log in with a key of", rows)
        if not provider:
            return None
    choice = login.named(provider)
    key = (given.key or "").strip()
    if choice.provider != login.COMPATIBLE:
        if given.url:
            raise UsageProblem(
                f"{choice.name} has an address already.",
                "--url is for another server.",
                f"Set another address in config.toml: [providers.{choice.provider}] base_url",
            )
        return login.Account(choice.provider, choice.name, key)
    url: str | None = given.url
    if not url:
        if given.alone:
            raise UsageProblem("The address is missing.", try_this="Pass it with --url.")
        url = await desk.ask("Address of the server, such as https://models.example.org/v1")
        if not url:
            return None
    return msgspec.structs.replace(login.server(url, given.name), key=key)


async def _with_key(desk: Desk, account: login.Account) -> login.Account | None:
    if account.url:
        title = f"Paste the key for {account.url} (empty: it needs none)"
    else:
        made = login.named(account.provider).keys_at
        title = f"Paste your {account.name} key (made at {made})"
    key = await desk.secret(title)
    if key is None or (not key.strip() and not account.url):
        desk.tell("No key was given; nothing was kept.")
        return None
    return msgspec.structs.replace(account, key=key.strip())


async def _model(
    desk: Desk, account: login.Account, names: tuple[str, ...], given: Given
) -> str | None:
    """The model to begin with; empty when there is none to name."""
    if given.alone or len(names) == 1:
        return names[0] if names else login.recommended(account.provider)
    if not names:
        return await desk.ask("Which model? (its name at the server)")
    rows = [Row(name, name, "recommended" * (at == 0)) for at, name in enumerate(names)]
    return await desk.pick("Choose a model to begin with", rows)
