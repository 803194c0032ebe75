"""What it means that a command ended with an exit code other than 0. Pure."""

import os
import re
import shlex

from steersman.operations.running.symptoms import TAIL
from steersman.records.patterns import pattern

LINES, WIDTH = 3, 160  # of the output's end, for a person who is asked
# Programs that say "no" with exit code 1: nothing found, or two things are not the same.
_SAY_NO = frozenset(
    {"[", "[[", "cmp", "diff", "egrep", "fgrep", "grep", "pgrep", "pidof", "rg", "test", "type",
     "which", "zgrep"}
)  # fmt: skip
_ASSERTION = pattern(
    r"AssertionError|AssertionFailedError|assertion (?:`.*` )?failed|Failed asserting that"
    r"|expect\(received\)|^E +assert |Assertion .* failed|expected .* (?:but got|to (?:be|equal))",
    re.IGNORECASE | re.MULTILINE,
)


def failure(command: str, exit_code: int | None, output: str) -> str:
    """How a command failed, as a sentence with the end of what it printed; empty if it did not."""
    if not exit_code or (exit_code == 1 and _says_no(command)):
        return ""
    lines = [line.strip()[:WIDTH] for line in output[-TAIL:].splitlines() if line.strip()]
    said = f": {' / '.join(lines[-LINES:])}" if lines else ""
    return f"`{' '.join(command.split())[:WIDTH]}` failed with exit code {exit_code}{said}"


def fails_by_assertion(output: str) -> bool:
    """Whether a test failed by its own assertion: what confines it has nothing to do with that."""
    return bool(_ASSERTION.search(output[-TAIL:]))


def _says_no(command: str) -> bool:
    """Whether the last program of a line is one whose exit code 1 is an answer."""
    last = re.split(r"[|;&\n]", command.strip())[-1]
    try:
        words = shlex.split(last)
    except ValueError:
        return False
    return bool(words) and os.path.basename(words[0]) in _SAY_NO
