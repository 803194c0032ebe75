"""Processes: started, waited for, moved to the background, signalled, listed, ended."""

import asyncio
import os
import selectors
import signal
from pathlib import Path

import pytest

from steersman.operations.running import processes as module
from steersman.operations.running.guardian import Guardian
from steersman.operations.running.processes import Processes
from steersman.records.errors import ToolProblem
from tests.operations.processes.kit import (
    PATIENCE,
    bash,
    eventually,
    living_in,
    parent_of,
    printed,
    processes_in,
    run,
    sandbox,
    state_of,
)


@pytest.mark.parametrize(
    ("command", "state", "exit_code"),
    [
        ("exit 0", "exited 0", 0),
        ("exit 7", "exited 7", 7),
        ("no-such-command", "exited 127", 127),
        ("kill -SEGV $$", "killed by SIGSEGV", 139),
        ("kill -34 $$", "killed by SIGRTMIN", 162),
    ],
)
def test_how_a_command_ended_is_known(tmp_path, command, state, exit_code):
    async def work():
        async with processes_in(tmp_path) as processes:
            running = await bash(processes, tmp_path, command)
            assert (str(running.state), running.state.exit_code) == ("running", None)
            assert await running.wait(PATIENCE)
            return str(running.state), running.state.exit_code

    assert run(work()) == (state, exit_code)


def test_a_command_gets_its_folder_environment_and_nothing_to_read(tmp_path):
    script = (
        'pwd; echo "$A|$STEERSMAN_CALL|${PYTHONPATH-none}"; cat; echo err >&2; ls /proc/self/fd'
    )

    async def work():
        async with processes_in(tmp_path) as processes:
            environ = {"PATH": os.environ["PATH"], "A": "ä\nb"}
            running = await bash(processes, tmp_path, script, environ=environ)
            assert await running.wait(PATIENCE)
            return running.output.text()

    assert run(work()) == f"{tmp_path}\nä\nb|test|none\nerr\n0\n1\n2\n3\n"


def test_a_command_starts_with_every_signal_at_its_default(tmp_path):
    async def work():
        async with processes_in(tmp_path) as processes:
            running = await bash(processes, tmp_path, "exec grep ^Sig[BI] /proc/self/status")
            assert await running.wait(PATIENCE)
            _, blocked, _, ignored = running.output.text().split()
            return int(blocked, 16), int(ignored, 16) & 0x7FFFFFFF  # the C library has two more

    assert run(work()) == (0, 0)


def test_large_orders_arrive_whole(tmp_path):
    async def work():
        async with processes_in(tmp_path) as processes:
            environ = {"PATH": os.environ["PATH"]}
            environ |= {f"V{n}": "v" * 100_000 for n in range(8)}
            command = f"echo ${{#V7}} {'x' * 100_000}"
            running = await bash(processes, tmp_path, command, environ=environ)
            assert await running.wait(PATIENCE)
            return running.output.read(0, 200_000)

    assert run(work()) == b"100000 " + b"x" * 100_000 + b"\n"


@pytest.mark.parametrize(
    ("argv", "folder", "why"),
    [
        (["no-such-program"], ".", "No such file or directory: no-such-program"),
        (["true"], "missing", "No such file or directory"),
        (["true"], "file", "Not a directory"),
        (["true", "x" * 3_000_000], ".", "Argument list too long"),
        (["true", "a\0b"], ".", "NUL"),
    ],
)
def test_what_cannot_be_started_is_said_and_leaves_nothing(tmp_path, argv, folder, why):
    (tmp_path / "file").touch()

    async def work():
        async with processes_in(tmp_path) as processes:
            with pytest.raises(ToolProblem) as problem:
                await processes.start(argv, str(tmp_path / folder), os.environ, call="c")
            assert why in str(problem.value)
            assert processes.listing() == []
            running = await bash(processes, tmp_path, "echo fine")
            assert await running.wait(PATIENCE)
            return running.output.text(), [path.name[:3] for path in (tmp_path / "spool").iterdir()]

    assert run(work()) == ("fine\n", ["p2-"])


def test_a_spool_that_cannot_be_made_stops_the_command_before_it_runs(tmp_path):
    (tmp_path / "spool").touch()

    async def work():
        async with processes_in(tmp_path) as processes:
            with pytest.raises(ToolProblem, match="its output cannot be stored"):
                await bash(processes, tmp_path, "touch ran")

    run(work())
    assert not (tmp_path / "ran").exists()


