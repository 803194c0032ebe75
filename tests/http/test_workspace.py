"""A folder over HTTP: every request is a call of a tool, through a gate and into a log."""

import hashlib
import json
import os
import re
import subprocess
from base64 import b64decode
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import httpx2
import pytest

from steersman.store.sqlite import SqliteStore
from tests.http.folders import Served, served
from tests.mcp.kit import TOKEN, entry

SECRET = "hunter2-hunter2-hunter2"
OUTSIDE = "what nobody may read"
PICTURE = bytes(range(256)) * 10


class World(NamedTuple):
    """A server, a folder, what lies beside it, and the server's owner as a client."""

    server: Served
    folder: Path
    client: httpx2.Client

    def get(self, path: str, /, **params: Any) -> httpx2.Response:
        """Look at something in the folder."""
        return self.client.get(path, params={"workspace": str(self.folder), **params})

    def post(self, path: str, /, **body: Any) -> httpx2.Response:
        """Do something in the folder."""
        return self.client.post(path, json={"workspace": str(self.folder), **body})


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """One server for all tests here; each works on files of its own."""
    base = tmp_path_factory.mktemp("http")
    home, folder, other = base / "home", base / "project", base / "other"
    for one in (home / ".config" / "steersman", folder, other, folder / "notes"):
        one.mkdir(parents=True)
    (folder / "calc.py").write_text("def add(a, b):\n    return a - b\n")
    (folder / ".env").write_text(f"PASSWORD={SECRET}\n")
    (other / "secret.txt").write_text(OUTSIDE)
    (folder / "away").symlink_to(other)
    (folder / "away.txt").symlink_to(other / "secret.txt")
    subprocess.run(["git", "init", "-q", "-b", "main", folder], check=True)
    servers = {"notes": entry(folder / "notes"), "broken": {"command": "/nowhere/at/all"}}
    config = home / ".config" / "steersman" / "mcp.json"
    config.write_text(json.dumps({"mcpServers": servers}))
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "STEERSMAN_HOME": str(base / "data"),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "STEERSMAN_INSTRUCTIONS_DIRS": f"~/rules, {base}/rules,shared,~/rules",
        "STEERSMAN_SKILLS_DIRS": "own-skills,~/skills",
        "STEERSMAN_SKILL_META_FILE": "ABOUT.md",
        "LANG": "C.UTF-8",
        "TZ": "UTC",
    }
    with served(environ, folder) as server, server.client() as client:
        yield World(server, folder, client)


def good(answer: httpx2.Response) -> Any:
    """What a request gave that was carried out."""
    assert answer.status_code == 200, answer.text
    return answer.json()


def bad(answer: httpx2.Response) -> tuple[int, str]:
    """How a request failed, in words."""
    return answer.status_code, answer.json()["what"]


# Files


def test_lines_are_read_with_their_numbers(world):
    assert good(world.get("/read-file-lines", path="calc.py")) == {
        "success": True,
        "file_size": 32,
        "total_lines": 2,
        "lines_read": 2,
        "content": "1\tdef add(a, b):\n2\t    return a - b",
        "encoding": "",
        "line_endings": "",
        "note": "",
        "error": "",
    }


def test_a_long_file_is_read_in_parts_and_the_error_says_which(world):
    (world.folder / "long.txt").write_text("".join(f"line {n}\n" for n in range(1, 2502)))
    whole = good(world.get("/read-file-lines", path="long.txt"))
    assert (whole["success"], whole["content"]) == (False, "")
    assert "Read offset 1, limit 2000" in whole["error"]
    part = good(world.get("/read-file-lines", path="long.txt", offset=2500, limit=1))
    assert (part["content"], part["lines_read"]) == ("2500\tline 2500", 1)
    too_many = good(world.get("/read-file-lines", path="long.txt", limit=2001))
    assert "at most 2,000" in too_many["error"]


def test_a_long_line_is_cut_and_says_so(world):
    (world.folder / "wide.txt").write_text("x" * 3000)
    found = good(world.get("/read-file-lines", path="wide.txt"))
    assert found["content"] == f"1\t{'x' * 1024}... [truncated]"


