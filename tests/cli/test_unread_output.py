"""Nobody reads the output: the work goes on, and a polite kill ends it as any other."""

import fcntl
import json
import signal
import struct
import subprocess
import termios

import pytest

from tests.cli.kit import DONE, decoded, eventually, shell
from tests.world import STEER

LONG = "much to read\n" * 20_000  # several times what a pipe holds
FULL = 60_000  # of the 65,536 bytes of a pipe
WAYS = [
    ("-p", "--output-format", "stream-json"),
    ("-p", "--output-format", "text"),
    ("run", "--json"),
    ("run", "--quiet"),
]


@pytest.fixture
def unread(steer):
    """Start a command whose output nobody reads, and wait until there is no more room in it."""
    begun = []

    def start(*words):
        process = subprocess.Popen(
            [*STEER, *words], cwd=steer.folder, env=steer.environ,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        begun.append(process)
        eventually(lambda: held(process) > FULL)
        return process

    yield start
    for process in begun:
        process.kill()
        process.communicate()


def held(process):
    """How much is in the pipe of a process's output."""
    answer = fcntl.ioctl(process.stdout, termios.FIONREAD, b"\0" * 4)
    return struct.unpack("i", answer)[0]


@pytest.mark.parametrize(
    ("way", "number"),
    [
        *((way, signal.SIGTERM) for way in WAYS),
        (WAYS[0], signal.SIGINT),
        (WAYS[0], signal.SIGHUP),
    ],
)
def test_a_polite_kill_ends_it_and_leaves_the_thread_sound(steer, script, unread, way, number):
    model = script({"text": LONG}, DONE)
    process = unread(*way, "--model", model, "say much")

    process.send_signal(number)

    assert process.wait(timeout=60) in (0, 130)
    assert process.stderr.read() == ""
    (thread,) = decoded(steer("threads", "list", "--json").stdout)
    messages = decoded(steer("replay", thread["id"], "--json").stdout)
    assert messages[-1]["kind"] == "session_end"
    assert steer("ledger", "verify", thread["id"]).returncode == 0
    assert steer("-p", "--resume", thread["id"], "--model", model, "go on").returncode == 0


@pytest.mark.parametrize("way", [WAYS[0], WAYS[2]], ids=" ".join)
def test_a_command_that_runs_meanwhile_ends_with_it(script, unread, gate, way):
    model = script({"text": LONG, "tool_calls": [gate.wait]}, DONE)
    process = unread(*way, "--yes", "--model", model, "say much")
    gate.waiting()

    process.send_signal(signal.SIGTERM)

    assert process.wait(timeout=60) == 130
    assert gate.processes() == []


@pytest.mark.parametrize("way", [WAYS[0], WAYS[2]], ids=" ".join)
def test_the_work_goes_on_and_whoever_reads_late_gets_everything(script, unread, workspace, way):
    made = workspace / "made"
    model = script({"text": LONG, "tool_calls": [shell("touch made")]}, DONE)
    process = unread(*way, "--yes", "--model", model, "say much")
    eventually(made.exists)

    output, errors = process.communicate(timeout=60)

    assert (process.returncode, errors) == (0, "")
    assert json.dumps(LONG)[1:-1] in output
    assert "Done." in output


def test_an_answer_to_a_file_is_written_whole(steer, script, tmp_path):
    model = script({"text": LONG})
    place = tmp_path / "answer"
    with place.open("w") as file:
        done = subprocess.run(
            [*STEER, "-p", "--model", model, "say much"], cwd=steer.folder, env=steer.environ,
            stdin=subprocess.DEVNULL, stdout=file, timeout=60, check=False,
        )  # fmt: skip
    assert done.returncode == 0
    assert place.read_text().strip() == LONG.strip()


@pytest.mark.parametrize(
    "words",
    [
        ("--help",),
        ("--version",),
        ("tools", "--json"),
        *((*way, "--model", "M", "hi") for way in WAYS),
    ],
)
def test_output_that_cannot_be_written_is_one_sentence(steer, script, words):
    model = script({"text": LONG})
    with open("/dev/full", "wb", buffering=0) as full:
        ended = subprocess.run(
            [*STEER, *(model if word == "M" else word for word in words)], cwd=steer.folder,
            env=steer.environ, stdin=subprocess.DEVNULL, stdout=full, stderr=subprocess.PIPE,
            text=True, check=False,
        )  # fmt: skip
    assert (ended.returncode, ended.stderr) == (
        1, "Error: The output cannot be written: No space left on device.\n",
    )  # fmt: skip
