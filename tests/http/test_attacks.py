"""What an attacker tried on the server, in their own words."""

import json
import os
import socket
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from steersman.host.git_look import look
from steersman.records.dialogue import Image
from steersman.records.errors import SteersmanError
from steersman.store.redactor import Redactor
from steersman.store.sqlite import SqliteStore
from steersman.threads.pictures import Pictures
from tests.cli.kit import DONE, WRITE, outside
from tests.http.kit import Served

SAY = {"text": "Hello."}
LONG = "/" + "x" * 4000


def token(server: Served, *flags: str) -> tuple[str, str]:
    """A token, and its id."""
    made = json.loads(server.steer("token", "make", "robot", "--json", *flags))
    return made["token"], made["id"]


def test_a_thread_out_of_a_file_undoes_nothing(server: Served) -> None:
    """A file can say that a thread worked anywhere, and what was in any file."""
    thread = server.begin({"text": "", "tool_calls": [WRITE]}, DONE)
    server.ended(thread)
    lines = server.request("GET", f"/api/v0/threads/{thread}/export").body
    assert server.request("DELETE", f"/api/v0/threads/{thread}").status == 200
    kind = {"Content-Type": "application/x-ndjson"}
    got = server.request("POST", "/api/v0/threads/import", raw=lines, headers=kind)
    copy = server.post(f"/threads/{got.json['id']}/fork")["id"]
    before = (server.workspace / "new.txt").read_bytes()
    for name in (got.json["id"], copy):
        path = f"/api/v0/threads/{name}"
        assert server.request("POST", f"{path}/undo/plan", {}).status == 403
        assert server.request("POST", f"{path}/undo", {"digest": "0"}).status == 403
        assert server.request("POST", f"{path}/rewind", {"at": 2}).status == 403
    assert (server.workspace / "new.txt").read_bytes() == before


@pytest.mark.parametrize("name", ["http-tokens", "policy-answers"])
def test_no_thread_has_the_name_of_a_lock(server: Served, name: str) -> None:
    """It would keep tokens from being revoked."""
    thread = server.begin(SAY)
    server.ended(thread)
    lines = server.request("GET", f"/api/v0/threads/{thread}/export").body
    kind = {"Content-Type": "application/x-ndjson"}
    raw = lines.replace(thread.encode(), name.encode())
    got = server.request("POST", "/api/v0/threads/import", raw=raw, headers=kind)
    assert got.status == 400
    assert "thread id" in got.json["what"]


@pytest.mark.parametrize(
    "folder", ["/", "/proc", "{data}", "{data}/objects", "here", "/a\0b", LONG]
)
def test_some_folders_are_none_to_work_in(server: Served, folder: str) -> None:
    """Neither the system's nor the one with everybody's threads and tokens."""
    given = {"workspace": folder.format(data=server.home / "data")}
    assert server.request("POST", "/api/v0/threads", given).status in (400, 403)


def found(server: Served, query: str) -> list[dict[str, str]]:
    """The places in the home folder that a search finds."""
    asked = f"workspace={server.home}&query={query}&include_ignored=true&case_sensitive=true"
    return list(server.get(f"/search?{asked}")["results"])


def test_a_search_in_the_home_folder_does_not_find_the_servers_token(server: Served) -> None:
    """Letter by letter it would be known, whatever is masked in the answers."""
    (server.home / "seen.txt").write_text(f"{server.token[:5]}!\n")
    assert [one["file"] for one in found(server, server.token[:5])] == ["seen.txt"]
    for name in ("http-token", "steersman.db"):
        path = f"/api/v0/read-file?workspace={server.home}&path=data/{name}"
        assert server.request("GET", path).status == 403


def test_a_token_file_elsewhere_is_private_as_well(tmp_path: Path) -> None:
    """Its content is masked, and nobody searches in it."""
    file = tmp_path / "home" / "kept" / "token.txt"
    made = Served(tmp_path / "home", tmp_path / "work", "--token-file", str(file))
    try:
        (made.workspace / "copy.txt").write_text(f"The token is {made.token}.\n")
        got = made.get(f"/read-file-lines?workspace={made.workspace}&path=copy.txt")
        assert got["content"].count("redacted") == 1
        assert made.token not in got["content"]
        assert found(made, made.token[:5]) == []
        path = f"/api/v0/read-file?workspace={made.home}&path=kept/token.txt"
        assert made.request("GET", path).status == 403
        run = {"workspace": str(made.home), "command": "cat kept/*"}
        assert made.token not in str(made.request("POST", "/api/v0/processes/start", run))
    finally:
        made.stop()


def test_an_image_is_what_was_sent_whatever_digest_it_says(tmp_path: Path) -> None:
    """One that is no image would show the model, and its sender, the content of someone else."""
    store = SqliteStore(tmp_path)
    try:
        (kept,) = Pictures(store).keep((Image("image/png", "x", store.put_blob(b"private")),))
    finally:
        store.close()
    assert kept == Image("image/png", "x")


def test_a_token_chooses_neither_a_profile_nor_a_script(server: Served) -> None:
    """A profile may lift the sandbox, and a script is a file of this machine."""
    text, _ = token(server)
    work = {"workspace": str(server.workspace)}
    for more in ({"profile": "ci"}, {"model": "scripted:/etc/passwd"}):
        assert server.request("POST", "/api/v0/threads", work | more, token=text).status == 403
    thread = server.begin(SAY)
    server.ended(thread)
    changed = {"model": "scripted:/etc/passwd"}
    got = server.request("PATCH", f"/api/v0/threads/{thread}", changed, token=text)
    assert got.status == 403


