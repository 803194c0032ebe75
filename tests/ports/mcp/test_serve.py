"""`steer mcp serve`: the tools of a workspace for any other agent, through the same gate."""

import asyncio
import json
import os
import subprocess
import sys
import time
from itertools import groupby
from pathlib import Path
from typing import Any

import httpx2
import pytest

from steersman.ports.mcp.words import NO, ONCE, WHILE
from tests.ports.mcp.conftest import ERAS, TOKEN, Serving
from tests.world import Steer

WAYS = [(over, era) for over in ("stdio", "http") for era in ERAS]
CROSSED, OTHERWISE = (
    [("stdio", "auto"), ("http", "legacy")],
    [("stdio", "legacy"), ("http", "auto")],
)
BEGIN: dict[str, Any] = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}


class Person:
    """Answers every form in the same way and remembers what was asked."""

    def __init__(self, answer: str, instead: str = "") -> None:
        self.content = {"answer": answer} | ({"instead": instead} if instead else {})
        self.asked: list[str] = []

    async def __call__(self, context: Any, params: Any) -> Any:
        from mcp_types import ElicitResult

        self.asked.append(params.message)
        return ElicitResult(action="accept", content=self.content)


def bodies(steer: Steer, kinds: set[str]) -> list[dict[str, Any]]:
    """What the log has of these kinds, over all threads."""
    listed = steer("threads", "list", "--all", "--json").stdout.splitlines()
    found = []
    for thread in (json.loads(line)["id"] for line in listed):
        shown = steer("ledger", "export", thread).stdout
        found += [json.loads(line) for line in shown.splitlines()]
    return [message for message in found if message["kind"] in kinds]


@pytest.mark.parametrize(("over", "era"), WAYS)
def test_an_agent_sees_and_uses_the_tools(serving: Serving, over: str, era: str) -> None:
    async def work() -> None:
        async with serving.client(over, era) as client:
            assert client.protocol_version == ERAS[era]
            names = [tool.name for tool in (await client.list_tools()).tools]
            listed = serving.steer("tools", "--json").stdout.splitlines()
            assert names == [json.loads(line)["name"] for line in listed]
            read = await client.call_tool("workspace_read_file", {"path": "README.md"})
            assert not read.is_error
            assert read.structured_content["content"] == "1\t# Calc"
            assert json.loads(read.content[0].text) == read.structured_content
            missing = await client.call_tool("workspace_read_file", {"path": "nothing"})
            assert missing.is_error
            assert "nothing does not exist." in missing.content[0].text
            with pytest.raises(Exception, match="There is no tool “no_such_tool”"):
                await client.call_tool("no_such_tool", {})

    asyncio.run(work())
    log = bodies(serving.steer, {"tool_call", "policy", "tool_result", "session_end"})
    assert [kind for kind, _ in groupby(message["kind"] for message in log)] == [
        "tool_call", "policy", "tool_result", "tool_call", "policy", "tool_result", "session_end",
    ]  # fmt: skip
    assert log[-1]["body"]["exit"] == 0


@pytest.mark.parametrize(("over", "era"), CROSSED)
def test_a_person_is_asked_through_the_client(serving: Serving, over: str, era: str) -> None:
    person = Person(ONCE)

    async def work() -> None:
        async with serving.client(over, era, elicit=person) as client:
            change = {"path": "new.txt", "content": "new\n"}
            written = await client.call_tool("workspace_write_file", change)
            assert not written.is_error
            changed = {"path": "new.txt", "content": "newer\n"}
            assert not (await client.call_tool("workspace_write_file", changed)).is_error

    asyncio.run(work())
    assert len(person.asked) == 2
    assert "+newer" in person.asked[1]
    assert (serving.steer.folder / "new.txt").read_text() == "newer\n"
    answers = bodies(serving.steer, {"confirm_response"})
    assert [answer["body"]["decision"] for answer in answers] == ["allow", "allow"]


@pytest.mark.parametrize("era", ERAS)
def test_a_no_is_a_no_and_says_what_to_do_instead(serving: Serving, era: str) -> None:
    async def work() -> None:
        person = Person(NO, "write to notes/ only")
        async with serving.client("stdio", era, elicit=person) as client:
            change = {"path": "new.txt", "content": "new\n"}
            refused = await client.call_tool("workspace_write_file", change)
            assert refused.is_error
            assert "write to notes/ only" in refused.content[0].text

    asyncio.run(work())
    assert not (serving.steer.folder / "new.txt").exists()


def test_a_yes_can_hold_as_long_as_the_server_runs(serving: Serving) -> None:
    person = Person(WHILE)

    async def work() -> None:
        async with serving.client("stdio", "auto", elicit=person) as client:
            for text in ("one\n", "two\n"):
                change = {"path": "new.txt", "content": text}
                assert not (await client.call_tool("workspace_write_file", change)).is_error

    asyncio.run(work())
    assert len(person.asked) == 1


@pytest.mark.parametrize(("over", "era"), OTHERWISE)
def test_a_client_that_cannot_be_asked_is_told_how_to_allow_it(
    serving: Serving, over: str, era: str
) -> None:
    async def work() -> None:
        async with serving.client(over, era) as client:
            change = {"path": "new.txt", "content": "new\n"}
            refused = await client.call_tool("workspace_write_file", change)
            assert refused.is_error
            assert "does not support elicitation" in refused.content[0].text
            assert "--yes" in refused.content[0].text

    asyncio.run(work())
    assert not (serving.steer.folder / "new.txt").exists()


def test_with_yes_nobody_is_asked(serving: Serving) -> None:
    person = Person(NO)

    async def work() -> None:
        async with serving.client("stdio", "auto", "--yes", elicit=person) as client:
            change = {"path": "new.txt", "content": "new\n"}
            assert not (await client.call_tool("workspace_write_file", change)).is_error

    asyncio.run(work())
    assert person.asked == []


