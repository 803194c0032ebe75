"""Whether values mean anything: hosts, variables, models and stores that can be what is written.

What a value must be by its type is checked with the settings themselves.
"""

import os
import re
from collections.abc import Mapping

from steersman.host import models
from steersman.intelligence.models import AUTO
from steersman.records.errors import UsageProblem
from steersman.records.settings import Settings

_VARIABLE = re.compile(r"[A-Za-z_*][A-Za-z0-9_*]*")
_STORES = ("postgresql://", "postgres://")


def check(settings: Settings, names: tuple[str, ...], environ: Mapping[str, str]) -> None:
    """Raise what is wrong with some of the settings."""
    for name in names:
        if why := wrong(name, settings, environ):
            raise UsageProblem(why, "Nothing was changed.", _EXAMPLES.get(name, ""))


_EXAMPLES = {
    "domains": "Such as packages.example.org, *.example.com or 127.0.0.1:8080.",
    "environment": "Such as DJANGO_SETTINGS_MODULE or MYAPP_*.",
    "model": "`steer models` lists those that your keys can use.",
    "otel": "Such as http://127.0.0.1:4318, or on.",
    "status_line": 'Such as: echo "$(basename "$PWD")"',
    "store": "Such as postgresql://HOST:PORT/DATABASE; empty means SQLite in the data folder.",
}


def wrong(name: str, settings: Settings, environ: Mapping[str, str]) -> str:
    """Why a setting cannot be what it is, as sentences; empty when it can."""
    match name:
        case "domains":
            return next(filter(None, map(_domain, settings.domains)), "")
        case "environment":
            odd = [one for one in settings.environment if not _VARIABLE.fullmatch(one)]
            return f"“{odd[0]}” is not the name of a variable." if odd else ""
        case "sockets":
            odd = [one for one in settings.sockets if not one.isprintable()]
            return "A socket's path has a character that no path should have." if odd else ""
        case "model" | "output_style" | "otel":
            return _OWN_CHECKS[name](settings, environ)
        case "store" if settings.store and not settings.store.startswith(_STORES):
            return f"“{settings.store}” is not the address of a store."
        case "status_line" if not settings.status_line.isprintable():
            return "A status line is one shell command on one line."
    return ""


def _collector(settings: Settings, environ: Mapping[str, str]) -> str:
    from urllib.parse import urlsplit

    text = settings.otel
    try:
        parts = urlsplit(text)
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        good = False
    return "" if good or text in ("", "on") else f"“{text}” is not the address of a collector."


def _domain(text: str) -> str:
    from steersman.governance.domains import check_pattern

    why = check_pattern(text)
    return f"“{text}” is not a host. {why}" if why else ""


def _style(settings: Settings, environ: Mapping[str, str]) -> str:
    """A style that is nowhere; one that only a folder has is chosen there, with `/style`."""
    from steersman.identity import styles
    from steersman.identity.settings_words import nearest

    name = settings.output_style
    known = [styles.PLAIN, *styles.find(os.curdir, environ, trusted=False)]
    if name in known:
        return ""
    there = f"There are: {', '.join(known)}."
    return f"There is no output style “{name}”.{nearest(name, known)} {there}"


def _model(settings: Settings, environ: Mapping[str, str]) -> str:
    name = settings.model
    if not name or name == AUTO or name.startswith("scripted:"):
        return ""
    try:
        models.known(settings, environ).meant(name)
    except UsageProblem as problem:
        return f"{problem.what} {problem.why}".strip()
    return ""


_OWN_CHECKS = {"model": _model, "output_style": _style, "otel": _collector}
