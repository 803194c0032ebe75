"""What a command may take of the machine: kept output, processes, and the size of files."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.world import STEER, Steer, call

CROWD = "for n in $(seq 100); do sleep 15 & done; echo started; wait; echo survived"
FAMILY = "for n in $(seq 10); do sleep 0.5 & done; wait; echo survived"


def ran(steer, script, command, **more):
    model = script(
        {"tool_calls": [call("workspace_run_command", command=command, **more)]}, {"text": "-"}
    )
    messages = steer.messages("run", "--model", model, "--approvals", "never", "go")
    return next(m["body"] for m in messages if m["kind"] == "tool_result")["output"]


@pytest.mark.parametrize("trust", ["sandboxed", "untrusted"])
def test_a_command_with_too_many_processes_is_ended(environ, workspace, script, trust):
    few = {**environ, "STEERSMAN_MAX_PROCESSES": "40", "STEERSMAN_TRUST": trust}
    steer = Steer(few, workspace)
    crowd = ran(steer, script, CROWD)
    assert "more than max_processes allows" in crowd["output"]
    assert "survived" not in crowd["output"]
    assert crowd["exit_code"] == 137
    assert "survived" in ran(steer, script, FAMILY)["output"]


def test_the_agent_gets_what_there_is_and_a_person_waits(environ, workspace, script):
    hasty = Steer({**environ, "STEERSMAN_COMMAND_WAIT": "0.1"}, workspace)
    moved = ran(hasty, script, "sleep 600")
    assert moved["background_process_id"] == "p1"
    own = hasty("call", "workspace_run_command", '{"command": "sleep 1; echo done"}', "--yes")
    assert json.loads(own.stdout)["output"] == "done\n"


@pytest.mark.parametrize("trust", ["sandboxed", "untrusted"])
def test_a_command_is_nicer_and_ended_sooner_than_the_host(environ, workspace, script, trust):
    steer = Steer({**environ, "STEERSMAN_NICE": "7", "STEERSMAN_TRUST": trust}, workspace)
    found = ran(steer, script, "nice; cat /proc/self/oom_score_adj")
    own = int(Path("/proc/self/oom_score_adj").read_text())
    wanted = [min(os.nice(0) + 7, 19), min(own + 500, 1000)]
    assert [int(line) for line in found["output"].split()] == wanted


def test_only_so_much_of_the_output_is_kept(environ, workspace, script):
    steer = Steer({**environ, "STEERSMAN_MAX_OUTPUT": "65536"}, workspace)
    ran(steer, script, "head -c 5000000 /dev/zero | tr '\\0' x")
    kept = [path for path in Path(environ["STEERSMAN_HOME"]).rglob("*") if path.is_file()]
    assert max(path.stat().st_size for path in kept if "output" in path.parts) <= 65536


@pytest.mark.soak
def test_a_file_that_is_mostly_nothing_takes_no_room(steer, script, workspace, environ):
    command = "truncate -s 1G sparse; printf end >> sparse; ln sparse twice; printf x >> sparse"
    ran(steer, script, command)
    (workspace / "sparse").rename(workspace / "moved")
    ran(steer, script, "printf y >> twice; cp --sparse=always twice sparse")
    assert_sparse(workspace, environ, "moved", "sparse", "twice")


def assert_sparse(workspace, environ, *names):
    for name in names:
        found = (workspace / name).stat()
        assert found.st_size > 1024**3
        assert found.st_blocks * 512 < 1_000_000
    home = Path(environ["STEERSMAN_HOME"])
    assert sum(path.lstat().st_blocks * 512 for path in home.rglob("*")) < 20_000_000


def test_a_file_does_not_become_larger_than_the_limit(environ, workspace, script):
    steer = Steer({**environ, "STEERSMAN_MAX_FILE": "1000000"}, workspace)
    ran(steer, script, "yes | head -c 2000000 > large")
    assert (workspace / "large").stat().st_size == 1_000_000


def test_a_limit_that_is_lower_already_stays(environ, workspace, script):
    calls = [call("workspace_run_command", command="ulimit -f")]
    model = script({"tool_calls": calls}, {"text": "-"})
    run = [*STEER, "run", "--json", "--model", model, "--approvals", "never", "go"]
    done = subprocess.run(
        ["bash", "-c", 'ulimit -Sf 50000 -Hf 50000; exec "$@"', "bash", *run],
        env=environ, cwd=workspace, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert '"output":"50000' in done.stdout


@pytest.mark.parametrize("name", ["max_output", "max_processes", "max_file"])
def test_a_folder_cannot_lift_the_limits(steer, workspace, script, name):
    (workspace / ".steersman").mkdir(exist_ok=True)
    (workspace / ".steersman" / "config.toml").write_text(f"{name} = 1000000000\n")
    steer("policy", "trust", "--yes")
    done = steer("run", "--model", script({"text": "-"}), "go")
    assert f"must not set “{name}”" in done.stderr