def test_calls_at_the_same_time_are_told_apart(serving: Serving) -> None:
    person = Person(ONCE)

    async def work() -> None:
        async with serving.client("stdio", "legacy", elicit=person) as client:
            writing = [
                client.call_tool("workspace_write_file", {"path": f"{n}.txt", "content": f"{n}\n"})
                for n in range(5)
            ]
            reading = [
                client.call_tool("workspace_read_file", {"path": "README.md"}) for _ in range(5)
            ]
            done = await asyncio.gather(*writing, *reading)
            assert [result.structured_content.get("path") for result in done[:5]] == [
                f"{n}.txt" for n in range(5)
            ]
            assert not any(result.is_error for result in done)

    asyncio.run(work())
    assert len(person.asked) == 5


def test_what_a_running_tool_shows_is_progress(serving: Serving) -> None:
    shown: list[str | None] = []

    async def progress(done: float, total: float | None, message: str | None) -> None:
        shown.append(message)

    async def work() -> None:
        async with serving.client("stdio", "legacy", "--yes") as client:
            command = {"command": "echo one; echo two"}
            done = await client.call_tool(
                "workspace_run_command", command, progress_callback=progress
            )
            assert not done.is_error, done.content

    asyncio.run(work())
    assert "one" in "".join(text or "" for text in shown)


def test_a_made_up_request_state_is_refused(serving: Serving) -> None:
    async def work() -> None:
        async with serving.client("stdio", "auto") as client:
            with pytest.raises(Exception, match="No call of this kind waits"):
                await client.session.call_tool(
                    "workspace_read_file", {"path": "README.md"}, request_state="made-up"
                )

    asyncio.run(work())


# ------------------------------------------------------------------------------ over HTTP


def test_who_may_come_in(serving: Serving) -> None:
    shown = {"authorization": f"Bearer {TOKEN}"}
    visitors: list[tuple[dict[str, str], int]] = [
        ({}, 401),
        ({"authorization": "Bearer wrong"}, 401),
        ({"authorization": f"bearer{TOKEN}"}, 401),
        ({"authorization": f"Basic {TOKEN}"}, 401),
        ({**shown, "host": "evil.example"}, 421),
        ({**shown, "origin": "http://evil.example"}, 403),
        (shown, 200),
    ]
    accept = {"accept": "application/json, text/event-stream"}
    with serving.http() as served, httpx2.Client(timeout=30) as line:
        for headers, status in visitors:
            answer = line.post(served.url, json=BEGIN, headers={**accept, **headers})
            assert (headers, answer.status_code) == (headers, status)
            assert ("www-authenticate" in answer.headers) == (status == 401)


def test_the_token_is_shown_when_it_is_made_and_never_again(steer: Steer) -> None:
    def first_words() -> list[str]:
        process = steer.start("mcp", "serve", "--http", "127.0.0.1:0")
        assert process.stderr is not None
        lines = []
        while not lines or "kept in" not in lines[-1]:
            lines.append(process.stderr.readline())
        process.terminate()
        assert process.wait(30) == 0
        process.communicate()
        return lines

    kept = Path(steer.environ["STEERSMAN_HOME"], "mcp-token")
    first = first_words()
    token = kept.read_text().strip()
    assert any(token in line for line in first)
    assert kept.stat().st_mode & 0o777 == 0o600
    assert not any(token in line for line in first_words())


@pytest.mark.parametrize("address", ["0.0.0.0:0", "[::]:0"])
def test_other_machines_are_not_served_unless_that_is_said(steer: Steer, address: str) -> None:
    done = steer("mcp", "serve", "--http", address)
    assert done.returncode == 2
    assert "--public" in done.stderr


# --------------------------------------------------------------------------------- the end


def test_it_ends_when_the_client_closes_its_end(serving: Serving) -> None:
    done = subprocess.run(
        serving.argv(),
        env=serving.steer.environ,
        input="",
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_signal_ends_it_and_all_it_started(serving: Serving) -> None:
    """The client keeps its end open and never speaks again; a command of a call still runs."""
    process = subprocess.Popen(
        serving.argv("--yes"),
        env=serving.steer.environ,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    mark = f"{serving.steer.folder}/here"
    command = f"touch {mark}; exec sleep 4321.{os.getpid()}"
    call = {"name": "workspace_run_command", "arguments": {"command": command}}
    ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    calling = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}
    process.stdin.write(json.dumps(BEGIN) + "\n")
    process.stdin.flush()
    assert "protocolVersion" in process.stdout.readline()
    process.stdin.write(f"{json.dumps(ready)}\n{json.dumps(calling)}\n")
    process.stdin.flush()
    while not _running(f"sleep 4321.{os.getpid()}"):
        assert process.poll() is None
        time.sleep(0.02)
    process.terminate()
    assert process.wait(30) == 0
    while _running(f"sleep 4321.{os.getpid()}"):  # the test's own time limit is the limit
        time.sleep(0.02)
    process.communicate()
    ends = bodies(serving.steer, {"session_end"})
    assert len(ends) == 1


def _running(words: str) -> bool:
    for entry in Path("/proc").iterdir():
        try:
            found = (entry / "cmdline").read_bytes() if entry.name.isdigit() else b""
        except OSError:
            continue
        if found.replace(b"\0", b" ").decode(errors="replace").strip() == words:
            return True
    return False


def test_the_library_is_loaded_when_it_serves_and_not_before() -> None:
    look = (
        "import sys, steersman.ports.cli.mcp_serve; "
        "print([name for name in ('mcp', 'uvicorn', 'pydantic') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", look], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == "[]"
