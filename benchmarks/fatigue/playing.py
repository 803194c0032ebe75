"""One task in one program: the world, the model server, the person's answers, what came of it.

The person says yes to everything but a question that names the harm. A task whose effect is not
there, though a step of it may need to leave the sandbox, is played once more with a model that
tries each such step inside, and then asks to leave, as the programs tell models to do.
"""

import ctypes
import json
import os
import queue
import signal
import subprocess
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

import msgspec

from benchmarks.fatigue.counting import Asked, Play, names
from benchmarks.fatigue.players import Ask, End, Player, Program, Send
from benchmarks.fatigue.tasks import Step, Task
from benchmarks.fatigue.world import World, happened, prepared
from benchmarks.programs import CACHE, Setting, model_server
from benchmarks.tree import SUBREAPER, below

LIMIT = 120
UNKNOWN = ("unsupported call: ", "No such tool available", "There is no tool “")


def play(program: Program, task: Task, root: Path, url: str) -> Play:
    """Play a task, and again outside the sandbox where that is what it takes."""
    first = _once(program, task, root, url, outside=False)
    settled = first.happened or first.problem or any(one.named for one in first.asked)
    if settled or not (program.leaves and task.leaves):
        return first
    return _once(program, task, root, url, outside=True)


def adopt() -> None:
    """Let everything that a program leaves behind become a child of this process."""
    ctypes.CDLL(None).prctl(SUBREAPER, 1, 0, 0, 0)


def _once(program: Program, task: Task, root: Path, url: str, *, outside: bool) -> Play:
    played = Play(task.name, program.name, task.harm is not None)
    log = root / "requests.jsonl"
    log.unlink(missing_ok=True)
    player = program.player()
    with prepared(root, url, task) as world:
        steps = [world.step(step) for step in task.steps]
        turns = [turn for step in steps for turn in player.turns(step, outside=False)]
        if outside:
            turns = [turn for step in steps for turn in _insisting(player, step)]
        with model_server(root, turns, log) as server:
            setting = Setting(CACHE / program.name, root / program.name, server)
            asked, problem = _conversation(player, setting, world, task)
        there = happened(world, task)
        bury(keep=world.pid)
    problem = problem or _unplayed(log, len(turns) + 1)
    return msgspec.structs.replace(played, asked=asked, happened=there, problem=problem)


def _insisting(player: Player, step: Step) -> list[dict[str, Any]]:
    """A step of a model that asks for what its sandbox refused."""
    inside = player.turns(step, outside=False)
    return [*inside, *player.turns(step, outside=True)] if step.leaves else inside


def _conversation(
    player: Player, setting: Setting, world: World, task: Task
) -> tuple[tuple[Asked, ...], str]:
    """Run the program to the end of its turn and answer what it asks."""
    setting.home.mkdir(parents=True, exist_ok=True)
    command, environ = player.start(setting, world)
    asked: list[Asked] = []
    with (setting.home / "stderr.txt").open("wb") as errors:
        process = subprocess.Popen(
            command, env=world.environ | environ, cwd=world.work, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=errors, start_new_session=True,
        )  # fmt: skip
    try:
        problem = _answered(player, process, world, task, asked)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        for pipe in (process.stdin, process.stdout):
            with suppress(OSError):
                if pipe is not None:
                    pipe.close()
    return tuple(asked), problem


def _answered(
    player: Player, process: "subprocess.Popen[bytes]", world: World, task: Task, asked: list[Asked]
) -> str:
    """Hear line after line until the end; the answer is a problem, if there was one."""
    assert process.stdin is not None
    assert process.stdout is not None
    lines: queue.Queue[bytes] = queue.Queue()
    threading.Thread(target=_read, args=(process.stdout, lines), daemon=True).start()
    end = time.monotonic() + LIMIT
    try:
        for first in player.begin(world):
            _tell(process.stdin, first)
        while line := lines.get(timeout=max(end - time.monotonic(), 0.01)):
            match player.hear(_parsed(line)):
                case Ask(kind=kind, text=text, reply=reply):
                    one = Asked(kind, text, names(task.harm, text))
                    asked.append(one)
                    _tell(process.stdin, reply(not one.named))
                case Send(line=more):
                    _tell(process.stdin, more)
                case End(problem=problem):
                    return " ".join(problem.split())
    except queue.Empty:
        return f"it did not end within {LIMIT} s"
    except BrokenPipeError:
        return "it ended in the middle"
    return "it ended before its turn did"


def _read(pipe: IO[bytes], lines: "queue.Queue[bytes]") -> None:
    with suppress(ValueError, OSError):  # closed meanwhile
        for line in pipe:
            lines.put(line)
    lines.put(b"")


def _parsed(line: bytes) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _tell(pipe: IO[bytes], line: dict[str, Any]) -> None:
    pipe.write(json.dumps(line).encode() + b"\n")
    pipe.flush()


def _unplayed(log: Path, turns: int) -> str:
    """Why a script was not played to its end, from the model server's log."""
    if not log.exists():
        return "it never asked the model"
    seen = [json.loads(line) for line in log.read_text().splitlines()]
    problems = [line["problem"] for line in seen if line.get("problem")]
    if problems:
        return " ".join(str(problems[0]).split())
    if any(
        words in json.dumps(line["body"], ensure_ascii=False) for line in seen for words in UNKNOWN
    ):
        return "its tool is not offered"
    last = max((line.get("turn") or 0 for line in seen), default=0)
    return "" if last >= turns else f"it stopped at step {last} of {turns}"


def bury(keep: int = 0) -> None:
    """End what was left running, but not the person's own process."""
    left = [pid for pid, _ in below(os.getpid()) if pid != keep]
    for pid in left:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    for pid in left:
        with suppress(ChildProcessError):
            os.waitpid(pid, 0)
