"""A cut line, a host that dies, an agent that is restarted: nothing is lost or done twice."""

import json
import os
import random
import signal
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import Any

from tests.remote.conftest import Box
from tests.remote.test_workspace import results
from tests.world import Steer, call, kill


def until(true: Callable[[], Any]) -> Any:
    """Wait for something that will be."""
    for _ in range(1000):
        if found := true():
            return found
        time.sleep(0.02)
    raise AssertionError("it never came")


def lines(box: Box) -> list[int]:
    """The programs that lines to the box go through."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if b"--stdio" in words and os.fsencode(box.project) in words and b"sh" not in words:
                found.append(int(entry.name))
    return found


def _gone(box: Box, line: int) -> bool:
    return line not in lines(box)


def cut(box: Box) -> None:
    """Cut every line to the box, as soon as there is one."""
    for line in until(lambda: lines(box)):
        os.kill(line, signal.SIGKILL)
        until(partial(_gone, box, line))


def messages(far: Steer, thread: str) -> list[dict[str, Any]]:
    return far.messages("ledger", "show", thread)


def test_a_command_goes_on_while_the_line_is_cut_and_its_output_is_caught_up(
    box: Box, far: Steer, script: Callable[..., str], tmp_path: Path
) -> None:
    gate = box.project / "open"
    gate.touch()
    command = f"echo begun; until grep -q go {gate}; do sleep 0.05; done; echo ended > out.txt"
    model = script(
        {"tool_calls": [call("workspace_run_command", command=command, wait_timeout=120)]},
        {"tool_calls": [call("workspace_read_file", path="out.txt")]},
        {"text": "Done."},
    )
    run = far.start("run", "-w", box.address, "--model", model, "--yes", "--json", "work")
    until(lambda: commands(gate))
    for _ in range(3):
        cut(box)  # as soon as it is there
    gate.write_text("go")
    out, err = run.communicate(timeout=120)
    said = [json.loads(line) for line in out.splitlines()]
    done, read = results(said)
    assert (done["status"], read["status"]) == ("ok", "ok"), (done, read, err)
    assert done["output"]["output"].strip() == "begun"
    assert (box.project / "out.txt").read_text() == "ended\n"


def commands(gate: Path) -> list[int]:
    """The shells that wait for a file."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if b"until grep -q go " + os.fsencode(gate) in words:
                found.append(int(entry.name))
    return found


def died_while(box: Box, far: Steer, model: str, gate: Path) -> dict[str, Any]:
    """The result that the next host has of a command during which its host was killed."""
    run = far.start("run", "-w", box.address, "--model", model, "--yes", "work")
    until(lambda: commands(gate))
    kill(run)
    gate.write_text("go")
    until(lambda: not commands(gate))
    until(lambda: not lines(box))
    thread = far.messages("threads", "list", "--all")[0]["id"]
    assert far("undo", thread, "--list").returncode != 0  # to look at it settles nothing
    assert far("threads", "show", thread).returncode == 0
    assert results(messages(far, thread)) == []
    done = far("resume", thread, "--model", model, "--yes")
    assert "Traceback" not in done.stderr
    said = messages(far, thread)
    assert [one["kind"] for one in said].count("tool_call") == 1
    (result,) = results(said)
    return result


def test_what_a_host_that_died_did_not_hear_is_said_to_the_next(
    box: Box, far: Steer, script: Callable[..., str]
) -> None:
    gate = box.project / "open"
    gate.touch()
    command = f"until grep -q go {gate}; do sleep 0.05; done; echo ended"
    model = script(
        {"tool_calls": [call("workspace_run_command", command=command, wait_timeout=120)]},
        {"text": "Done."},
    )
    result = died_while(box, far, model, gate)
    assert (result["status"], result["output"]["output"]) == ("ok", "ended\n")


def test_what_a_host_could_not_write_is_said_to_the_next(
    box: Box, far: Steer, script: Callable[..., str]
) -> None:
    gate = box.project / "open"
    gate.touch()
    command = f"until grep -q go {gate}; do sleep 0.05; done; echo ended"
    model = script(
        {"tool_calls": [call("workspace_run_command", command=command, wait_timeout=120)]},
        {"text": "Done."},
    )
    run = far.start("run", "-w", box.address, "--model", model, "--yes", "work")
    until(lambda: commands(gate))
    run.send_signal(signal.SIGSTOP)  # so that it learns of both at the same time
    with closing(sqlite3.connect(Path(far.environ["STEERSMAN_HOME"], "steersman.db"))) as db, db:
        db.execute("DELETE FROM leases")  # as one who takes the thread over does
    gate.write_text("go")
    until(lambda: not commands(gate))
    run.send_signal(signal.SIGCONT)
    _, err = run.communicate(timeout=120)
    assert "Traceback" not in err
    thread = far.messages("threads", "list", "--all")[0]["id"]
    assert results(messages(far, thread)) == []
    far("resume", thread, "--model", model, "--yes")
    (result,) = results(messages(far, thread))
    assert (result["status"], result.get("output", {}).get("output")) == ("ok", "ended\n"), result


