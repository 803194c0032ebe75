"""What must not break the application, and what must not be lost by it.

Everything goes through a real terminal; what the program prints is looked at byte by byte.
"""

import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from steersman.ports.tui.keys import SEEN
from tests.cli.kit import BROKEN, DONE, FIX, FIXED, call, eventually, outside, shell
from tests.tui.tmux import NEEDED, bodies, check_whole, gone, said, threads
from tests.world import STEER

READY = "Say what to do"
ASKED = "1. Yes, this once (y)"
STOLEN = "c3RvbGVu"  # what an attacker would put into the clipboard
ATTACKS = {
    "clear": "\x1b[2J\x1b[H",
    "title": "\x1b]0;OWNED\x07\x1b]2;OWNED\x1b\\",
    "clipboard": f"\x1b]52;c;{STOLEN}\x07",
    "notification": "\x1b]9;OWNED\x07\x1b]777;notify;OWNED;OWNED\x07",
    "link": "\x1b]8;;http://owned.example\x07here\x1b]8;;\x07",
    "passthrough": f"\x1bPtmux;\x1b\x1b]52;c;{STOLEN}\x07\x1b\\",
    "answer back": "\x1b[6n\x1b[c\x1b[21t",
    "C1": "\x9b31m\x9d0;OWNED\x9c\x90OWNED\x9c",
    "overwriting": "good\rEVIL \x08\x08\x08\x7f",
    "bidi": "\u202eevil\u202c \u2066hidden\u2069",
    "alternate screen": "\x1b[?1049l\x1b[?1000h\x1bc",
}
NASTY = " ".join(f"<{name}>{text}" for name, text in ATTACKS.items())
# An escape that is not one of these was not written by us.
SEQUENCES = re.compile(
    rb"\x1b(?:\[[0-9:;<=>?]*[ -/]*[@-~]"  # CSI
    rb"|\][^\x07\x1b]*(?:\x07|\x1b\\)"  # OSC: title, notification, pointer
    rb"|[()][0-9A-B]|[=>78])"
)

pytestmark = NEEDED


def ours(raw: bytes) -> list[bytes]:
    """All escape sequences that were printed; there are no others and no bare control letters."""
    left = SEQUENCES.sub(b"", raw)
    assert not set(left) & (set(range(32)) - set(b"\r\n\x07\x0e\x0f\x08")), left[:2000]
    text = left.decode()
    assert not set(text) & {chr(c) for c in range(0x7F, 0xA0)}
    assert not set(text) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
    return SEQUENCES.findall(raw)


def check_harmless(window) -> None:
    """Nothing that came from outside was obeyed by the terminal."""
    found = ours(window.raw)
    for sequence in found:
        assert STOLEN.encode() not in sequence
        assert b"owned.example" not in sequence
        assert b"[6n" not in sequence
        assert b"[21t" not in sequence
    assert not [one for one in found if one.startswith(b"\x1b]52")]
    assert b"\x1b[2J\x1b[H" not in window.raw
    assert window.clipboard == ""
    assert window.title != "OWNED"
    assert not [one for one in found if b"OWNED" in one and b"<title>" not in one]


def test_nothing_from_outside_moves_the_cursor_the_title_or_the_clipboard(
    steer, script, workspace, open_window
):
    name = "nasty \x1b]0;OWNED\x07\x1b[31m \x9b1m.txt"
    (workspace / name).write_text(f"{NASTY}\n")
    (workspace / "plain.txt").write_text(f"{NASTY}\n")
    model = script(
        {
            "reasoning": f"I think {NASTY}",
            "text": f"# I say {NASTY}\n\n```sh\n{NASTY}\n```\n\n| a |\n|---|\n| {NASTY} |",
            "chunk": 5,
            "tool_calls": [
                shell("cat plain.txt"),
                shell(f"true # {NASTY}"),
                call("workspace_read_file", path=name),
                call("workspace_list_files", path="."),
                call("workspace_search_files", query="OWNED"),
                call("workspace_read_file", path=f"missing {NASTY}"),
                call(f"tool {NASTY}"),
                call("workspace_write_file", path="more.txt", content=f"{NASTY}\n"),
                outside(f"echo {NASTY!r} > seen"),
            ],
        },
        {"text": f"The end. {NASTY}"},
    )
    window = open_window("--model", model, size=(100, 50))

    window.until(READY)
    window.say(f"be nasty {NASTY!r}"[:60])
    window.until("The agent wants to", ASKED)
    time.sleep(SEEN)
    window.press("y")
    window.until("outside the sandbox", ASKED)
    time.sleep(SEEN)
    window.press("n")
    window.until("The end.", READY)
    check_harmless(window)

    # Everything that can be opened, opened; and the thread, taken up again.
    window.press("F7")
    window.until("j down")
    window.press("g")
    for _ in range(12):
        window.press("Enter", "Down", "PageDown")
    window.press("i")
    window.until("Enter send")
    window.write("@nast")
    window.until("nasty ")
    window.press("Escape", "C-c")
    window.until(READY)
    window.press("C-p")
    window.until("Do anything")
    window.press("Escape")
    window.until(READY, gone="Do anything")
    window.press("C-q")
    assert window.end() == 0
    check_harmless(window)
    [thread] = threads(steer)
    again = open_window("--resume", thread, size=(100, 50))
    again.until("The end.", READY)
    check_harmless(again)


