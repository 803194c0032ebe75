"""Following the log: each stored message once and in order, whatever happens to the line."""

import json
import random
import resource
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from tests.cli.kit import DONE, outside
from tests.http.kit import Events, Served
from tests.world import call

SAY = {"text": "Hello."}
STEPS = [
    {
        "text": f"Step {n}.",
        "tool_calls": [call("workspace_write_file", path=f"{n}.txt", content="new\n")],
    }
    for n in range(8)
]


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Served]:
    """A server that a test may kill."""
    made = Served(tmp_path / "home", tmp_path / "work")
    yield made
    made.kill()


def stored(frames: Events, until: str = "turn_end") -> list[int]:
    """The numbers of stored messages, as they come, up to one of a kind."""
    seen = []
    for frame in frames:
        if frame.id:
            assert frame.event == "message"
            assert frame.data["seq"] == frame.id
            seen.append(frame.id)
            if frame.kind == until:
                break
    return seen


def test_a_stream_has_every_message_once(server: Served) -> None:
    """From the beginning, and from any place."""
    thread = server.begin(*STEPS, DONE)
    with server.events(thread) as frames:
        assert frames.status == 200
        assert frames.headers["content-type"].startswith("text/event-stream")
        assert frames.headers["x-accel-buffering"] == "no"
        seen = stored(frames)
    assert seen == list(range(1, len(seen) + 1))
    with server.events(thread, after=5) as frames:
        assert stored(frames) == seen[5:]
    with Events(server, f"/api/v0/threads/{thread}/events?after=2", last=7) as frames:
        assert stored(frames) == seen[7:]  # the header is newer than the address


@pytest.mark.parametrize("after", ["-1", "x", "1e3", "9" * 30, "", "%D9%A3"])
def test_a_place_is_a_number(server: Served, after: str) -> None:
    """Anything else is said to be wrong, as is what nobody asked for."""
    thread = server.begin(SAY)
    path = f"/api/v0/threads/{thread}/events"
    assert server.request("GET", f"{path}?after={after}").status == 400
    assert server.request("GET", f"{path}?colour=red").status == 400


def test_a_line_that_is_cut_again_and_again(server: Served) -> None:
    """Whoever comes back with the last number misses nothing and sees nothing twice."""
    chance = random.Random(15)
    thread = server.begin(*STEPS, DONE)
    seen: list[int] = []
    over = False
    while not over:
        with server.events(thread, after=seen[-1] if seen else 0) as frames:
            left = chance.randint(1, 6)
            for frame in frames:
                if frame.id:
                    seen.append(frame.id)
                    over = frame.kind == "turn_end"
                    left -= 1
                if over or not left:
                    break
    assert seen == list(range(1, len(seen) + 1))


def test_who_joins_in_the_middle_gets_the_text_so_far(server: Served) -> None:
    """As one piece, where an answer has come to a halt half-way; others had it piece by piece."""
    text = "".join(f"{n:03d}." for n in range(100))  # no token begins as it ends: held back
    thread = server.begin({"text": text, "chunk": 4, "stall_ms": 600_000})
    for attempt in range(2):
        so_far, pieces = "", 0
        with server.events(thread) as frames:
            for frame in frames:
                if frame.event in ("partial", "delta") and frame.kind == "assistant_delta":
                    so_far += frame.data["body"]["text"]
                    pieces += 1
                if len(so_far) >= 200:
                    break
        assert so_far == text[:200]
        assert pieces == 1 or not attempt
    server.post(f"/threads/{thread}/cancel")


def test_the_server_is_killed_and_started_again(own: Served) -> None:
    """Readers go on where they were, and the thread as well."""
    thread = own.begin(*STEPS, {"text": "", "tool_calls": [outside("true")]}, DONE)
    with own.events(thread) as frames:
        seen = stored(frames, until="confirm_request")
    own.kill()
    own.start()
    asked = own.get(f"/threads/{thread}")["waiting_for"]
    with own.events(thread, after=seen[-1]) as frames:
        answer = {"type": "permission", "corr": asked["corr"], "decision": "allow"}
        own.post(f"/threads/{thread}/answer", answer)
        seen += stored(frames)
    assert seen == list(range(1, len(seen) + 1))
    assert own.get(f"/threads/{thread}/verify")["verified"]


def test_a_server_that_stops_says_so(own: Served) -> None:
    """Readers are told, and do not keep it from ending."""
    thread = own.begin(SAY)
    own.ended(thread)
    with own.events(thread) as frames:
        shown = iter(frames)
        while next(shown).kind != "turn_end":
            pass
        own.process.terminate()
        assert [frame.event for frame in shown][-1] == "closing"
    assert own.process.wait(60) == 0


def test_what_waits_for_an_answer_outlives_the_server(own: Served) -> None:
    """The next one takes the answer."""
    thread = own.begin({"text": "", "tool_calls": [outside("touch later")]}, DONE)
    asked = own.asked(thread)
    own.stop()
    own.start()
    assert own.get(f"/threads/{thread}")["waiting_for"]["corr"] == asked["corr"]
    answer = {"type": "permission", "corr": asked["corr"], "decision": "allow"}
    own.post(f"/threads/{thread}/answer", answer)
    assert own.ended(thread)["result"] == "done"
    assert (own.workspace / "later").exists()


