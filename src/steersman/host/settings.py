"""A person's settings for a piece of work, where their own files are, and which store they use."""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from steersman.identity import settings as files
from steersman.records.errors import UsageProblem
from steersman.records.plain_files import read_plain
from steersman.records.private_files import replace_file
from steersman.records.settings import LASTING, Settings
from steersman.records.tool_names import chosen

_GIVEN = (*LASTING, "max_steps")
_LONGEST = 500  # of a model's name
_ADDED = ("domains", "allow", "deny", "add_dir")  # what flags add to the settings
_LIMITS = ("tokens", "cost", "seconds", "calls", "agents")


def settings_for(
    environ: Mapping[str, str],
    flags: Mapping[str, Any],
    project: Path | None = None,
    *,
    attended: bool = False,
) -> Settings:
    """The settings in force for a command's flags; `project` is a trusted folder's own file.

    `attended`: a person is there to review what was done. `domains`, `allow`, `deny` and
    `add_dir` add to those of the settings, `tools` and `instructions` take their place;
    `max_tokens`, `max_cost`, … limit this run.
    """
    given = {name: flags.get(name) for name in _GIVEN}
    loaded = files.load_settings(environ, given, project, attended=attended)
    settings = with_last_model(loaded, environ)
    limits = {name: flags.get(f"max_{name}") for name in _LIMITS}
    run = msgspec.structs.replace(
        settings.budget.run, **{name: most for name, most in limits.items() if most is not None}
    )
    tools = settings.tools if flags.get("tools") is None else flags["tools"]
    return msgspec.structs.replace(
        settings,
        tools=chosen(tools),
        **{name: (*getattr(settings, name), *(flags.get(name) or ())) for name in _ADDED},
        instructions=flags.get("instructions") or settings.instructions,
        budget=msgspec.structs.replace(settings.budget, run=run),
    )


def with_last_model(settings: Settings, environ: Mapping[str, str]) -> Settings:
    """Settings that name no model get the one that the user chose last."""
    if settings.model or "implementer" in settings.roles:
        return settings
    return msgspec.structs.replace(settings, model=last_model(environ))


def last_model(environ: Mapping[str, str]) -> str:
    """The model that the user chose last, on a command line or in a chat; empty if none."""
    return _remembered(files.data_folder(environ))


def _remembered(home: Path) -> str:
    try:
        name = read_plain(last_model_file(home), _LONGEST).decode().strip()
    except (OSError, UnicodeDecodeError):
        return ""
    return name if name.isprintable() else ""


def last_model_file(home: Path) -> Path:
    """Where the model that was chosen last is remembered."""
    return home / "last-model"


def remember_model(home: Path, name: str) -> None:
    """Remember a model that the user chose, as far as that can be; a script is not a model."""
    if name.startswith("scripted:") or len(name.encode(errors="replace")) > _LONGEST:
        return
    if name == _remembered(home):
        return  # most work is done with one model, and the disk takes its time
    with suppress(OSError):
        replace_file(last_model_file(home), f"{name}\n")


def state_folder(environ: Mapping[str, str]) -> Path:
    """Where threads and the rest of the state are kept."""
    return files.data_folder(environ)


def own_file(environ: Mapping[str, str], name: str) -> Path:
    """A file or folder of the user's own, beside their `config.toml`."""
    return files.config_file(environ).with_name(name)


def store_url(environ: Mapping[str, str]) -> str:
    """Which store the user uses: STEERSMAN_STORE, else `store` in their `config.toml`.

    Empty means the SQLite database in the state folder. A folder's own settings have no say: they
    must not redirect the log.
    """
    if environ.get("STEERSMAN_STORE"):
        return environ["STEERSMAN_STORE"]
    path = files.config_file(environ)
    try:
        url = files.read_file(path).get("store", "")
    except UsageProblem:
        if _names_store(path):
            raise
        return ""  # what is wrong with the file is said where its other settings are used
    if not isinstance(url, str):
        raise UsageProblem(
            f"`store` in {path} is not valid.", "It should be a URL.", "See docs/settings.md."
        )
    return url


def _names_store(path: Path) -> bool:
    """Whether a settings file that cannot be read as one may name a store."""
    try:
        return b"store" in read_plain(path, files.LARGEST)
    except OSError:
        return True
