"""Which driver a model's name means; each driver is imported only when it is asked for."""

from pathlib import Path

from steersman.dialogue import Driver
from steersman.errors import UsageProblem


def open_driver(model: str) -> Driver:
    """The driver for `provider:name`."""
    provider, _, name = model.partition(":")
    if provider == "scripted" and name:
        from steersman.intelligence.scripted.driver import ScriptedDriver
        from steersman.intelligence.scripted.script import load

        path = Path(name).expanduser().absolute()
        return ScriptedDriver(load(path), f"scripted:{path}")
    raise UsageProblem(
        f"There is no model “{model}”." if model else "No model was chosen.",
        "This version plays scripted models: scripted:FILE.",
        "Pass --model scripted:FILE, or set `model` in config.toml.",
    )
