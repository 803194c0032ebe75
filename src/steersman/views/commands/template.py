"""The text of a written command, with the user's words put in. Pure.

`$ARGUMENTS` is everything after the command's name, `$1` to `$9` are its words, `\\$` is a plain
dollar. Nothing in a text is ever run: what is in !`…` stays there, for the model to see.
"""

import re
import shlex

from msgspec import Struct

_PLACE = re.compile(r"\\\$|\$ARGUMENTS\b|\$([1-9])(?![0-9])")
_COMMAND = re.compile(r"!`([^`\n]+)`")
HINT = (
    "(Where this text says !`command`, it means the output of the command. It was not run: run it "
    "yourself if you need it.)"
)


class Filled(Struct, frozen=True):
    """A text to say, and the commands in it that were not run."""

    text: str
    commands: tuple[str, ...] = ()


def fill(body: str, arguments: str) -> Filled:
    """A text with the arguments in their places, or after it when it has no place for them."""
    given = arguments.strip()
    words = split(given)
    places = 0

    def put(found: re.Match[str]) -> str:
        nonlocal places
        if found[0] == "\\$":
            return "$"
        places += 1
        if found[1] is None:
            return given
        number = int(found[1])
        return words[number - 1] if number <= len(words) else ""

    # In one pass: what a person gives is not looked at for places again.
    text = _PLACE.sub(put, body).strip()
    if given and not places:
        text = f"{text}\n\n{given}"
    commands = tuple(_COMMAND.findall(body))
    return Filled(f"{text}\n\n{HINT}" if commands else text, commands)


def split(arguments: str) -> list[str]:
    """Words as a shell splits them; an odd quote is an ordinary character."""
    try:
        return shlex.split(arguments)
    except ValueError:
        return arguments.split()
