"""Which module speaks to a provider; each is imported only when it is asked for."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from steersman.intelligence.drivers.endpoint import Endpoint
from steersman.records.dialogue import Driver
from steersman.records.errors import UsageProblem

if TYPE_CHECKING:
    from steersman.intelligence.drivers.http import Format

MODULES = {
    "openai": "openai_responses",
    "openai-chat": "openai_chat",
    "anthropic": "anthropic",
    "gemini": "gemini",
}


def open_endpoint(wire: str, name: str, endpoint: Endpoint) -> Driver:
    """A driver for the model `name` behind `endpoint`, in the format `wire`."""
    driver: Driver = _module(wire).open(name, endpoint)
    return driver


def format_of(wire: str) -> "Format":
    """How a format is spoken, without a model."""
    form: Format = _module(wire).FORMAT
    return form


def _module(wire: str) -> Any:
    if wire not in MODULES:
        raise UsageProblem(
            f"There is no provider “{wire}”.",
            f"A model is named provider:name, with one of {', '.join(MODULES)}.",
            "Servers of other makers mostly speak openai-chat: set their base_url in config.toml.",
        )
    return import_module(f"{__name__}.{MODULES[wire]}")