class CountingSelector(selectors.DefaultSelector):
    """Counts how often the loop wakes."""

    wakes = 0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """Wait, and count."""
        self.wakes += 1
        return super().select(timeout)


def test_waiting_is_woken_and_does_not_poll(tmp_path):
    selector = CountingSelector()

    async def work():
        async with processes_in(tmp_path) as processes:
            running = await bash(processes, tmp_path, "sleep 1; echo done; exit 3")
            before = selector.wakes
            waits = (running.wait(), running.wait(PATIENCE), running.wait_for_output(0, PATIENCE))
            await asyncio.gather(*waits)
            assert await running.wait(PATIENCE)
            return selector.wakes - before, str(running.state)

    with asyncio.Runner(loop_factory=lambda: asyncio.SelectorEventLoop(selector)) as runner:
        wakes, state = runner.run(asyncio.wait_for(work(), PATIENCE))
    assert state == "exited 3"
    assert wakes < 25


def test_a_wait_that_is_too_short_says_so_and_changes_nothing(tmp_path):
    async def work():
        async with processes_in(tmp_path) as processes:
            running = await bash(processes, tmp_path, "read -t 600 < <(sleep 600)")
            assert not await running.wait(0.05)
            await running.wait_for_output(0, 0.05)
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(running.wait(), 0.05)
            assert str(running.state) == "running"
            assert running.seconds >= 0.15

    run(work())


def test_the_end_of_the_leader_is_the_end_even_if_the_pipe_stays_open(tmp_path):
    async def work():
        async with processes_in(tmp_path) as processes:
            running = await bash(processes, tmp_path, "(sleep 600 &); echo said; exit 4")
            assert await running.wait(PATIENCE)
            return str(running.state), running.output.text(), running.left

    assert run(work()) == ("exited 4", "said\n", 1)
    assert living_in(tmp_path) == set()


def test_what_is_printed_right_after_the_leader_ended_is_kept(tmp_path):
    async def work():
        async with processes_in(tmp_path) as processes:
            late = "(while kill -0 $$ 2>/dev/null; do :; done; echo late) & echo early"
            running = await bash(processes, tmp_path, late)
            assert await running.wait(PATIENCE)
            return running.output.text(), running.left

    assert run(work()) == ("early\nlate\n", 0)


def test_the_last_bytes_are_there_however_fast_the_end_comes(tmp_path):
    async def work():
        async with processes_in(tmp_path) as processes:
            command = "head -c 60000 /dev/zero | tr '\\0' x; printf '\\xf0\\x9f'"
            started = [await bash(processes, tmp_path, command) for _ in range(20)]
            for running in started:
                assert await running.wait(PATIENCE)
            return {(one.output.size, one.output.text()) for one in started}

    assert run(work()) == {(60002, "x" * 2048 + "…[57,954 bytes cut]")}


def test_live_output_is_whole_characters(tmp_path):
    told: list[str] = []

    async def work():
        async with processes_in(tmp_path) as processes:
            command = r"printf 'a\xe2'; sleep 0.2; printf '\x82\xac\xff'; sleep 0.2; printf '\xc3'"
            running = await bash(processes, tmp_path, command, progress=told.append)
            assert await running.wait(PATIENCE)
            return running.output.text(), running.output.read(0, 99)

    assert run(work()) == ("a€��", b"a\xe2\x82\xac\xff\xc3")
    assert "".join(told) == "a€��"


def test_a_command_goes_on_in_the_background_under_its_handle(tmp_path):
    told: list[str] = []

    async def work():
        async with processes_in(tmp_path) as processes:
            command = "echo one; until [ -e go ]; do sleep 0.05; done; echo two; exit 5"
            running = await bash(processes, tmp_path, command, progress=told.append)
            await printed(running, "one")
            assert not await running.wait(0.1)
            processes.adopt(running)
            assert processes.get("p1") is running
            assert running.background
            (tmp_path / "go").touch()
            assert await running.wait(PATIENCE)
            return running.output.read(4, 99), str(running.state)

    assert run(work()) == (b"two\n", "exited 5")
    assert told == ["one\n"]


