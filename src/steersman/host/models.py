"""Which models a person can choose, and what is known of the one they chose."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

from steersman.identity.logins import Logins
from steersman.identity.settings import data_folder
from steersman.intelligence.benching.results import results_file
from steersman.intelligence.configured import Config, read_config
from steersman.intelligence.models import AUTO, Models
from steersman.intelligence.table import table
from steersman.records.errors import SteersmanError
from steersman.records.settings import Settings

if TYPE_CHECKING:
    from steersman.intelligence.discovery import Found as Found


class ModelChoice(Struct, frozen=True):
    """A model that can be chosen, and why it is offered."""

    name: str
    about: str


def config_for(settings: Settings, logins: Logins) -> Config:
    """What is configured about models: in the settings, and by logging in at a server."""
    servers = {**logins.providers(), **settings.providers}
    return read_config(settings.models, servers, settings.roles, settings.fallback)


def known(settings: Settings, environ: Mapping[str, str]) -> Models:
    """Every model that can be named under some settings."""
    home = data_folder(environ)
    logins = Logins(home)
    return Models(environ, config_for(settings, logins), results_file(home), logins.key)


def chosen(settings: Settings, environ: Mapping[str, str]) -> str:
    """The model that would be used; empty when none is chosen."""
    return known(settings, environ).choose(settings.model)


def check(name: str, settings: Settings, environ: Mapping[str, str]) -> None:
    """Raise what is wrong with a model's name; nothing is asked of the model."""
    if name != AUTO:
        known(settings, environ).open(name)


def full_name(name: str, settings: Settings) -> str:
    """A model as a file names it: `sonnet` is the newest one of Anthropic's, as in Claude Code."""
    if ":" in name or name == AUTO or name in settings.models:
        return name
    newest = next((one for one in table().models if one.startswith(f"claude-{name}-")), name)
    provider = table().provider_of(newest)
    return f"{provider}:{newest}" if provider else name


def window(settings: Settings, environ: Mapping[str, str]) -> int:
    """How many tokens the model takes; 0 when nobody knows."""
    try:
        models = known(settings, environ)
        name = models.choose(settings.model)
        size = models.facts(name).context if name and not name.startswith("scripted:") else 0
    except SteersmanError:
        return settings.window or 0
    return min(size, settings.window) if settings.window and size else settings.window or size


def takes_effort(settings: Settings, environ: Mapping[str, str]) -> bool:
    """Whether the model that would be used has an effort setting."""
    try:
        models = known(settings, environ)
        name = models.choose(settings.model)
        return not name or models.takes_effort(name)
    except SteersmanError:
        return True  # what is wrong with the model shows when it is used


def found(environ: Mapping[str, str]) -> "list[Found]":
    """What this machine offers: keys, model servers, agent programs."""
    from steersman.intelligence.discovery import look

    return look(environ, logins=Logins(data_folder(environ)).all())


def configured(settings: Settings) -> list[str]:
    """Every model that the settings name."""
    config = read_config(settings.models, settings.providers, settings.roles, settings.fallback)
    named = [
        settings.model,
        *config.roles.values(),
        *(name for name, model in config.models.items() if model.provider),
        *(name for others in config.fallback.values() for name in others),
    ]
    return list(dict.fromkeys(name for name in named if name and name != AUTO))


async def choices(settings: Settings, environ: Mapping[str, str]) -> list[ModelChoice]:
    """The models one can choose: the current one, those in the settings, those that were found."""
    from steersman.host.catalogue import IN_PASSING, offered

    about = {settings.model: "the current one"} if settings.model else {}
    for name in (*settings.models, *settings.roles.values()):
        if isinstance(name, str):
            about.setdefault(name, "in your settings")
    for offer in await offered(settings, environ, seconds=IN_PASSING):
        for one in offer.models:
            about.setdefault(one.name, " · ".join(filter(None, (offer.name, one.facts))))
    return [ModelChoice(name, why) for name, why in about.items()]
