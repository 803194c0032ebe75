"""A conversation held through a driver, and a server on loopback that says what it is told to."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from typing import Any

import msgspec

from steersman.intelligence.drivers import open_endpoint
from steersman.intelligence.drivers.endpoint import Endpoint, endpoint_for
from steersman.records.dialogue import (
    AssistantItem,
    Completed,
    Event,
    Item,
    Prompt,
    ResultItem,
    ToolSpec,
    UserItem,
)

WIRES = ("openai", "openai-chat", "anthropic", "gemini")
PATH = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
COMMAND = {"type": "object", "properties": {"command": {"type": "string"}}}
TOOLS = (
    ToolSpec("read_file", "Read a file.", PATH),
    ToolSpec("run_shell_command", "Run a command.", COMMAND),
)
READ = {"name": "read_file", "arguments": {"path": "calc.py"}}


def endpoint_at(url: str, wire: str, settings: Mapping[str, Any] | None = None) -> Endpoint:
    """An endpoint of a loopback server."""
    base = f"{url}/v1" if wire.startswith("openai") else url
    return endpoint_for(wire, {}, {"base_url": base, "key": "no-key", **(settings or {})})


class Talk:
    """A conversation with a model; every answer becomes part of it."""

    def __init__(
        self, url: str, wire: str, settings: Mapping[str, Any] | None = None, name: str = "m-1"
    ) -> None:
        self.wire = wire
        self.driver = open_endpoint(wire, name, endpoint_at(url, wire, settings))
        self.items: list[Item] = [UserItem("go")]
        self.events: list[Event] = []

    @property
    def prompt(self) -> Prompt:
        """What the model is given."""
        return Prompt("You are terse.", TOOLS, self.items)

    def ask(self) -> Completed:
        """The next answer; `events` are how it came."""

        async def listen() -> None:
            self.events = []
            try:
                async with aclosing(self.driver.stream(self.prompt)) as events:
                    async for event in events:
                        self.events.append(event)
            finally:
                await self.driver.aclose()

        asyncio.run(listen())
        answer = self.events[-1]
        assert isinstance(answer, Completed)
        return answer

    def answer(self, *results: str) -> Completed:
        """Ask, and put the answer and the results of its calls into the conversation."""
        answer = self.ask()
        self.items.append(AssistantItem(answer.text, answer.reasoning, answer.calls, answer.state))
        self.items += [
            ResultItem(call.id, text) for call, text in zip(answer.calls, results, strict=True)
        ]
        return answer


class Heard(msgspec.Struct):
    """A request as a server saw it."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return msgspec.json.decode(self.body)


class Loopback:
    """A server that gives the same bytes to everyone, then hangs up."""

    def __init__(self, reply: bytes) -> None:
        self.reply = reply
        self.url = ""
        self.heard: list[Heard] = []

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            method, target, _ = head[0].split(" ")
            pairs = (line.partition(": ") for line in head[1:] if line)
            headers = {name.lower(): value for name, _, value in pairs}
            body = await reader.readexactly(int(headers.get("content-length", 0)))
            self.heard.append(Heard(method, target, headers, body))
            writer.write(self.reply)
            await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError, ValueError):
            pass
        finally:
            writer.close()


@asynccontextmanager
async def loopback(reply: bytes) -> AsyncIterator[Loopback]:
    """A server while the context is open."""
    host = Loopback(reply)
    server = await asyncio.start_server(host.serve, "127.0.0.1", 0)
    host.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with server:
        yield host


def http(body: bytes, kind: str = "text/event-stream", status: str = "200 OK", *more: str) -> bytes:
    """A whole HTTP reply."""
    lines = [f"HTTP/1.1 {status}", f"content-type: {kind}", "connection: close", *more]
    return "\r\n".join([*lines, "", ""]).encode() + body


def sse(*events: Any) -> bytes:
    """Server-sent events; text is data as it is."""
    said = (e if isinstance(e, str) else msgspec.json.encode(e).decode() for e in events)
    return "".join(f"data: {one}\n\n" for one in said).encode()


def hear(wire: str, reply: bytes, **settings: Any) -> list[Event]:
    """What a driver makes of a reply."""
    return asyncio.run(heard(wire, reply, **settings))


async def heard(wire: str, reply: bytes, **settings: Any) -> list[Event]:
    """The same, where a loop runs already; `each` is called with every event as it comes."""
    prompt = settings.pop("prompt", Prompt("", TOOLS, [UserItem("go")]))
    name = settings.pop("name", "m-1")
    each = settings.pop("each", lambda event: None)
    told = []
    async with loopback(reply) as server:
        driver = open_endpoint(wire, name, endpoint_at(server.url, wire, settings))
        try:
            async with aclosing(driver.stream(prompt)) as events:
                async for event in events:
                    each(event)
                    told.append(event)
        finally:
            await driver.aclose()
    return told
