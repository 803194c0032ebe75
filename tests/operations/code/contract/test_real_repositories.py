"""The same questions about real repositories, to every backend that knows their language."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from steersman.operations.code.backend import Backend, Spot, Wanted
from steersman.operations.code.facade import Facade
from steersman.operations.code.lsp.backend import language_servers
from steersman.operations.code.servers import ServerBackends
from steersman.operations.code.trees.backend import TreeBackend
from tests import provision
from tests.operations.code.contract.station import Station, a_station, serena

pytestmark = pytest.mark.real


def known(station: Station, name: str) -> Backend:
    """A backend by its name."""
    if name == "serena":
        return ServerBackends(station.gateway, station.root)()[0]
    if name == "tree-sitter":
        return TreeBackend(station.root, station.environ)
    programs = [str(Path(sys.prefix, "bin")), str(provision.npm() / "node_modules" / ".bin")]
    environ = {**station.environ, "PATH": ":".join([*programs, station.environ["PATH"]])}
    every = language_servers(station.root, station.companions, environ)
    return next(backend for backend in every if backend.name == name)


def standing(
    folder: Path, repo: Path, names: tuple[str, ...]
) -> Iterator[tuple[Station, dict[str, Facade]]]:
    """A copy of a repository with several backends, each behind a facade of its own."""
    with a_station(folder, repo=repo, servers=[serena(folder)]) as station:
        backends = {name: known(station, name) for name in names}
        yield station, {name: Facade([one], station.environ) for name, one in backends.items()}
        for backend in backends.values():
            station.run(backend.close())


@pytest.fixture(scope="module")
def httpx(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[Station, dict[str, Facade]]]:
    folder = tmp_path_factory.mktemp("httpx")
    names = ("serena", "ty", "tree-sitter")
    yield from standing(folder, provision.python_repository(), names)


@pytest.fixture(scope="module")
def rxjs(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[Station, dict[str, Facade]]]:
    folder = tmp_path_factory.mktemp("rxjs")
    names = ("serena", "typescript", "tree-sitter")
    yield from standing(folder, provision.typescript_repository(), names)


Standing = tuple[Station, dict[str, Facade]]


def test_all_say_the_same_about_a_python_repository(httpx: Standing) -> None:
    station, facades = httpx
    uses = {}
    for name, facade in facades.items():
        bench = station.bench()
        answer = station.run(facade.find(Wanted("URL", station.root, kinds=("class",)), bench))
        assert [(s.path, s.line, s.end_line) for s in answer.symbols] == [
            ("httpx/_urls.py", 15, 417)
        ]
        overview = station.run(facade.overview(station.path("httpx/_urls.py"), 1, bench))
        assert {"URL", "QueryParams"} <= {symbol.name for symbol in overview.symbols}
        path = station.path("httpx/_client.py")
        found = station.run(facade.references("BaseClient/_redirect_method", path, 0, bench))
        assert (found.total, found.agreement) == (1, "same"), name
        spot = Spot(path, found.references[0].line, found.references[0].column, "_redirect_method")
        where = station.run(facade.declaration(spot, bench))
        assert [(s.path, s.line) for s in where.symbols] == [("httpx/_client.py", 494)], name
        path = station.path("httpx/_urls.py")
        found = station.run(facade.references("/URL", path, 0, bench, most=500))
        uses[name] = {(use.path, use.line) for use in found.references}
        assert found.agreement == "same", name
    assert len(uses["ty"]) > 60
    assert uses["serena"] <= uses["ty"]  # without the lines that import it
    # Names in strings that are types are known by who knows types, and by nobody else.
    assert {path for path, _ in uses["ty"] - uses["tree-sitter"]} == {"httpx/_types.py"}


def test_all_say_the_same_about_a_typescript_repository(rxjs: Standing) -> None:
    station, facades = rxjs
    path = station.path("src/internal/util/createErrorClass.ts")
    uses = {}
    for name, facade in facades.items():
        bench = station.bench()
        answer = station.run(facade.find(Wanted("createErrorClass", path), bench))
        assert [(s.line, s.end_line, s.kind) for s in answer.symbols] == [(10, 20, "function")]
        found = station.run(facade.references("createErrorClass", path, 0, bench))
        uses[name] = {(use.path, use.line) for use in found.references}
        assert (found.files, found.agreement) == (8, "same"), name
        said = station.run(facade.diagnostics([path], "error", bench))
        assert said.diagnostics == (), name
    assert uses["serena"] == uses["typescript"] == uses["tree-sitter"]
