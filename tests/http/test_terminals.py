"""A terminal over HTTP: a real one, in the sandbox, that several can look at and come back to."""

import hashlib
import json
import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from tests.http import kit
from tests.http.kit import Served
from tests.http.shown import attached, dialled, opened

KEPT = 256 * 1024
RAW = "import os, sys, tty, hashlib; tty.setraw(0); print('ready', flush=True); "
WATCHES = """
import os, signal
signal.signal(signal.SIGWINCH, lambda *_: os.write(1, repr(os.get_terminal_size()).encode()))
print("ready", flush=True)
while True:
    signal.pause()
"""


def python(code: str) -> tuple[str, ...]:
    """A program of a few lines."""
    return ("python3", "-c", code)


def messages(server: Served, terminal: str, kinds: str) -> list[dict[str, Any]]:
    """What the log of a terminal's thread says."""
    thread = terminal.partition(".")[0]
    found: list[dict[str, Any]] = server.get(f"/threads/{thread}/messages?kinds={kinds}")[
        "messages"
    ]
    return found


def settled(server: Served, terminal: str) -> None:
    """Wait until what a program did is in the log."""
    thread, _, process = terminal.partition(".")
    with server.events(thread) as frames:
        for frame in frames:
            if frame.kind == "job_end" and frame.data["body"]["process_id"] == process:
                return


