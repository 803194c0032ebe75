"""Commands that a call of a server's tool carries in its arguments, as far as their names tell."""

import re
import shlex
from collections.abc import Iterator
from typing import Any

MOST = 20
# The last word of a name under which a command goes, and of a tool that runs one.
_COMMAND = frozenset(
    ("command", "commands", "cmd", "cmds", "cmdline", "script", "scripts", "shell", "bash", "sh",
     "exec", "argv", "entrypoint")
)  # fmt: skip
_RUNS = frozenset(
    ("shell", "bash", "sh", "terminal", "exec", "execute", "ssh", "command", "cmd", "run")
)
_REST = ("args", "arguments", "argv", "parameters", "params")
_WORDS = re.compile(r"(?<=[a-z])(?=[A-Z])|[\W_]+")


def commands_in(tool: str, arguments: dict[str, Any]) -> list[str]:
    """Every text in the arguments that looks like a command by the name it goes under, or any
    text at all where the tool's own name says that it runs commands."""
    shell = not _RUNS.isdisjoint(_words(tool))
    found = list(dict.fromkeys(filter(str.strip, _walk(arguments, shell))))
    return found if len(found) <= MOST else [*found[:MOST], "\n".join(found[MOST:])]


def _words(name: str) -> list[str]:
    return _WORDS.sub(" ", name).lower().split() or [""]


def _walk(arguments: dict[str, Any], taken: bool) -> Iterator[str]:
    """Depth is not a limit here: servers nest as they like."""
    waiting: list[tuple[Any, bool]] = [(arguments, taken)]
    while waiting:
        value, taken = waiting.pop()
        match value:
            case dict():
                for name, inner in value.items():
                    named = _words(str(name))[-1] in _COMMAND
                    if named and isinstance(inner, str):
                        yield from _with_rest(inner, value)
                    waiting.append((inner, taken or named))
            case list():
                words = [item for item in value if isinstance(item, str)]
                if taken and len(words) == len(value) > 1:
                    yield shlex.join(words)
                waiting.extend((item, taken) for item in value)
            case str() if taken:
                yield value


def _with_rest(command: str, fields: dict[str, Any]) -> Iterator[str]:
    """`{"command": "rm", "args": ["-rf", "/"]}` as one line."""
    for name in _REST:
        rest = fields.get(name)
        if isinstance(rest, list) and all(isinstance(word, str) for word in rest):
            yield f"{command} {shlex.join(rest)}"
        elif isinstance(rest, str):
            yield f"{command} {rest}"