def test_output_that_is_not_utf8(steer, script, open_window):
    bytes_ = r"printf 'caf\351 \377\376\200 \303( \355\240\200 end\n'"
    model = script({"tool_calls": [shell(bytes_)]}, {"text": "Strange letters."})
    window = open_window("--model", model)

    window.until(READY)
    window.say("print it")
    window.until("caf", "end", "Strange letters.", READY)
    window.say(f"!{bytes_}; echo second")
    window.until("second", READY)
    ours(window.raw)
    check_whole(steer, threads(steer)[0])


def test_programs_that_need_a_terminal_are_answered_and_the_line_stays(steer, script, open_window):
    window = open_window("--model", script(DONE))

    window.until(READY)
    for line in ("!vim calc.py", "!top", "!python3", "!git commit"):
        window.say(line)
        window.until(f"`{line[1:]}` needs a terminal", f"│ {line}")
        window.press("C-c")
        window.until(READY)
    window.say("!less calc.py")
    window.until("return a - b", READY)
    ours(window.raw)
    [thread] = threads(steer)
    assert [one["arguments"] for one in bodies(steer, thread, "tool_call")] == [
        {"wait_timeout": 120, "command": "less calc.py"}
    ]


def test_a_very_small_terminal_and_back(steer, script, gate, workspace, open_window):
    model = script(
        {"text": "It subtracts.", "tool_calls": [FIX]},
        {"text": "Waiting.", "tool_calls": [gate.wait]},
        {"text": "All done."},
    )
    window = open_window("--model", model)

    window.until(READY)
    window.resize(20, 5)
    window.until("Say what")
    window.write("mend add()")
    window.press("Enter")
    window.until("?")
    for size in ((1, 1), (2, 40), (200, 3), (20, 5)):
        window.resize(*size)
    window.until("y")
    time.sleep(SEEN)
    window.press("y")
    gate.waiting()
    for size in ((20, 5), (200, 50), (5, 20)):
        window.resize(*size)
    gate.open()
    window.resize(100, 30)
    window.until("It subtracts.", "Waiting.", "All done.", READY)
    assert (workspace / "calc.py").read_text() == FIXED
    window.press("C-q")
    assert window.end() == 0
    check_whole(steer, threads(steer)[0])


