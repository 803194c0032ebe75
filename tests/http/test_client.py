"""`steersman.client`: threads for Python programs, over a real server."""

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path

import pytest

from steersman.client import AsyncClient, Client, Placed, SteersmanError
from steersman.records.errors import TooLate
from steersman.records.message import encode_message
from tests.http.relay import Relay
from tests.http.watched import PATIENCE, Serving
from tests.world import call

EXAMPLE = Path(__file__).parents[2] / "examples" / "http_client.py"
WRITE = {"tool_calls": [call("workspace_write_file", path="new.txt", content="new\n")]}
ASKS = {
    "tool_calls": [
        call("workspace_run_command", command="echo hello > told.txt", outside_sandbox=True)
    ]
}
DONE = {"text": "Done."}


@pytest.fixture
def server(environ: dict[str, str], tmp_path: Path) -> Iterator[Serving]:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    made = Serving(environ, folder, "--public", "127.0.0.2")
    yield made
    made.stop()


@pytest.fixture
def client(server: Serving) -> Iterator[Client]:
    with Client(server.url, server.token) as made:
        yield made


def test_a_program_starts_a_thread_and_undoes_its_work(
    server: Serving, client: Client, workspace: Path
) -> None:
    made = client.start(str(workspace), "Write it.", model=server.model(WRITE, DONE))
    ended = client.wait(made.id)
    assert (ended.state, ended.result) == ("idle", "done")
    assert (workspace / "new.txt").read_text() == "new\n"
    assert [one.id for one in client.threads(str(workspace)).threads] == [made.id]

    kinds = [one.kind for one in client.messages(made.id, kinds=["user", "turn_end"]).messages]
    assert kinds == ["user", "turn_end"]

    plan = client.plan_undo(made.id)
    assert "-new" in plan.diffs[0]
    assert client.undo(made.id, plan).words
    assert not (workspace / "new.txt").exists()
    with pytest.raises(SteersmanError):
        client.undo(made.id, plan)


def test_a_program_speaks_to_a_turn_that_waits_for_its_answer(
    server: Serving, client: Client, workspace: Path
) -> None:
    made = client.start(str(workspace), "Ask.", model=server.model(ASKS, DONE, DONE))
    asks = client.wait(made.id).waiting_for
    assert asks.kind == "permission"
    client.queue(made.id, "And then?")
    client.steer(made.id, "Be quick.")
    client.answer(made.id, asks.corr, "deny", guidance="Not like that.")
    client.wait(made.id)
    said = client.messages(made.id, kinds=["user"]).messages
    assert [(one.body.via, one.body.text) for one in said] == [
        ("prompt", "Ask."),
        ("steer", "Be quick."),
        ("queue", "And then?"),
    ]
    with pytest.raises(TooLate):
        client.answer(made.id, asks.corr, "allow")
    assert not (workspace / "told.txt").exists()


def test_a_turn_is_cancelled(server: Serving, client: Client, workspace: Path) -> None:
    made = client.start(str(workspace), "Ask.", model=server.model(ASKS, DONE))
    client.wait(made.id)
    client.cancel(made.id)
    assert client.wait(made.id).result == "cancelled"
    assert client.send(made.id, "Go on.") == 2


def test_events_come_once_and_in_order_over_a_line_that_breaks(
    server: Serving, client: Client, workspace: Path
) -> None:
    # A line of JSON may have a separator of lines in it that only other programs know.
    made = client.start(str(workspace), "One\u2028two\x85three.", model=server.model(WRITE, DONE))
    client.wait(made.id)
    stored = client.messages(made.id, limit=500).messages
    room = max(len(encode_message(one)) for one in stored) + 1000
    with Relay(server.at, breaks_after=room) as line, Client(line.url, server.token) as far:
        seen = list(islice(far.events(made.id), len(stored)))
        assert line.connections > 1
    assert seen == stored
    assert [one.seq for one in seen] == list(range(1, len(stored) + 1))


def test_what_is_asked_again_because_the_answer_was_lost_is_done_once(
    server: Serving, client: Client, workspace: Path
) -> None:
    model = server.model(DONE, DONE, DONE)
    with Relay(server.at, 1, first=1) as line, Client(line.url, server.token) as far:
        made = far.start(str(workspace), "Begin.", model=model)
        assert line.connections > 1
    client.wait(made.id)
    with Relay(server.at, 1, first=1) as line, Client(line.url, server.token) as far:
        assert far.send(made.id, "Go on.") == 2
        assert line.connections > 1
    client.wait(made.id)
    assert [one.id for one in client.threads(str(workspace)).threads] == [made.id]
    said = client.messages(made.id, kinds=["user"]).messages
    assert [one.body.text for one in said] == ["Begin.", "Go on."]


