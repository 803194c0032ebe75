"""A real Serena behind the facade: known by its tools, left when it fails, asked again later."""

import os
import stat
from pathlib import Path

import pytest
from msgspec.structs import replace

from steersman.operations.code.backend import Wanted
from steersman.operations.code.facade import Facade
from steersman.operations.code.serena import SerenaBackend
from steersman.operations.code.serena_home import CONFIG, keep_settings, prepare_home, settings
from steersman.operations.code.servers import ServerBackends
from steersman.operations.code.trees.backend import TreeBackend
from steersman.records.action import McpCall
from steersman.records.errors import ToolProblem
from steersman.records.mcp_server import Server
from steersman.records.message import Policy
from tests.operations.code.contract.station import a_station, serena

SHIPS = "src/harbour/ships.py"


class Clock:
    """A clock that stands still until it is moved."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def helper(folder: Path) -> tuple[Server, Path]:
    """A Serena that neither name nor command give away, and the program it is started by."""
    server = serena(folder)
    program = folder / "helper"
    program.write_text(f'#!/bin/sh\nexec "{server.command}" "$@"\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    words = tuple("." if word == str(folder / "ws") else word for word in server.arguments)
    return replace(server, name="helper", command=str(program), arguments=words), program


@pytest.fixture
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("place")


@pytest.mark.real
def test_serena_is_known_by_its_tools_and_is_left_and_found_again(folder: Path) -> None:
    server, program = helper(folder)
    with a_station(folder, repo="python", servers=[server]) as station:
        before = set(os.listdir(station.root))
        found = ServerBackends(station.gateway, station.root)
        clock = Clock()
        trees = TreeBackend(station.root, station.environ)
        facade = Facade(lambda: [*found(), trees], station.environ, clock=clock)

        def overview() -> tuple[str, str]:
            path = station.path(SHIPS)
            answer = station.run(facade.overview(path, 1, station.bench()))
            assert "Ship" in [symbol.name for symbol in answer.symbols]
            return answer.backend, answer.note

        # Nobody starts a server to see what it is.
        assert overview() == ("tree-sitter", "")
        assert [one.state for one in station.gateway.conditions()] == ["idle"]
        station.run(station.gateway.find(server="helper"))
        assert overview() == ("serena (helper)", "")
        (asked,) = [m.body.action for m in station.logged() if isinstance(m.body, Policy)]
        assert isinstance(asked, McpCall)
        assert (asked.server, asked.tool, asked.effect) == ("helper", "find_symbol", "reads")

        # Nothing of it gets into the repository, and what it cannot do is told in our words.
        backend = found()[0]
        hits = station.run(backend.search("def describe", station.root, station.bench()))
        assert [(hit.file, hit.line) for hit in hits] == [(SHIPS, 68)]
        with pytest.raises(ToolProblem, match="it does not see the file"):
            station.run(backend.overview(station.path("none.py"), 0, station.bench()))
        assert set(os.listdir(station.root)) == before

        # It dies and cannot be started again: the next backend answers, and says why.
        hidden = program.rename(folder / "away")
        station.kill("helper")
        name, note = overview()
        assert name == "tree-sitter"
        assert note.startswith("serena (helper): ")
        assert overview() == ("tree-sitter", "")

        # It is there again: after a rest it is asked again.
        hidden.rename(program)
        clock.now += 31
        assert overview()[0] == "serena (helper)"


def test_settings_are_written_once_and_anew_when_they_are_others(tmp_path: Path) -> None:
    home = tmp_path / "home"
    prepare_home(str(home))
    config = home / CONFIG
    assert config.read_text() == settings(str(home))
    assert "python_ty" not in config.read_text()
    config.write_text(config.read_text() + "added: by serena\n")
    prepare_home(str(home))
    assert config.read_text().endswith("added: by serena\n")
    prepare_home(str(home), ty="/bin/ty")
    assert config.read_text() == settings(str(home), "/bin/ty")
    keep_settings(str(home), "projects: []\n")
    prepare_home(str(home), ty="/bin/ty")
    assert config.read_text() == "projects: []\n"


def test_a_serena_for_another_folder_is_not_asked(folder: Path) -> None:
    (folder / "other").mkdir()
    server = Server("serena", "stdio", "serena", ("--project", str(folder / "other")))
    with a_station(folder, servers=[server]) as station:
        backend = SerenaBackend(station.gateway, server, station.root)
        assert not backend.serves("find", station.root)


def test_a_server_that_is_switched_off_is_not_asked(folder: Path) -> None:
    server = Server("serena", "stdio", "serena", enabled=False)
    with a_station(folder, servers=[server]) as station:
        found = ServerBackends(station.gateway, station.root)
        assert found() == []
        assert found.serena() is None


def test_tables_are_used_and_wrong_ones_are_told(folder: Path) -> None:
    good = Server("good", "stdio", "x", code_tools={"find": {"tool": "lookup"}})
    bad = Server("bad", "stdio", "x", code_tools={"find": {"tool": 1}})
    with a_station(folder, servers=[bad, good, Server("serena", "stdio", "serena")]) as station:
        found = ServerBackends(station.gateway, station.root)
        assert [backend.name for backend in found()] == ["serena", "good"]
        assert "codeTools of the MCP server bad is not valid" in found.broken["bad"]
        assert found()[1].serves("find", station.root)
        assert not found()[1].serves("overview", station.root)
        assert Wanted("x", station.root).most == 100