def test_a_file_that_is_missing_is_no_failure_of_the_request(world):
    found = good(world.get("/read-file-lines", path="clac.py"))
    assert (found["success"], found["error"]) == (
        False,
        "clac.py does not exist.\nThere is: calc.py.",
    )


def test_bytes_are_read_as_text_or_in_base64(world):
    (world.folder / "umlaut.txt").write_text("für\r\n", newline="")
    (world.folder / "picture").write_bytes(PICTURE)
    whole = good(world.get("/read-file", path="umlaut.txt"))
    assert whole == {
        "size": 6, "offset": 0, "next_offset": 6, "content": "für\r\n", "encoding": "utf-8",
    }  # fmt: skip
    torn = good(world.get("/read-file", path="umlaut.txt", limit=2))
    assert (torn["content"], torn["next_offset"]) == ("f", 1)
    part = good(world.get("/read-file", path="picture", offset=250, limit=10))
    assert (part["encoding"], part["size"]) == ("base64", len(PICTURE))
    assert b64decode(part["content"]) == PICTURE[250:260]
    after = good(world.get("/read-file", path="umlaut.txt", offset=100))
    assert (after["content"], after["size"]) == ("", 6)
    assert bad(world.get("/read-file", path="notes"))[0] == 422
    (world.folder / "huge").touch()
    os.truncate(world.folder / "huge", (8 << 20) + 1)
    status, what = bad(world.get("/read-file", path="huge"))
    assert (status, "larger than 8 MB" in what) == (422, True)


@pytest.mark.parametrize("offset", [0, 6, 10])
def test_a_known_secret_is_masked_wherever_the_reading_begins(world, offset):
    (world.folder / "said.txt").write_text(f"token {TOKEN} told")
    for limit in (9, 65536):
        shown = world.get("/read-file", path="said.txt", offset=offset, limit=limit).text
        assert TOKEN[4:] not in shown
        assert TOKEN[:8] not in shown


def test_files_are_listed_written_and_edited(world):
    new = {"path": "kept/new.txt", "content": "one\n"}
    assert good(world.post("/write", **new)) == {
        "path": "kept/new.txt", "bytes": 4, "created": True, "unchanged": False,
    }  # fmt: skip
    assert good(world.post("/write", **new))["unchanged"]
    edits = [{"path": "kept/new.txt", "edits": [{"search": "one", "replace": "two"}]}]
    shown = good(world.post("/edit-files", files=edits, include_diff=True))
    assert shown == {
        "files": [
            {
                "path": "kept/new.txt",
                "diff": "--- a/kept/new.txt\n+++ b/kept/new.txt\n@@ -1 +1 @@\n-one\n+two\n",
            }
        ]
    }
    back = [{"path": "kept/new.txt", "edits": [{"search": "two", "replace": "one"}]}]
    assert good(world.post("/edit-files", files=back)) == {}
    assert good(world.get("/list", path="kept")) == {
        "files": ["new.txt\t4"], "total_files": 1, "left_out": [],
    }  # fmt: skip


def test_an_edit_that_does_not_fit_changes_nothing_and_says_why(world):
    edits = [{"search": "no such text", "replace": ""}]
    status, what = bad(world.post("/edit-files", files=[{"path": "calc.py", "edits": edits}]))
    assert (status, "No file was changed" in what) == (422, True)
    empty = [{"path": "calc.py", "edits": [{"search": "", "replace": "x"}]}]
    status, what = bad(world.post("/edit-files", files=empty))
    assert (status, "The search text is empty" in what) == (422, True)


# What may be reached


READS = [
    ("/read-file-lines", {}),
    ("/read-file", {}),
    ("/list", {}),
    ("/search", {"query": "nobody"}),
    ("/symbols", {"name": "add"}),
    ("/symbols", {}),
]
AWAY = ["..", "../other/secret.txt", "kept/../../other", "away", "away.txt", "/etc/passwd", "/"]


@pytest.mark.parametrize("path", AWAY)
@pytest.mark.parametrize(("endpoint", "more"), READS)
def test_nothing_outside_the_folder_is_shown(world, endpoint, more, path):
    answer = world.get(endpoint, path=path, **more)
    assert answer.status_code in (403, 422), answer.text
    assert OUTSIDE not in answer.text
    assert "root:" not in answer.text