@pytest.mark.parametrize("status", [502, 503, 504])
def test_what_is_safe_to_repeat_waits_for_a_server_that_is_away(
    server: Serving, client: Client, workspace: Path, status: int
) -> None:
    model = server.model(DONE)
    with (
        Relay(server.at, None, first=2, status=status) as line,
        Client(line.url, server.token) as far,
    ):
        made = far.start(str(workspace), "Begin.", model=model)
        assert line.connections == 3
    client.wait(made.id)
    with (
        Relay(server.at, None, first=9, status=status) as line,
        Client(line.url, server.token) as far,
        Client(line.url, server.token, patience=0) as hasty,
    ):
        for ask in (lambda: far.cancel(made.id), lambda: hasty.thread(made.id)):
            with pytest.raises(SteersmanError, match=f"status {status}"):
                ask()
        assert line.connections == 2


def test_events_of_all_threads_come_once_and_in_one_order(
    server: Serving, client: Client, workspace: Path
) -> None:
    model = server.model(WRITE, DONE, DONE)
    made = [client.start(str(workspace), "Write it.", model=model).id for _ in range(2)]
    for one in made:
        client.wait(one)
    pages = [client.messages(one, limit=500).messages for one in made]
    stored = {encode_message(message) for page in pages for message in page}
    room = max(map(len, stored)) + 1000
    with Relay(server.at, breaks_after=room) as line, Client(line.url, server.token) as far:
        events = far.events()
        seen = list(islice(events, len(stored) - 1))
        server.kill()
        server.start()
        seen.append(next(events))
        events.close()
        assert line.connections > 1
    positions = [one.position for one in seen]
    assert positions == sorted(set(positions))
    for thread, page in zip(made, pages, strict=True):
        assert [one.seq for one in seen if one.thread == thread] == [one.seq for one in page]

    async def last() -> Placed:
        async with AsyncClient(server.url, server.token) as awaited:
            async for message in awaited.events(after=positions[-2]):
                return message
        raise AssertionError

    assert asyncio.run(last()) == seen[-1]


def test_events_go_on_after_the_server_was_killed(
    server: Serving, client: Client, workspace: Path
) -> None:
    made = client.start(str(workspace), "Write it.", model=server.model(WRITE, DONE, DONE))
    client.wait(made.id)
    events = client.events(made.id)
    seen = [next(events)]
    server.kill()
    server.start()
    client.send(made.id, "Again.")
    ends = 0
    while ends < 2:
        seen.append(next(events))
        ends += seen[-1].kind == "turn_end"
    events.close()
    assert seen == client.messages(made.id, limit=500).messages[: len(seen)]


def test_who_waits_learns_that_the_server_was_killed(
    server: Serving, client: Client, workspace: Path
) -> None:
    long = {"tool_calls": [call("workspace_run_command", command="sleep 600")]}
    made = client.start(str(workspace), "Take long.", model=server.model(long, DONE))
    with (
        Relay(server.at, None) as line,
        Client(line.url, server.token) as far,
        ThreadPoolExecutor() as beside,
    ):
        waiting = beside.submit(far.wait, made.id)
        assert line.followed.wait(PATIENCE)
        server.kill()
        server.start()
        assert waiting.result(PATIENCE).result == "interrupted"


def test_the_same_with_an_event_loop(server: Serving, workspace: Path) -> None:
    async def work() -> tuple[list[str], list[int]]:
        async with AsyncClient(server.url, server.token) as client:
            made = await client.start(str(workspace), "Write it.", model=server.model(WRITE, DONE))
            facts = await client.wait(made.id)
            kinds, seqs = [], []
            async for message in client.events(made.id, live=True):
                kinds.append(message.kind)
                seqs.append(message.seq)
                if message.seq == facts.messages:
                    return kinds, seqs
        raise AssertionError

    kinds, seqs = asyncio.run(work())
    assert "turn_end" in kinds
    assert seqs == list(range(1, len(seqs) + 1))


def test_what_goes_wrong_is_said_in_words(server: Serving, client: Client) -> None:
    with pytest.raises(SteersmanError, match="There is no thread"):
        client.thread("nosuchthread")
    with pytest.raises(SteersmanError, match="There is no thread"):
        next(client.events("nosuchthread"))
    with Client(server.url, "wrong") as stranger, pytest.raises(SteersmanError, match="token"):
        stranger.threads()
    with pytest.raises(SteersmanError, match="is not the address of a server"):
        Client("example.org", "token")
    nobody = Client("http://127.0.0.1:1", "token", patience=0)
    with nobody, pytest.raises(SteersmanError, match="The server does not answer"):
        nobody.threads()


def test_the_example_follows_a_task_and_answers(server: Serving, workspace: Path) -> None:
    model = server.model(ASKS, DONE)
    words = [server.url, server.token_file, str(workspace), "Tell them.", model]
    ran = subprocess.run(
        [sys.executable, EXAMPLE, *words],
        input="y\n",
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "workspace_run_command needs your approval." in ran.stdout
    assert "← workspace_run_command: ok" in ran.stdout
    assert "Done." in ran.stdout
    assert (workspace / "told.txt").read_text() == "hello\n"


def test_importing_the_client_loads_neither_an_http_library_nor_the_host() -> None:
    heavy = (
        "print([m for m in sys.modules if m.startswith(('httpx', 'asyncio', 'steersman.host'))])"
    )
    ran = subprocess.run(
        [sys.executable, "-c", f"import sys, steersman.client; {heavy}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout == "[]\n"
