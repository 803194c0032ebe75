"""Threads over HTTP, as a program uses them: started, spoken to, answered, taken back."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.cli.kit import DONE, FIX, WRITE, outside
from tests.http.kit import Served

SAY = {"text": "Hello."}


def kinds(server: Served, thread: str) -> list[str]:
    """The kinds of a thread's messages."""
    return [one["kind"] for one in server.get(f"/threads/{thread}/messages?limit=500")["messages"]]


def bodies(server: Served, thread: str, kind: str) -> list[dict[str, Any]]:
    """What messages of a kind say."""
    found = server.get(f"/threads/{thread}/messages?limit=500&kinds={kind}")["messages"]
    return [one["body"] for one in found]


def test_a_run_from_start_to_end(server: Served) -> None:
    """Start it, and read what happened."""
    (server.workspace / "new.txt").unlink(missing_ok=True)
    thread = server.begin({"text": "Writing.", "tool_calls": [WRITE]}, DONE)
    facts = server.ended(thread)
    assert facts["state"] == "idle"
    assert facts["result"] == "done"
    assert facts["process"]["pid"] == server.process.pid
    assert (server.workspace / "new.txt").read_text() == "new\n"
    assert facts["messages"] == len(kinds(server, thread))
    assert server.get(f"/threads/{thread}/verify") == {"verified": True, "flaws": []}
    assert server.get(f"/threads/{thread}/cost")[0]["by"] == "model"


def test_the_log_says_who_asked(server: Served) -> None:
    """Each input has a receipt with the name of the token."""
    thread = server.begin(SAY)
    server.ended(thread)
    token = json.loads(server.steer("token", "make", "robot", "--json"))["token"]
    server.request("POST", f"/api/v0/threads/{thread}/send", {"text": "And now?"}, token=token)
    server.ended(thread, turns=2)
    receipts = bodies(server, thread, "request")
    assert [one["sender"] for one in receipts] == ["owner (HTTP)", "robot (HTTP)"]


def test_sending_twice_is_one_input(server: Served) -> None:
    """A program that got no answer asks again, under the same name."""
    script = server.home / "twice.json"
    script.write_text(json.dumps({"turns": [SAY]}))
    thread, again = (server.begin(id="mine", model=f"scripted:{script}") for _ in range(2))
    assert again == thread
    server.ended(thread)
    first = server.post(f"/threads/{thread}/send", {"text": "More.", "id": "a"})
    assert server.post(f"/threads/{thread}/send", {"text": "More.", "id": "a"}) == first
    server.ended(thread, turns=2)
    texts = [one["text"] for one in bodies(server, thread, "user")]
    assert texts == ["Do it.", "More."]
    plan = f"/threads/{thread}/queue"
    assert server.post(plan, {"text": "q", "id": "b"}) == server.post(
        plan, {"text": "q", "id": "b"}
    )


def test_a_name_stands_for_one_request(server: Served) -> None:
    """Other words under it are neither lost nor answered with what became of the first."""
    thread = server.begin(SAY, id="once")
    server.ended(thread)
    server.post(f"/threads/{thread}/queue", {"text": "first", "id": "n"})
    for path, body in (
        (f"/threads/{thread}/queue", {"text": "second", "id": "n"}),
        (f"/threads/{thread}/send", {"text": "first", "id": "n"}),
        ("/threads", {"workspace": str(server.workspace), "text": "Another.", "id": "once"}),
    ):
        got = server.request("POST", f"/api/v0{path}", body)
        assert got.status == 409, got
        assert got.json["what"] == f"The id “{body['id']}” was given to another request."
    server.ended(thread, turns=2)
    assert [one["text"] for one in bodies(server, thread, "user")] == ["Do it.", "first"]


def test_two_servers_of_one_store_start_one_thread(tmp_path: Path) -> None:
    """Whichever of them is asked again, and even at the same time."""
    one = Served(tmp_path / "home", tmp_path / "work")
    other = Served(tmp_path / "home", tmp_path / "work")
    try:
        model = one.model(SAY)
        for name in ("first", "second", "third"):
            told = {"workspace": str(one.workspace), "id": name, "title": name, "model": model}
            with ThreadPoolExecutor(4) as hands:
                asked = [one, other] * 2
                made = set(
                    hands.map(lambda server, told=told: server.post("/threads", told)["id"], asked)
                )
            assert len(made) == 1
            found = one.get(f"/threads?q={name}")["threads"]
            assert {thread["id"] for thread in found} == made
    finally:
        one.kill()
        other.kill()


def test_two_at_once_are_one_input(server: Served) -> None:
    """Whoever is second gets the same thread."""
    script = server.home / "quiet.json"
    script.write_text(json.dumps({"turns": [SAY]}))
    told = {"workspace": str(server.workspace), "id": "at-once", "model": f"scripted:{script}"}
    with ThreadPoolExecutor(8) as hands:
        made = list(hands.map(lambda _: server.post("/threads", told)["id"], range(8)))
    assert len(set(made)) == 1


