"""The doctor on models: the one that is set is asked, each key is tried, servers are looked for."""

import asyncio
from collections.abc import Iterator, Mapping
from typing import Literal

from steersman.host import models
from steersman.host.catalogue import PATIENCE, Offer, offered
from steersman.host.findings import Finding, trouble
from steersman.host.settings import settings_for
from steersman.host.trying import attempt
from steersman.records.counting import counted
from steersman.records.errors import DriverProblem, SteersmanError


def model(environ: Mapping[str, str], *, offline: bool = False) -> Finding:
    """The model that is set: opened, and asked to call a tool in one tiny request."""
    try:
        settings = settings_for(environ, {})
        name = models.chosen(settings, environ)
        if not name:
            fix = "steer login, or pass --model provider:name"
            return Finding("model", "note", "none is set; `steer demo` needs none", fix)
        known = models.known(settings, environ)
        if offline or name.startswith("scripted:"):
            known.open(name)
            return Finding("model", "ok", f"{name}; it was not asked")
        tried = asyncio.run(attempt(known, name))
    except DriverProblem as problem:
        found = f"{name}: {problem.what} {problem.why}".strip()
        return Finding("model", "bad", found, _fix(name, problem))
    except SteersmanError as problem:
        return trouble("model", problem)
    return Finding("model", "ok" if tried.works else "note", f"{name}: {tried.told}")


def _fix(name: str, problem: DriverProblem) -> str:
    provider = name.partition(":")[0]
    if problem.kind == "auth":
        return f"steer login {provider}"
    if problem.kind == "model_not_found":
        return f"steer models {provider}"
    return problem.try_this


def found_models(environ: Mapping[str, str], *, offline: bool = False) -> Iterator[Finding]:
    """Keys, each tried; model servers on this machine; agent programs."""
    found = models.found(environ)
    offers = {} if offline else _offers(environ)
    for one in found:
        if one.kind == "program":
            yield Finding("agents", "ok", f"{one.name}, {one.detail}")
        elif one.kind == "key" and one.provider in offers:
            yield _key(f"{one.name}: {one.detail}", one.command, offers[one.provider])
        else:
            state: Literal["ok", "note"] = "ok" if one.command or one.kind == "key" else "note"
            yield Finding("models", state, f"{one.name}: {one.detail}", one.command)
    if all(one.kind == "program" for one in found):
        found_none = "no API key and no model server on this machine"
        yield Finding("models", "note", found_none, "steer login, or start Ollama")


def _key(told: str, command: str, offer: Offer) -> Finding:
    """Whether a key is accepted; a server of one's own, for which no `command` is known, may need
    none, so that it only answers."""
    if offer.problem:
        return Finding("models", "bad", f"{told}. {offer.problem}", f"steer login {offer.provider}")
    accepted = "the key is accepted, for" if command else "it answers, with"
    many = counted(len(offer.models), "model")
    return Finding("models", "ok", f"{told}; {accepted} {many}", command)


def _offers(environ: Mapping[str, str]) -> dict[str, Offer]:
    """What the providers say now."""
    try:
        settings = settings_for(environ, {})
        found = asyncio.run(offered(settings, environ, refresh=True, seconds=PATIENCE))
    except SteersmanError:
        return {}  # what is wrong with the settings is said with them
    return {one.provider: one for one in found}
