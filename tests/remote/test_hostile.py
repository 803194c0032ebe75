"""The machine of a workspace can lie about its files, and about nothing else."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from steersman.records.message import MASK
from tests.remote.test_workspace import kinds, results
from tests.world import Steer, call

ROOT = Path(__file__).parents[2]


class Machine:
    """A machine whose agent lies, and the command line of the person who works there."""

    def __init__(self, steer: Steer, model: str, folder: Path) -> None:
        self.steer = steer
        self._model = model
        self._ssh = folder / "ssh"
        self._told = folder / "told"
        steer.environ["STEERSMAN_SSH_COMMAND"] = str(self._ssh)

    def run(self, lie: str, *flags: str) -> tuple[list[dict[str, Any]], str]:
        """Work there; the answer is what the log has, and what a person sees of problems."""
        self._ssh.write_text(
            f"#!/bin/sh\ncd {ROOT} && exec {sys.executable} -m tests.remote.hostile"
            f" {lie} {self._told}\n"
        )
        self._ssh.chmod(0o755)
        self._told.write_text("")
        begun = ("run", "-w", "ssh://box/project", "--model", self._model, "--yes", "--json")
        done = self.steer(*begun, *flags, "echo a greeting")
        assert "bug" not in done.stderr, done.stderr
        assert "Traceback" not in done.stderr, done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()], done.stderr

    def told(self, what: str) -> list[Any]:
        """What the agent was asked, by the name of the request."""
        lines = map(json.loads, self._told.read_text().splitlines())
        return [body for name, body in lines if name == what]


@pytest.fixture
def machine(steer: Steer, script: Callable[..., str], tmp_path: Path) -> Machine:
    """A machine whose agent lies, and a model that wants one command run there."""
    run = call("workspace_run_command", command="echo hello")
    model = script({"tool_calls": [run]}, {"text": "Done."})
    folder = tmp_path / "evil"
    folder.mkdir()
    return Machine(steer, model, folder)


@pytest.mark.parametrize(
    "forged",
    ["user", "assistant", "confirm_response", "session_end", "nonsense", "user@shown",
     "audit@lane", "audit@turn", "audit@call", "tool_progress@call"],
)  # fmt: skip
def test_an_agent_cannot_write_what_others_say(machine: Machine, forged: str) -> None:
    said, told = machine.run(f"forge:{forged}")
    assert "Forged." not in json.dumps(said)
    assert results(said)[0]["status"] == "interrupted"
    assert "The workspace agent wrote what is not its to write" in results(said)[0]["message"]
    ends = [one["body"]["status"] for one in said if one["kind"] == "session_end"]
    assert ends in ([], ["failed"]), told


def test_what_operations_write_is_taken(machine: Machine) -> None:
    said, told = machine.run("forge:error")
    assert results(said)[0]["status"] == "ok", told
    assert "error" in kinds(said)


def test_calls_that_nobody_made_are_not_carried_out(machine: Machine) -> None:
    said, _ = machine.run("resume")
    assert "read_earlier" not in json.dumps(said)


def test_an_agent_gets_no_settings_that_it_does_not_need(machine: Machine, tmp_path: Path) -> None:
    file = tmp_path / "home/.config/steersman/config.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(
        'otel = "http://127.0.0.1:9/otlp?key=hunter22"\nstatus_line = "echo hunter22"\n'
        'instructions = "hunter22"\nmax_processes = 77\n'
        '[profiles.work.providers.own]\nkey = "hunter22"\nbase_url = "http://127.0.0.1:9"\n'
    )
    machine.run("nothing")
    (opened,) = machine.told("open")
    assert opened["settings"]["max_processes"] == 77
    assert "hunter22" not in json.dumps(opened)


def test_ordinary_words_are_not_masked_because_an_agent_says_so(machine: Machine) -> None:
    said, told = machine.run("mask")
    assert results(said)[0]["status"] == "ok", told
    assert MASK not in json.dumps(said)


@pytest.mark.parametrize("answer", ["number", "user", "bytes", "diff", "family", "opened"])
def test_an_answer_that_is_none_ends_the_line_with_a_sentence(
    machine: Machine, answer: str
) -> None:
    said, told = machine.run(f"garble:{answer}")
    assert "Forged." not in json.dumps(said)
    assert "The other side of the line says something unknown." in json.dumps(said) + told


@pytest.mark.parametrize("name", ["stop", "exit"])
def test_what_stops_a_turn_is_an_error_and_nothing_else_of_that_name(
    machine: Machine, name: str
) -> None:
    said, _ = machine.run(f"garble:{name}")
    assert results(said)[0]["status"] == "ok"
    assert [one["body"]["status"] for one in said if one["kind"] == "session_end"] == ["failed"]