def test_permission_is_asked_and_given(server: Served) -> None:
    """What leaves the sandbox waits; the first answer counts."""
    thread = server.begin({"text": "", "tool_calls": [outside("touch made")]}, DONE)
    asked = server.asked(thread)
    facts = server.get(f"/threads/{thread}")
    assert facts["state"] == "waiting"
    assert facts["waiting_for"]["corr"] == asked["corr"]
    assert [one["id"] for one in server.get("/threads?state=waiting")["threads"]] == [thread]
    given = {"type": "permission", "corr": asked["corr"], "decision": "allow"}
    server.post(f"/threads/{thread}/answer", given)
    late = server.request("POST", f"/api/v0/threads/{thread}/answer", given)
    assert late.status == 409
    server.ended(thread)
    assert (server.workspace / "made").exists()


def test_permission_is_denied_with_guidance(server: Served) -> None:
    """The model hears what to do instead."""
    thread = server.begin({"text": "", "tool_calls": [outside("touch never")]}, DONE)
    asked = server.asked(thread)
    given = {
        "type": "permission",
        "corr": asked["corr"],
        "decision": "deny",
        "guidance": "Use make.",
    }
    server.post(f"/threads/{thread}/answer", given)
    server.ended(thread)
    assert not (server.workspace / "never").exists()
    assert "Use make." in json.dumps(bodies(server, thread, "tool_result"))


def test_words_while_a_turn_runs(server: Served) -> None:
    """Some are queued, changed, withdrawn; the turn is stopped."""
    thread = server.begin({"text": "", "tool_calls": [outside("touch slow")]}, DONE)
    server.asked(thread)
    one = server.post(f"/threads/{thread}/queue", {"text": "first"})["corr"]
    two = server.post(f"/threads/{thread}/queue", {"text": "second"})["corr"]
    assert server.get(f"/threads/{thread}")["queued"] == [one, two]
    new = server.post(f"/threads/{thread}/edit", {"corr": one, "text": "changed"})["corr"]
    server.post(f"/threads/{thread}/withdraw", {"corr": two})
    assert server.get(f"/threads/{thread}")["queued"] == [new]
    assert server.post(f"/threads/{thread}/steer", {"text": "quickly"})["corr"]
    server.post(f"/threads/{thread}/cancel")
    assert "cancelled" in [one["ending"] for one in bodies(server, thread, "turn_end")]
    assert server.request("POST", f"/api/v0/threads/{thread}/cancel", {}).status in (200, 400)


def test_no_name_of_a_request_is_that_of_a_part_of_another(server: Served) -> None:
    """To change words is to withdraw them and to say others, under one name."""
    thread = server.begin({"text": "", "tool_calls": [outside("touch slow")]}, DONE)
    server.asked(thread)
    one = server.post(f"/threads/{thread}/queue", {"text": "first"})["corr"]
    two = server.post(f"/threads/{thread}/queue", {"text": "second"})["corr"]
    server.post(f"/threads/{thread}/withdraw", {"corr": two, "id": "n:withdraw"})
    new = server.post(f"/threads/{thread}/edit", {"corr": one, "text": "new", "id": "n"})["corr"]
    assert server.get(f"/threads/{thread}")["queued"] == [new]
    server.post(f"/threads/{thread}/cancel")


def test_settings_of_a_thread_change(server: Served) -> None:
    """Title and mode, and what is not there is said."""
    thread = server.begin(SAY)
    server.ended(thread)
    path = f"/api/v0/threads/{thread}"
    changed = server.request("PATCH", path, {"title": "A better name", "mode": "plan"})
    assert changed.json["title"] == "A better name"
    assert server.request("PATCH", path, {}).status == 400
    assert server.request("PATCH", path, {"mode": "wild"}).status == 400
    assert server.request("PATCH", path, {"trust": "untrusted"}).status == 400
    found = server.get("/threads?q=BETTER")["threads"]
    assert [one["id"] for one in found] == [thread]


def test_undo_is_shown_and_then_done(server: Served) -> None:
    """The digest names what was shown; redo likewise."""
    calc = server.workspace / "calc.py"
    calc.write_text("def add(a, b):\n    return a - b\n")
    thread = server.begin({"text": "", "tool_calls": [FIX]}, DONE)
    server.ended(thread)
    plan = server.post(f"/threads/{thread}/undo/plan")
    assert "+    return a - b" in "".join(plan["diffs"])
    assert "a + b" in calc.read_text()
    wrong = server.request("POST", f"/api/v0/threads/{thread}/undo", {"digest": "0" * 64})
    assert wrong.status == 409
    done = server.post(f"/threads/{thread}/undo", {"digest": plan["digest"]})
    assert done["words"] == "Undone: 1 change"
    assert "a - b" in calc.read_text()
    plan = server.post(f"/threads/{thread}/undo/plan", {"redo": True})
    server.post(f"/threads/{thread}/undo", {"digest": plan["digest"], "redo": True})
    assert "a + b" in calc.read_text()


