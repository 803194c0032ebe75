"""Another MCP server as a backend, by a table in its entry; with a real server over stdio."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steersman.operations.code import mapped_reading as reading
from steersman.operations.code.backend import Unable, Wanted
from steersman.operations.code.facade import Facade
from steersman.operations.code.mapped import MappedBackend, filled, table_of
from steersman.operations.code.records import Diagnostic, Reference, Symbol
from steersman.records.errors import UsageProblem
from steersman.records.mcp_server import Server
from steersman.records.message import Policy
from tests.operations.code.contract.station import Station, a_station

PROGRAM = Path(__file__).parent / "code_server.py"
SOURCE = """class Ship:
    def sail(self):
        return 1


def launch():
    return Ship().sail()
"""
TABLE = {
    "overview": {"tool": "outline", "arguments": {"filePath": "{absolute}"}, "lines": 0},
    "find": {"tool": "lookup", "arguments": {"symbol": "{name}"}, "lines": 0},
    "references": {"tool": "usages", "arguments": {"symbol": "{name}"}, "reading": "places"},
    "diagnostics": {"tool": "problems", "arguments": {"file": "{path}"}, "reading": "places"},
}


@pytest.fixture
def station(tmp_path: Path) -> Iterator[Station]:
    server = Server("small-code", "stdio", sys.executable, (str(PROGRAM), str(tmp_path / "ws")))
    with a_station(tmp_path, servers=[server]) as station:
        Path(station.path("ships.py")).write_text(SOURCE)
        Path(station.path("broken.py")).write_text("def x(:\n")
        yield station


def backend(station: Station, table: dict[str, Any]) -> MappedBackend:
    """The server behind a table."""
    (server,) = station.gateway.servers
    return MappedBackend(station.gateway, server, station.root, table_of(table, server.name))


def test_a_server_answers_in_the_one_shape(station: Station) -> None:
    facade = Facade([backend(station, TABLE)], station.environ)
    bench = station.bench()
    answer = station.run(facade.overview(station.path("ships.py"), 1, bench))
    sail = Symbol("sail", "Ship/sail", "function", "ships.py", 2, 3, 5, "def sail(self):")
    ship = Symbol("Ship", "Ship", "class", "ships.py", 1, 3, 1, "class Ship:", children=(sail,))
    launch = Symbol("launch", "launch", "function", "ships.py", 6, 7, 1, "def launch():")
    assert (answer.backend, answer.symbols) == ("small-code", (ship, launch))
    answer = station.run(facade.overview(station.path("ships.py"), 0, bench))
    assert [symbol.children for symbol in answer.symbols] == [(), ()]
    Path(station.path("broken.py")).unlink()
    found = station.run(facade.find(Wanted("launch", station.root, body=True), bench))
    assert [symbol.body for symbol in found.symbols] == ["def launch():\n    return Ship().sail()"]
    uses = station.run(facade.references("Ship", station.root, 0, bench))
    assert uses.references == (Reference("ships.py", 7, 12, "return Ship().sail()"),)
    assert uses.agreement == "same"


def test_complaints_in_lines_of_text(station: Station) -> None:
    facade = Facade([backend(station, TABLE)], station.environ)
    paths = [station.path("broken.py"), station.path("ships.py")]
    answer = station.run(facade.diagnostics(paths, "hint", station.bench()))
    (said,) = answer.diagnostics
    assert (said.path, said.line, said.severity) == ("broken.py", 1, "error")
    assert "invalid syntax" in said.message


def test_what_the_table_does_not_have_is_not_served(station: Station) -> None:
    mapped = backend(station, TABLE)
    assert not mapped.serves("declaration", station.path("ships.py"))
    assert not mapped.serves("overview", station.root)
    assert mapped.serves("overview", station.path("ships.py"))


def test_a_table_cannot_make_a_writing_tool_a_reading_one(station: Station) -> None:
    table = {"overview": {"tool": "rewrite", "arguments": {"path": "{path}"}}}
    facade = Facade([backend(station, table)], station.environ)
    with pytest.raises(Unable, match="Nothing here can list") as problem:
        station.run(facade.overview(station.path("ships.py"), 1, station.bench()))
    assert "small-code: Denied" in problem.value.why
    assert Path(station.path("ships.py")).read_text() == SOURCE
    (verdict,) = [m.body for m in station.logged() if isinstance(m.body, Policy)]
    assert verdict.action.effect == "writes"


@pytest.mark.parametrize(
    "entry",
    [
        {"rename": {"tool": "x"}},
        {"find": {"arguments": {}}},
        {"find": {"tool": "x", "reading": "magic"}},
        {"find": {"tool": "x", "more": 1}},
    ],
)
def test_a_table_that_cannot_be_understood_is_told(entry: dict[str, Any]) -> None:
    with pytest.raises(UsageProblem, match="codeTools of the MCP server s is not valid"):
        table_of(entry, "s")


def test_templates_keep_the_type_of_a_value() -> None:
    blanks = {"path": "a.py", "line": 3}
    template = {"where": {"at": "{line}", "file": "x/{path}"}, "list": ["{path}"], "n": 1}
    assert filled(template, blanks) == {
        "where": {"at": 3, "file": "x/a.py"},
        "list": ["a.py"],
        "n": 1,
    }
    assert filled("{unknown}", blanks) == "{unknown}"


@pytest.mark.parametrize(
    ("said", "first", "place"),
    [
        ({"path": "a.py", "line": 3}, 1, ("a.py", 3, 0)),
        ({"path": "./a.py", "line": 3, "column": 2}, 0, ("a.py", 4, 3)),
        ({"file": "/w/b/a.py", "startLine": 3, "startColumn": 1}, 1, ("b/a.py", 3, 1)),
        ({"uri": "file:///w/a%20b.py", "range": {"start": {"line": 0, "character": 4}}}, 0,
         ("a b.py", 1, 5)),
        ({"location": {"uri": "file:///w/a.py", "range": {"start": {"line": 2}}}}, 0,
         ("a.py", 3, 0)),
        ({"line": 7}, 1, ("asked.py", 7, 0)),
        ({"file": "/elsewhere/a.py", "line": 1}, 1, ("/elsewhere/a.py", 1, 0)),
    ],
)  # fmt: skip
def test_places_by_the_names_in_use(said: Any, first: int, place: tuple[str, int, int]) -> None:
    for text in (json.dumps([said]), json.dumps({"results": {"items": [said]}})):
        (found,) = reading.from_json(text, first, "/w", "asked.py")
        assert (found.path, found.line, found.column) == place


def test_complaints_by_words_and_numbers() -> None:
    said = [
        {"line": 1, "severity": 2, "message": "a", "code": "W1", "source": "lint"},
        {"line": 2, "severity": "Information", "message": "b"},
        {"line": 3, "message": "c"},
    ]
    found = map(reading.diagnostic, reading.from_json(json.dumps(said), 1, "/w", "a.py"))
    assert list(found) == [
        Diagnostic("a.py", 1, 1, "warning", "a", "W1", "lint"),
        Diagnostic("a.py", 2, 1, "info", "b"),
        Diagnostic("a.py", 3, 1, "error", "c"),
    ]


@given(st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(
        st.sampled_from(["line", "path", "uri", "range", "start", "location", "children", "x"]),
        inner),
    max_leaves=20,
))  # fmt: skip
def test_whatever_comes_is_read_or_left_out(said: Any) -> None:
    for found in reading.from_json(json.dumps(said), 1, "/w", "a.py"):
        assert isinstance(found.line, int)
        reading.symbol(found, lambda path: [])


def test_what_is_no_json_is_refused() -> None:
    with pytest.raises(Unable):
        list(reading.from_json("No results.", 1, "/w", "a.py"))