@pytest.mark.parametrize(
    "path", ["%2e%2e/other/secret.txt", "..%2fother%2fsecret.txt", "..\\other"]
)
@pytest.mark.parametrize(("endpoint", "more"), READS)
def test_a_path_is_decoded_once(world, endpoint, more, path):
    answer = world.get(endpoint, path=path, **more)
    told = answer.json()
    assert re.search("does not exist|No such file", told.get("error") or told["what"])


@pytest.mark.parametrize("path", ["../other/new.txt", "away/new.txt", "away.txt", "/etc/new"])
def test_nothing_outside_the_folder_is_written(world, path):
    assert world.post("/write", path=path, content="x").status_code == 403
    files = [{"path": path, "edits": [{"search": "what", "replace": "x"}]}]
    assert world.post("/edit-files", files=files).status_code in (403, 422)
    other = world.folder.parent / "other"
    assert [(one.name, one.read_text()) for one in other.iterdir()] == [("secret.txt", OUTSIDE)]


def test_a_command_begins_in_the_folder_alone(world):
    for workdir in ("..", "away", "/etc"):
        answer = world.post("/processes/start", command="pwd; ls", workdir=workdir)
        assert "secret.txt" not in answer.text
        assert "passwd" not in answer.text


@pytest.mark.parametrize(("endpoint", "more"), READS)
def test_nul_is_in_no_path(world, endpoint, more):
    status, what = bad(world.get(endpoint, path="calc.py\0.txt", **more))
    assert (status, "NUL" in what) == (400, True)
    assert world.get(endpoint, path="calc.py", workspace="/tmp\0", **more).status_code == 400


def test_nul_is_in_no_body_either(world):
    for path, body in (
        ("/write", {"path": "a\0b", "content": ""}),
        ("/edit-files", {"files": [{"path": "\0", "edits": [{"search": "a", "replace": "b"}]}]}),
        ("/processes/start", {"command": "echo \0"}),
        ("/processes/start", {"command": "pwd", "workdir": "\0"}),
    ):
        status, what = bad(world.post(path, **body))
        assert (status, "NUL" in what) == (422, True), path
        assert world.post(path, **{**body, "workspace": "/tmp/\0"}).status_code == 400


def test_secrets_are_not_readable(world):
    for endpoint in ("/read-file-lines", "/read-file"):
        status, what = bad(world.get(endpoint, path=".env"))
        assert (status, "contains secrets" in what) == (403, True)
    assert SECRET not in world.get("/search", query="hunter2").text
    assert SECRET not in world.post("/processes/start", command="cat .env").text


def test_a_workspace_is_an_absolute_path_of_a_folder(world):
    for wrong in ("project", f"{world.folder}/calc.py", "/no/such/folder"):
        assert world.get("/list", workspace=wrong).status_code == 400, wrong
    assert bad(world.client.get("/list")) == (400, "`workspace` is missing.")


ALL: list[tuple[str, str, dict[str, Any]]] = [
    ("GET", "/read-file-lines", {"path": "calc.py"}),
    ("GET", "/read-file", {"path": "calc.py"}),
    ("GET", "/list", {}),
    ("POST", "/write", {"path": "a", "content": ""}),
    ("POST", "/edit-files", {"files": [{"path": "a", "edits": [{"search": "", "replace": ""}]}]}),
    ("POST", "/processes/start", {"command": "true"}),
    ("GET", "/processes/list", {}),
    ("GET", "/processes/x.p1/output", {}),
    ("POST", "/processes/x.p1/signal", {"signal": "TERM"}),
    ("GET", "/mcp/tools", {}),
    ("POST", "/mcp/call-tool", {"tool": "notes__write_note"}),
    ("GET", "/context-config", {}),
    ("GET", "/search", {"query": "a"}),
    ("GET", "/symbols", {"name": "add"}),
]


