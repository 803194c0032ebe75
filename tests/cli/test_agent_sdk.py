"""The official `claude-agent-sdk` drives `steer` as if it were Claude Code."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests import provision
from tests.cli.kit import DONE, FIX, FIXED, WRITE, shell
from tests.world import PATIENCE

DRIVING = Path(__file__).with_name("driving.py")


@pytest.fixture
def driven(environ, workspace, tmp_path):
    """Play a story of `driving.py` with a model; the answer is what the program saw."""
    steer = tmp_path / "steer"
    steer.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m steersman "$@"\n')
    steer.chmod(0o755)

    def play(story, model, other=""):
        env = {**environ, "PYTHONPATH": str(provision.agent_sdk()), "STEERSMAN_MODEL": model}
        env["OTHER_MODEL"] = other
        done = subprocess.run(
            [sys.executable, DRIVING, steer, workspace, story],
            env=env, capture_output=True, text=True, timeout=PATIENCE, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return play


def test_a_query_and_the_same_thread_resumed(driven, workspace, script):
    model = script({"text": "Looking.", "tool_calls": [FIX]}, DONE, {"text": "Nothing more."})
    seen = driven("asking", model)
    assert (seen["result"], seen["tools"]) == ("Done.", ["Edit"])
    assert (seen["again"], seen["same"]) == ("Nothing more.", True)
    assert (workspace / "calc.py").read_text() == FIXED


def test_a_callback_denies_changes_and_allows_for_the_session(driven, workspace, script):
    writes = [{**WRITE, "arguments": {"path": f"{n}.txt", "content": f"{n}\n"}} for n in range(4)]
    turns = [{"tool_calls": [one]} for one in writes]
    seen = driven("permitting", script(*turns[:2], DONE, *turns[2:], turns[2], DONE))
    assert [one[:2] for one in seen["asked"]] == [
        ["Write", "0\n"], ["Write", "1\n"], ["Write", "2\n"], ["Write", "3\n"],
    ]  # fmt: skip
    assert seen["asked"][0][2] == "create `0.txt`"
    assert (seen["denied"], seen["same"]) == (["Write"], True)
    assert seen["pieces"]
    assert not (workspace / "0.txt").exists()
    assert (workspace / "1.txt").read_text() == "changed\n"


def test_a_turn_is_interrupted_and_the_next_one_works(driven, script):
    model = script({"tool_calls": [shell("sleep 600")]})
    seen = driven("stopping", model, script({"text": "Here."}, name="other.json"))
    assert seen["stopped"] == ["error_during_execution", True]
    assert seen["next"] == "Here."