def test_cancelling_a_wait_leaves_the_command_and_ending_it_ends_all(tmp_path):
    async def work():
        async with processes_in(tmp_path) as processes:
            running = await bash(processes, tmp_path, "setsid sleep 600 & echo on; sleep 600")
            await printed(running, "on")
            waiting = asyncio.create_task(running.wait())
            await asyncio.sleep(0)
            waiting.cancel()
            await asyncio.wait({waiting})
            assert waiting.cancelled()
            assert len(living_in(tmp_path)) >= 2
            assert await running.end()
            assert living_in(tmp_path) == set()
            return str(running.state)

    assert run(work()) == "killed by SIGKILL"


def test_a_start_that_is_cancelled_leaves_nothing(tmp_path):
    async def work():
        async with processes_in(tmp_path) as processes:
            for pause in range(12):
                starting = asyncio.create_task(bash(processes, tmp_path, "sleep 600"))
                for _ in range(pause):
                    await asyncio.sleep(0)
                starting.cancel()
                await asyncio.wait({starting})
            for running in processes.listing():
                await running.end()
            assert await asyncio.to_thread(eventually, lambda: not living_in(tmp_path))
            spools = {path.name.partition("-")[0] for path in (tmp_path / "spool").iterdir()}
            return spools == {running.id for running in processes.listing()}

    assert run(work())


HANDLERS = (
    "trap 'echo got HUP' HUP; trap 'echo got USR1' USR1; trap 'echo got USR2' USR2; "
    "trap 'echo got TERM; exit 9' TERM; trap 'echo got INT' INT; echo ready; "
    "while :; do sleep 0.05; done"
)


@pytest.mark.parametrize("wrap", [(), sandbox()], ids=["direct", "sandbox"])
def test_signals_reach_the_command_in_its_sandbox(tmp_path, wrap):
    async def work():
        async with processes_in(tmp_path) as processes:
            running = await bash(processes, tmp_path, HANDLERS, wrap=wrap)
            await printed(running, "ready")
            for name in ("HUP", "USR1", "USR2", "INT"):
                running.signal(name)
                await printed(running, f"got {name}")
            running.signal("STOP")

            def stopped() -> bool:
                return "T" in {state_of(pid) for pid in living_in(tmp_path)}

            assert await asyncio.to_thread(eventually, stopped)
            running.signal("CONT")
            running.signal("TERM")
            assert await running.wait(PATIENCE)
            running.signal("TERM")  # too late, and no harm
            return running.output.text().split("\n")[-2], str(running.state)

    assert run(work()) == ("got TERM", "exited 9")


def test_a_signal_that_tells_does_not_end_the_shell_above_who_listens(tmp_path):
    (tmp_path / "handlers.sh").write_text(HANDLERS)

    async def work():
        async with processes_in(tmp_path) as processes:
            running = await bash(processes, tmp_path, "bash handlers.sh; exit $?")
            await printed(running, "ready")
            for name in ("HUP", "USR1", "USR2"):
                running.signal(name)
                await printed(running, f"got {name}")
            assert str(running.state) == "running"
            running.signal("TERM")
            assert await running.wait(PATIENCE)
            return running.output.text().split("\n")[-2], str(running.state), running.left

    assert run(work()) == ("got TERM", "killed by SIGTERM", 0)


def test_a_signal_nobody_handles_ends_everybody(tmp_path):
    async def work():
        async with processes_in(tmp_path) as processes:
            running = await bash(processes, tmp_path, "echo on; sleep 600; true")
            await printed(running, "on")
            running.signal("HUP")
            assert await running.wait(PATIENCE)
            return str(running.state)

    assert run(work()) == "killed by SIGHUP"


def test_ended_processes_are_kept_for_a_while(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "KEPT", 3)

    async def work():
        async with processes_in(tmp_path) as processes:
            lasting = await bash(processes, tmp_path, "sleep 600")
            for n in range(6):
                running = await bash(processes, tmp_path, f"echo {n}")
                assert await running.wait(PATIENCE)
            with pytest.raises(ToolProblem) as problem:
                processes.get("p2")
            known = [(one.id, one.command) for one in processes.listing()]
            assert processes.get("p5").output.read(0, 9) == b"3\n"
            await lasting.end()
            return known, problem.value.why

    known, why = run(work())
    assert known == [
        ("p1", "sleep 600"), ("p4", "echo 2"), ("p5", "echo 3"), ("p6", "echo 4"), ("p7", "echo 5"),
    ]  # fmt: skip
    assert why == (
        "Known processes: p1 (running), p4 (exited 0), p5 (exited 0), p6 (exited 0), p7 (exited 0)."
    )


