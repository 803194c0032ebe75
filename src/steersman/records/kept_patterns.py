"""The regular expressions of this package, compiled once and kept where Python keeps bytecode.

To compile those that a first command needs takes as long as to import a hundred modules. Only what
`patterns.py` makes is kept: the text is a constant of ours, never what someone searches
for. What is kept was made by this very build of Python and is the same as what it compiles; in all
other cases Python compiles.
"""

import marshal
import os
import re
import sys
from contextlib import suppress
from typing import Any
from zlib import crc32

_sre = sys.modules["_sre"]  # has no types
_BUILD = (sys.version, _sre.MAGIC, sys.byteorder)

Parts = tuple[int, bytes, int, dict[str, int], tuple[str | None, ...]]


class KeptPatterns:
    """Compiles regular expressions, and keeps what came of it in a file."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._known = self._read()
        self._more = False

    def compile(self, text: str, flags: int) -> re.Pattern[str]:
        """As `re.compile`, quicker from the second time on that anyone asks for it."""
        flags = int(flags)
        parts = self._known.get((text, flags))
        if parts is not None:
            with suppress(Exception):  # not what was written
                return _built(text, parts)
        made = re.compile(text, flags)
        with suppress(Exception):  # a Python that makes them in another way
            parts = _parts(text, flags)
            if _built(text, parts) == made:
                self._known[text, flags] = parts
                self._more = True
        return made

    def keep(self) -> None:
        """Write down what was compiled, with what others have kept meanwhile."""
        if not self._file or not self._more or sys.dont_write_bytecode:
            return
        self._more = False
        draft = f"{self._file}.{os.getpid()}"
        with suppress(OSError):  # nobody can write there, so it is compiled again
            with open(draft, "wb", opener=_for_all_to_read) as file:
                known = marshal.dumps(self._read() | self._known)
                marshal.dump((_BUILD, crc32(known), known), file)
            os.replace(draft, self._file)

    def _read(self) -> dict[tuple[str, int], Parts]:
        with suppress(OSError, EOFError, ValueError, TypeError), open(self._file, "rb") as file:
            build, check, known = marshal.loads(file.read())
            if build == _BUILD and check == crc32(known):
                return dict(marshal.loads(known))
        return {}


def _for_all_to_read(path: str, flags: int) -> int:
    return os.open(path, flags, 0o644)


def _parts(text: str, flags: int) -> Parts:
    """What Python's own compiler gives to the program that matches."""
    _compiler, _parser = sys.modules["re._compiler"], sys.modules["re._parser"]
    parsed = _parser.parse(text, flags)
    code = memoryview(bytearray(4 * len(numbers := _compiler._code(parsed, flags)))).cast("I")
    for place, number in enumerate(numbers):
        code[place] = number
    names = dict(parsed.state.groupdict)
    by_number = {number: name for name, number in names.items()}
    groups = parsed.state.groups
    listed = tuple(by_number.get(number) for number in range(groups))
    return int(flags | parsed.state.flags), code.tobytes(), groups - 1, names, listed


def _built(text: str, parts: Parts) -> re.Pattern[str]:
    flags, code, groups, names, listed = parts
    made: Any = _sre.compile(
        text, flags, memoryview(code).cast("I").tolist(), groups, names, listed
    )
    pattern: re.Pattern[str] = made
    return pattern


def _place() -> str:
    """The file for this Python, or none where it keeps its bytecode elsewhere or not at all."""
    tag = "" if sys.pycache_prefix else sys.implementation.cache_tag
    return os.path.join(os.path.dirname(__file__), "__pycache__", f"kept.{tag}") if tag else ""


KEPT = KeptPatterns(_place())
