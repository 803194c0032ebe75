"""One stream over all threads: one order for everyone, whoever writes and whatever breaks."""

import json
import random
import sqlite3
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from websockets.sync.client import connect

from tests.cli.kit import DONE
from tests.http.kit import Events, Frame, Served
from tests.http.test_streams import SAY, STEPS, follow, received
from tests.world import call


@pytest.fixture(params=["sqlite", "postgres"])
def own(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Served]:
    """A server that a test may kill, on each kind of store."""
    environ = {}
    if request.param == "postgres":
        environ["STEERSMAN_STORE"] = request.getfixturevalue("postgres_url")
    made = Served(tmp_path / "home", tmp_path / "work", **environ)
    yield made
    made.kill()


def stored(frames: Events, ends: int) -> list[Frame]:
    """The stored messages of all threads, until so many turns have ended."""
    seen: list[Frame] = []
    for frame in frames:
        if frame.event == "message":
            seen.append(frame)
            ends -= frame.kind == "turn_end"
            if not ends:
                break
    return seen


def check(server: Served, seen: list[Frame]) -> None:
    """Each message of each thread once, in its order, at a position of its own."""
    assert all(one.id < other.id for one, other in pairwise(seen))
    for thread in {one.data["thread"] for one in seen}:
        there = server.get(f"/threads/{thread}/messages?limit=500")["messages"]
        mine = [one.data for one in seen if one.data["thread"] == thread]
        assert mine == there[: len(mine)]


