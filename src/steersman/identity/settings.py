"""Settings: built-in values, the user's `config.toml`, a trusted folder's, a profile's,
`STEERSMAN_*` variables, flags, in order."""

import os
import re
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, get_args

import msgspec

from steersman.records.errors import UsageProblem
from steersman.records.own_places import config_folder
from steersman.records.own_places import data_folder as data_folder
from steersman.records.plain_files import whole_plain
from steersman.records.settings import Approvals, Settings, Value

NAMES = (
    "model", "effort", "mode", "trust", "approvals", "sandbox", "domains", "environment", "sockets",
    "code_backends", "window", "max_steps", "max_output", "max_processes", "max_file", "nice",
    "command_wait", "store", "on_hangup", "safer", "guard", "output_style", "profile",
    "skill_meta_file",
)  # fmt: skip
_USUAL = msgspec.structs.asdict(Settings())
# What runs as the user, or is opened to the model: only their own file says it, no variable that
# a folder's tools may set. A new setting is one of these, until it is named above.
FILE_ONLY = tuple(
    name for name, usual in _USUAL.items() if name not in NAMES and isinstance(usual, str | tuple)
)
LARGEST = 4 << 20
LISTS = tuple(name for name in NAMES if isinstance(_USUAL[name], tuple))
# What a thread keeps for itself, and what can change between two model calls.
THREAD = ("mode", "model", "effort", "approvals", "trust", "output_style", "add_dir", "skills_off")
# What a folder may say about itself: how it is worked on, never how far it is trusted.
PROJECT = ("model", "mode", "max_steps", "budget", "approvals")
# Profiles that are there without being written down; the user's own of that name adds to one.
PROFILES: Mapping[str, Mapping[str, Any]] = {
    "ci": {"approvals": "never", "guard": "refuse", "on_hangup": "cancel"},
}
NO_PROFILE_SETS = ("profile", "profiles", "store")
# How work continues where a person is there to review it.
ATTENDED: Mapping[str, Any] = {"approvals": "review"}


def config_file(environ: Mapping[str, str]) -> Path:
    """Where the user's settings are."""
    return config_folder(environ) / "config.toml"


def cache_folder(environ: Mapping[str, str], workspace: str) -> str:
    """Where commands of one workspace keep what package managers fetched."""
    base = environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    name = f"{Path(workspace).name}-{sha256(os.fsencode(workspace)).hexdigest()[:12]}"
    return os.path.join(os.path.realpath(base), "steersman", "commands", name)


def project_file(workspace: str) -> Path:
    """Where a folder's own settings are."""
    return Path(workspace, ".steersman", "config.toml")


def load_settings(
    environ: Mapping[str, str],
    flags: Mapping[str, Any],
    project: Path | None = None,
    *,
    attended: bool = False,
) -> Settings:
    """The settings in force; `flags` that are None were not given.

    `project` is the file of a folder that the user trusts. `attended`: a person is there.
    """
    path = config_file(environ)
    settings = _checked({**(ATTENDED if attended else {}), **read_file(path)}, str(path))
    for name, value in (_from_project(project) if project else {}).items():
        changed = _changed(settings, name, value, str(project))
        settings = changed if name != "approvals" or asks_more(changed, settings) else settings
    named = flags.get("profile") or environ.get("STEERSMAN_PROFILE") or settings.profile
    for name, value in (profile(named, settings) if named else {}).items():
        settings = _changed(settings, name, value, f"the profile “{named}”")
    for name in NAMES:
        variable = f"STEERSMAN_{name.upper()}"
        if environ.get(variable):
            given: Any = environ[variable]
            if name in LISTS:
                given = [word.strip() for word in given.split(",") if word.strip()]
            settings = _changed(settings, name, given, variable)
    for name, value in flags.items():
        if value is not None:
            settings = _changed(settings, name, value, f"--{name.replace('_', '-')}")
    return settings


