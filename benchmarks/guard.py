"""The shell guard over the labelled commands: time each, and how much of it is parsing."""

import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.measure import Figure
from steersman.governance.guard.judge import judge
from steersman.governance.guard.shell import parse
from steersman.records.judgement import CommandPlace

CASES = Path(__file__).parents[1] / "tests" / "governance" / "guard" / "more_cases.jsonl"
PLACE = CommandPlace("/home/dev/project", "/home/dev")


def figures() -> list[Figure]:
    """CPU time of one judgement on average, and of the slowest command."""
    commands = [json.loads(line)["cmd"] for line in CASES.read_text().splitlines()]
    for command in commands:
        judge(command, PLACE)
    whole = min(_cpu(commands, lambda text: judge(text, PLACE)) for _ in range(5))
    parsing = min(_cpu(commands, parse) for _ in range(5))
    each = 1000 * whole / len(commands)
    slowest = max(commands, key=lambda text: _best([text]))
    note = f"{len(commands) / whole:,.0f} a second, {whole / parsing:.0f} times parsing alone"
    return [
        Figure("judging a shell command, CPU", each, 0.5, "ms", note),
        Figure("judging the slowest of them, CPU", 1000 * _best([slowest]), 5, "ms"),
    ]


def _best(commands: Sequence[str]) -> float:
    return min(_cpu(commands, lambda text: judge(text, PLACE)) for _ in range(3))


def _cpu(commands: Sequence[str], work: Callable[[str], object]) -> float:
    started = time.process_time()
    for command in commands:
        work(command)
    return time.process_time() - started
