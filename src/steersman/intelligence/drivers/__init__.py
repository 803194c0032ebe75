"""Which module speaks to a provider; each is imported only when it is asked for."""

from importlib import import_module

from steersman.intelligence.drivers.endpoint import Endpoint
from steersman.records.dialogue import Driver
from steersman.records.errors import UsageProblem

MODULES = {
    "openai": "openai_responses",
    "openai-chat": "openai_chat",
    "anthropic": "anthropic",
    "gemini": "gemini",
    "ollama": "openai_chat",
}


def open_endpoint(wire: str, name: str, endpoint: Endpoint) -> Driver:
    """A driver for the model `name` behind `endpoint`, in the format of the provider `wire`."""
    if wire not in MODULES:
        raise UsageProblem(
            f"There is no provider “{wire}”.",
            f"A model is named provider:name, with one of {', '.join(MODULES)}.",
            "Servers of other makers mostly speak openai-chat: set their base_url in config.toml.",
        )
    module = import_module(f"{__name__}.{MODULES[wire]}")
    driver: Driver = module.open(name, endpoint)
    return driver
