"""Which files say what a runner runs, and how these are read: the table `runners.txt`. Pure."""

from functools import cache
from pathlib import Path


@cache
def _rows() -> tuple[tuple[str, list[str], list[str]], ...]:
    lines = Path(__file__).with_name("runners.txt").read_text("utf-8").splitlines()
    rows = (line.split(" : ") for line in lines if not line.startswith("#"))
    return tuple((how, programs.split(), files.split()) for how, programs, files in rows)


@cache
def manifests() -> dict[str, list[str]]:
    """The files that say what a program runs, by the names of programs."""
    found: dict[str, list[str]] = {}
    for _, programs, files in _rows():
        for program in programs:
            found.setdefault(program, []).extend(files)
    return found


@cache
def readings() -> dict[str, str]:
    """How each such file is read, by its name."""
    return {file: how for how, _, files in _rows() for file in files}