def test_a_token_for_another_folder_reaches_nothing_here(world):
    other = world.folder.parent / "other"
    token = world.server.new_token("elsewhere", "--workspace", str(other))
    with world.server.client(token) as client:
        for method, path, given in ALL:
            sent = {"workspace": str(world.folder), **given}
            how = {"params": sent} if method == "GET" else {"json": sent}
            answer = client.request(method, path, **how)
            assert bad(answer) == (403, f"This token is for {other} alone."), path
        mine = client.get(
            "/read-file-lines", params={"workspace": str(other), "path": "secret.txt"}
        )
        assert good(mine)["content"] == f"1\t{OUTSIDE}"
        link = client.get("/list", params={"workspace": str(world.folder / "away")})
        assert good(link)["files"] == [f"secret.txt\t{len(OUTSIDE)}"]


def test_a_token_that_only_reads_changes_and_starts_nothing(world):
    token = world.server.new_token("reader", "--may", "read", "--workspace", str(world.folder))
    with world.server.client(token) as client:
        for method, path, given in ALL:
            sent = {"workspace": str(world.folder), **given}
            how = {"params": sent} if method == "GET" else {"json": sent}
            answer = client.request(method, path, **how)
            works = method == "POST" or path == "/mcp/tools"
            assert (answer.status_code == 403) is works, path


def test_a_token_that_only_reads_reads_no_files_unless_it_is_for_a_folder(world):
    """It is for threads: whoever has it cannot look round on the machine."""
    token = world.server.new_token("watcher", "--may", "read", "--may", "answer")
    with world.server.client(token) as client:
        given = {"workspace": str(world.folder), "path": "calc.py"}
        for path in ("/read-file", "/read-file-lines", "/list", "/context-config"):
            sent = given if path.startswith("/read") else {"workspace": given["workspace"]}
            assert bad(client.get(path, params=sent)) == (403, "This token is for no folder."), path


def test_the_data_folder_and_the_system_are_nowhere_to_work_in(world):
    data = world.server.environ["STEERSMAN_HOME"]
    for folder in (data, f"{data}/objects", "/", "/proc", "/proc/self", "/dev", "/sys"):
        status, what = bad(world.get("/list", workspace=folder))
        assert (status, "is not a folder to work in" in what) == (403, True), folder


@pytest.mark.parametrize("endpoint", ["/read-file", "/read-file-lines", "/search"])
def test_the_token_of_the_server_is_shown_to_nobody(world, endpoint):
    """A folder may hold the data folder, as a home folder does."""
    above, path = str(world.folder.parent), "data/http-token"
    more = {"query": world.server.token[:8]} if endpoint == "/search" else {}
    answer = world.get(endpoint, workspace=above, path=path, **more)
    assert world.server.token not in answer.text
    shown = world.post("/processes/start", workspace=above, command="cat data/http-token")
    assert world.server.token not in shown.text


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"{",
        b'{"workspace": 5, "path": "a", "content": ""}',
        b'{"path": "a", "content": ""}',
        b'{"workspace": "/tmp", "path": "", "content": ""}',
        b'{"workspace": "/tmp", "path": "a"}',
        b'{"workspace": "/tmp", "path": "a", "content": "", "more": 1}',
        b'{"workspace": "/tmp", "path": "a", "content": "", "id": "a b"}',
        b'{"workspace": "/tmp", "path": "\xff", "content": ""}',
    ],
)
def test_a_body_that_is_wrong_is_refused_in_words(world, body):
    answer = world.client.post("/write", content=body, headers={"content-type": "application/json"})
    status, what = bad(answer)
    assert status == 400
    assert what.endswith(".")


# What needs an answer


def test_a_call_that_needs_an_answer_waits_in_its_thread_and_is_done_once(world):
    sent = {"path": ".vscode/tasks.json", "content": "{}"}
    asked = world.post("/write", **sent)
    assert asked.status_code == 409
    told = asked.json()
    assert told["what"] == "This waits for an answer: create `.vscode/tasks.json`"
    assert good(world.post("/write", path="meanwhile.txt", content="x"))["created"]
    again = world.post("/write", **sent, id=told["id"])
    assert (again.status_code, again.json()["corr"]) == (409, told["corr"])
    assert not (world.folder / ".vscode").exists()
    answer = {"type": "permission", "corr": told["corr"], "decision": "allow"}
    good(world.client.post(f"/threads/{told['thread']}/answer", json=answer))
    assert good(world.post("/write", **sent, id=told["id"]))["created"]
    (world.folder / ".vscode" / "tasks.json").unlink()
    assert good(world.post("/write", **sent, id=told["id"]))["created"]
    assert not (world.folder / ".vscode" / "tasks.json").exists()


