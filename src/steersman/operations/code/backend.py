"""What a backend of code intelligence is: some abilities, for some files, in the one shape."""

from typing import Literal, Protocol

from msgspec import Struct

from steersman.operations.code.records import Diagnostic, Reference, Symbol
from steersman.operations.tool import Bench
from steersman.records.errors import ToolProblem

Ability = Literal["overview", "find", "declaration", "references", "diagnostics"]


class Unable(ToolProblem):
    """A backend cannot answer this; the next one is asked, and the answer says so."""


class Wanted(Struct, frozen=True):
    """A symbol that is looked for.

    `name` is a name or the end of a name path (`send`, `Client/send`; a leading `/` means the
    whole path). `within` is a real path of a file or folder; `substring` lets the last part match
    anywhere; `kinds` restricts to kinds of `Symbol`.
    """

    name: str
    within: str
    substring: bool = False
    kinds: tuple[str, ...] = ()
    body: bool = False
    depth: int = 0
    most: int = 100


class Spot(Struct, frozen=True):
    """A place in a file where a name is: real path, line and column from 1."""

    path: str
    line: int
    column: int
    name: str = ""


class Target(Struct, frozen=True):
    """The symbol whose uses are looked for: its definition as a backend gave it.

    `within` is the real path below which uses are looked for.
    """

    symbol: Symbol
    within: str
    most: int = 500


class Backend(Protocol):
    """One way to know code. Methods raise `Unable` when it turns out not to serve after all.

    `bench` gives what the gate allowed: `bench.workspace` reads, `bench.admit` asks for
    more (a call of an MCP server), `bench.profile` confines programs.
    """

    @property
    def name(self) -> str:
        """What every answer says it came from: `serena`, `ty`, `tree-sitter`."""
        ...

    def serves(self, ability: Ability, path: str) -> bool:
        """Whether it would be asked about a real path (a file or a folder), known at once."""
        ...

    async def overview(self, path: str, depth: int, bench: Bench) -> list[Symbol]:
        """The symbols of a file (real path), nested to a depth; 0 is the top level alone."""
        ...

    async def find(self, wanted: Wanted, bench: Bench) -> list[Symbol]:
        """Definitions."""
        ...

    async def declaration(self, spot: Spot, bench: Bench) -> list[Symbol]:
        """Where the name at a place is defined."""
        ...

    async def references(self, target: Target, bench: Bench) -> list[Reference]:
        """Where a symbol is used, its definition not counted."""
        ...

    async def diagnostics(self, paths: tuple[str, ...], bench: Bench) -> list[Diagnostic]:
        """What is wrong in files or folders (real paths)."""
        ...

    async def close(self) -> None:
        """Let go of programs and files."""
        ...
