"""The models that a key can use, asked of the provider; and whether it accepts the key at all."""

import asyncio
import re
from typing import Any

import msgspec

from steersman import __version__
from steersman.intelligence.drivers import format_of
from steersman.intelligence.drivers.endpoint import Endpoint
from steersman.intelligence.drivers.http import Format, line_for
from steersman.intelligence.drivers.line import LineError, Reply
from steersman.intelligence.drivers.network import masked, of_transport, proxy_of
from steersman.intelligence.drivers.problems import Where, not_an_api, of_status, seen
from steersman.intelligence.providers import providers
from steersman.records.errors import DriverProblem

LARGEST = 16 << 20


async def list_models(wire: str, endpoint: Endpoint, seconds: float = 20) -> tuple[str, ...]:
    """The names of the models at an endpoint that chat, as the provider orders them.

    Raises `DriverProblem`: the key is refused, nobody answers, or what answers has no such list.
    """
    form = format_of(wire)
    known = providers().get(endpoint.provider)
    try:
        async with asyncio.timeout(seconds):
            if known and known.key_check:
                await _get(f"{endpoint.base_url}{known.key_check}", form, endpoint)
            body = await _get(form.models_url(endpoint), form, endpoint)
    except TimeoutError as error:
        raise DriverProblem(
            f"{endpoint.base_url} cannot be reached.",
            f"It did not answer within {seconds:g} s.",
            "Try again later.",
            kind="timeout",
        ) from error
    names = named(body)
    if names is None:
        raise not_an_api(_where(endpoint), f"It answered with {seen({}, body)}.")
    unfit = re.compile(known.no_chat) if known and known.no_chat else None
    return tuple(name for name in names if not (unfit and unfit.search(name)))


def named(body: bytes) -> list[str] | None:
    """The names in a list of models, in any provider's form; None when it is no such list. Pure."""
    try:
        told = msgspec.json.decode(body, type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    listed = told.get("data", told.get("models"))
    if not isinstance(listed, list):
        return None
    return [name for one in listed if isinstance(one, dict) and (name := _name(one))]


def _name(one: dict[str, Any]) -> str:
    name = one.get("id") or one.get("name")
    can = one.get("supportedGenerationMethods", ["generateContent"])
    if not isinstance(name, str) or not name.isprintable() or "generateContent" not in can:
        return ""
    return name.removeprefix("models/")


async def _get(url: str, form: Format, endpoint: Endpoint) -> bytes:
    headers = {
        "accept": "application/json",
        "accept-encoding": "identity",
        "user-agent": f"steersman/{__version__}",
    }
    headers |= form.headers(endpoint) | endpoint.headers
    line = line_for(endpoint)
    proxy = masked(proxy_of(endpoint))
    try:
        reply = await line.get(url, headers, endpoint.timeouts.connect)
        body = await _whole(reply)
        if reply.status != 200:
            raise of_status(_where(endpoint, proxy), reply.status, reply.headers, body)
        return body
    except LineError as error:
        place = "before the answer began"
        where = _where(endpoint, proxy)
        raise of_transport(where, error, place=place, answered=False) from error
    finally:
        await line.aclose()


async def _whole(reply: Reply) -> bytes:
    body = b""
    try:
        async for piece in reply.pieces():
            body += piece
            if len(body) > LARGEST:
                break
    finally:
        await reply.aclose()
    return body


def _where(endpoint: Endpoint, proxy: str = "") -> Where:
    return Where(endpoint.label, "", endpoint.base_url, proxy)
