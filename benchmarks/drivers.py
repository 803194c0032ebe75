"""What a streamed answer costs with our drivers and with the official clients, in one run.

Both talk to the same model server, each from a process of its own. The figures are CPU time: a
delta is one of many in a long answer, a request is one of many short ones on a kept connection.
"""

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.measure import PYTHON, STEER, Figure

WIRES = ("openai", "openai-chat", "anthropic", "gemini")
MODULES = ("openai_responses", "openai_chat", "anthropic", "gemini")
DELTAS = 5000
REQUESTS = 60
RUNS = 3

Ask = Callable[[str], Awaitable[int]]


def figures() -> list[Figure]:
    """Ours against theirs, the cost of importing, and deltas that reach a reader."""
    made = []
    with _server() as url:
        for wire in WIRES:
            ours, theirs = _least(url, wire, "ours"), _least(url, wire, "theirs")
            for what in ("delta", "request"):
                note = f"{ours[what]:.0f} µs against {theirs[what]:.0f} µs"
                ratio = ours[what] / theirs[what]
                made.append(Figure(f"{wire}: CPU a {what}", ratio, 0.7, "×", note))
        seconds, lost = _child("deliver", url)
        note = f"{lost:.0f} lost of 10,000"
        made.append(Figure("10,000 deltas reach a subscriber", seconds + 1e9 * lost, 1, "s", note))
    for module in MODULES:
        cpu = min(_child("import", module)[0] for _ in range(RUNS))
        made.append(Figure(f"{module} imported and opened, CPU", cpu, 0.25, "s"))
    return made


def _least(url: str, wire: str, who: str) -> dict[str, float]:
    runs = [_child("stream", url, wire, who) for _ in range(RUNS)]
    return {"delta": min(run[0] for run in runs), "request": min(run[1] for run in runs)}


def _child(*arguments: str) -> list[float]:
    command = [PYTHON, "-m", "benchmarks.drivers", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    return [float(number) for number in done.stdout.split()]


@contextmanager
def _server() -> Iterator[str]:
    """A model server whose prompts choose a short answer or a long one of many small pieces."""
    with TemporaryDirectory(prefix="steersman-bench-") as name:
        long = "Well, " * DELTAS
        turns = [{"text": "Done."}, {"text": long, "chunk": 6}, {"text": long * 2, "chunk": 6}]
        path = Path(name) / "script.json"
        path.write_text(json.dumps({"turns": turns}))
        command = [STEER, "model-server", str(path), "--port", "0", "--json"]
        server = subprocess.Popen(command, stdout=subprocess.PIPE)
        try:
            assert server.stdout is not None
            yield json.loads(server.stdout.readline())["url"]
        finally:
            server.terminate()
            server.wait()


# --- in the child -----------------------------------------------------------------------------


def _ours(url: str, wire: str) -> Ask:
    from contextlib import aclosing

    from steersman.intelligence.drivers import open_endpoint
    from steersman.intelligence.drivers.endpoint import endpoint_for
    from steersman.records.dialogue import Completed, Prompt

    base = f"{url}/v1" if wire.startswith("openai") else url
    driver = open_endpoint(wire, "m", endpoint_for(wire, {}, {"base_url": base, "key": "k"}))

    async def ask(size: str) -> int:
        text, count = "", 0
        async with aclosing(driver.stream(Prompt("", (), _items(size)))) as events:
            async for event in events:
                if not isinstance(event, Completed):
                    text += event.text
                    count += 1
        return count

    return ask


def _items(size: str) -> list[Any]:
    """The n-th prompt gets the n-th answer."""
    from steersman.records.dialogue import AssistantItem, Item, UserItem

    number = ("short", "long", "longer").index(size)
    before: list[Item] = [UserItem("go"), AssistantItem("ok", "", ())] * number
    return [*before, UserItem("go")]


def _says(size: str) -> list[tuple[str, str]]:
    number = ("short", "long", "longer").index(size)
    return [*[("user", "go"), ("assistant", "ok")] * number, ("user", "go")]


def _chat(url: str) -> Ask:
    import openai

    client = openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="k", max_retries=0)

    async def ask(size: str) -> int:
        said: Any = [{"role": role, "content": text} for role, text in _says(size)]
        options: Any = {"include_usage": True}
        text, count = "", 0
        async for chunk in await client.chat.completions.create(
            model="m", messages=said, stream=True, stream_options=options
        ):
            if chunk.choices and (piece := chunk.choices[0].delta.content):
                text += piece
                count += 1
        return count

    return ask


