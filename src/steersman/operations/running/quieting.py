"""Unattended commands: an environment that never asks, and a note on needless ones."""

import re
import shlex
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from steersman.records.patterns import pattern

# Colours against NO_COLOR, and files that even `bash --norc --noprofile -c` would run first.
DROPPED = frozenset({"FORCE_COLOR", "CLICOLOR_FORCE", "BASH_ENV", "ENV"})

_NOT_PLAIN = pattern(r"[|&;<>()$`\\\n*?\[\]{}~#!]")
_LINES = pattern(r"(\d+)(?:,(\d+))?p")
_COUNT = pattern(r"(?:-n|--lines=?|-)\s?(\+?\d+)")


def quiet_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """An environment in which programs neither ask nor decorate."""
    return {name: environ[name] for name in environ.keys() - DROPPED} | quiet()


def terminal_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """An environment for programs with a terminal; they find out its size themselves."""
    left = environ.keys() - {*DROPPED, "COLUMNS", "LINES", "NO_COLOR"}
    return {name: environ[name] for name in left} | {"TERM": "xterm-256color"}


@cache
def quiet() -> dict[str, str]:
    """The variables of `quiet.txt`."""
    lines = Path(__file__).with_name("quiet.txt").read_text("utf-8").splitlines()
    pairs = (line.partition("=") for line in lines if line and not line.startswith("#"))
    return {name: value for name, _, value in pairs}


def note_for(command: str) -> str:
    """What to say to a command that only shows a file, or nothing."""
    arguments = _reading(command)
    if not arguments or arguments["path"] == "-":
        return ""
    import json

    call = json.dumps(arguments, ensure_ascii=False)
    return f"workspace_read_file {call} shows this with line numbers, and pages what is long."


def _reading(command: str) -> dict[str, str | int] | None:
    """The arguments of `workspace_read_file` that would do what a command does."""
    match _plain_words(command):
        case ["cat" | "less" | "more" | "nl" | "bat", *options, path] if _are_flags(options):
            return {"path": path}
        case ["head", path]:
            return {"path": path, "limit": 10}
        case ["tail", path]:
            return {"path": path}
        case ["head", *options, path] if count := _COUNT.fullmatch(" ".join(options)):
            return {"path": path, "limit": int(count[1])} if count[1].isdigit() else None
        case ["tail", *options, path] if count := _COUNT.fullmatch(" ".join(options)):
            since = {} if count[1].isdigit() else {"offset": max(int(count[1]), 1)}
            return {"path": path, **since}
        case ["sed", "-n", script, path] if lines := _LINES.fullmatch(script):
            first, last = int(lines[1]), int(lines[2] or lines[1])
            return {"path": path, "offset": max(first, 1), "limit": max(last - first + 1, 1)}
    return None


def _plain_words(command: str) -> list[str]:
    """The words of one simple command; none when the shell would do more than split them."""
    command = command.strip()
    if _NOT_PLAIN.search(command):
        return []
    try:
        return shlex.split(command)
    except ValueError:
        return []


def _are_flags(words: list[str]) -> bool:
    return all(re.fullmatch(r"-[A-Za-z]+|--[a-z-]+", word) for word in words)
