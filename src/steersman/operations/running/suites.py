"""Which commands run tests, read from their words, and which line of their output counts. Pure."""

import os
import re
from functools import cache
from pathlib import Path

from steersman.records.patterns import pattern

WIDTH = 160
_PARTS = pattern(r"&&|\|\||[;|&\n()]")
_SETS = pattern(r"\w+=\S*")
# Words before a command that run it somewhere or somehow; what follows `run` may have options.
_BEFORE = (("uv", "run"), ("poetry", "run"), ("pdm", "run"), ("hatch", "run"), ("pipenv", "run"),
           ("rye", "run"), ("bundle", "exec"), ("pnpm", "exec"), ("yarn", "exec"), ("npm", "exec"),
           ("npx",), ("bunx",), ("env",), ("time",), ("nice",), ("exec",),
           ("xvfb-run",))  # fmt: skip
_RESULT = pattern(r"\b(?:\d+ (?:passed|failed|passing|failing|tests?|examples?)|test result:"
                     r"|tests?:|ok|FAILED|FAIL|PASS|OK)\b", re.IGNORECASE)  # fmt: skip
_PYTHON = pattern(r"python[\d.]*")


@cache
def _known() -> frozenset[tuple[str, ...]]:
    lines = Path(__file__).with_name("test_programs.txt").read_text("utf-8").splitlines()
    return frozenset(tuple(line.split()) for line in lines if line and not line.startswith("#"))


def runs_tests(command: str) -> bool:
    """Whether any part of a command line runs tests."""
    return any(_is_test(part.split()) for part in _PARTS.split(command))


def _is_test(words: list[str]) -> bool:
    words = _bare(words)
    if not words:
        return False
    name = os.path.basename(words[0])
    first = ["python" if _PYTHON.fullmatch(name) else name]
    plain = first + [word for word in words[1:] if not word.startswith("-") or word == "-m"]
    return any(tuple(plain[:count]) in _known() for count in (1, 2, 3))


def _bare(words: list[str]) -> list[str]:
    """The words without what only says where or how the command is run."""
    while words:
        before = next((one for one in _BEFORE if tuple(words[: len(one)]) == one), None)
        if before is not None:
            words = words[len(before) :]
        elif _SETS.fullmatch(words[0]) or words[0].startswith("-"):
            words = words[1:]
        else:
            return words
    return words


def said(output: str) -> str:
    """The line in which tests say what came of them: the last that counts, else the last."""
    lines = [line.strip(" =-\t") for line in output.splitlines()]
    lines = [line for line in lines if line]
    counting = [line for line in lines if _RESULT.search(line)]
    return (counting or lines or [""])[-1][:WIDTH]
