"""Descriptors a command inherits: those it was given, under the numbers they have in the host."""

import os
import random
from pathlib import Path

import pytest

from steersman.operations.running.guardian import Handed
from steersman.records.errors import ToolProblem
from tests.operations.processes.kit import PATIENCE, processes_in, run


def numbered(folder: Path, *numbers: int) -> list[int]:
    """Open files that hold the number of their descriptor."""
    for number in numbers:
        (folder / str(number)).write_text(str(number))
        opened = os.open(folder / str(number), os.O_RDONLY)
        os.dup2(opened, number, inheritable=False)
        if opened != number:
            os.close(opened)
    return list(numbers)


@pytest.mark.parametrize(
    "numbers",
    [[200], [205, 203, 204], [240, 241, 242, 243, 244, 245, 246, 247]],
    ids=len,
)
def test_a_command_has_what_it_was_given_and_nothing_else(tmp_path, numbers):
    given = numbered(tmp_path, *numbers)
    kept = numbered(tmp_path, 230)
    reading = "; ".join(f"cat <&{number}; echo" for number in given)

    async def work():
        async with processes_in(tmp_path) as processes:
            running = await processes.start(
                ["bash", "-c", f"ls /proc/self/fd; {reading}"], str(tmp_path), os.environ,
                call="c", handed=Handed(tuple(given)),
            )  # fmt: skip
            assert await running.wait(PATIENCE)
            return running.output.text().split()

    try:
        said = run(work())
    finally:
        for number in (*given, *kept):
            os.close(number)
    count = len(given)
    assert sorted(map(int, said[:-count])) == [0, 1, 2, 3, *sorted(given)]
    assert said[-count:] == [str(number) for number in given]


def test_numbers_that_the_guard_itself_uses_are_no_trouble(tmp_path):
    """Low numbers are those of the guard's own descriptors, in every order."""
    pipes = [os.pipe() for _ in range(6)]
    ends = [end for pipe in pipes for end in pipe]
    random.Random(4).shuffle(ends)
    names = {end: os.readlink(f"/proc/self/fd/{end}") for end in ends}

    async def work():
        async with processes_in(tmp_path) as processes:
            script = "".join(f"readlink /proc/self/fd/{end}; " for end in ends)
            running = await processes.start(
                ["bash", "-c", script],
                str(tmp_path),
                os.environ,
                call="c",
                handed=Handed(tuple(ends)),
            )
            assert await running.wait(PATIENCE)
            return running.output.text().split()

    try:
        assert run(work()) == [names[end] for end in ends]
    finally:
        for end in ends:
            os.close(end)


def test_the_guard_keeps_nothing(tmp_path):
    """When host and command have closed a pipe, it is closed."""
    reading, writing = os.pipe()

    async def work():
        async with processes_in(tmp_path) as processes:
            running = await processes.start(
                ["bash", "-c", f"exec {writing}>&-; echo on; sleep 620"], str(tmp_path),
                os.environ, call="c", handed=Handed((writing,)),
            )  # fmt: skip
            os.close(writing)
            while "on" not in running.output.text():
                await running.wait_for_output(running.output.size, PATIENCE)
            return os.read(reading, 1)

    assert run(work()) == b""
    os.close(reading)


def test_a_descriptor_that_is_closed_is_told(tmp_path):
    async def work():
        async with processes_in(tmp_path) as processes:
            with pytest.raises(ToolProblem, match="cannot be started"):
                await processes.start(
                    ["true"], str(tmp_path), os.environ, call="c", handed=Handed((250,))
                )

    run(work())


def test_a_command_does_not_start_outside_the_network_it_was_to_join(tmp_path):
    """It has no network of its own then, so it would be in that of the machine."""
    (wrong,) = numbered(tmp_path, 251)

    async def work():
        async with processes_in(tmp_path) as processes:
            started = processes.start(
                ["touch", "made"], str(tmp_path), os.environ, call="c",
                handed=Handed(spaces=(wrong,)),
            )  # fmt: skip
            with pytest.raises(ToolProblem) as refused:
                await started
            return refused.value.why

    try:
        assert "network cannot be joined" in run(work())
    finally:
        os.close(wrong)
    assert not (tmp_path / "made").exists()
