"""Sentences at a terminal, broken between words; where a program reads them, nothing is broken."""

import re
import shutil
import sys

from steersman.ports.cli.quoting import cells

_PARTS = re.compile(r"\n|[^\S\n]+|\S+")
FENCE = "```"


class Flow:
    """A text that comes in pieces. A line of code is left to the terminal, to be copied as one."""

    def __init__(self, *, err: bool = False) -> None:
        self._broken = (sys.stderr if err else sys.stdout).isatty()
        self._word = self._space = self._indent = ""
        self._at = 0
        self._code = False

    def take(self, text: str) -> str:
        """What of it can be printed now: all but a word that may go on."""
        if not self._broken:
            return text
        found = ""
        for part in _PARTS.findall(text):
            if not part.isspace():
                self._word += part
                continue
            found += self._placed()
            if part == "\n":
                found, self._space, self._at = f"{found}\n", "", 0
            else:
                self._space += part
        return found

    def rest(self) -> str:
        """The last word, when nothing follows."""
        last, self._at = self._placed(), 0
        self._space, self._code = "", False
        return last

    def _placed(self) -> str:
        """The word that is complete, after its space or on a line of its own."""
        word, self._word = self._word, ""
        if not word:
            return ""
        space, self._space = self._space, ""
        if not self._at:
            self._indent = space
            self._code ^= word.startswith(FENCE)
        wide = cells(space) + cells(word)
        if self._at and not self._code and self._at + wide > shutil.get_terminal_size().columns:
            self._at = cells(self._indent) + cells(word)
            return f"\n{self._indent}{word}"
        self._at += wide
        return f"{space}{word}"


def flowing(text: str, *, err: bool = False) -> str:
    """A whole text, for standard output or standard error."""
    flow = Flow(err=err)
    return flow.take(text) + flow.rest()