def runs(mark: str) -> bool:
    """Whether some program was started with certain words."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError):
            if mark.encode() in Path(f"/proc/{pid}/cmdline").read_bytes():
                return True
    return False


# Using one


def test_a_program_sees_how_large_its_terminal_is(server: Served) -> None:
    terminal = opened(server, "stty", "size", columns=101, rows=33)
    with attached(server, terminal) as seat:
        end = seat.to_the_end()
    assert seat.told[0] == {"type": "attached", "columns": 101, "rows": 33}
    assert seat.seen == b"33 101\r\n"
    assert end == {"type": "exit", "state": "exited 0", "exit_code": 0}
    assert seat.closed == 1000


def test_a_program_learns_that_its_terminal_became_larger(server: Served) -> None:
    terminal = opened(server, *python(WATCHES))
    with attached(server, terminal) as seat:
        seat.until("ready")
        seat.resize(132, 50)
        seat.until("columns=132, lines=50")
    (found,) = [one for one in server.get("/terminals")["terminals"] if one["id"] == terminal]
    assert (found["columns"], found["rows"]) == (132, 50)


@pytest.mark.parametrize(
    "said",
    [
        {"type": "resize", "columns": 0, "rows": 24},
        {"type": "resize", "columns": 80, "rows": 99_999_999_999_999_999_999},
        {"type": "resize", "columns": -1, "rows": 24},
        {"type": "resize", "columns": "80", "rows": 24},
        {"type": "resize", "columns": 80},
        {"type": "shrink"},
        ["resize"],
        "x" * 100_000,
    ],
)
def test_a_size_that_is_none_changes_nothing(server: Served, said: Any) -> None:
    with attached(server, opened(server, "bash", "-c", "read; stty size")) as seat:
        seat.say(said)
        assert seat.until_told("problem")["what"].endswith(".")
        seat.type("\n")
        seat.until("24 80")


def test_someone_works_with_an_interactive_program(server: Served) -> None:
    with attached(server, opened(server, "python3", "-q")) as seat:
        seat.until(">>> ")
        seat.type("6 * 7\n")
        seat.until("42")
        seat.type("raise SystemExit(3)\n")
        assert seat.to_the_end()["exit_code"] == 3


def test_nothing_named_is_a_shell(server: Served) -> None:
    with attached(server, opened(server)) as seat:
        seat.type("echo $TERM in $PWD; exit 7\n")
        assert seat.to_the_end()["exit_code"] == 7
    assert f"xterm-256color in {server.workspace}".encode() in seat.seen


def test_ctrl_c_ends_what_runs(server: Served) -> None:
    with attached(server, opened(server, "bash", "-c", "echo begun; exec sleep 1000")) as seat:
        seat.until("begun")
        seat.type("\x03")
        assert seat.to_the_end()["exit_code"] == 130


def test_a_shell_goes_on_after_ctrl_c(server: Served) -> None:
    """Its keys go to the program in front, as job control says."""
    with attached(server, opened(server)) as seat:
        seat.type("bash -c 'echo begun-$((1+1)); exec sleep 1000'\n")
        seat.until("begun-2")
        seat.type("\x03")
        seat.type("echo still-$((1+1)); exit\n")
        seat.until("still-2")
        seat.to_the_end()


def test_a_long_paste_arrives_whole(server: Served) -> None:
    """It is more than the system keeps for a program that does not read yet."""
    text = "".join(f"line {n}\r" for n in range(60_000))
    code = f"{RAW} said = os.read(0, 1)\nwhile len(said) < {len(text)}: said += os.read(0, 4096)\n"
    code += "print(hashlib.sha256(said).hexdigest())"
    with attached(server, opened(server, *python(code))) as seat:
        seat.until("ready")
        seat.type(text)
        seat.until(hashlib.sha256(text.encode()).hexdigest())


def test_what_a_program_changed_is_in_the_journal(server: Served) -> None:
    terminal = opened(server, "bash", "-c", "echo made > made.txt")
    settled(server, terminal)
    assert (server.workspace / "made.txt").read_text() == "made\n"
    changed = [
        change["path"]
        for one in messages(server, terminal, "checkpoint")
        for change in one["body"]["changes"]
    ]
    assert "made.txt" in changed


def test_the_gate_is_asked_and_the_log_says_so(server: Served) -> None:
    terminal = opened(server, "echo", "hello", id="greeting")
    found = messages(server, terminal, "tool_call,policy,tool_result")
    own = [one for one in found if one.get("corr") == "call_owner-greeting"]
    assert [one["kind"] for one in own] == ["tool_call", "policy", "tool_result"]
    assert own[0]["body"]["tool"] == "open_terminal"
    again = opened(server, "echo", "hello", id="greeting")
    assert again == terminal


# Coming and going


def test_whoever_comes_back_sees_what_was_shown(server: Served) -> None:
    terminal = opened(server, "cat")
    with attached(server, terminal) as seat:
        seat.type("first\n")
        seat.until("first\r\nfirst\r\n")
    with attached(server, terminal) as seat, attached(server, terminal) as other:
        seat.until("first\r\nfirst\r\n")
        other.type("second\n")
        for one in (seat, other):
            one.until("second\r\nsecond\r\n")
        seat.type("\x04")
        for one in (seat, other):
            assert one.to_the_end()["exit_code"] == 0


def test_of_much_that_was_shown_the_last_is_kept(server: Served) -> None:
    terminal = opened(server, "seq", "1000000")
    with attached(server, terminal) as seat:
        seat.to_the_end()
    with attached(server, terminal) as seat:
        seat.to_the_end()
    whole = "".join(f"{n}\r\n" for n in range(1, 1_000_001)).encode()
    assert seat.told[1] == {"type": "gap", "left_out": len(whole) - len(seat.seen)}
    assert whole.endswith(b"\n" + seat.seen)
    assert KEPT - 4096 < len(seat.seen) <= KEPT


def test_a_terminal_is_listed_and_ended(server: Served) -> None:
    terminal = opened(server, "bash", "-c", "sleep 81234 & sleep 81234; wait", rows=30)
    (found,) = [one for one in server.get("/terminals")["terminals"] if one["id"] == terminal]
    assert (found["workspace"], found["state"]) == (str(server.workspace), "running")
    assert (found["columns"], found["rows"], found["exit_code"]) == (80, 30, None)
    with attached(server, terminal) as seat:
        for _ in range(2):  # to end it again changes nothing
            assert server.request("DELETE", f"/api/v0/terminals/{terminal}").status == 200
        assert seat.to_the_end()["exit_code"] == 137
    assert not runs("81234")
    for name in ("nowhere.p1", terminal.replace(".p", ".p99"), terminal.partition(".")[0], "p1"):
        assert server.request("DELETE", f"/api/v0/terminals/{name}").status == 404
        with pytest.raises(InvalidStatus) as refused, dialled(server, name):
            pass
        assert refused.value.response.status_code == 404


@pytest.fixture
def setting() -> str:
    """What the settings of a test's own server say."""
    return "max_processes = 40"


