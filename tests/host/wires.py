"""Threads whose models are behind HTTP: a model server, the four formats, and a host that talks."""

import asyncio
import json
from collections.abc import Mapping
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import msgspec

from steersman.host import Host
from steersman.records.message import Message, TurnEnd, encode_message
from steersman.records.settings import Settings
from steersman.threads.handle import ThreadHandle
from tests.intelligence.model_server.conftest import Stage

WIRES = ("openai", "openai-chat", "anthropic", "gemini")
PROVIDERS = {"openai": "OpenAI", "openai-chat": "OpenAI", "anthropic": "Anthropic"}
VARIABLES = {"openai": "OPENAI", "openai-chat": "OPENAI", "anthropic": "ANTHROPIC"}


def reaching(environ: Mapping[str, str], url: str) -> dict[str, str]:
    """An environment in which every provider is the server at `url`."""
    return {
        **environ,
        "OPENAI_BASE_URL": f"{url}/v1",
        "ANTHROPIC_BASE_URL": url,
        "GOOGLE_GEMINI_BASE_URL": url,
        "OPENAI_API_KEY": "key-of-openai-4711",
        "ANTHROPIC_API_KEY": "key-of-anthropic-4711",
        "GEMINI_API_KEY": "key-of-gemini-4711",
    }


class RecordingStage(Stage):
    """A model server that keeps the bytes of what it was asked."""

    bodies: list[bytes]
    headers: list[dict[str, str]]
    _next: tuple[dict[str, Any], ...] = ()

    def play(
        self, *turns: dict[str, Any], then: tuple[dict[str, Any], ...] = (), aside: str = ""
    ) -> None:
        """Put another script on; `then` is what follows it after one request."""
        self.bodies = []
        self.headers = []
        self._next = then
        super().play(*turns, aside=aside)

    def reply(self, request: Any) -> Any:
        """Answer, and keep what was asked."""
        self.bodies.append(request.body)
        self.headers.append(request.headers)
        reply = super().reply(request)
        if self._next:
            turns, self._next = self._next, ()
            super().play(*turns)
        return reply

    def statuses(self) -> list[int]:
        """How each request was answered."""
        return [line["status"] for line in self.log]


class Line:
    """A thread of its own and whoever talks in it; the seconds it would have waited are kept."""

    def __init__(self, host: Host, handle: ThreadHandle) -> None:
        self.host = host
        self.handle = handle
        self.thread = handle.id

    async def say(self, text: str) -> TurnEnd:
        """A prompt, and how its turn ended."""
        await self.handle.send(text)
        end = await self.handle.wait()
        assert end is not None
        return end

    @property
    def messages(self) -> list[Message]:
        """All that was logged."""
        return list(self.host.messages(self.thread))

    def bodies(self, kind: str) -> list[Any]:
        """What one kind of message said."""
        return [message.body for message in self.messages if message.kind == kind]

    async def last_words(self) -> str:
        """What the model said last."""
        return await self.handle.last_words()


class Waits(list[float]):
    """The waits between tries, none of which takes time."""

    async def __call__(self, seconds: float) -> None:
        """Wait, as it were."""
        self.append(seconds)
        await asyncio.sleep(0)


def talking(environ, workspace, scenario, waits=None, attended=False, **settings):
    """Play a scenario in a new thread of a host of its own."""

    async def whole():
        home = Path(environ["STEERSMAN_HOME"])
        async with Host.at(home, environ, pause=Waits() if waits is None else waits) as host:
            chosen = Settings(**{"approvals": "never", "command_wait": 600, **settings})
            line = Line(host, await host.start(str(workspace), "a task", chosen, attended=attended))
            told = await scenario(line)
            assert_answered(line.messages)
            assert host.verify(line.thread) == []
            return told

    return asyncio.run(asyncio.wait_for(whole(), 60))


def assert_answered(messages: list[Message]) -> None:
    """No turn ends without an answer or an error; every call has its result."""
    turn: list[Message] = []
    for message in messages:
        if message.kind == "turn_start":
            turn = []
        turn.append(message)
        if message.kind == "turn_end" and message.body.ending != "cancelled":
            answered = any(m.kind == "assistant" and not m.body.calls for m in turn)
            troubled = any(m.kind == "error" and m.body.retry_in is None for m in turn)
            assert answered if message.body.ending == "done" else troubled
    calls = sorted(m.corr for m in messages if m.kind == "tool_call")
    assert calls == sorted(m.corr for m in messages if m.kind == "tool_result")


def plain(messages: list[Message], *, wire: str, model: str) -> list[Any]:
    """Messages without what differs from run to run and from provider to provider.

    Calls that run at the same time are told one after the other.
    """
    names: dict[str, str] = {}
    for message in messages:
        if message.corr:
            names.setdefault(message.corr, f"id-{len(names) + 1}")
    names |= {model: "MODEL", PROVIDERS.get(wire, "Gemini"): "PROVIDER"}
    told = []
    for message in messages:
        text = encode_message(message).decode()
        for name, stand_in in names.items():
            text = text.replace(name, stand_in)
        record = json.loads(text)
        for field in ("thread", "time", "seq"):
            del record[field]
        for field in ("ms", "first_token_ms", "state"):
            record["body"].pop(field, None)
        if record["kind"] == "usage":
            record["body"] = {}
        told.append(record)
    return [
        record
        for at_once, run in groupby(told, key=lambda record: "/operations/" in record["path"])
        for record in (sorted(run, key=itemgetter("corr")) if at_once else run)
    ]


def conversation(wire: str, body: bytes) -> tuple[bytes, list[bytes]]:
    """A request as what comes before its conversation, and the conversation's pieces, as bytes."""
    field = {"openai": "input", "gemini": "contents"}.get(wire, "messages")
    said = msgspec.json.decode(body)
    pieces = [msgspec.json.encode(piece) for piece in said[field]]
    end = f'"{field}":['.encode() + b",".join(pieces) + b"]}"
    assert body.endswith(end), "the conversation is the end of the request"
    return body[: -len(end)], pieces