def profile(name: str, settings: Settings) -> Mapping[str, Any]:
    """What a profile sets; the user's own words count more than the built-in ones."""
    known = {**PROFILES, **settings.profiles}
    if name not in known:
        from steersman.identity.settings_words import nearest

        raise UsageProblem(
            f"There is no profile “{name}”.{nearest(name, list(known))}",
            f"There are: {', '.join(sorted(known))}.",
            f"Write one as [profiles.{name}] in your config.toml: steer config edit",
        )
    said = {**PROFILES.get(name, {}), **settings.profiles.get(name, {})}
    if spans := said.get("budget"):  # a limit that the profile does not name stays
        limits = msgspec.to_builtins(settings.budget)
        said["budget"] = {span: limits[span] | spans.get(span, {}) for span in limits}
    return said


def asks_more(one: Settings, other: Settings) -> bool:
    """Whether some settings have a person asked more than others do: all that a folder may want."""
    levels = get_args(Approvals)
    return levels.index(one.approvals) < levels.index(other.approvals)


def with_values(settings: Settings, values: Mapping[str, Value]) -> Settings:
    """The settings with some of them changed by their names, as a person writes them."""
    for name, value in values.items():
        if name not in THREAD:
            raise UsageProblem(
                f"There is no setting “{name}” of a thread.",
                f"A thread has: {', '.join(THREAD)}, title.",
            )
        settings = _changed(settings, name, value, name)
    return settings


def _from_project(path: Path) -> dict[str, Any]:
    values = read_file(path)
    for name in values:
        if name not in PROJECT:
            raise UsageProblem(
                f"The folder's own settings in {path} must not set “{name}”.",
                f"A folder may set: {', '.join(PROJECT)}.",
                "Set it in your own config.toml, or with a flag.",
            )
    return values


def read_file(path: Path) -> dict[str, Any]:
    """What a settings file says, unchecked; nothing when it is not there."""
    if not os.path.exists(path):
        return {}
    import tomllib

    try:
        return tomllib.loads(whole_plain(path, LARGEST).decode())
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageProblem(
            f"The settings file {path} cannot be read.",
            _unreadable(error),
            "Fix it or move it away.",
        ) from error


def _unreadable(error: Exception) -> str:
    """Why a settings file cannot be read, in our words."""
    if isinstance(error, OSError):
        return error.strerror or str(error)
    if isinstance(error, UnicodeDecodeError):
        return "It is not text in UTF-8."
    place = re.search(r"line \d+, column \d+", str(error))
    return f"It is not TOML{f' at {place[0]}' if place else '; the end of it is missing'}."


def _changed(settings: Settings, name: str, value: Any, source: str) -> Settings:
    values = {field: getattr(settings, field) for field in settings.__struct_fields__}
    return _checked({**values, name: value}, source)


def checked_text(text: str, source: str) -> Settings:
    """What the text of a settings file says alone; raises what is wrong with it."""
    import tomllib

    return _checked(tomllib.loads(text), source)


def _checked(values: dict[str, Any], source: str) -> Settings:
    try:
        settings = msgspec.convert(values, Settings, strict=False)
    except msgspec.ValidationError as error:
        from steersman.identity.settings_words import fault

        raise UsageProblem(
            f"A setting from {source} is not valid.", fault(values), "See docs/settings.md."
        ) from error
    for name, said in settings.profiles.items():
        if never := [one for one in NO_PROFILE_SETS if one in said]:
            raise UsageProblem(
                f"The profile “{name}” in {source} must not set “{never[0]}”.",
                try_this="Set it outside the profile. See docs/settings.md.",
            )
        _checked(said, f"the profile “{name}” in {source}")
    if settings.hooks:
        from steersman.records.hooks import read

        if wrong := read(settings.hooks, source)[1]:
            raise UsageProblem(wrong[0], try_this="See docs/hooks.md.")
    return settings