@pytest.fixture
def other(tmp_path: Path, setting: str) -> Iterator[Served]:
    """A server of a test's own."""
    own = tmp_path / "home" / ".config" / "steersman"
    own.mkdir(parents=True)
    (own / "config.toml").write_text(f"{setting}\n")
    made = Served(tmp_path / "home", tmp_path / "work")
    yield made
    if made.process.poll() is None:
        made.stop()


@pytest.mark.parametrize("end", [Served.stop, Served.kill])
def test_nothing_outlives_the_server(other: Served, end: Any) -> None:
    long = f"{os.getpid()}.{len(end.__name__)}"
    program = f"trap '' HUP; setsid sleep {long} & echo begun; sleep {long}"
    with attached(other, opened(other, "bash", "-c", program)) as seat:
        seat.until("begun")
        assert runs(long)
        end(other)
        with suppress(ConnectionClosed):
            while True:
                seat.hear()
    while runs(long):
        time.sleep(0.05)


def test_a_server_ends_while_someone_is_asked_about_what_a_program_did(other: Served) -> None:
    """The file is as it was: nobody said yes."""
    (other.workspace / "notes").write_text("git does not have this\n")
    thread = opened(other, "bash", "-c", "rm notes").partition(".")[0]
    with other.events(thread) as frames:
        assert next(one for one in frames if one.kind == "confirm_request")
    other.stop()
    assert (other.workspace / "notes").exists()


# Attacks


def test_a_terminal_shows_no_other_folder(server: Served, tmp_path: Path) -> None:
    """Neither the server's token nor what lies beside the folder; and nothing is written there."""
    (tmp_path / "beside.txt").write_text("beside")
    (server.workspace / "away").symlink_to(tmp_path)
    token = server.home / "data" / "http-token"
    said = f"cat {token}; echo new > {tmp_path}/new.txt; echo new > away/new.txt; echo over"
    with attached(server, opened(server)) as seat:
        seat.type(f"{said}-$((1+1)); exit\n")
        seat.until("over-2")
        seat.to_the_end()
    assert server.token.encode() not in seat.seen
    assert not (tmp_path / "new.txt").exists()
    for more in ({"workdir": "../.."}, {"workdir": "away"}, {"workdir": "/etc"}):
        told = {"workspace": str(server.workspace), **more}
        assert server.request("POST", "/api/v0/terminals", told).status == 403, more
    for folder in ("/", "/proc", str(server.home / "data")):
        assert server.request("POST", "/api/v0/terminals", {"workspace": folder}).status == 403


def test_what_the_gate_denies_is_not_started(server: Served) -> None:
    told = {"workspace": str(server.workspace), "argv": ["rm", "-rf", "/"]}
    got = server.request("POST", "/api/v0/terminals", told)
    assert got.status == 403
    assert "Rule: fs.root." in got.json["what"]


@pytest.mark.parametrize("setting", ['mode = "ask"', 'mode = "spec"'])
def test_where_no_command_may_run_there_is_no_terminal(other: Served) -> None:
    got = other.request("POST", "/api/v0/terminals", {"workspace": str(other.workspace)})
    assert got.status == 403
    assert "mode" in got.json["what"]


@pytest.mark.parametrize("setting", ['mode = "plan"'])
def test_where_commands_only_look_a_terminal_changes_nothing(other: Served) -> None:
    with attached(other, opened(other)) as seat:
        seat.type("echo new > new.txt; exit\n")
        seat.to_the_end()
    assert b"Read-only file system" in seat.seen
    assert list(other.workspace.iterdir()) == []


WITHOUT_BUBBLEWRAP = """
import sys
from steersman.operations.running import containment
from steersman.operations.running.bubblewrap import Unavailable
containment.find = lambda *_: Unavailable("No bubblewrap was found.")
from steersman.__main__ import main
main()
"""


