"""Modules of this package, and of some it uses, found and read in fewer steps than Python takes.

Python looks through folders, asks for each file several times and works out names as it goes. Here
a module is where its name says, and its bytecode is read if it is that of the source. In all other
cases nothing is found here, and Python looks as it always does: it also writes the bytecode.
"""

import marshal
import os
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import MAGIC_NUMBER
from types import CodeType, ModuleType

_CHECKED_BY_TIME = MAGIC_NUMBER + bytes(4)
# Large ones that many commands import, all of Python alone: beside a source is no compiled twin.
OTHERS = ("asyncio", "email", "h11", "logging", "uvicorn")
_HEADER = 16  # bytes: version, kind, and of the source the time and the size
_WORD = 0xFFFFFFFF


class QuickLoader(SourceFileLoader):
    """Python's own, with bytecode that was read already; it serves once."""

    def __init__(self, name: str, path: str, bytecode: bytes) -> None:
        super().__init__(name, path)
        self._bytecode = bytecode

    def get_code(self, fullname: str) -> CodeType | None:
        """The code of the module."""
        bytecode, self._bytecode = self._bytecode, b""
        if not bytecode:
            return super().get_code(fullname)
        code: CodeType = marshal.loads(memoryview(bytecode)[_HEADER:])
        return code


class QuickFinder:
    """Finds what is below some packages, as far as its bytecode is where Python keeps it."""

    def __init__(self, *packages: str) -> None:
        self._below = tuple(f"{one}." for one in packages)
        self._end = f".{sys.implementation.cache_tag}.pyc"

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """How to load a module, or None where Python has to look."""
        if path is None or len(path) != 1 or not name.startswith(self._below):
            return None
        (folder,), tail = path, name.rpartition(".")[2]
        try:
            return self._found(name, folder, tail)
        except FileNotFoundError:
            pass
        except OSError:
            return None
        try:
            inner = f"{folder}/{tail}"
            found = self._found(name, inner, "__init__")
        except OSError:
            return None
        if found is not None:
            found.submodule_search_locations = [inner]
        return found

    def _found(self, name: str, folder: str, stem: str) -> ModuleSpec | None:
        cached, source = f"{folder}/__pycache__/{stem}{self._end}", f"{folder}/{stem}.py"
        descriptor = os.open(cached, os.O_RDONLY | os.O_CLOEXEC)
        try:
            bytecode = os.read(descriptor, os.fstat(descriptor).st_size)
        finally:
            os.close(descriptor)
        about = os.stat(source)
        stamp = (int(about.st_mtime) & _WORD, about.st_size & _WORD)
        expected = b"".join(number.to_bytes(4, "little") for number in stamp)
        if bytecode[:_HEADER] != _CHECKED_BY_TIME + expected:
            return None
        spec = ModuleSpec(name, QuickLoader(name, source, bytecode), origin=source)
        spec.cached, spec.has_location = cached, True
        return spec


def serve() -> None:
    """Have these modules found quickly, where bytecode is in its usual place."""
    usual = sys.implementation.cache_tag and sys.pycache_prefix is None and not sys.flags.optimize
    if usual and not any(isinstance(one, QuickFinder) for one in sys.meta_path):
        sys.meta_path.insert(0, QuickFinder(__name__.partition(".")[0], *OTHERS))
