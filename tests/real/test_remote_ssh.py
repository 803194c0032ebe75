"""A workspace that is reached by a real `ssh`, on loopback and between two networks.

Twenty-five cut lines here; a hundred with `make soak`. A failing round is in the test's output.
A line is taken up again once it was there: who cannot reach the machine at first gets an error.
"""

import json
import random
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.cli.kit import eventually
from tests.mcp.kit import entry
from tests.real.sshd import Reached, cable, processes, reached
from tests.remote.test_workspace import results
from tests.world import PATIENCE, call

SEED = 15
FEW, MANY = 25, 100
PAUSE = 0.8  # seconds, at most, from the moment a command may go on to the cut


@pytest.fixture(params=["loopback", "two networks"])
def there(
    request: pytest.FixtureRequest, tmp_path: Path, workspace: Path, environ: dict[str, str]
) -> Iterator[Reached]:
    """A machine that is reached by ssh."""
    if request.param == "loopback":
        with reached(tmp_path, workspace, environ) as made:
            yield made
    else:
        with cable() as between, reached(tmp_path, workspace, environ, between) as made:
            yield made


def decoded(said: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in said.splitlines()]


@pytest.mark.real
def test_the_story_of_a_workspace_behind_ssh(there: Reached, script: Callable[..., str]) -> None:
    project = there.box.project
    (project / "use.py").write_text("from calc import add\n\nprint(add(1, 2))\n")
    notes = there.box.home / "notes"
    notes.mkdir()
    (notes / "note-0").write_text("Buy milk.\n")
    config = there.box.home / ".config" / "steersman" / "mcp.json"
    config.parent.mkdir(parents=True)
    config.write_text(json.dumps({"mcpServers": {"notes": entry(notes)}}))
    edit = {"path": "calc.py", "edits": [{"search": "a - b", "replace": "a + b"}]}
    command = "python3 use.py > out; rm README.md"
    model = script(
        {"tool_calls": [call("workspace_edit_files", files=[edit])]},
        {"tool_calls": [call("workspace_run_command", command=command)]},
        {"tool_calls": [{"name": "workspace_find_references", "arguments": {"name": "add"}}]},
        {"tool_calls": [call("mcp_list_tools", select=["notes__read_notes"])]},
        {"tool_calls": [call("notes__read_notes")]},
        {"text": "Done."},
    )
    run = ("run", "-w", there.box.address, "--model", model, "--yes", "--json", "fix it")
    said = decoded(there.steer(*run))
    told = results(said)
    assert [one["status"] for one in told] == ["ok"] * 5, told
    assert (project / "calc.py").read_text() == "def add(a, b):\n    return a + b\n"
    assert (project / "out").read_text() == "3\n"
    assert told[2]["output"]["backend"] == "ty"  # a language server, started beside the code
    assert [one["line"] for one in told[2]["output"]["references"]] == [1, 3]
    assert "Buy milk." in json.dumps(told[4]["output"])

    there.steer("undo", said[0]["thread"], "--yes")
    assert (project / "calc.py").read_text() == "def add(a, b):\n    return a - b\n"
    assert (project / "README.md").read_text() == "# Calc\n"
    assert not (project / "out").exists()


def host_side(there: Reached, chance: random.Random) -> None:
    """The host's `ssh` dies."""
    there.cut(there.clients)


def far_side(there: Reached, chance: random.Random) -> None:
    """The server's end of the connection dies."""
    there.cut(there.sessions)


def unplugged(there: Reached, chance: random.Random) -> None:
    """Nothing comes through for a while; the connection may survive it."""
    assert there.cable is not None
    there.cable.unplug()
    time.sleep(chance.uniform(0, PAUSE))
    there.cable.plug_in()


def unheard(there: Reached, chance: random.Random) -> None:
    """The host's `ssh` dies while the server cannot hear of it."""
    assert there.cable is not None
    there.cable.unplug()
    there.cut(there.clients)
    time.sleep(chance.uniform(0, PAUSE))
    there.cable.plug_in()