def test_in_the_weaker_sandbox_someone_is_asked_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then it is a terminal like others; what it changes is recorded."""
    monkeypatch.setattr(kit, "STEER", [sys.executable, "-c", WITHOUT_BUBBLEWRAP])
    weaker = Served(tmp_path / "home", tmp_path / "work")
    told = {"workspace": str(weaker.workspace), "id": "asked"}
    got = weaker.request("POST", "/api/v0/terminals", told)
    assert got.status == 409
    while got.status == 409:
        answer = {"type": "permission", "corr": got.json["corr"], "decision": "allow"}
        weaker.post(f"/threads/{got.json['thread']}/answer", answer)
        got = weaker.request("POST", "/api/v0/terminals", told)
    with attached(weaker, got.json["id"]) as seat:
        seat.type("echo new > new.txt; bash -c 'echo begun-$((1+1)); exec sleep 1000'\n")
        seat.until("begun-2")
        seat.type("\x03")
        seat.type("exit 5\n")
        assert seat.to_the_end()["exit_code"] == 5
    settled(weaker, got.json["id"])
    assert messages(weaker, got.json["id"], "checkpoint")
    assert "Traceback" not in weaker.stop()


def test_only_who_may_work_in_the_folder_comes_near_a_terminal(
    server: Served, tmp_path: Path
) -> None:
    terminal = opened(server, "cat")
    here, there = str(server.workspace), str(tmp_path)
    reads, foreign = (
        json.loads(server.steer("token", "make", *words, "--json"))["token"]
        for words in (
            ("reads", "--may", "read", "--workspace", here),
            ("foreign", "--workspace", there),
        )
    )
    told = {"workspace": here}
    for token, status in ((reads, 403), (foreign, 404)):
        assert server.request("POST", "/api/v0/terminals", told, token=token).status == 403
        path = f"/api/v0/terminals/{terminal}"
        assert server.request("DELETE", path, token=token).status == status
        with pytest.raises(InvalidStatus) as refused, dialled(server, terminal, token):
            pass
        assert refused.value.response.status_code == status
    assert server.get("/terminals", token=foreign) == {"terminals": []}
    assert server.request("GET", "/api/v0/terminals", token=None).status == 401
    with pytest.raises(InvalidStatus) as refused:
        dialled(server, terminal, Origin="http://127.0.0.1:1").__enter__()
    assert refused.value.response.status_code == 403


def test_a_page_attaches_with_a_ticket_once(server: Served) -> None:
    terminal = opened(server, "echo", "hello")
    path = f"/api/v0/terminals/{terminal}/attach"
    ticket = server.post("/tickets", {"path": path})["ticket"]
    with attached(server, terminal, query=f"?ticket={ticket}") as seat:
        seat.to_the_end()
        assert seat.seen == b"hello\r\n"
    with attached(server, terminal, query=f"?ticket={ticket}") as seat:
        with pytest.raises(ConnectionClosed):
            seat.hear()
        assert seat.closed == 4401


def test_who_does_not_read_slows_nobody_and_learns_what_was_missed(server: Served) -> None:
    """Of what one reader did not take, the server keeps only the last."""
    size = 16_000_000
    terminal = opened(server, "bash", "-c", f"read; head -c {size} /dev/zero | tr '\\0' x")
    with attached(server, terminal, room=65536) as idle, attached(server, terminal) as seat:
        before = peak(server)
        seat.type("\n")
        seat.to_the_end()
        assert peak(server) - before < 8_000  # KB
        idle.to_the_end()
    assert idle.missed > 0
    for one in (seat, idle):
        assert len(one.seen) + one.missed == size + len(b"\r\n")


def peak(server: Served) -> int:
    """How much memory a server has had at most, in KB."""
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0])


def test_what_nobody_reads_is_not_taken(server: Served) -> None:
    """Others are served meanwhile, and the terminal can be ended."""
    terminal = opened(server, *python(f"{RAW} import signal; signal.pause()"))
    sent = 0

    def paste(seat: Any) -> None:
        nonlocal sent
        with suppress(ConnectionClosed):
            while True:
                seat.type("x" * 65536)
                sent += 65536

    with attached(server, terminal) as seat:
        seat.until("ready")
        typing = threading.Thread(target=paste, args=[seat])
        typing.start()
        while sent < 65536:
            server.get("/me")
        assert server.request("DELETE", f"/api/v0/terminals/{terminal}").status == 200
        seat.until_told("exit")
    typing.join()
    assert sent < 64 << 20


def test_a_crowd_of_processes_is_ended(other: Served) -> None:
    (other.workspace / "grow.py").write_text(
        "import os, signal\nwhile True:\n    if not os.fork():\n        signal.pause()\n"
    )
    with attached(other, opened(other, "python3", "grow.py")) as seat:
        assert seat.to_the_end()["state"] == "killed by SIGKILL"
    assert b"more than max_processes allows.]\r\n" in seat.seen
