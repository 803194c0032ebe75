"""The models that a person's keys and servers offer: asked of the providers, and kept."""

import asyncio
import threading
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from steersman.host.models import configured, found, known
from steersman.identity.settings import data_folder
from steersman.intelligence.listing import list_models
from steersman.intelligence.providers import account_of, providers
from steersman.intelligence.table import table
from steersman.records.clock import now
from steersman.records.errors import SteersmanError, UsageProblem
from steersman.records.plain_files import whole_plain
from steersman.records.private_files import replace_file
from steersman.records.settings import Settings

if TYPE_CHECKING:
    from steersman.intelligence.models import Models

FRESH = timedelta(days=1)
LARGEST = 16 << 20
PATIENCE = 20.0
IN_PASSING = 4.0  # seconds, where someone waits for a list to choose from


class Offered(Struct, frozen=True):
    """A model by its whole name, and what is known of it in a few words."""

    name: str
    facts: str = ""


class Offer(Struct, frozen=True):
    """What one provider offers; `time` is when it said so, `problem` why it cannot say so now."""

    provider: str
    name: str
    models: tuple[Offered, ...]
    time: datetime
    problem: str = ""


class _Kept(Struct, frozen=True):
    """A list that a provider gave."""

    base_url: str
    time: datetime
    models: tuple[str, ...]


async def offered(
    settings: Settings,
    environ: Mapping[str, str],
    only: str = "",
    *,
    refresh: bool = False,
    seconds: float = PATIENCE,
) -> list[Offer]:
    """What each provider offers that a key, a login or the settings lead to, or one of them.

    A list of today is used as it is unless `refresh` says otherwise; an older one where the
    provider does not answer.
    """
    models = await asyncio.to_thread(known, settings, environ)
    machine = await asyncio.to_thread(found, environ)
    here = [one for one in machine if one.kind == "server" and only in ("", one.provider)]
    asked = [one.provider for one in machine if one.kind == "key"] + list(models.providers)
    names = [name for name in dict.fromkeys(asked) if only in ("", name)]
    if only and not names and not here:
        await asyncio.to_thread(models.endpoint, only)  # says what is missing
        names = [only]
    cache = Cache(data_folder(environ))
    offers = await asyncio.gather(
        *(_offer(name, models, cache, refresh=refresh, seconds=seconds) for name in names)
    )
    local = [
        Offer(one.provider, one.name, tuple(Offered(name) for name in one.models), now())
        for one in here
    ]
    return [*offers, *local]


async def _offer(
    provider: str, models: "Models", cache: "Cache", *, refresh: bool, seconds: float
) -> Offer:
    label = providers()[provider].name if provider in providers() else provider
    kept: _Kept | None = None
    problem = ""
    try:
        wire, endpoint = await asyncio.to_thread(models.endpoint, provider)  # a keyring may wait
        kept = await asyncio.to_thread(cache.of, provider, endpoint.base_url)
        if refresh or kept is None or now() - kept.time > FRESH:
            names = await list_models(wire, endpoint, seconds)
            fresh = _Kept(endpoint.base_url, now(), names)
            kept = await asyncio.to_thread(cache.keep, provider, fresh)
    except SteersmanError as error:
        problem = f"{error.what} {error.why}".strip()
    listed = ordered(provider, kept.models) if kept else ()
    told = tuple(Offered(f"{provider}:{name}", facts(models, provider, name)) for name in listed)
    return Offer(provider, label, told, kept.time if kept else now(), problem)


def ordered(provider: str, names: tuple[str, ...]) -> tuple[str, ...]:
    """The names with the one to begin with first: the recommended one, or a release of it."""
    wanted = table().recommended.get(account_of(provider), "")
    best = [name for name in names if wanted and name.startswith(wanted)]
    first = min(best, key=len) if best else ""
    return (first, *(name for name in names if name != first)) if first else names


def facts(models: "Models", provider: str, name: str) -> str:
    """How much a model reads and what it costs, as far as that is known."""
    about = models.facts(f"{provider}:{name}")
    if not about.known:
        return ""
    price = about.price
    cost = f", ${price.input:g} in and ${price.output:g} out a million" if price else ""
    return f"{about.context:,} tokens{cost}"


def remembered(settings: Settings, environ: Mapping[str, str]) -> list[str]:
    """Models by their whole names, without asking anyone: those of the settings, and of lists that
    were kept."""
    kept = Cache(data_folder(environ)).names()
    return list(dict.fromkeys([*configured(settings), *kept]))


def remember(provider: str, base_url: str, names: tuple[str, ...], home: Path) -> None:
    """Keep a list that a provider just gave."""
    Cache(home).keep(provider, _Kept(base_url, now(), names))


_KEEPING = threading.Lock()  # several providers answer at the same time


class Cache:
    """The lists that providers gave, in a file of the data folder."""

    def __init__(self, home: Path) -> None:
        self._file = home / "models.json"

    def of(self, provider: str, base_url: str) -> _Kept | None:
        """What a provider said last at an address."""
        kept = self._all().get(provider)
        return kept if kept is not None and kept.base_url == base_url else None

    def keep(self, provider: str, listed: _Kept) -> _Kept:
        """Keep a list, as far as that can be."""
        with _KEEPING, suppress(OSError):  # whoever cannot keep it asks again
            text = msgspec.json.encode({**self._all(), provider: listed}).decode()
            replace_file(self._file, text)
        return listed

    def names(self) -> list[str]:
        """All models, by their whole names."""
        found = self._all().items()
        return [f"{name}:{model}" for name, kept in found for model in ordered(name, kept.models)]

    def _all(self) -> dict[str, _Kept]:
        try:
            return msgspec.json.decode(whole_plain(self._file, LARGEST), type=dict[str, _Kept])
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
            return {}


def check_provider(only: str, settings: Settings, environ: Mapping[str, str]) -> None:
    """Raise what is wrong with a provider's name."""
    known_names = (*providers(), *known(settings, environ).providers)
    if only and only not in known_names:
        from steersman.identity.settings_words import nearest

        raise UsageProblem(
            f"There is no provider “{only}”.{nearest(only, list(known_names))}",
            f"Providers: {', '.join(known_names)}.",
        )
