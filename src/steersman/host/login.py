"""Logging in at a provider: its models, a test request, and keeping the key; and logging out."""

import asyncio
import re
from collections.abc import Mapping
from contextlib import suppress
from ipaddress import ip_address
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from steersman.governance.secrets import can_be_masked, is_dummy
from steersman.host.catalogue import ordered, remember
from steersman.host.models import config_for
from steersman.host.settings import last_model, last_model_file, remember_model
from steersman.host.trying import Attempt, attempt
from steersman.identity.logins import Login, Logins
from steersman.identity.settings import data_folder, load_settings
from steersman.identity.settings_words import nearest
from steersman.intelligence.discovery import key_variable as key_variable
from steersman.intelligence.listing import list_models
from steersman.intelligence.models import Models
from steersman.intelligence.providers import account_of, providers
from steersman.intelligence.table import table
from steersman.records.errors import DriverProblem, UsageProblem

COMPATIBLE = "compatible"  # any server that speaks Chat Completions, by its address
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,40}")
_UNLISTED = ("not_an_api", "bad_request", "model_not_found")  # a server may keep no list


class Choice(Struct, frozen=True):
    """A provider one can log in at; `keys_at` is where its keys are made."""

    provider: str
    name: str
    keys_at: str = ""


class Account(Struct, frozen=True):
    """A key that is to be tried, and kept if it works; `url` is for a server of one's own."""

    provider: str
    name: str
    key: str = ""
    url: str = ""

    def __repr__(self) -> str:
        """Without the key: it may land in a traceback."""
        return f"Account({self.provider!r}, {self.url!r})"


def choices() -> list[Choice]:
    """Where one can log in."""
    own = [
        Choice(provider, one.name, one.keys_at)
        for provider, one in providers().items()
        if one.keys and not one.account
    ]
    return [*own, Choice(COMPATIBLE, "Another server", "any that is compatible with OpenAI's API")]


def named(provider: str) -> Choice:
    """The provider that a person means by its name, in any case."""
    wanted = account_of(provider.strip().lower())
    known = {one.provider: one for one in choices()}
    if wanted in known:
        return known[wanted]
    raise UsageProblem(
        f"There is no provider “{provider}” to log in at.{nearest(wanted, list(known))}",
        f"Providers: {', '.join(known)}.",
        "For another server: steer login compatible --url URL",
    )


def server(url: str, name: str = "") -> Account:
    """A server of one's own by its address; its name is made from the host unless it is given."""
    url = url.strip()
    url = url if "://" in url or not url else f"{_scheme(url)}://{url}"
    try:
        parts = urlsplit(url)
        host = (parts.port != 0 and parts.hostname) or ""  # a port that is no number raises
    except ValueError:
        host = ""
    if not host or not url.startswith(("http://", "https://")):
        raise UsageProblem(
            f"“{url}” is not an address.",
            "It must begin with http:// or https:// and name a host.",
            "Such as https://models.example.org/v1",
        )
    labels = [one for one in host.split(".") if one not in ("api", "www")] or [host]
    numbers = host.replace(".", "").isdecimal() or ":" in host or host == "localhost"
    chosen = name or ("local" if numbers else (labels[-2] if labels[1:] else labels[0]).lower())
    chosen = chosen if name or _free(chosen) else "server"
    if not _free(chosen):
        raise UsageProblem(
            f"“{chosen}” cannot be the name of the server.",
            "A name has small letters, digits and dashes, and is not that of a known provider.",
            "Choose another with --name.",
        )
    return Account(chosen, chosen, url=url.rstrip("/"))


def _free(name: str) -> bool:
    taken = (*providers(), "auto", "scripted", COMPATIBLE)
    return bool(_NAME.fullmatch(name)) and name not in taken


def _scheme(address: str) -> str:
    """What an address without one means: https, for a key is sent there; http on this machine."""
    try:
        host = urlsplit(f"//{address}").hostname or ""
    except ValueError:
        return "https"
    try:
        near = ip_address(host).is_loopback
    except ValueError:
        near = host == "localhost" or host.endswith(".localhost")
    return "http" if near else "https"