def test_undo_keeps_what_a_person_changed_since(server: Served) -> None:
    """A plan that is not true any more is not carried out."""
    calc = server.workspace / "calc.py"
    calc.write_text("def add(a, b):\n    return a - b\n")
    thread = server.begin({"text": "", "tool_calls": [FIX]}, DONE)
    server.ended(thread)
    plan = server.post(f"/threads/{thread}/undo/plan")
    calc.write_text("def add(a, b):\n    return a * b  # mine\n")
    late = server.request("POST", f"/api/v0/threads/{thread}/undo", {"digest": plan["digest"]})
    assert late.status == 409
    assert "# mine" in calc.read_text()
    plan = server.post(f"/threads/{thread}/undo/plan")
    assert plan["taken"] == ["calc.py"]


def test_rewind_makes_a_thread_that_ends_there(server: Served) -> None:
    """The files first, as a plan; the old thread stays whole."""
    (server.workspace / "new.txt").unlink(missing_ok=True)
    thread = server.begin({"text": "", "tool_calls": [WRITE]}, DONE)
    server.ended(thread)
    user = next(
        one["seq"]
        for one in server.get(f"/threads/{thread}/messages")["messages"]
        if one["kind"] == "user"
    )
    first = server.post(f"/threads/{thread}/rewind", {"at": user})
    assert first["thread"] is None
    agreed = {"at": user, "digest": first["plan"]["digest"]}
    copy = server.post(f"/threads/{thread}/rewind", agreed)["thread"]
    assert copy["parent"] == thread
    assert not (server.workspace / "new.txt").exists()
    assert server.get(f"/threads/{thread}")["messages"] > copy["parent_seq"]


def test_a_thread_travels_as_a_file(server: Served) -> None:
    """Exported, removed, imported; one that was altered is refused."""
    thread = server.begin(SAY)
    server.ended(thread)
    lines = server.request("GET", f"/api/v0/threads/{thread}/export").body
    assert server.request("DELETE", f"/api/v0/threads/{thread}").status == 200
    assert server.request("GET", f"/api/v0/threads/{thread}").status == 404
    kind = {"Content-Type": "application/x-ndjson"}
    path = "/api/v0/threads/import"
    wrong = server.request("POST", path, raw=lines.replace(b"Hello.", b"Hullo."), headers=kind)
    assert wrong.status in (400, 422)
    got = server.request("POST", path, raw=lines, headers=kind)
    assert got.json["origin"] == "import"
    fork = server.post(f"/threads/{got.json['id']}/fork", {"at": 2})
    assert fork["messages"] == 2


def test_a_thread_of_another_process_is_served_too(server: Served) -> None:
    """What `steer run` made is listed, and goes on here."""
    script = server.home / "own.json"
    script.write_text(json.dumps({"turns": [SAY]}))
    server.steer("run", "--model", f"scripted:{script}", "Say hello")
    thread = server.get("/threads?q=hello")["threads"][0]["id"]
    server.post(f"/threads/{thread}/send", {"text": "Again."})
    assert server.ended(thread, turns=2)["process"]["pid"] == server.process.pid


@pytest.mark.parametrize(
    ("body", "what"),
    [
        ({}, "`workspace` is missing"),
        ({"workspace": 1}, "`workspace` must be text"),
        ({"workspace": "/nowhere/at/all"}, "nowhere"),
        ({"workspace": "."}, "`workspace` must match ^/"),
        ({"workspace": "/", "colour": "red"}, "`colour`"),
        ({"workspace": "{here}", "model": "nobody:nothing"}, "nobody"),
        ({"workspace": "{here}", "trust": "untrusted"}, "trust"),
    ],
)
def test_what_is_wrong_is_said(server: Served, body: dict[str, Any], what: str) -> None:
    """In a sentence, and nothing is left behind."""
    before = len(server.get("/threads")["threads"])
    given = {name: str(value).format(here=server.workspace) if isinstance(value, str) else value
             for name, value in body.items()}  # fmt: skip
    got = server.request("POST", "/api/v0/threads", given)
    assert got.status in (400, 422), got.body
    assert what in got.body.decode()
    assert len(server.get("/threads")["threads"]) == before


@pytest.mark.parametrize("raw", [b"", b"{", b"[]", b"\xff", b"null", b"[" * 60_000])
def test_a_body_that_is_no_record_is_refused(server: Served, raw: bytes) -> None:
    """Whatever it is."""
    assert server.request("POST", "/api/v0/threads", raw=raw).status == 400


def test_what_the_gate_refuses_over_http_too(server: Served, tmp_path: Path) -> None:
    """There is no second way in: a strict profile of the folder's owner holds."""
    call = {"name": "workspace_run_command", "arguments": {"command": "rm -rf ~"}}
    thread = server.begin({"text": "", "tool_calls": [call]}, DONE)
    server.ended(thread)
    assert bodies(server, thread, "tool_result")[0]["status"] == "denied"
