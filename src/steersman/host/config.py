"""The user's settings to look at and to change: what holds, and where it comes from."""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct

from steersman.host import config_checks as checks
from steersman.host.settings import last_model_file, with_last_model
from steersman.identity import settings as files
from steersman.identity import settings_file
from steersman.identity.settings_words import fault, no_such
from steersman.records.configure import Configure
from steersman.records.errors import SteersmanError, UsageProblem
from steersman.records.limits import Limits
from steersman.records.plain_files import whole_plain
from steersman.records.private_files import replace_file
from steersman.records.settings import Settings
from steersman.store.redactor import Redactor

Source = Literal["default", "last chosen", "file", "folder", "profile", "environment"]
TABLES = ("models", "providers", "roles", "fallback", "language_servers", "hooks", "profiles")
BUDGETS = tuple(
    f"budget.{span}.{name}" for span in ("run", "thread") for name in Limits.__struct_fields__
)
VALUES = (*files.NAMES, *files.FILE_ONLY, *BUDGETS)  # what `set` can set
_PASSWORD = re.compile(r"(://[^/\s:@]*:)[^/\s]+(?=@)|([?&]password=)[^&\s]+")
_BEGINNING = "# Settings of Steersman; `steer config list` shows them all.\n"


class Entry(Struct, frozen=True):
    """A setting as it holds; `where` is the file or variable that says so. Secrets are masked."""

    name: str
    value: Any
    source: Source
    where: str = ""


class Changed(Struct, frozen=True):
    """What was written, and what counts more than it, if anything does."""

    name: str
    value: Any
    path: str
    hidden_by: str = ""


def path(environ: Mapping[str, str]) -> Path:
    """The user's settings file."""
    return files.config_file(environ)


def entries(folder: str, environ: Mapping[str, str]) -> list[Entry]:
    """Every setting, as it holds in a folder without flags."""
    project = _of_folder(folder, environ)
    settings = files.load_settings(environ, {}, project, attended=True)
    chosen = with_last_model(settings, environ)
    layers: list[tuple[Source, str, Mapping[str, Any]]] = [
        ("file", str(path(environ)), files.read_file(path(environ)))
    ]
    if project is not None:
        own = files.load_settings(environ, {}, attended=True)
        said = files.read_file(project)
        if not files.asks_more(settings, own):  # a folder only asks for more
            said.pop("approvals", None)
        layers.append(("folder", str(project), said))
    if settings.profile:
        said = dict(files.profile(settings.profile, settings))
        layers.append(("profile", f"the profile “{settings.profile}”", said))
    found = [_entry(name, settings, layers, environ) for name in (*VALUES, *TABLES)]
    if chosen.model == settings.model:
        return found
    where = str(last_model_file(files.data_folder(environ)))
    last = Entry("model", _masked(chosen.model), "last chosen", where)
    return [last if one.name == "model" else one for one in found]


def entry(name: str, folder: str, environ: Mapping[str, str]) -> Entry:
    """One setting by its name."""
    _check_name(name, (*VALUES, *TABLES))
    return next(one for one in entries(folder, environ) if one.name == name)


def change(name: str, text: str, folder: str, environ: Mapping[str, str]) -> Changed:
    """Write a value into the user's settings file, once it is known to be right."""
    if name in TABLES or name.split(".")[0] in TABLES:
        raise UsageProblem(
            f"“{name}” is a table or part of one.",
            try_this="Change it in the file: steer config edit",
        )
    _check_name(name, VALUES)
    value = _typed(name, text)
    if _masked(text) != text:
        raise UsageProblem(
            "That looks like a secret, and settings must not contain secrets.",
            "Nothing was changed.",
            f"Set the variable STEERSMAN_{name.upper()} instead." * (name in files.NAMES),
        )
    own = path(environ)
    files.read_file(own)  # says what is wrong with it
    before = whole_plain(own, files.LARGEST).decode() if own.exists() else ""
    after = settings_file.with_value(before, name, value)
    checks.check(files.checked_text(after, str(own)), (name,), environ)
    _write(own, after)
    found = entry(name, folder, environ)
    return Changed(name, value, str(own), found.where if found.source != "file" else "")


def for_tool(folder: str, environ: Mapping[str, str]) -> Configure:
    """What reads and changes settings, for a tool."""

    def present(name: str) -> str:
        return shown(entry(name, folder, environ).value)

    def changed(name: str, text: str) -> tuple[str, str]:
        done = change(name, text, folder, environ)
        return done.path, done.hidden_by

    return Configure(present, changed)