def test_one_stream_has_the_messages_of_all_threads(own: Served) -> None:
    """From the beginning and from any position, in the same order for every reader."""
    threads = {own.begin(*STEPS[:3], DONE), own.begin(SAY)}
    with own.everything() as frames:
        assert frames.status == 200
        seen = stored(frames, ends=2)
    assert {one.data["thread"] for one in seen} == threads
    check(own, seen)
    for place in (1, len(seen) // 2, len(seen) - 1):
        with own.everything(seen[place - 1].id) as frames:
            assert (
                stored(frames, sum(one.kind == "turn_end" for one in seen[place:])) == seen[place:]
            )
    with Events(own, "/api/v0/events", last=seen[-2].id) as frames:
        assert stored(frames, ends=1) == seen[-1:]


def test_processes_write_the_line_is_cut_and_the_server_is_killed(own: Served) -> None:
    """Whoever comes back with the last position misses nothing and sees nothing twice."""
    chance = random.Random(15)
    looks = [{"text": f"{n}.", "tool_calls": [call("workspace_list_files")]} for n in range(8)]
    others = [own.working(*looks, DONE) for _ in range(2)]
    own.ended(own.begin(SAY))
    seen: list[Frame] = []
    ends, cuts = 0, 0
    while ends < 3:
        with own.everything(seen[-1].id if seen else 0) as frames:
            left = chance.randint(1, 9)
            for frame in frames:
                if frame.event == "message":
                    seen.append(frame)
                    ends += frame.kind == "turn_end"
                    left -= 1
                if ends == 3 or not left:
                    break
        cuts += 1
        if cuts in (2, 5):
            own.kill()
            own.start()
    for one in others:
        assert one.wait(60) == 0
    assert len({one.data["thread"] for one in seen}) == 3
    check(own, seen)
    with own.everything() as frames:
        assert stored(frames, ends=3)[: len(seen)] == seen


@pytest.mark.parametrize("here", [True, False])
def test_pieces_of_answers_come_as_they_do_and_have_no_place(own: Served, here: bool) -> None:
    """Whoever joins in the middle gets the text so far."""
    # No part of it is there twice, and no token begins as a part ends: that would be held back.
    text = "".join(f"{n:03d}." for n in range(100))
    slow = {"text": text, "chunk": 4, "stall_ms": 600_000}
    other = None if here else own.working(slow)
    if here:
        own.begin(slow)
    for _ in range(2 if here else 1):
        so_far = ""
        with own.everything() as frames:
            for frame in frames:
                if frame.event in ("partial", "delta") and frame.kind == "assistant_delta":
                    assert frame.id == 0
                    so_far += frame.data["body"]["text"]
                if so_far.endswith(text[190:200]):
                    break
        assert text[:200].endswith(so_far)
        assert so_far == text[:200] or not here
    if other:
        other.kill()
        other.wait()


def test_what_is_copied_here_comes_too(server: Served) -> None:
    """A fork and a thread out of a file are written at once, and nobody runs them."""
    thread = server.begin(SAY)
    server.ended(thread)
    lines = server.request("GET", f"/api/v0/threads/{thread}/export").body
    with server.everything() as frames:
        shown = (frame for frame in frames if frame.kind == "turn_end")
        while next(shown).data["thread"] != thread:
            pass
        fork = server.post(f"/threads/{thread}/fork")["id"]
        assert next(shown).data["thread"] == fork
        kind = {"Content-Type": "application/x-ndjson"}
        assert server.request("DELETE", f"/api/v0/threads/{thread}").status == 200
        done = server.request("POST", "/api/v0/threads/import", raw=lines, headers=kind)
        assert done.status == 200, done.body
        assert next(shown).data["thread"] == thread


def test_a_token_for_a_folder_sees_the_threads_of_that_folder(
    server: Served, tmp_path: Path
) -> None:
    """And how far it has come, though much of what is there is none of its business."""
    words = ("token", "make", "there", "--json", "--workspace", str(tmp_path))
    token = json.loads(server.steer(*words))["token"]
    other = server.begin(*STEPS, DONE)
    server.ended(other)
    for _ in range(3):
        server.post(f"/threads/{other}/fork")
    mine = server.begin({"text": "Mine. " * 40, "chunk": 4}, workspace=str(tmp_path))
    with server.everything(token=token) as frames:
        seen = []
        for frame in frames:
            seen.append(frame)
            if frame.kind == "turn_end":
                break
    assert {frame.data["thread"] for frame in seen if frame.kind} == {mine}
    passed = [frame.id for frame in seen if frame.event == "position"]
    assert passed
    with server.everything(passed[-1], token=token) as frames:
        assert stored(frames, ends=1) == [frame for frame in seen if frame.event == "message"]


def test_a_message_that_was_altered_stops_nobody(server: Served) -> None:
    """What cannot be read is said, with its position, and the rest follows."""
    broken = server.begin(SAY)
    server.ended(broken)
    with sqlite3.connect(server.home / "data" / "steersman.db") as database:
        alter = "UPDATE messages SET body = x'ff00' WHERE thread = ? AND seq = 3"
        database.execute(alter, (broken,))
    thread = server.begin(SAY)
    seen = []
    with server.everything() as frames:
        for frame in frames:
            if frame.id:
                seen.append(frame)
            if frame.kind == "turn_end" and frame.data["thread"] == thread:
                break
    (told,) = [frame for frame in seen if frame.event == "problem"]
    assert told.data == {"what": f"Message 3 of thread {broken} cannot be read."}
    assert all(one.id < other.id for one, other in pairwise(seen))
    server.request("DELETE", f"/api/v0/threads/{broken}")


@pytest.mark.parametrize("after", ["-1", "x", "9" * 30])
def test_a_position_is_a_number(server: Served, after: str) -> None:
    """Anything else is said to be wrong."""
    assert server.request("GET", f"/api/v0/events?after={after}").status == 400
    assert server.request("GET", "/api/v0/events", token="wrong").status == 401


def test_a_socket_follows_all_threads(server: Served) -> None:
    """The same frames, with the position beside the number in the thread."""
    threads = {server.begin(*STEPS[:2], DONE), server.begin(SAY)}
    at = f"ws://{server.at}/api/v0/socket"
    headers = {"Authorization": f"Bearer {server.token}"}
    with connect(at, additional_headers=headers) as line:
        follow(line, "*")
        follow(line, min(threads))
        seen, over, refused = [], set(), False
        while over != threads or not refused:
            frame = received(line)
            refused = refused or frame["event"] == "problem"
            if frame["event"] == "message":
                assert frame["id"] == frame["data"]["seq"]
                seen.append(Frame("message", frame["data"], frame["position"]))
                if frame["data"]["kind"] == "turn_end" and frame["thread"] in threads:
                    over.add(frame["thread"])
        line.send(json.dumps({"type": "unfollow", "thread": "*"}))
        follow(line, min(threads))
        while True:
            frame = received(line)
            if frame.get("id") == 1 and "position" not in frame:
                break
    with server.everything() as frames:
        assert stored(frames, sum(one.kind == "turn_end" for one in seen))[: len(seen)] == seen
