"""A driver weighs little: nothing is imported before it is used, and no delta is lost."""

import asyncio
import subprocess
import sys
from datetime import UTC, datetime

import pytest

from steersman.bus import Bus, Missed
from steersman.intelligence.drivers import MODULES
from steersman.records.dialogue import TextDelta
from steersman.records.message import AssistantDelta, Message
from tests.intelligence.drivers.talking import heard as heard_events
from tests.intelligence.drivers.talking import http, sse

NEVER = ("openai", "anthropic", "google.genai", "pydantic", "requests", "aiohttp", "h2")


def loaded(code: str) -> set[str]:
    """The modules that are loaded after some code."""
    asked = f"{code}\nimport sys\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_to_know_the_providers_nothing_is_loaded() -> None:
    names = loaded("from steersman.intelligence.drivers.endpoint import endpoint_for")
    assert not names & {"httpx2", "ssl", "asyncio", *NEVER}


@pytest.mark.parametrize("module", sorted(set(MODULES.values())))
def test_a_driver_loads_no_other_and_no_official_client(module) -> None:
    names = loaded(f"import steersman.intelligence.drivers.{module}")
    ours = {name.rpartition(".")[2] for name in names if ".intelligence.drivers." in name}
    assert ours & set(MODULES.values()) == {module}
    assert not names & {"httpx2", "httpcore2", "anyio", "h11", "email", "urllib.request", *NEVER}


def test_a_flood_of_deltas_reaches_a_reader() -> None:
    """Ten thousand pieces in one burst: a reader of the bus, whose window is small, gets all."""
    count = 10_000
    chunk = {"choices": [{"delta": {"content": "x"}}]}
    stop = {"choices": [{"delta": {}, "finish_reason": "stop"}]}
    body = sse(*[chunk] * count, stop, "[DONE]")
    bus = Bus()
    heard: list[Message | Missed] = []

    async def read() -> None:
        with bus.subscribe("t") as news:
            while (message := await news.next()) is not None:
                heard.append(message)

    def publish(event: object) -> None:
        if isinstance(event, TextDelta):
            said = AssistantDelta(event.text)
            now = datetime.now(UTC)
            bus.publish(Message("t", 0, now, 1, said.kind, "steersman", None, said))

    async def flood() -> None:
        reader = asyncio.create_task(read())
        await asyncio.sleep(0)
        await heard_events("openai-chat", http(body), each=publish)
        bus.end("t")
        await reader

    asyncio.run(flood())
    assert len(heard) == count
    assert not any(isinstance(message, Missed) for message in heard)
