"""Engines that search the web: which of them a person has a key for, and how each is asked."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec
from msgspec import Struct

from steersman.operations.web.fetching import Response, Target, target
from steersman.records.action import Network
from steersman.records.errors import ToolProblem

FILE = Path(__file__).with_name("engines.toml")
MOST = 10  # results


class Engine(Struct, frozen=True):
    """How one engine is asked; `{key}`, `{query}` and `{count}` are filled in."""

    key: str
    address: str
    results: tuple[str, ...]
    text: str
    headers: Mapping[str, str] = {}
    body: Mapping[str, Any] = {}


class Chosen(Struct, frozen=True):
    """An engine that can be used, with its key."""

    name: str
    engine: Engine
    secret: str

    def goal(self, query: str) -> Target:
        """Where a search goes."""
        address = self.engine.address.replace("{key}", self.secret.rstrip("/"))
        wanted = address.replace("{query}", quote(query, safe="")).replace("{count}", str(MOST))
        return target(wanted)

    def action(self, query: str) -> Network:
        """A search, as it is decided on; no key of a person is shown."""
        goal = self.goal(query)
        return Network(goal.host, goal.port, url=goal.url.partition("?")[0], query=query)

    @property
    def near(self) -> tuple[str, ...]:
        """Where the user's own engine is, which may be on this machine."""
        return (self.goal("").place,) if "{key}" in self.engine.address else ()

    def headers(self) -> dict[str, str]:
        """What proves who asks."""
        return {
            name: value.replace("{key}", self.secret) for name, value in self.engine.headers.items()
        }

    def body(self, query: str) -> bytes:
        """What is sent; empty for a plain request."""
        if not self.engine.body:
            return b""
        return msgspec.json.encode(_filled(self.engine.body, {"{query}": query, "{count}": MOST}))

    def hits(self, response: Response) -> list[tuple[str, str, str]]:
        """The results in an answer: title, address, text."""
        if response.status != 200:
            raise ToolProblem(
                f"The search with {self.name} failed: error {response.status}.",
                try_this=f"The user can check {self.engine.key}."
                if response.status in (401, 403)
                else "",
            )
        try:
            found: Any = msgspec.json.decode(response.body)
            for name in self.engine.results:
                found = found.get(name, []) if isinstance(found, dict) else []
        except (msgspec.MsgspecError, RecursionError) as error:
            raise ToolProblem(f"The answer of {self.name} cannot be read.") from error
        rows = [row for row in found if isinstance(row, dict)] if isinstance(found, list) else []
        return [
            (_text(row, "title"), _text(row, "url"), _text(row, self.engine.text))
            for row in rows[:MOST]
        ]


def usable(environ: Mapping[str, str]) -> Chosen | None:
    """The first engine that a person has a key for."""
    for name, engine in engines().items():
        if secret := environ.get(engine.key, ""):
            return Chosen(name, engine, secret)
    return None


def engines() -> dict[str, Engine]:
    """All engines there are."""
    return msgspec.convert(tomllib.loads(FILE.read_text(encoding="utf-8")), dict[str, Engine])


def _filled(node: Any, values: Mapping[str, Any]) -> Any:
    if isinstance(node, Mapping):
        return {name: _filled(item, values) for name, item in node.items()}
    return values.get(node, node) if isinstance(node, str) else node


def _text(row: Mapping[str, Any], name: str) -> str:
    value = row.get(name, "")
    return " ".join(value.split())[:600] if isinstance(value, str) else ""