def _responses(url: str) -> Ask:
    import openai

    client = openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="k", max_retries=0)

    async def ask(size: str) -> int:
        said: Any = [{"role": role, "content": text} for role, text in _says(size)]
        text, count = "", 0
        async for event in await client.responses.create(
            model="m", input=said, stream=True, store=False
        ):
            if event.type == "response.output_text.delta":
                text += event.delta
                count += 1
        return count

    return ask


def _anthropic(url: str) -> Ask:
    import anthropic

    client = anthropic.AsyncAnthropic(base_url=url, api_key="k", max_retries=0)

    async def ask(size: str) -> int:
        said: Any = [{"role": role, "content": text} for role, text in _says(size)]
        text, count = "", 0
        async for event in await client.messages.create(
            model="m", max_tokens=9, messages=said, stream=True
        ):
            if event.type == "content_block_delta" and event.delta.type == "text_delta":
                text += event.delta.text
                count += 1
        return count

    return ask


def _gemini(url: str) -> Ask:
    from google import genai

    options: Any = {"base_url": url}
    client = genai.Client(api_key="k", http_options=options)

    async def ask(size: str) -> int:
        roles = {"user": "user", "assistant": "model"}
        said: Any = [{"role": roles[r], "parts": [{"text": text}]} for r, text in _says(size)]
        text, count = "", 0
        async for chunk in await client.aio.models.generate_content_stream(
            model="m", contents=said
        ):
            if chunk.text:
                text += chunk.text
                count += 1
        return count

    return ask


THEIRS = {
    "openai": _responses,
    "openai-chat": _chat,
    "anthropic": _anthropic,
    "gemini": _gemini,
}


async def _stream(ask: Ask) -> None:
    """Microseconds of CPU for one delta and for one request."""
    await ask("short")
    await ask("long")
    started = time.process_time()
    for _ in range(REQUESTS):
        await ask("short")
    request = (time.process_time() - started) / REQUESTS
    started = time.process_time()
    count = await ask("long")
    delta = (time.process_time() - started - request) / DELTAS
    assert count == DELTAS
    print(1e6 * delta, 1e6 * request)


async def _deliver(ask_url: str) -> None:
    """Seconds until a reader of the bus has all deltas of a long answer, and how many it lacks."""
    from steersman.bus import Bus, Missed
    from steersman.intelligence.drivers import open_endpoint
    from steersman.intelligence.drivers.endpoint import endpoint_for
    from steersman.records.dialogue import Prompt, TextDelta
    from steersman.records.message import AssistantDelta, Message

    bus = Bus()
    given = {"base_url": f"{ask_url}/v1", "key": "k"}
    driver = open_endpoint("openai", "m", endpoint_for("openai", {}, given))
    heard = 0

    async def listen() -> None:
        nonlocal heard
        with bus.subscribe("t") as news:
            while (message := await news.next()) is not None:
                heard += not isinstance(message, Missed)

    reader = asyncio.create_task(listen())
    await asyncio.sleep(0)
    started = time.perf_counter()
    async for event in driver.stream(Prompt("", (), _items("longer"))):
        if isinstance(event, TextDelta):
            said = AssistantDelta(event.text)
            bus.publish(Message("t", 0, datetime.now(UTC), 1, said.kind, "steersman", None, said))
    bus.end("t")
    await reader
    print(time.perf_counter() - started, 2 * DELTAS - heard)


async def _import(module: str) -> None:
    """Seconds of CPU until a driver is ready to send."""
    from importlib import import_module

    started = time.process_time()
    driver = import_module(f"steersman.intelligence.drivers.{module}")
    endpoint = import_module("steersman.intelligence.drivers.endpoint")
    ready = driver.open("m", endpoint.Endpoint(provider="x", base_url="http://127.0.0.1:1"))
    ready._open()
    print(time.process_time() - started)


def main() -> None:
    """One measurement, in a process of its own."""
    match sys.argv[1:]:
        case ["stream", url, wire, "ours"]:
            asyncio.run(_stream(_ours(url, wire)))
        case ["stream", url, wire, _]:
            asyncio.run(_stream(THEIRS[wire](url)))
        case ["deliver", url]:
            asyncio.run(_deliver(url))
        case ["import", module]:
            asyncio.run(_import(module))


if __name__ == "__main__":
    main()
