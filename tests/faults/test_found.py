"""What rounds of faults have found, each once more by itself."""

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.cli.kit import StrictSteer, decoded, eventually, outside
from tests.tui.tmux import gone

TALK = "Every word of this arrives over there."


@pytest.fixture
def steer(environ, workspace):
    """The command line, in the workspace."""
    return StrictSteer(environ, workspace)


def waiting(steer, thread):
    """The thread's record, as soon as it waits for an answer."""

    def look():
        listed = decoded(steer("threads", "list", "--json").stdout)
        [found] = [one for one in listed if one["id"] == thread]
        return found if found["state"] == "waiting" and found["process"] else None

    return eventually(look)


def test_a_turn_that_went_on_after_a_restart_and_is_cancelled_leaves_its_session_open(
    steer, script, tmp_path
):
    model = script({"tool_calls": [outside(f"touch {tmp_path / 'never'}")]}, {"text": "Done."})
    thread = steer("run", "--detach", "--model", model, "go").stdout.strip()
    os.kill(waiting(steer, thread)["process"]["pid"], signal.SIGKILL)

    assert steer("cancel", thread).returncode == 0

    kinds = eventually(lambda: _ended(steer, thread))
    assert (kinds["session_start"], kinds["session_end"]) == (2, 2)
    assert (kinds["turn_start"], kinds["turn_end"]) == (1, 1)
    assert not (tmp_path / "never").exists()


def _ended(steer, thread):
    messages = decoded(steer("replay", thread).stdout)
    return messages[-1]["kind"] == "session_end" and Counter(m["kind"] for m in messages)


def test_pieces_that_come_together_with_what_is_stored_are_shown(steer, script, tmp_path):
    asks = {"tool_calls": [outside(f"touch {tmp_path / 'made'}")]}
    model = script(asks, {"text": TALK, "chunk": 5})
    thread = steer("run", "--detach", "--model", model, "go").stdout.strip()
    waiting(steer, thread)
    news = Path(steer.environ["STEERSMAN_HOME"]) / "news"
    watching = steer.start("attach", thread, "--json", "--deltas")
    try:
        eventually(lambda: len(os.listdir(news)) == 2)  # the one that works, and ours
        assert steer("answer", thread, "allow").returncode == 0
        shown = [json.loads(line) for line in watching.stdout]
    finally:
        watching.kill()
        watching.communicate()

    pieces = [m["body"]["text"] for m in shown if m["kind"] == "assistant_delta"]
    assert "".join(pieces) == TALK


CLOSING = """
import asyncio, os, sys
from pathlib import Path
from steersman.host import Host

async def main(thread):
    async with Host.at(Path(os.environ["STEERSMAN_HOME"]), os.environ) as host:
        await (await host.attach(thread)).close()

asyncio.run(main(sys.argv[1]))
"""


def test_a_process_in_the_background_ends_when_its_thread_is_closed_by_another(
    steer, script, tmp_path
):
    model = script({"tool_calls": [outside(f"touch {tmp_path / 'never'}")]}, {"text": "Done."})
    thread = steer("run", "--detach", "--model", model, "go").stdout.strip()
    owner = waiting(steer, thread)["process"]["pid"]

    subprocess.run([sys.executable, "-c", CLOSING, thread], env=steer.environ, check=True)

    gone(owner)
    log = Path(steer.environ["STEERSMAN_HOME"]) / "background" / f"{thread}.log"
    assert log.read_text() == ""
    assert _ended(steer, thread)["session_end"] == 1
