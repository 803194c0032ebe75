"""A backend made up for tests: it answers what it is told to, or fails as it is told to."""

from steersman.operations.code.backend import Ability, Spot, Target, Wanted
from steersman.operations.code.records import Diagnostic, Reference, Symbol
from steersman.operations.tool import Bench


def symbol(name_path: str, path: str, line: int, **more: object) -> Symbol:
    """A function of two lines."""
    name = name_path.rpartition("/")[2]
    return Symbol(name, name_path, "function", path, line, line + 1, **more)


class MadeUp:
    """Answers with what it was given; `problem` is raised instead, as long as it is set."""

    def __init__(
        self,
        name: str,
        *,
        symbols: tuple[Symbol, ...] = (),
        uses: tuple[Reference, ...] = (),
        complaints: tuple[Diagnostic, ...] = (),
        problem: Exception | None = None,
        endings: tuple[str, ...] = ("",),
    ) -> None:
        self.name = name
        self.symbols = symbols
        self.uses = uses
        self.complaints = complaints
        self.problem = problem
        self.asked = 0
        self.closed = 0
        self._endings = endings

    def serves(self, ability: Ability, path: str) -> bool:
        """Files with its endings."""
        return path.endswith(self._endings)

    def _begin(self) -> None:
        self.asked += 1
        if self.problem is not None:
            raise self.problem

    async def overview(self, path: str, depth: int, bench: Bench) -> list[Symbol]:
        """All it knows."""
        self._begin()
        return list(self.symbols)

    async def find(self, wanted: Wanted, bench: Bench) -> list[Symbol]:
        """What has that name path, or ends in it."""
        self._begin()
        name = "/" + wanted.name.lstrip("/")
        return [s for s in self.symbols if ("/" + s.name_path).endswith(name)]

    async def declaration(self, spot: Spot, bench: Bench) -> list[Symbol]:
        """What has that name."""
        self._begin()
        return [s for s in self.symbols if s.name == spot.name]

    async def references(self, target: Target, bench: Bench) -> list[Reference]:
        """All it knows."""
        self._begin()
        return list(self.uses)

    async def diagnostics(self, paths: tuple[str, ...], bench: Bench) -> list[Diagnostic]:
        """What it has to say about those files."""
        self._begin()
        return [c for c in self.complaints if any(p.endswith(c.path) for p in paths)]

    async def close(self) -> None:
        """Count it."""
        self.closed += 1