def unset(name: str, folder: str, environ: Mapping[str, str]) -> Entry:
    """Remove a value from the user's settings file; what holds from then on."""
    _check_name(name, (*VALUES, *TABLES))
    own = path(environ)
    if not _named(files.read_file(own), name):
        found = entry(name, folder, environ)
        where = f" It comes from {found.where}." if found.where else ""
        raise UsageProblem(f"“{name}” is not set in {own}.{where}", "Nothing was changed.")
    if name in TABLES:
        raise UsageProblem(
            f"“{name}” is a table.", try_this="Remove it in the file: steer config edit"
        )
    text = whole_plain(own, files.LARGEST).decode()
    _write(own, settings_file.without_value(text, name))
    return entry(name, folder, environ)


def _write(own: Path, text: str) -> None:
    try:
        replace_file(own, text)
    except OSError as error:
        raise UsageProblem(f"{own} cannot be written.", error.strerror or "") from error


def shown(value: Any) -> str:
    """A value as one reads it."""
    if value in (None, "", [], {}):
        return "none"
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def prepare(environ: Mapping[str, str]) -> Path:
    """The user's settings file, made if there is none, for an editor."""
    own = path(environ)
    if not os.path.lexists(own):
        replace_file(own, _BEGINNING)
    return own


def check(environ: Mapping[str, str]) -> None:
    """Raise what is wrong with the user's settings file."""
    bare = {**environ, **{_variable(name): "" for name in files.NAMES}}
    settings = files.load_settings(bare, {})
    for name in (*files.NAMES, *files.FILE_ONLY):
        if why := checks.wrong(name, settings, environ):
            raise UsageProblem(f"A setting from {path(environ)} is not valid.", why)


def _of_folder(folder: str, environ: Mapping[str, str]) -> Path | None:
    """The folder's own settings, if there are any and the user trusts them."""
    if not files.project_file(folder).exists():
        return None
    from steersman.host.storage import open_host

    try:
        host = open_host(environ)
    except SteersmanError:
        return None  # a store that cannot be opened must not keep one from changing the settings
    try:
        return host.permissions.settings_file(folder)
    finally:
        host.store.close()


def _entry(
    name: str,
    settings: Settings,
    layers: list[tuple[Source, str, Mapping[str, Any]]],
    environ: Mapping[str, str],
) -> Entry:
    value = _masked(msgspec.to_builtins(_inner(settings, name)))
    if environ.get(_variable(name)) and name in files.NAMES:
        return Entry(name, value, "environment", _variable(name))
    for source, where, said in reversed(layers):
        top = name.split(".")[0]
        if top in said and (source == "folder" or _named(said, name)):
            return Entry(name, value, source, where)
    return Entry(name, value, "default")


def _masked(value: Any) -> Any:
    """A value without what looks like a secret."""
    match value:
        case str():
            return Redactor().text(_PASSWORD.sub(r"\1\2[redacted]", value))
        case dict():
            return {name: _masked_field(name, inner) for name, inner in value.items()}
        case list() | tuple():
            return [_masked(inner) for inner in value]
        case _:
            return value


def _masked_field(name: str, value: Any) -> Any:
    return Redactor().json({name: _masked(value)})[name]


def _variable(name: str) -> str:
    return f"STEERSMAN_{name.upper()}"


def _named(said: Any, name: str) -> bool:
    for part in name.split("."):
        if not isinstance(said, Mapping) or part not in said:
            return False
        said = said[part]
    return True


def _inner(settings: Any, name: str) -> Any:
    for part in name.split("."):
        settings = getattr(settings, part)
    return settings


def _check_name(name: str, known: tuple[str, ...]) -> None:
    if name not in known:
        raise UsageProblem(
            no_such(name, list(known)), try_this="`steer config list` shows all settings."
        )


def _typed(name: str, text: str) -> Any:
    """What a person wrote on the command line, as the setting's own type."""
    given: Any = text
    if name in files.LISTS:
        given = [word.strip() for word in text.split(",") if word.strip()]
    elif text.replace("_", "").isdecimal() and name != "model":
        given = text.replace("_", "")
    nested: Any = given
    for part in reversed(name.split(".")):
        nested = {part: nested}
    why = fault(nested)
    value = None if why else _inner(msgspec.convert(nested, Settings, strict=False), name)
    if value is None:
        raise UsageProblem(why or f"“{text}” is not valid for {name}.", "Nothing was changed.")
    return value
