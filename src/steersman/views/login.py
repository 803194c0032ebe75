"""Logging in, step by step, wherever a person is asked: which provider, the key, which model."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Literal, Protocol

import msgspec
from msgspec import Struct

from steersman.host import login
from steersman.records.errors import DriverProblem, UsageProblem
from steersman.views.commands.stage import Row

Field = Literal["url", "key", "model"]
SAME = " (empty: the same again)"


class Desk(Protocol):
    """Where a person is asked; see `commands/stage.py`."""

    def tell(self, text: str, advice: str = "") -> None:
        """Say one thing in passing."""
        ...

    def working(self, text: str) -> AbstractContextManager[None]:
        """Say what is being done, as long as it is."""
        ...

    async def pick(self, title: str, rows: Sequence[Row]) -> str | None:
        """Let the user choose a row."""
        ...

    async def ask(self, title: str, default: str = "", why: str = "") -> str | None:
        """Ask for a line of text; `why` the last answer did not do."""
        ...

    async def secret(self, title: str, why: str = "") -> str | None:
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
    """Ask what is missing, try the key, keep it; the model's whole name, empty if left.

    What does not work is said where it was entered, and asked for again.
    """
    choice = await _choice(desk, given)
    if choice is None:
        return ""
    form = _Form(desk, given, choice)
    while True:
        try:
            account = await form.account()
            if account is None:
                return ""
            names: tuple[str, ...] = ()
            if given.test:
                with desk.working(f"Trying it at {account.name} …"):
                    account, names = await login.listed(account, environ)
            model = await form.model(account, names)
            if model is None:
                desk.tell("Nothing was kept.")
                return ""
            works = model and given.test and (await login.tried(account, model, environ)).told
            break
        except (UsageProblem, DriverProblem) as problem:
            if not form.again(problem):
                raise
    whole = f"{account.provider}:{model}" if model else ""
    told = [f"Logged in at {account.name}." + f" The model is {whole}." * bool(whole)]
    told += [works] if works else []
    told.append(await asyncio.to_thread(login.keep, account, model, environ))
    missing = f"No model is chosen. Name one: steer --model {account.provider}:NAME"
    desk.tell("\n".join(told), "" if model else missing)
    return whole


class _Form:
    """What a person has entered so far; `why` it did not do, and the field that is open for it."""

    def __init__(self, desk: Desk, given: Given, choice: login.Choice) -> None:
        self._desk = desk
        self._given = given
        self._choice = choice
        self._url, self._key, self._model = given.url, given.key, ""
        self._why = ""
        own = choice.provider == login.COMPATIBLE
        self._asked: list[Field] = []  # what the user can be asked for again
        self._asked += ["url"] if own and not given.url else []
        self._asked += ["key"] if given.key is None else []
        self._asked += [] if given.model or given.alone else ["model"]
        self._open: set[Field] = set(self._asked)

    async def account(self) -> login.Account | None:
        """The account as it is entered; None when the user leaves."""
        account = login.Account(self._choice.provider, self._choice.name)
        if self._choice.provider == login.COMPATIBLE:
            if "url" in self._open and not await self._ask_url():
                return None
            account = login.server(self._url, self._given.name)
        if "key" in self._open and not await self._ask_key(account):
            self._desk.tell("No key was given; nothing was kept.")
            return None
        return msgspec.structs.replace(account, key=(self._key or "").strip())

    async def model(self, account: login.Account, names: tuple[str, ...]) -> str | None:
        """The model to begin with; empty when there is none to name."""
        if self._given.model:
            return self._given.model.removeprefix(f"{account.provider}:")
        if self._given.alone or len(names) == 1:
            return names[0] if names else login.recommended(account.provider)
        if not names:
            said = await self._ask_model()
        else:
            rows = [Row(name, name, "recommended" * (at == 0)) for at, name in enumerate(names)]
            said = await self._desk.pick("Choose a model to begin with", rows)
        self._model = said or ""
        return said

    def again(self, problem: UsageProblem | DriverProblem) -> bool:
        """Open the field that the problem is about; False where nobody can be asked."""
        wanted: tuple[Field, ...] = ("url", "key")
        if isinstance(problem, DriverProblem):
            wanted = ("key",) if problem.kind == "auth" else wanted
            wanted = ("model", *wanted) if problem.kind == "model_not_found" else wanted
        found = [field for field in wanted if field in self._asked]
        if found:
            self._open.add(found[0])
            self._why = str(problem)
        return bool(found)

    async def _ask_url(self) -> bool:
        title = "Address of the server, such as https://models.example.org/v1"
        said = await self._desk.ask(title, self._url, self._said("url"))
        self._url = (said or "").strip()
        return bool(self._url)

    async def _ask_key(self, account: login.Account) -> bool:
        if account.url:
            title = f"Paste the key for {account.url}"
            title += SAME if self._key else " (empty: it needs none)"
        else:
            made = login.named(account.provider).keys_at
            title = f"Paste your {account.name} key (made at {made})" + SAME * bool(self._key)
        said = await self._desk.secret(title, self._said("key"))
        if said is None:
            return False
        self._key = said.strip() or self._key or ""
        return bool(self._key or account.url)

    async def _ask_model(self) -> str | None:
        """A name, as nothing can be done without; None when the user leaves."""
        title = "Which model? (its name at the server)"
        said = await self._desk.ask(title, self._model, self._said("model"))
        while said is not None and not said.strip():
            said = await self._desk.ask(title, "", "Enter the name of a model.")
        return said and said.strip()

    def _said(self, field: Field) -> str:
        """Why the field is asked for again; what was asked for is not open any more."""
        self._open.discard(field)
        why, self._why = self._why, ""
        return why


async def _choice(desk: Desk, given: Given) -> login.Choice | None:
    """The provider that is meant; None when the user leaves."""
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
    if choice.provider != login.COMPATIBLE and given.url:
        raise UsageProblem(
            f"{choice.name} has an address already.",
            "--url is for another server.",
            f"Set another address in config.toml: [providers.{choice.provider}] base_url",
        )
    if choice.provider == login.COMPATIBLE and given.alone and not given.url:
        raise UsageProblem("The address is missing.", try_this="Pass it with --url.")
    return choice