def test_an_id_stands_for_one_call(world):
    """Another one under it is refused, and not answered with what the first gave."""
    good(world.post("/write", path="one.txt", content="1\n", id="one"))
    for got in (
        world.post("/write", path="two.txt", content="2\n", id="one"),
        world.get("/read-file", path="one.txt", id="one"),
    ):
        assert bad(got) == (409, "The id “one” was given to another request.")
    assert not (world.folder / "two.txt").exists()


def test_a_call_that_is_denied_says_so(world):
    sent = {"path": ".idea/run.xml", "content": "x", "id": "mine"}
    told = world.post("/write", **sent).json()
    assert told["id"] == "mine"
    answer = {
        "type": "permission",
        "corr": told["corr"],
        "decision": "deny",
        "guidance": "Not now.",
    }
    good(world.client.post(f"/threads/{told['thread']}/answer", json=answer))
    status, what = bad(world.post("/write", **sent))
    assert (status, "Not now." in what) == (403, True)


def test_what_is_done_is_in_a_log_with_who_asked(world):
    good(world.post("/write", path="logged.txt", content="x\n", id="logged"))
    threads = good(world.get("/threads", calls=True))["threads"]
    assert {one["origin"] for one in threads} == {"call"}
    kinds = "request,tool_call,policy,checkpoint,tool_result"
    found = []
    for thread in threads:
        asked = {"kinds": kinds, "limit": 500}
        found += good(world.client.get(f"/threads/{thread['id']}/messages", params=asked))[
            "messages"
        ]
        assert good(world.client.get(f"/threads/{thread['id']}/verify"))["verified"]
    call = [one for one in found if one.get("corr") == "call_owner-logged"]
    assert [one["kind"] for one in call] == [
        "tool_call",
        "policy",
        "policy",
        "checkpoint",
        "tool_result",
    ]
    assert "owner (HTTP)" in {one["body"]["sender"] for one in found if one["kind"] == "request"}


# Commands


def test_a_command_that_ends_gives_what_it_printed(world):
    done = good(world.post("/processes/start", command="pwd; exit 3"))
    assert done.pop("wall_duration_ms") >= 0
    assert done == {
        "success": False,
        "exit_code": 3,
        "output": f"{world.folder}\n",
        "error": "exit 3",
        "truncated": False,
        "note": "",
        "background_process_id": "",
        "changes": [],
        "refused": [],
    }


def test_a_command_in_the_background_is_listed_read_and_ended(world):
    command = "seq 1 30000; sleep 600"
    begun = good(world.post("/processes/start", command=command, run_in_background=True))
    name = begun["background_process_id"]
    assert begun["exit_code"] is None
    listed = good(world.get("/processes/list"))["processes"]
    (mine,) = [one for one in listed if one["process_id"] == name]
    assert (mine["command"], mine["state"], mine["background"]) == (command, "running", True)
    ended = good(world.post(f"/processes/{name}/signal", signal="TERM"))
    assert (ended["success"], ended["process_id"], ended["exit_code"]) == (True, name, 143)
    shown = good(world.get(f"/processes/{name}/output", wait=True))
    size = sum(len(f"{n}\n") for n in range(1, 30001))
    assert (shown["size"], shown["left_out"]) == (size, size - 32 * 1024)
    assert (shown["truncated"], shown["exit_code"]) == (True, 143)
    head, _, tail = shown["output"].partition(f"\n[… {shown['left_out']:,} bytes left out …]\n")
    assert (len(head), len(tail)) == (16 * 1024, 16 * 1024)
    assert head.startswith("1\n2\n")
    assert tail.endswith("29999\n30000\n")
    status, what = bad(world.post(f"/processes/{name}/signal", signal="TERM"))
    assert (status, "has ended" in what) == (422, True)


