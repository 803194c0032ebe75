"""Settings: built-in values, the user's `config.toml`, `STEERSMAN_*` variables, flags, in order."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from steersman.errors import UsageProblem

NAMES = ("model", "mode", "trust", "approvals", "max_steps")


class Settings(Struct, frozen=True, forbid_unknown_fields=True):
    """How the host works when nobody says otherwise."""

    model: str = ""
    mode: Literal["ask", "code"] = "code"
    trust: Literal["restricted", "sandboxed"] = "sandboxed"
    approvals: Literal["on-request", "never"] = "on-request"
    max_steps: Annotated[int, Meta(ge=1)] = 2500


def data_folder(environ: Mapping[str, str]) -> Path:
    """Where threads and the rest of the state are kept."""
    if environ.get("STEERSMAN_HOME"):
        return Path(environ["STEERSMAN_HOME"]).expanduser().absolute()
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "steersman"
    base = environ.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
    return Path(base) / "steersman"


def config_file(environ: Mapping[str, str]) -> Path:
    """Where the user's settings are."""
    if sys.platform == "darwin" and not environ.get("XDG_CONFIG_HOME"):
        return Path.home() / "Library" / "Application Support" / "steersman" / "config.toml"
    base = environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    return Path(base) / "steersman" / "config.toml"


def load_settings(environ: Mapping[str, str], flags: Mapping[str, Any]) -> Settings:
    """The settings in force; `flags` that are None were not given."""
    path = config_file(environ)
    settings = _checked({**_from_file(path)}, str(path))
    for name in NAMES:
        variable = f"STEERSMAN_{name.upper()}"
        if environ.get(variable):
            settings = _changed(settings, name, environ[variable], variable)
    for name, value in flags.items():
        if value is not None:
            settings = _changed(settings, name, value, f"--{name.replace('_', '-')}")
    return settings


def _from_file(path: Path) -> dict[str, Any]:
    if not os.path.exists(path):
        return {}
    import tomllib

    try:
        with path.open("rb") as file:
            return tomllib.load(file)
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageProblem(
            f"The settings file {path} cannot be read.", str(error), "Correct it or move it away."
        ) from error


def _changed(settings: Settings, name: str, value: Any, source: str) -> Settings:
    values = {field: getattr(settings, field) for field in settings.__struct_fields__}
    return _checked({**values, name: value}, source)


def _checked(values: dict[str, Any], source: str) -> Settings:
    try:
        return msgspec.convert(values, Settings, strict=False)
    except msgspec.ValidationError as error:
        raise UsageProblem(
            f"A setting from {source} is not right.", str(error), "See docs/settings.md."
        ) from error