def test_what_no_host_judged_has_not_happened(
    box: Box, far: Steer, script: Callable[..., str]
) -> None:
    gate = box.project / "open"
    gate.touch()
    command = f"until grep -q go {gate}; do sleep 0.05; done; echo made > made.txt"
    model = script(
        {"tool_calls": [call("workspace_run_command", command=command, wait_timeout=120)]},
        {"text": "Done."},
    )
    assert died_while(box, far, model, gate)["status"] == "cancelled"
    assert not (box.project / "made.txt").exists()


def test_an_agent_that_dies_ends_the_turn_with_a_sentence(
    box: Box, far: Steer, script: Callable[..., str]
) -> None:
    gate = box.project / "open"
    gate.touch()
    command = f"until grep -q go {gate}; do sleep 0.05; done"
    model = script(
        {"tool_calls": [call("workspace_run_command", command=command, wait_timeout=120)]},
        {"text": "Done."},
    )
    run = far.start("run", "-w", box.address, "--model", model, "--yes", "work")
    until(lambda: commands(gate))
    box.end()
    out, err = run.communicate(timeout=120)
    assert "The workspace agent was restarted." in out
    assert "Traceback" not in out + err
    until(lambda: not commands(gate))  # nothing outlives its agent


def test_a_line_that_is_cut_again_and_again_loses_nothing_and_does_nothing_twice(
    box: Box, far: Steer, script: Callable[..., str]
) -> None:
    tally = box.project / "tally"
    tally.write_text("")
    numbers = [str(number) for number in range(15)]
    model = script(
        *({"tool_calls": [call("workspace_run_command", command=f"echo {one} >> tally")]}
          for one in numbers),
        {"text": "Done."},
    )  # fmt: skip
    run = far.start("run", "-w", box.address, "--model", model, "--yes", "--json", "count")
    chance, cuts = random.Random(40), 0
    output = list[str]()
    reading = threading.Thread(target=lambda: output.append(run.communicate()[0]))
    reading.start()
    until(tally.read_text)
    while reading.is_alive():
        before = tally.read_text()
        for _ in range(chance.randint(1, 3)):  # in a call, and while the next line greets
            for line in lines(box):
                with suppress(ProcessLookupError):
                    os.kill(line, signal.SIGKILL)
                    cuts += 1
            time.sleep(chance.uniform(0.0, 1.0))
        until(lambda seen=before: tally.read_text() != seen or not reading.is_alive())
    said = [json.loads(line) for line in output[0].splitlines()]
    assert [one["status"] for one in results(said)] == ["ok"] * len(numbers)
    assert tally.read_text().split() == numbers
    stored = [one["seq"] for one in said if one["seq"]]
    assert stored == list(range(1, len(stored) + 1))
    assert cuts


def test_ctrl_c_here_stops_the_command_there(
    box: Box, far: Steer, script: Callable[..., str]
) -> None:
    gate = box.project / "open"
    gate.touch()
    command = f"echo begun; until grep -q go {gate}; do sleep 0.05; done; echo made > made.txt"
    model = script(
        {"tool_calls": [call("workspace_run_command", command=command, wait_timeout=120)]},
        {"text": "Done."},
    )
    run = far.start("run", "-w", box.address, "--model", model, "--yes", "--json", "work")
    until(lambda: commands(gate))
    thread = far.messages("threads", "list", "--all")[0]["id"]
    assert f"Thread {thread} is open in another process" in far("threads", "show", thread).stdout
    run.send_signal(signal.SIGINT)
    out, err = run.communicate(timeout=120)
    said = [json.loads(line) for line in out.splitlines()]
    (result,) = results(said)
    assert result["status"] == "cancelled", err
    assert not commands(gate)
    assert not (box.project / "made.txt").exists()


def test_a_turn_is_stopped_while_the_other_machine_cannot_be_reached(
    box: Box, far: Steer, script: Callable[..., str]
) -> None:
    gate = box.project / "open"
    gate.touch()
    command = f"until grep -q go {gate}; do sleep 0.05; done"
    model = script(
        {"tool_calls": [call("workspace_run_command", command=command, wait_timeout=120)]},
        {"text": "Done."},
    )
    run = far.start("run", "-w", box.address, "--model", model, "--yes", "--json", "work")
    until(lambda: commands(gate))
    ssh = Path(far.environ["STEERSMAN_SSH_COMMAND"])
    ssh.rename(ssh.with_name("away"))
    cut(box)
    run.send_signal(signal.SIGINT)
    out, err = run.communicate(timeout=60)
    said = [json.loads(line) for line in out.splitlines()]
    (result,) = results(said)
    assert result["status"] == "interrupted", err
    assert result["message"] == "interrupted: what became of it is not known yet"
    assert [one["body"]["ending"] for one in said if one["kind"] == "turn_end"] == ["cancelled"]
    assert "Traceback" not in err


def test_an_agent_whose_folder_is_gone_ends(
    box: Box, far: Steer, script: Callable[..., str]
) -> None:
    far("run", "-w", box.address, "--model", script({"text": "Done."}), "hello")
    assert box.agents()
    box.project.rename(box.home / "elsewhere")
    until(lambda: not box.agents())
