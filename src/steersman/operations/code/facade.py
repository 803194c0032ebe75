"""The one door to code intelligence: questions of tools in, answers in the one shape out.

Which backend answers may change with every question. Every answer names it, says which others
could not give one, and holds only what may be shown.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from steersman.operations.code import shapes
from steersman.operations.code.backend import Backend, Spot, Target, Wanted
from steersman.operations.code.fallthrough import Answered, Backends, Row
from steersman.operations.code.records import (
    Diagnostic,
    Diagnostics,
    Overview,
    References,
    Severity,
    Symbol,
    Symbols,
)
from steersman.operations.code.shapes import Sight
from steersman.operations.tool import Bench
from steersman.records.counting import counted
from steersman.records.errors import ToolProblem

MOST_CANDIDATES = 12
MOST_DIAGNOSTICS = 200
MOST_USES = 5000  # counted; far fewer are shown
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info", "hint")


class Facade:
    """Answers about code by backends in the order of preference; a function when they change.

    `options` are those of `Row`: how long a backend is waited for, and how long it rests.
    """

    def __init__(
        self, backends: Backends, environ: Mapping[str, str] | None = None, **options: Any
    ) -> None:
        self._row = Row(backends, **options)
        self._environ = os.environ if environ is None else environ

    async def overview(self, path: str, depth: int, bench: Bench) -> Overview:
        """The symbols of a file (real path)."""
        said = await self._row.ask("overview", path, lambda b: b.overview(path, depth, bench))
        found = shapes.symbols(said.found, Sight(bench.workspace))
        shown, _ = shapes.fitting_symbols(found, len(found))
        total = sum(map(shapes.counted, found))
        missing = total - sum(map(shapes.counted, shown))
        left = f"{counted(missing, 'symbol')} left out, too many for one answer" if missing else ""
        name = bench.workspace.shown(path)
        return Overview(said.backend, name, tuple(shown), total, said.note(left))

    async def find(self, wanted: Wanted, bench: Bench) -> Symbols:
        """Definitions by name; the next backend is asked where one knows none."""
        # One more than is shown, to know that there are more: a backend stops when it has enough.
        said = await self._find(replace(wanted, most=wanted.most + 1), bench)
        return _symbols(said, wanted.most, Sight(bench.workspace))

    async def declaration(self, spot: Spot, bench: Bench) -> Symbols:
        """Where the name at a place is defined."""
        said = await self._declared(spot, bench)
        answer = _symbols(said, MOST_CANDIDATES, Sight(bench.workspace))
        if said.found and not answer.symbols:
            away = f"{spot.name or 'it'} is defined outside the workspace"
            return replace(answer, note=said.note(away))
        return answer

    async def references(
        self, name: str, within: str, line: int, bench: Bench, most: int = 100
    ) -> References:
        """Uses of a symbol: of that name below a path, or defined or used in a line of a file."""
        from steersman.operations.code import crosscheck

        symbol, known_by = await self.meant(name, within, line, bench)
        root = bench.workspace.root
        said = await self._row.ask(
            "references",
            os.path.join(root, symbol.path),
            lambda b: b.references(Target(symbol, root, MOST_USES), bench),
            any_will_do=False,
            first=known_by,
        )
        sight = Sight(bench.workspace)
        found = shapes.references(said.found, sight)
        check = await crosscheck.compare(symbol, found, bench.workspace, self._environ, sight)
        shown = shapes.fitting_references(found, most)
        more = len(found) - len(shown)
        return References(
            backend=said.backend,
            symbol=f"{symbol.name_path} ({symbol.path}:{symbol.line})",
            references=tuple(shown),
            total=len(found),
            files=len({use.path for use in found}),
            agreement=check.agreement,
            text_only=check.text_only,
            more=f"{more:,} more; raise max_results" if more else "",
            note=said.note(check.note),
        )

    async def diagnostics(self, paths: Sequence[str], least: Severity, bench: Bench) -> Diagnostics:
        """What is wrong in files or folders (real paths), by as many backends as that takes."""
        wanted = SEVERITIES[: SEVERITIES.index(least) + 1]
        found: list[Diagnostic] = []
        backends: dict[str, None] = {}
        passed: dict[str, None] = {}
        for group in await self._alike(paths):
            said = await self._row.ask("diagnostics", group[0], _checking(group, bench))
            # Checkers tell which of them spoke, and which could not.
            backends.update(dict.fromkeys(getattr(said.found, "by", ()) or (said.backend,)))
            passed.update(dict.fromkeys((*said.passed, *getattr(said.found, "failed", ()))))
            found += [one for one in said.found if one.severity in wanted]
        seen = shapes.diagnostics(found, Sight(bench.workspace))
        shown = shapes.fitting_diagnostics(_worst_first(seen), MOST_DIAGNOSTICS)
        more = len(seen) - len(shown)
        return Diagnostics(
            ", ".join(backends),
            tuple(sorted(shown, key=lambda one: (one.path, one.line, one.column))),
            len(seen),
            f"{more:,} more, none of them worse; ask for fewer files" if more else "",
            "; ".join(passed),
        )

    async def meant(self, name: str, within: str, line: int, bench: Bench) -> tuple[Symbol, str]:
        """The one definition that is meant and the backend that knows it, or which it could be."""
        from steersman.operations.code.spots import spot_of

        at_top = within == bench.workspace.root
        where = "the workspace" if at_top else bench.workspace.shown(within)
        if line:
            spot = spot_of(within, line, 0, name, bench)
            if (known := await self._defined_at(spot, bench)) is not None:
                return known
            said = await self._declared(spot, bench)
            where = f"line {line} of {where}"
        else:
            said = await self._find(Wanted(name, within), bench)
        found = shapes.symbols(said.found, Sight(bench.workspace))
        if not found:
            raise ToolProblem(
                f"No definition of {name} was found in {where}.",
                "; ".join((f"asked: {said.backend}", *said.passed)),
                "Look with workspace_find_symbol and substring, or for the text with "
                "workspace_search_files.",
            )
        if len({(symbol.path, symbol.name_path) for symbol in found}) > 1:
            raise _ambiguous(name, found)
        return found[0], said.backend

    async def close(self) -> None:
        """Let go of every backend that was asked."""
        await self._row.close()

    async def _find(self, wanted: Wanted, bench: Bench) -> Answered[Symbol]:
        said = await self._row.ask(
            "find", wanted.within, lambda b: b.find(wanted, bench), any_will_do=False
        )
        path = wanted.name.replace("::", "/").replace("#", "/").replace(".", "/")
        if said.found or path == wanted.name or not path.strip("/"):
            return said
        # `Client.send` is how most languages write what is `Client/send` here.
        again = replace(wanted, name=path)
        return await self._row.ask(
            "find", wanted.within, lambda b: b.find(again, bench), any_will_do=False
        )

    async def _declared(self, spot: Spot, bench: Bench) -> Answered[Symbol]:
        return await self._row.ask(
            "declaration", spot.path, lambda b: b.declaration(spot, bench), any_will_do=False
        )

    async def _defined_at(self, spot: Spot, bench: Bench) -> tuple[Symbol, str] | None:
        """The definition that is in a line itself, if there is one of that name."""
        wanted = Wanted(spot.name, spot.path)
        try:
            said = await self._row.ask("find", spot.path, lambda b: b.find(wanted, bench))
        except ToolProblem:
            return None
        for symbol in shapes.symbols(said.found, Sight(bench.workspace)):
            if symbol.name == spot.name and symbol.line == spot.line:
                return symbol, said.backend
        return None

    async def _alike(self, paths: Sequence[str]) -> list[tuple[str, ...]]:
        """The paths in groups that the same backends serve."""
        groups: dict[tuple[str, ...], list[str]] = {}
        for path in dict.fromkeys(paths):
            ready = await self._row.ready("diagnostics", path)
            names = tuple(backend.name for backend in ready)
            groups.setdefault(names, []).append(path)
        return [tuple(group) for group in groups.values()]


def _checking(paths: tuple[str, ...], bench: Bench) -> Callable[[Backend], Any]:
    return lambda backend: backend.diagnostics(paths, bench)


def _worst_first(found: Sequence[Diagnostic]) -> list[Diagnostic]:
    return sorted(found, key=lambda one: SEVERITIES.index(one.severity))


def _ambiguous(name: str, found: Sequence[Symbol]) -> ToolProblem:
    shown = [f"{s.name_path} ({s.kind}) {s.path}:{s.line}" for s in found[:MOST_CANDIDATES]]
    if rest := len(found) - len(shown):
        shown.append(f"… and {rest:,} more")
    return ToolProblem(
        f"{name} is defined {counted(len(found), 'time')}.",
        "\n".join(shown),
        "Pass the name path, or the path and line of the one you mean.",
    )


def _symbols(said: Answered[Symbol], most: int, sight: Sight) -> Symbols:
    found = shapes.symbols(said.found, sight)
    shown, cut = shapes.fitting_symbols(found, most)
    more = len(found) - len(shown)
    return Symbols(
        said.backend,
        tuple(shown),
        len(found),
        f"at least {more:,} more; pass a path, kinds, or a longer name" if more else "",
        said.note("texts were cut to fit in one answer" if cut else ""),
    )