def test_ten_megabytes_are_pasted(steer, script, tmp_path, open_window):
    line = "0123456789 lorem ipsum äöü € \x1b[31m\n"
    pasted = tmp_path / "pasted.txt"
    pasted.write_text(line * (10_000_000 // len(line.encode())) + "THE END")
    window = open_window("--model", script({"text": "Received."}, {"text": "And on."}))

    window.until(READY)
    window.paste(pasted)
    window.until("[pasted text 1:", seconds=240)
    window.press("Enter")
    window.until("Received.", READY, seconds=240)
    window.say("still there?")
    window.until("And on.", READY)
    window.press("C-q")
    assert window.end() == 0

    [thread] = threads(steer)
    first, second = said(steer, thread)
    assert first.startswith("0123456789 lorem ipsum äöü €")
    assert first.endswith("THE END")
    assert second == "still there?"
    kept = list(Path(steer.environ["STEERSMAN_HOME"], "terminal", "pasted").iterdir())
    assert [len(path.read_text().splitlines()) for path in kept] == [
        len(pasted.read_text().splitlines())
    ]
    ours(window.raw)
    check_whole(steer, thread)


def test_pasted_text_is_never_keys(steer, script, workspace, tmp_path, open_window):
    log = tmp_path / "coloured.log"
    log.write_text("".join(f"\x1b[31mline {n}\x1b[0m y\n" for n in range(4)) + "\x1by\x1bn the end")
    model = script({"tool_calls": [FIX]}, {"text": "Left as it was."})
    window = open_window("--model", model)
    window.until(READY)
    window.paste(log)
    window.until("line 0", "line 3", "the end")
    assert not threads(steer)
    window.press("C-c")
    window.until(READY)

    window.say("mend add()")
    window.until(ASKED)
    time.sleep(SEEN)
    window.paste(log)
    window.paste(log)
    window.until("the end", "F8 answers")
    assert (workspace / "calc.py").read_text() == BROKEN
    window.press("F8")
    window.until(ASKED)
    time.sleep(SEEN)
    window.press("n")
    window.until("Left as it was.")
    assert (workspace / "calc.py").read_text() == BROKEN


def test_keys_that_are_not_utf8(script, open_window):
    window = open_window("--model", script({"text": "Understood."}))
    window.until(READY)
    window.press("-H", "ff", "fe", "c3", "80", "20")
    window.write("hello")
    window.press("Enter")
    window.until("Understood.", READY)


def test_a_command_hides_nothing_of_itself(script, workspace, open_window):
    hidden = "touch seen # \rls\x1b[1G\x08\x08"
    model = script({"tool_calls": [outside(hidden)]}, {"text": "Refused."})
    window = open_window("--model", model)
    window.until(READY)
    window.say("list the files")
    shown = window.until("outside the sandbox", "touch seen #", ASKED)
    assert "touch seen # \\x0dls" in shown
    time.sleep(SEEN)
    window.press("n")
    assert "touch seen #" in window.until("Refused.", READY)
    assert not (workspace / "seen").exists()


@contextmanager
def model_server(steer, file: str, port: int = 0) -> Iterator[tuple["subprocess.Popen[str]", str]]:
    """A model behind a connection that can be cut."""
    server = subprocess.Popen(
        [*STEER, "model-server", file, "--json", "--port", str(port)],
        stdout=subprocess.PIPE,
        env=steer.environ,
        text=True,
    )
    try:
        assert server.stdout is not None
        yield server, json.loads(server.stdout.readline())["url"]
    finally:
        server.kill()
        server.communicate(timeout=30)


def test_the_connection_to_the_model_is_lost(steer, script, open_window):
    broken = {"text": "Half of this answer, " + "and more " * 40, "chunk": 4, "stall_ms": 600_000}
    file = script(broken, name="stalls.json").removeprefix("scripted:")
    whole = script({"text": "The whole answer."}, name="whole.json").removeprefix("scripted:")

    with model_server(steer, file) as (server, url):
        port = int(url.rpartition(":")[2])
        environ = {"OPENAI_BASE_URL": f"{url}/v1", "OPENAI_API_KEY": "x"}
        window = open_window("--model", "openai:m-1", environ=environ)
        window.until(READY)
        window.say("answer me")
        window.until("Half of this answer,")
        server.kill()
        server.wait(timeout=30)
        window.until("failed", READY, seconds=180)

    with model_server(steer, whole, port):
        window.say("once more")
        window.until("The whole answer.", READY)
    [thread] = threads(steer)
    assert said(steer, thread) == ["answer me", "once more"]
    window.press("C-q")
    assert window.end() == 0
    check_whole(steer, thread)


def test_another_program_holds_the_store_for_a_while(steer, script, open_window):
    window = open_window("--model", script({"text": "First."}, {"text": "Second."}))
    window.until(READY)
    window.say("one")
    window.until("First.", READY)

    database = Path(steer.environ["STEERSMAN_HOME"], "steersman.db")
    other = sqlite3.connect(database, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    window.write("two")
    window.press("Enter")
    window.write("three")  # keys are heard meanwhile
    other.execute("ROLLBACK")
    other.close()
    window.until("Second.")
    [thread] = threads(steer)
    assert said(steer, thread)[:2] == ["one", "two"]
    window.until("Enter send")
    window.press("C-c")
    window.until(READY)
    window.press("C-c", "C-c")
    assert window.end() == 0
    check_whole(steer, thread)


def test_the_store_is_deleted_under_it(steer, script, open_window):
    window = open_window("--model", script({"text": "First."}, {"text": "Second."}))
    window.until(READY)
    window.say("one")
    window.until("First.", READY)
    shutil.rmtree(steer.environ["STEERSMAN_HOME"])

    window.say("two")
    window.until("› one", "First.")
    window.press("C-q", "C-q")  # again, where a turn still runs
    assert window.end() in (0, 1)
    assert b"Traceback" not in window.raw
    check_harmless(window)


@pytest.mark.parametrize("how", ["the window is closed", "SIGHUP", "SIGTERM"])
def test_the_terminal_goes_away(steer, script, gate, open_window, how):
    model = script({"text": "Waiting.", "tool_calls": [gate.wait]}, DONE, {"text": "Back again."})
    window = open_window("--model", model, environ={"STEERSMAN_ON_HANGUP": "cancel"})
    window.until(READY)
    window.say("wait")
    window.until("Waiting.")
    gate.waiting()
    [thread] = threads(steer)
    if how == "the window is closed":
        window.hang_up()
    else:
        os.kill(window.pid, getattr(signal, how))
    gone(window.pid)
    assert eventually(lambda: gate.processes() == [])
    assert [body["ending"] for body in bodies(steer, thread, "turn_end")] == ["cancelled"]
    check_whole(steer, thread)

    again = open_window("--resume", thread)
    again.until("› wait", "Waiting.", READY)
    again.say("go on")
    again.until("Back again.", READY)
    check_whole(steer, thread)


@pytest.mark.parametrize("how", ["the window is closed", "SIGHUP"])
def test_the_terminal_goes_away_and_the_turn_goes_on(steer, script, gate, open_window, how):
    model = script({"text": "Waiting.", "tool_calls": [gate.wait]}, DONE)
    window = open_window("--model", model)
    window.until(READY)
    window.say("wait")
    window.until("Waiting.")
    gate.waiting()
    [thread] = threads(steer)
    if how == "the window is closed":
        window.hang_up()
    else:
        os.kill(window.pid, signal.SIGHUP)
    gone(window.pid)
    gate.open()
    assert eventually(lambda: bodies(steer, thread, "session_end"))
    assert [body["ending"] for body in bodies(steer, thread, "turn_end")] == ["done"]
    check_whole(steer, thread)