ROUNDS = [pytest.param(FEW, marks=pytest.mark.real), pytest.param(MANY, marks=pytest.mark.soak)]
COUNT = "until grep -qx {0} {1}; do sleep 0.02; done; echo {0} >> tally; echo did {0}"


def waiting(leave: Path) -> list[int]:
    """The shells that wait in the first command."""
    return processes(lambda _, words: COUNT.format(0, leave) in words)


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("rounds", ROUNDS)
def test_lines_that_are_cut_at_any_moment_lose_nothing_and_do_nothing_twice(
    there: Reached, script: Callable[..., str], rounds: int
) -> None:
    """Each round has a command, which waits until it has leave to go on, and a cut before or after
    that: in its beginning, its run, its commit, its result, or while a line is taken up again."""
    tally, leave = there.box.project / "tally", there.box.project / "leave"
    tally.touch()
    leave.touch()
    numbers = [str(number) for number in range(rounds)]
    commands = [call("workspace_run_command", command=COUNT.format(one, leave)) for one in numbers]
    model = script(*({"tool_calls": [one]} for one in commands), {"text": "Done."})
    run = there.start("run", "-w", there.box.address, "--model", model, "--yes", "--json", "count")
    output = list[tuple[str, str]]()
    reading = threading.Thread(target=lambda: output.append(run.communicate()))
    reading.start()
    cuts = [host_side, far_side, *([unplugged, unheard] if there.cable else [])]
    chance = random.Random(SEED)

    def go_on(number: str) -> None:
        with leave.open("a") as file:
            file.write(f"{number}\n")

    def counted(number: str) -> bool:
        return number in tally.read_text().split() or not reading.is_alive()

    try:
        eventually(partial(waiting, leave), PATIENCE)
        for number in numbers:
            first, then = sorted(chance.uniform(0, PAUSE) for _ in range(2))
            assert reading.is_alive(), output
            steps = [partial(go_on, number), partial(chance.choice(cuts), there, chance)]
            chance.shuffle(steps)
            if number == numbers[-1]:  # after that there may be no line any more
                steps.sort(key=lambda step: step.func is go_on)
            print(number, f"{first:.2f} {then:.2f}", [step.func.__name__ for step in steps])
            for pause, step in zip((first, then - first), steps, strict=True):
                time.sleep(pause)
                step()
            eventually(partial(counted, number), PATIENCE)
        reading.join(PATIENCE)
    finally:
        run.kill()
        reading.join()
    said, errors = output[0]
    found = results(decoded(said))
    assert [one["status"] for one in found] == ["ok"] * rounds, errors
    assert [one["output"]["output"] for one in found] == [f"did {one}\n" for one in numbers]
    assert tally.read_text().split() == numbers
    stored = [one["seq"] for one in decoded(said) if one["seq"]]
    assert stored == list(range(1, len(stored) + 1))


@pytest.mark.real
def test_a_cable_that_stays_unplugged_is_noticed_and_the_command_goes_on(
    tmp_path: Path, workspace: Path, environ: dict[str, str], script: Callable[..., str]
) -> None:
    with cable() as between, reached(tmp_path, workspace, environ, between) as there:
        leave = there.box.project / "leave"
        leave.touch()
        model = script(
            {"tool_calls": [call("workspace_run_command", command=COUNT.format(0, leave))]},
            {"text": "Done."},
        )
        run = there.start("run", "-w", there.box.address, "--model", model, "--yes", "--json", "go")
        eventually(partial(waiting, leave), PATIENCE)
        [line] = there.clients()
        between.unplug()
        leave.write_text("0\n")
        eventually(lambda: line not in there.clients(), PATIENCE)  # it heard nothing for too long
        between.plug_in()
        said, errors = run.communicate(timeout=PATIENCE)
        [result] = results(decoded(said))
        assert result["status"] == "ok", errors
        assert (there.box.project / "tally").read_text() == "0\n"