async def listed(account: Account, environ: Mapping[str, str]) -> tuple[Account, tuple[str, ...]]:
    """The models that a key can use, the best to begin with first; none where nobody keeps a list.

    A server without a path that has its interface under /v1 gets that address. Raises when the key
    is refused, or nobody answers.
    """
    names = await _listed(account, environ)
    if names or not account.url or urlsplit(account.url).path:
        return account, names
    versioned = msgspec.structs.replace(account, url=f"{account.url}/v1")
    below = await _listed(versioned, environ)
    return (versioned, below) if below else (account, names)


async def _listed(account: Account, environ: Mapping[str, str]) -> tuple[str, ...]:
    models = await asyncio.to_thread(_models, account, environ)
    try:
        wire, endpoint = models.endpoint(account.provider)
        names = await list_models(wire, endpoint)
    except DriverProblem as problem:
        if problem.kind in _UNLISTED and account.url:
            return ()
        raise _not_kept(account, problem) from problem
    home = data_folder(environ)
    await asyncio.to_thread(remember, account.provider, endpoint.base_url, names, home)
    return ordered(account.provider, names)


async def tried(account: Account, model: str, environ: Mapping[str, str]) -> Attempt:
    """One tiny request with the key; raises when the key is refused, or nobody answers."""
    models = await asyncio.to_thread(_models, account, environ)
    try:
        return await attempt(models, f"{account.provider}:{model}")
    except DriverProblem as problem:
        raise _not_kept(account, problem) from problem


def keep(account: Account, model: str, environ: Mapping[str, str]) -> str:
    """Keep the key and the model; the answer says where the key is, and what counts more."""
    home = data_folder(environ)
    wire, endpoint = _models(account, environ).endpoint(account.provider)
    logins = Logins(home)
    login = logins.keep(account.provider, endpoint.base_url, account.key, wire * bool(account.url))
    if model:
        remember_model(home, f"{account.provider}:{model}")
    where = "in your system's keyring" if login.place == "keyring" else f"in {logins.file}"
    told = [f"The key is {where}." if account.key else "The server is remembered, without a key."]
    if account.key and not (can_be_masked(account.key) or is_dummy(account.key)):
        told.append("It is too short to be masked in the log.")
    if variable := key_variable(account.provider, environ):
        told.append(f"{variable} is set, and is used instead of it.")
    settings = load_settings(environ, {})
    if model and settings.model and settings.model != f"{account.provider}:{model}":
        told.append(
            f"Your settings choose the model {settings.model}; `steer config list` shows where."
        )
    return " ".join(told)


def log_out(provider: str, environ: Mapping[str, str]) -> Login:
    """Forget a login, its key, and the model that was chosen with it."""
    home = data_folder(environ)
    logins = Logins(home)
    wanted = account_of(provider.strip().lower())
    login = logins.forget(wanted)
    if login is None:
        known = ", ".join(logins.all()) or "none"
        raise UsageProblem(f"You are not logged in at “{provider}”.", f"Logins: {known}.")
    if account_of(last_model(environ).partition(":")[0]) == wanted:
        with suppress(OSError):
            last_model_file(home).unlink()
    return login


def logins(environ: Mapping[str, str]) -> list[Login]:
    """Where the user is logged in."""
    return list(Logins(data_folder(environ)).all().values())


def recommended(provider: str) -> str:
    """The model to begin with at a provider; empty where nobody can tell."""
    return table().recommended.get(provider, "")


def _models(account: Account, environ: Mapping[str, str]) -> Models:
    """The models as they are with this key, whatever key the environment has."""
    known = providers().get(account.provider)
    held = {*(known.keys if known else ()), "ANTHROPIC_AUTH_TOKEN"}
    bare = {name: value for name, value in environ.items() if name not in held}
    settings = load_settings(environ, {})
    if account.url:
        added = {account.provider: {"wire": "openai-chat", "base_url": account.url}}
        both = {**settings.providers, **added}
        settings = msgspec.structs.replace(settings, providers=both)
    config = config_for(settings, Logins(data_folder(environ)))
    return Models(bare, config, kept=lambda provider, _: account.key)


def _not_kept(account: Account, problem: DriverProblem) -> DriverProblem:
    known = providers().get(account.provider)
    what, fix = problem.what, f"{problem.try_this} Nothing was kept."
    if problem.kind == "auth":
        made = f" Keys are made at {known.keys_at}." if known and known.keys_at else ""
        what = f"{account.name} refused the key."
        fix = f"Copy the whole key and try again.{made} Nothing was kept."
    return DriverProblem(what, problem.why, fix, status=problem.status, kind=problem.kind)