def test_who_waits_for_an_output_gets_it_when_the_command_has_ended(world):
    command = "echo begun; while [ ! -e go ]; do sleep 0.02; done; printf '%3000d\\n' 7; echo done"
    begun = good(world.post("/processes/start", command=command, run_in_background=True))
    name = begun["background_process_id"]
    assert good(world.get(f"/processes/{name}/output"))["state"] == "running"
    (world.folder / "go").touch()
    shown = good(world.get(f"/processes/{name}/output", wait=True))
    assert (shown["state"], shown["exit_code"], shown["left_out"]) == ("exited 0", 0, 0)
    assert shown["output"] == f"begun\n{' ' * 2048}…[952 bytes cut]\ndone\n"
    assert shown["truncated"]


def test_processes_are_known_in_their_folder_alone(world):
    begun = good(world.post("/processes/start", command="sleep 600", run_in_background=True))
    name = begun["background_process_id"]
    other = str(world.folder.parent / "other")
    assert good(world.get("/processes/list", workspace=other)) == {"processes": []}
    for wrong in ("p1", "..p1", "x.p1", f"{name}99", name.replace(".", "")):
        assert world.get(f"/processes/{wrong}/output").status_code == 404, wrong
    assert world.get(f"/processes/{name}/output", workspace=other).status_code == 404
    signal = {"signal": "KILL", "workspace": other}
    assert world.post(f"/processes/{name}/signal", **signal).status_code == 404
    assert world.post(f"/processes/{name}/signal", signal="EVIL").status_code == 400
    assert good(world.post(f"/processes/{name}/signal", signal="KILL"))["success"]


def test_a_command_that_the_gate_refuses_is_not_run(world):
    status, what = bad(world.post("/processes/start", command="rm -rf ~/Documents"))
    assert (status, what.startswith("Denied:")) == (403, True)


# MCP servers


def test_tools_of_servers_are_listed_and_called_and_a_broken_server_is_skipped(world):
    listed = good(world.get("/mcp/tools", refresh=True))
    assert {name.partition("__")[0] for name in listed["tools"]} == {"notes"}, listed
    assert list(listed["skipped"]) == ["broken"]
    sent = {"tool": "notes__write_note", "arguments": {"text": "Buy milk"}}
    told = world.post("/mcp/call-tool", **sent).json()
    answer = {"type": "permission", "corr": told["corr"], "decision": "allow"}
    good(world.client.post(f"/threads/{told['thread']}/answer", json=answer))
    assert good(world.post("/mcp/call-tool", **sent, id=told["id"]))["content"] == "wrote Buy milk"
    read = good(world.post("/mcp/call-tool", tool="notes__read_notes"))
    assert read == {"content": "Buy milk", "attachments": [], "cut": ""}
    missing = bad(world.post("/mcp/call-tool", tool="nobody__add"))
    assert missing == (404, "There is no MCP server “nobody” for this folder.")


# Knowing a folder


def test_where_context_comes_from_is_shown_resolved_and_once(world):
    home, base, folder = world.server.environ["HOME"], world.folder.parent, str(world.folder)
    shown = good(world.get("/context-config"))
    assert shown["instructions_dirs"] == [
        f"{home}/.config/steersman", f"{home}/rules", f"{base}/rules", f"{folder}/shared", folder,
    ]  # fmt: skip
    assert shown["instructions_files"] == ["AGENTS.md", "CLAUDE.md"]
    assert [one for one in shown["skills_dirs"] if not one.startswith(f"{folder}/.")] == [
        f"{folder}/own-skills",
        f"{home}/skills",
        f"{home}/.config/steersman/skills",
        f"{home}/.agents/skills",
    ]
    assert shown["skill_meta_file"] == "ABOUT.md"
    assert shown["mcp_config_files"] == [
        f"{home}/.config/steersman/mcp.json",
        f"{folder}/.mcp.json",
    ]