def test_a_stream_ends_with_its_token(server: Served) -> None:
    """At the next heartbeat after it was revoked."""
    made = json.loads(server.steer("token", "make", "guest", "--json"))
    thread = server.begin(SAY)
    with server.events(thread, token=made["token"]) as frames:
        shown = iter(frames)
        while next(shown).kind != "turn_end":
            pass
        server.steer("token", "revoke", made["id"])
        events = [frame.event for frame in shown]
    assert events[-1] == "closing"


def test_a_reader_that_reads_nothing_holds_nobody_up(server: Served) -> None:
    """Others see the end of the turn while its line is full."""
    texts = [f"{n}\n" * 60_000 for n in range(12)]
    calls = [call("workspace_write_file", path="big", content=text) for text in texts]
    thread = server.begin(*[{"text": "", "tool_calls": [one]} for one in calls], DONE)
    host, _, port = server.at.rpartition(":")
    lazy = socket.socket()
    lazy.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    lazy.connect((host, int(port)))
    lazy.sendall(
        f"GET /api/v0/threads/{thread}/events HTTP/1.1\r\nHost: {server.at}\r\n"
        f"Authorization: Bearer {server.token}\r\n\r\n".encode()
    )
    with lazy, server.events(thread) as frames:
        seen = stored(frames)
    assert seen == list(range(1, len(seen) + 1))


def test_more_readers_than_a_shell_lets_a_program_have_files(tmp_path: Path) -> None:
    """A server takes what it may have, not what a program gets that asks for nothing."""
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (80, limits[1]))
    try:
        few = Served(tmp_path / "home", tmp_path / "work")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    with ExitStack() as lines:
        lines.callback(few.kill)
        thread = few.begin(SAY)
        for _ in range(100):
            assert lines.enter_context(few.events(thread)).status == 200


# One socket for a page


def open_socket(server: Served, **headers: str) -> ClientConnection:
    """A page's socket, with a ticket."""
    ticket = server.post("/tickets", {"path": "/api/v0/socket"})["ticket"]
    at = f"ws://{server.at}/api/v0/socket?ticket={ticket}"
    return connect(at, additional_headers=headers)


def follow(line: ClientConnection, thread: str, after: int = 0) -> None:
    """Ask for a thread."""
    line.send(json.dumps({"type": "follow", "thread": thread, "after": after}))


def received(line: ClientConnection) -> dict[str, Any]:
    """The next frame."""
    frame: dict[str, Any] = json.loads(line.recv(60))
    return frame


def test_a_socket_follows_several_threads(server: Served) -> None:
    """The same frames as the events, each with its thread."""
    threads = {server.begin(*STEPS[:2], DONE), server.begin(SAY)}
    seen: dict[str, list[int]] = {thread: [] for thread in threads}
    with open_socket(server) as line:
        for thread in threads:
            follow(line, thread)
        over = set()
        while over != threads:
            frame = received(line)
            if frame.get("id"):
                seen[frame["thread"]].append(frame["id"])
                if frame["data"]["kind"] == "turn_end":
                    over.add(frame["thread"])
    for numbers in seen.values():
        assert numbers == list(range(1, len(numbers) + 1))


def test_a_socket_says_what_is_wrong_and_goes_on(server: Served) -> None:
    """Neither nonsense nor a thread that is not there ends it."""
    thread = server.begin(SAY)
    with open_socket(server) as line:
        for text in ("{", "[]", '{"type": "dance"}', '{"type": "follow", "thread": "none"}'):
            line.send(text)
            assert received(line)["event"] == "problem"
        follow(line, thread)
        while received(line)["data"].get("kind") != "turn_end":
            pass
        line.send(json.dumps({"type": "unfollow", "thread": thread}))


def test_a_socket_with_a_wrong_ticket_learns_why(server: Served) -> None:
    """So that a page asks for another instead of trying for ever."""
    with connect(f"ws://{server.at}/api/v0/socket?ticket=wrong") as line:
        with pytest.raises(ConnectionClosed):
            line.recv(60)
        assert line.close_code == 4401


@pytest.mark.parametrize(
    "headers", [{"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}]
)
def test_a_page_elsewhere_gets_no_socket(server: Served, headers: dict[str, str]) -> None:
    """Even with a ticket; browsers ask nobody before they open one."""
    with pytest.raises(InvalidStatus) as refused:
        open_socket(server, **headers)
    assert refused.value.response.status_code == 403


def test_a_token_for_a_folder_follows_nothing_else(server: Served, tmp_path: Path) -> None:
    """On a socket, too."""
    words = ("token", "make", "there", "--json", "--workspace", str(tmp_path))
    token = json.loads(server.steer(*words))["token"]
    thread = server.begin(SAY)
    at = f"ws://{server.at}/api/v0/socket"
    with connect(at, additional_headers={"Authorization": f"Bearer {token}"}) as line:
        follow(line, thread)
        assert received(line)["event"] == "problem"