def test_not_too_many_run_at_once(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "MOST", 2)

    async def work():
        async with processes_in(tmp_path) as processes:
            first = await bash(processes, tmp_path, "sleep 600")
            await bash(processes, tmp_path, "sleep 600")
            with pytest.raises(ToolProblem, match="2 processes are running already"):
                await bash(processes, tmp_path, "sleep 600")
            await first.end()
            await bash(processes, tmp_path, "sleep 600")

    run(work())
    assert living_in(tmp_path) == set()


def test_nothing_is_started_once_closed(tmp_path):
    async def work():
        async with processes_in(tmp_path) as processes:
            starting = asyncio.create_task(bash(processes, tmp_path, "touch ran; sleep 600"))
            await asyncio.sleep(0)
            await processes.close()
            with pytest.raises(ToolProblem, match="the thread is being closed"):
                await starting
            with pytest.raises(ToolProblem, match="the thread is being closed"):
                await bash(processes, tmp_path, "touch ran")

    run(work())
    assert eventually(lambda: not living_in(tmp_path))


def test_one_reaper_serves_many_threads(tmp_path):
    async def work():
        guardian = Guardian()
        threads = [Processes(tmp_path / str(n), guardian) for n in range(3)]
        started = [await bash(thread, tmp_path, "echo on; sleep 600") for thread in threads]
        for running in started:
            await printed(running, "on")
        nurseries = {parent_of(parent_of(running.pid)) for running in started}
        await threads[0].close()
        assert [running.ended for running in started] == [True, False, False]
        await threads[1].close()
        await threads[2].close()
        guardian.close()
        return nurseries

    assert len(run(work())) == 1
    assert living_in(tmp_path) == set()


def test_a_reaper_that_is_seen_to_run_can_be_spoken_to(tmp_path):
    """Another start may look at it from the loop at any moment while a thread starts it."""
    seen = []

    class Watched(Guardian):
        def __setattr__(self, name, value):
            super().__setattr__(name, value)
            if getattr(self, "_nursery", None) is not None:
                seen.append(self._line is not None)

    guardian = Watched()
    guardian.warm()
    assert seen
    assert all(seen)
    guardian.close()


def test_a_guard_that_is_killed_takes_its_command_along(tmp_path):
    async def work():
        async with processes_in(tmp_path) as processes:
            line = "setsid sleep 600 & echo on; sleep 600; : > half; sleep 600; : > half"
            running = await bash(processes, tmp_path, line)
            other = await bash(processes, tmp_path, "echo on; exec sleep 600")
            await printed(running, "on")
            await printed(other, "on")
            os.kill(parent_of(running.pid), signal.SIGKILL)
            assert await running.wait(PATIENCE)
            assert running.pid not in living_in(tmp_path)  # what it did is known from now on

            def alone() -> bool:
                return living_in(tmp_path) == {other.pid}

            assert await asyncio.to_thread(eventually, alone)
            return str(running.state), str(other.state)

    assert run(work()) == ("killed by SIGKILL", "running")
    assert living_in(tmp_path) == set()
    assert not (tmp_path / "half").exists()  # no shell went on to its next command


def test_a_nursery_that_is_killed_is_replaced(tmp_path):
    async def work():
        async with processes_in(tmp_path) as processes:
            first = await bash(processes, tmp_path, "echo on; read -t 600 < <(sleep 600)")
            await printed(first, "on")
            guardian = parent_of(parent_of(first.pid))
            os.kill(guardian, signal.SIGKILL)

            def gone() -> bool:
                return not Path(f"/proc/{guardian}/cwd").exists()

            assert await asyncio.to_thread(eventually, gone)
            second = await bash(processes, tmp_path, "echo fine")
            assert await second.wait(PATIENCE)
            states = str(first.state), str(second.state)
            assert await first.end()
            return states

    assert run(work()) == ("running", "exited 0")
    assert living_in(tmp_path) == set()