def test_who_may_only_answer_changes_no_call(server: Served) -> None:
    """Nor does their answer hold for ever."""
    text, _ = token(server, "--may", "answer")
    thread = server.begin({"text": "", "tool_calls": [outside("touch other")]}, DONE)
    asked = server.asked(thread)
    given = {"type": "permission", "corr": asked["corr"], "decision": "allow"}
    path = f"/api/v0/threads/{thread}/answer"
    changed = given | {"arguments": {"command": "touch theirs"}}
    assert server.request("POST", path, changed, token=text).status == 403
    assert server.request("POST", path, given | {"scope": "here"}, token=text).status == 403
    assert server.request("POST", path, given, token=text).status == 200
    server.ended(thread)


def test_one_name_of_two_tokens_is_two(server: Served) -> None:
    """Words of another token are not taken for the same; another request of one is refused."""
    text, _ = token(server)
    thread = server.begin(SAY)
    server.ended(thread)
    path = f"/api/v0/threads/{thread}"
    said = {"text": "mine", "id": "job"}
    server.request("POST", f"{path}/send", said, token=text)
    server.ended(thread, turns=2)
    server.post(f"/threads/{thread}/send", {"text": "yours", "id": "job"})
    server.ended(thread, turns=3)
    assert server.request("POST", f"{path}/queue", {"text": "later", "id": "job"}).status == 409
    users = server.get(f"/threads/{thread}/messages?kinds=user")["messages"]
    assert [one["body"]["text"] for one in users][:3] == ["Do it.", "mine", "yours"]


def test_a_ticket_is_worth_what_its_token_is(server: Served) -> None:
    """It was made before the token was revoked."""
    text, name = token(server)
    ticket = server.post("/tickets", {"path": "/api/v0/me"}, token=text)["ticket"]
    server.steer("token", "revoke", name)
    assert server.request("GET", f"/api/v0/me?ticket={ticket}", token=None).status in (401, 429)


def test_a_command_that_is_sent_twice_at_once_runs_once(server: Served) -> None:
    """Under one name, in a folder without an agent, too."""
    body = {
        "workspace": str(server.workspace),
        "command": "echo ran >> ran.txt",
        "timeout": 60,
        "id": "only-once",
    }
    with ThreadPoolExecutor(6) as hands:
        made = [*hands.map(lambda _: server.post("/processes/start", body), range(6))]
    assert {one["exit_code"] for one in made} == {0}
    assert (server.workspace / "ran.txt").read_text() == "ran\n"


def test_a_filter_without_a_name_is_not_run(tmp_path: Path) -> None:
    """Git takes an empty name for one."""
    git = ["git", "-C", str(tmp_path)]
    subprocess.run([*git, "init", "-q"], check=True)
    (tmp_path / "a.txt").write_text("a\n")
    subprocess.run([*git, "add", "."], check=True)
    with (tmp_path / ".git/config").open("a") as config:
        config.write(f'[filter ""]\n\tclean = touch {tmp_path}/ran; cat\n')
    (tmp_path / ".gitattributes").write_text("*.txt filter=\n")
    (tmp_path / "a.txt").write_text("b\n")
    look(str(tmp_path), "", (), dict(os.environ), Redactor(), lambda _: False)
    assert not (tmp_path / "ran").exists()


def test_settings_of_a_repository_that_are_too_long_to_read_are_not_trusted(tmp_path: Path) -> None:
    """A filter could stand behind what was read."""
    git = ["git", "-C", str(tmp_path)]
    subprocess.run([*git, "init", "-q"], check=True)
    with (tmp_path / ".git/config").open("a") as config:
        for number in range(90):
            config.write(f'[pad "{number}{"y" * 100_000}"]\n\tx = 1\n')
        config.write(f'[filter "x"]\n\tclean = touch {tmp_path}/ran; cat\n')
    (tmp_path / ".gitattributes").write_text("* filter=x\n")
    (tmp_path / "a").write_text("a\n")
    with pytest.raises(SteersmanError):
        look(str(tmp_path), "", (), dict(os.environ), Redactor(), lambda _: False)
    assert not (tmp_path / "ran").exists()


def test_a_pipe_is_no_script(server: Served) -> None:
    """Whoever reads it would wait for ever."""
    pipe = server.home / "pipe"
    os.mkfifo(pipe)
    given = {"workspace": str(server.workspace), "model": f"scripted:{pipe}", "text": "x"}
    assert server.request("POST", "/api/v0/threads", given).status in (400, 422)
    assert server.request("GET", "/readyz", token=None).status == 200


@pytest.mark.parametrize("path", ["/healthz", "/api/v0/me", "/api/v0/nothing"])
def test_nobody_waits_for_a_body_that_nobody_reads(server: Served, path: str) -> None:
    """The connection is closed after the answer."""
    host, _, port = server.at.rpartition(":")
    with socket.create_connection((host, int(port)), 60) as line:
        line.sendall(
            f"GET {path} HTTP/1.1\r\nHost: {server.at}\r\nContent-Length: 10\r\n"
            f"Authorization: Bearer {server.token}\r\n\r\n".encode()
        )
        said = b""
        while piece := line.recv(65536):
            said += piece
    assert b"connection: close" in said.lower()