def test_text_and_symbols_are_found(world):
    found = good(world.get("/search", query="return a"))
    assert [(one["file"], one["line"]) for one in found["results"]] == [("calc.py", 2)]
    (one,) = good(world.get("/symbols", name="add"))["symbols"]
    assert (one["path"], one["line"]) == ("calc.py", 1)
    assert [s["name"] for s in good(world.get("/symbols", path="calc.py"))["symbols"]] == ["add"]


# Contents


def test_a_content_is_downloaded_whole_or_in_part_and_never_shown(world):
    digest = kept(world, PICTURE)
    whole = world.client.get(f"/blobs/{digest}")
    assert (whole.status_code, whole.content) == (200, PICTURE)
    assert whole.headers["content-type"] == "application/octet-stream"
    assert whole.headers["content-disposition"].startswith("attachment")
    for said, status, part, place in (
        ("bytes=0-9", 206, PICTURE[:10], "bytes 0-9/2560"),
        ("bytes=2550-", 206, PICTURE[2550:], "bytes 2550-2559/2560"),
        ("bytes=-6", 206, PICTURE[-6:], "bytes 2554-2559/2560"),
        ("bytes=2000-9999", 206, PICTURE[2000:], "bytes 2000-2559/2560"),
        ("bytes=2560-", 416, b"", "bytes */2560"),
        ("bytes=9-0", 200, PICTURE, None),
        ("bytes=0-1,3-4", 200, PICTURE, None),
        ("lines=0-1", 200, PICTURE, None),
        ("bytes=-", 200, PICTURE, None),
    ):
        got = world.client.get(f"/blobs/{digest}", headers={"range": said})
        assert (got.status_code, got.content) == (status, part), said
        assert got.headers.get("content-range") == place, said
        assert int(got.headers["content-length"]) == len(part)


def test_what_is_not_there_is_not_found(world):
    assert bad(world.client.get(f"/blobs/{'0' * 64}")) == (404, "There is no such content here.")
    for wrong in ("x", "../data", "0" * 63, "A" * 64, "%2e%2e"):
        assert world.client.get(f"/blobs/{wrong}").status_code in (400, 404), wrong


def test_a_token_for_one_folder_gets_only_what_its_threads_name(world):
    digest = kept(world, b"a picture of someone else")
    token = world.server.new_token("bound", "--workspace", str(world.folder))
    with world.server.client(token) as client:
        assert client.get(f"/blobs/{digest}").status_code == 403
        good(world.post("/write", path="some.txt", content=f"A text can say {digest}."))
        thread = good(world.get("/threads", calls=True))["threads"][0]["id"]
        assert client.get(f"/blobs/{digest}", params={"thread": thread}).status_code == 404


def kept(world: World, data: bytes) -> str:
    """Put a content into the store, as an image of a message is."""
    store = SqliteStore(Path(world.server.environ["STEERSMAN_HOME"]))
    try:
        digest = store.put_blob(data)
    finally:
        store.close()
    assert digest == hashlib.sha256(data).hexdigest()
    return digest


def test_the_description_of_the_api_has_all_of_it(world):
    told = httpx2.get(f"{world.server.url}/openapi.json", trust_env=False).json()
    for method, path, _ in ALL:
        known = path.replace("x.p1", "{process}")
        assert method.lower() in told["paths"][f"/api/v0{known}"]


def test_who_waits_when_the_server_stops_learns_that(environ, workspace):
    with ThreadPoolExecutor(1) as others, ExitStack() as until_stopped:
        server = until_stopped.enter_context(served(environ, workspace))
        world = World(server, workspace, until_stopped.enter_context(server.client()))
        command = {"command": "sleep 600", "run_in_background": True}
        name = good(world.post("/processes/start", **command))["background_process_id"]
        thread = name.partition(".")[0]

        def wait() -> tuple[int, str]:
            with server.client() as client:
                given = {"workspace": str(workspace), "wait": True}
                return bad(client.get(f"/processes/{name}/output", params=given))

        waiting = others.submit(wait)
        calls = f"/threads/{thread}/messages?kinds=tool_call"
        while "read_command_output" not in world.client.get(calls).text:
            assert not waiting.done()
        until_stopped.close()
        assert waiting.result() == (503, "The server is stopping.")
