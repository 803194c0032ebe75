"""Every backend keeps the same contract on the same repositories: one shape, the same places.

`expected.json` of a repository has known truths. Backends differ in how much they know, and
`KNOWS` says what each may leave out: Serena leaves lines out that only import a name in Python and
says no column, so the one of the first fitting word is taken; syntax trees know names and scopes
but no types.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest

from steersman.operations.code.backend import Backend, Spot, Unable, Wanted
from steersman.operations.code.facade import Facade
from steersman.operations.code.lsp.backend import language_servers
from steersman.operations.code.schemas import schema_of
from steersman.operations.code.servers import ServerBackends
from steersman.operations.code.trees.backend import TreeBackend
from tests import provision
from tests.operations.code.contract.station import Station, a_station, serena

TYPED = frozenset({"types", "scopes", "nested", "checks"})
KNOWS = {
    "serena": TYPED,
    "ty": TYPED,
    "typescript": TYPED,
    "tree-sitter": frozenset({"scopes", "nested"}),
}
PAIRS = [  # a whole program of others is started by `make test-real`
    pytest.param(("serena", "python"), marks=pytest.mark.real),
    pytest.param(("serena", "typescript"), marks=pytest.mark.real),
    ("ty", "python"),
    ("typescript", "typescript"),
    ("tree-sitter", "python"),
    ("tree-sitter", "typescript"),
]


class Subject:
    """One backend over one repository, behind the facade as tools use it."""

    def __init__(self, station: Station, backend: Backend, name: str) -> None:
        self.station = station
        self.backend = backend
        self.name = name
        self.knows = KNOWS[name]
        self.facade = Facade([backend], station.environ)
        self.expected = json.loads(Path(station.path("expected.json")).read_text())

    def ask(self, question: str, *arguments: Any) -> Any:
        """An answer of the facade, held against its schema."""
        bench = self.station.bench()
        answer = self.station.run(getattr(self.facade, question)(*arguments, bench))
        assert answer.backend == self.backend.name
        fits(answer)
        return answer


def fits(answer: Any) -> None:
    """Hold an answer, as a model gets it, against the schema of its shape."""
    said = json.loads(msgspec.json.encode(answer))
    jsonschema.validate(said, schema_of(type(answer)))


@pytest.fixture(scope="module", params=PAIRS, ids=lambda pair: "-on-".join(pair))
def subject(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Subject]:
    """Each backend on each repository it knows; started once."""
    name, repo = request.param
    folder = tmp_path_factory.mktemp(name)
    servers = [serena(folder)] if name == "serena" else []
    with a_station(folder, repo=repo, servers=servers) as station:
        backend = _backend(name, station)
        yield Subject(station, backend, name)
        station.run(backend.close())


def _backend(name: str, station: Station) -> Backend:
    if name == "serena":
        return ServerBackends(station.gateway, station.root)()[0]
    if name == "tree-sitter":
        return TreeBackend(station.root, station.environ)
    programs = [str(Path(sys.prefix, "bin")), str(provision.npm() / "node_modules" / ".bin")]
    environ = {**station.environ, "PATH": ":".join([*programs, station.environ["PATH"]])}
    known = language_servers(station.root, station.companions, environ)
    return next(backend for backend in known if backend.name == name)


class TestContract:
    """What is asked of every backend."""

    def test_it_says_what_it_serves(self, subject: Subject) -> None:
        path = subject.station.path(subject.expected["definitions"][0]["path"])
        assert subject.backend.serves("overview", path)
        assert subject.backend.serves("find", subject.station.root)
        assert subject.backend.serves("references", path)

    def test_definitions_are_found_where_they_are(self, subject: Subject) -> None:
        for known in subject.expected["definitions"]:
            within = subject.station.path(known["path"])
            answer = subject.ask("find", Wanted(f"/{known['name_path']}", within))
            found = [(s.name_path, s.path, s.line, s.column, s.end_line) for s in answer.symbols]
            place = [known[key] for key in ("name_path", "path", "line", "column", "end_line")]
            assert tuple(place) in found, known["name_path"]
            assert answer.symbols[0].kind in known["kinds"], known["name_path"]

    def test_names_are_found_in_the_whole_workspace(self, subject: Subject) -> None:
        answer = subject.ask("find", Wanted("Berth/assign", subject.station.root))
        (known,) = [d for d in subject.expected["definitions"] if d["name_path"] == "Berth/assign"]
        assert [(s.path, s.line) for s in answer.symbols] == [(known["path"], known["line"])]

    @pytest.mark.parametrize("name", ["Berth.assign", "Berth::assign"])
    def test_other_ways_to_write_a_path_are_understood(self, subject: Subject, name: str) -> None:
        answer = subject.ask("find", Wanted(name, subject.station.root))
        assert [s.name_path for s in answer.symbols] == ["Berth/assign"]

    def test_a_part_of_a_name_and_kinds_narrow_what_is_found(self, subject: Subject) -> None:
        wanted = Wanted("erth", subject.station.root, substring=True, kinds=("class",))
        answer = subject.ask("find", wanted)
        assert {"Berth", "BerthTaken"} <= {s.name_path for s in answer.symbols}
        assert {s.kind for s in answer.symbols} == {"class"}

    def test_what_does_not_fit_is_told(self, subject: Subject) -> None:
        answer = subject.ask("find", Wanted("e", subject.station.root, substring=True, most=3))
        assert (len(answer.symbols), answer.more[:8]) == (3, "at least")

    def test_a_name_that_nobody_gave_is_not_found(self, subject: Subject) -> None:
        answer = subject.ask("find", Wanted("nobody_gave_this_name", subject.station.root))
        assert (answer.symbols, answer.total) == ((), 0)

    def test_a_body_is_the_lines_of_the_definition(self, subject: Subject) -> None:
        (known,) = [d for d in subject.expected["definitions"] if d["name_path"] == "Berth/assign"]
        answer = subject.ask("find", Wanted("Berth/assign", subject.station.root, body=True))
        lines = Path(subject.station.path(known["path"])).read_text().splitlines()
        wanted = "\n".join(lines[known["line"] - 1 : known["end_line"]])
        above, _, body = answer.symbols[0].body.rpartition(lines[known["line"] - 1])
        assert lines[known["line"] - 1] + body == wanted
        assert above.split() in ([], ["@logged"])  # a backend may count decorators to it

    def test_an_overview_has_all_definitions_of_a_file_in_order(self, subject: Subject) -> None:
        path = subject.expected["definitions"][0]["path"]
        answer = subject.ask("overview", subject.station.path(path), 3)
        flat = list(_flat(answer.symbols))
        assert [s.line for s in answer.symbols] == sorted(s.line for s in answer.symbols)
        assert {s.path for s in flat} == {path}
        assert answer.total == len(flat)
        for known in subject.expected["definitions"]:
            if known["path"] == path and "/" not in known["name_path"].partition("/")[2]:
                assert (known["name_path"], known["line"]) in [(s.name_path, s.line) for s in flat]

    def test_a_flat_overview_has_no_members(self, subject: Subject) -> None:
        path = subject.station.path(subject.expected["definitions"][0]["path"])
        answer = subject.ask("overview", path, 0)
        assert "Ship" in [s.name for s in answer.symbols]
        assert not any(s.children for s in answer.symbols)

    def test_uses_are_found_and_others_are_not(self, subject: Subject) -> None:
        for known in subject.expected["references"]:
            if not subject.knows & {"types"} and "/" in known["symbol"]:
                continue
            within = subject.station.path(known["path"])
            answer = subject.station.run(
                subject.facade.references(f"/{known['symbol']}", within, 0, subject.station.bench())
            )
            fits(answer)
            found = {(use.path, use.line, use.column) for use in answer.references}
            uses, also, never = (_places(known[key]) for key in ("uses", "also", "never"))
            assert uses <= found, known["symbol"]
            if "types" in subject.knows:
                assert found <= uses | also, known["symbol"]
            assert not found & never, known["symbol"]

    def test_uses_are_compared_with_the_text(self, subject: Subject) -> None:
        (known,) = [k for k in subject.expected["references"] if k["symbol"] == "Berth/assign"]
        answer = subject.station.run(
            subject.facade.references(
                "Berth/assign", subject.station.root, 0, subject.station.bench()
            )
        )
        assert answer.agreement == "same"
        assert answer.text_only == ()
        assert answer.files == len({use["path"] for use in known["uses"]})

    def test_a_use_leads_to_its_definition(self, subject: Subject) -> None:
        for known in subject.expected["declarations"]:
            if not subject.knows & {"types"} and "/" in known["definition"]["name_path"]:
                continue
            path = subject.station.path(known["path"])
            spot = Spot(path, known["line"], known["column"], known["name"])
            answer = subject.ask("declaration", spot)
            wanted = known["definition"]
            assert (wanted["path"], wanted["line"]) in [(s.path, s.line) for s in answer.symbols]

    def test_complaints_stand_where_the_mistakes_are(self, subject: Subject) -> None:
        if "checks" not in subject.knows:
            return
        for known in subject.expected["diagnostics"]:
            answer = subject.ask("diagnostics", [subject.station.path(known["path"])], "error")
            assert known["line"] in [said.line for said in answer.diagnostics]
        clean = [subject.station.path(path) for path in subject.expected["clean"]]
        assert subject.ask("diagnostics", clean, "error").diagnostics == ()

    def test_a_file_of_no_known_language_is_refused_in_words(self, subject: Subject) -> None:
        Path(subject.station.path("blob.xyz")).write_text("what is this\n")
        with pytest.raises(Unable, match=r"Nothing here can list the symbols of blob\.xyz"):
            subject.ask("overview", subject.station.path("blob.xyz"), 0)

    def test_what_changes_on_disk_is_seen(self, subject: Subject) -> None:
        path = Path(subject.station.path(subject.expected["definitions"][0]["path"]))
        before = path.read_text()
        try:
            path.write_text("\n\n" + before)
            answer = subject.ask("find", Wanted("/describe", str(path)))
            known = [d for d in subject.expected["definitions"] if d["name_path"] == "describe"]
            assert [s.line for s in answer.symbols] == [known[0]["line"] + 2]
        finally:
            path.write_text(before)

    def test_nothing_of_a_secret_file_is_shown(self, subject: Subject) -> None:
        (known,) = [d for d in subject.expected["definitions"] if d["name_path"] == "Berth/assign"]
        bench = subject.station.bench(secret=known["path"])
        wanted = Wanted("assign", subject.station.root, body=True)
        answer = subject.station.run(subject.facade.find(wanted, bench))
        assert answer.symbols == ()


def _flat(symbols: Any) -> Iterator[Any]:
    for symbol in symbols:
        yield symbol
        yield from _flat(symbol.children)


def _places(known: list[dict[str, Any]]) -> set[tuple[str, int, int]]:
    return {(one["path"], one["line"], one["column"]) for one in known}
