"""Tools of one file: the file as it was read, and the tool as it says of itself."""

from collections.abc import Mapping
from hashlib import sha256
from typing import Any, Literal

from msgspec import Struct


class ToolFile(Struct, frozen=True):
    """A file that is a tool, with its text as it was read: this text is run, and no other."""

    path: str
    code: str

    @property
    def digest(self) -> str:
        """A name for its text."""
        return sha256(self.code.encode()).hexdigest()


class Extension(Struct, frozen=True):
    """A tool as its file describes it; `files` is what it does to the workspace."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    files: Literal["read", "write"] = "read"
    hosts: tuple[str, ...] = ()
    timeout: float = 60.0


class Learned(Struct, frozen=True):
    """What a file turned out to be: a tool, or what is wrong with it, in sentences."""

    tool: Extension | None = None
    problems: tuple[str, ...] = ()
