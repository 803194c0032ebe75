"""Lists of definitions, as servers send them, in the one shape."""

from typing import Any

import pytest

from steersman.operations.code.lsp.kinds import EVERY, kind_of, severity_of
from steersman.operations.code.lsp.symbols import (
    body_of,
    cut,
    document_symbols,
    innermost,
    plain,
)
from steersman.operations.code.lsp.wire import Location, Position, Range, each, locations


def span(first: int, last: int, start: int = 0, end: int = 99) -> dict[str, Any]:
    return {
        "start": {"line": first, "character": start},
        "end": {"line": last, "character": end},
    }


def node(name: str, kind: int, first: int, last: int, *inner: Any, at: int = 0) -> dict[str, Any]:
    """A definition over whole lines, its name at a column of the first."""
    return {
        "name": name,
        "kind": kind,
        "range": span(first, last),
        "selectionRange": span(first, first, at, at + len(name)),
        "children": list(inner),
    }


def flat(name: str, kind: int, first: int, last: int) -> dict[str, Any]:
    place = {"uri": "file:///ws/a.py", "range": span(first, last)}
    return {"name": name, "kind": kind, "location": place, "containerName": "wrong"}


def paths(answer: Any, name: str = "a.py", text: str = "") -> list[tuple[str, str]]:
    """Name paths and kinds of all definitions."""
    found = document_symbols(answer, f"/ws/{name}", text.split("\n"), "utf-16", name)
    return [(f.symbol.name_path, f.symbol.kind) for one in found for f in one.flat()]


def test_nested_definitions_have_paths():
    answer = [node("Ship", 5, 0, 9, node("note", 6, 2, 5, node("stamped", 12, 3, 4)))]
    assert paths(answer) == [
        ("Ship", "class"),
        ("Ship/note", "method"),
        ("Ship/note/stamped", "function"),
    ]


def test_a_flat_list_is_nested_by_its_ranges():
    answer = [
        flat("stamped", 12, 3, 4),
        flat("Ship", 5, 0, 9),
        flat("note", 6, 2, 5),
        flat("describe", 12, 10, 12),
    ]
    assert paths(answer) == [
        ("Ship", "class"),
        ("Ship/note", "method"),
        ("Ship/note/stamped", "function"),
        ("describe", "function"),
    ]


@pytest.mark.parametrize(
    ("said", "above", "name"),
    [
        ("send", (), "send"),
        ("(*Client).Send", ("Client",), "Send"),
        ("(Client).Send", ("Client",), "Send"),
        ("(*List[T]).Push", ("List",), "Push"),
        ("Client::send", ("Client",), "send"),
        ("a::b::Client::send", ("a", "b", "Client"), "send"),
        ("send(String, int)", (), "send"),
        ("Box<T>", (), "Box"),
        ("operator<<", (), "operator<<"),
        ("::", (), "::"),
    ],
)
def test_names_are_told_without_what_servers_add(said, above, name):
    assert plain(said) == (above, name)


@pytest.mark.parametrize(
    "block", ["impl Client", "impl<T> Send for Client<T>", "impl fmt::Display for net::Client"]
)
def test_what_a_block_of_rust_implements_belongs_to_its_type(block):
    answer = [node("Client", 23, 0, 2), node(block, 19, 3, 9, node("send", 6, 4, 6))]
    assert paths(answer, "a.rs") == [("Client", "struct"), ("Client/send", "method")]


IMPORTS = """\
import { describe, Ship } from "./ships.js";
import {
  Berth,
  type Store as Shop, // a comment
} from "./all.js";
export {
  free,
} from "./berths.js";
export const limit = 12;
const told = (ship: Ship): string => ship.name;
const asked = async function () {};
const berth = new Berth(1);"""


def test_names_that_a_script_only_imports_are_no_definitions():
    answer = [
        node("describe", 13, 0, 0, at=9),
        node("Ship", 13, 0, 0, at=19),
        node("Berth", 13, 2, 2, at=2),
        node("Shop", 13, 3, 3, at=16),
        node("free", 13, 6, 6, at=2),
        node("limit", 13, 8, 8, at=13),
        node("told", 13, 9, 9, at=6),
        node("asked", 13, 10, 10, at=6),
        node("berth", 13, 11, 11, at=6),
    ]
    assert paths(answer, "a.ts", IMPORTS) == [
        ("limit", "variable"),
        ("told", "function"),
        ("asked", "function"),
        ("berth", "variable"),
    ]


def test_local_variables_and_callbacks_are_no_definitions():
    inner = [node("x", 13, 1, 1), node("map() callback", 12, 2, 3), node("inner", 12, 4, 5)]
    answer = [node("outer", 12, 0, 9, *inner), node("Flags", 5, 10, 12, node("RED", 14, 11, 11))]
    assert paths(answer) == [
        ("outer", "function"),
        ("outer/inner", "function"),
        ("Flags", "class"),
        ("Flags/RED", "constant"),
    ]


def test_places_are_told_in_characters_from_one():
    text = "x = 1\n/* 🚢 */ thing = 2 \nend"
    answer = [node("thing", 13, 1, 2, at=9)]
    (found,) = document_symbols(answer, "/ws/a.py", text.split("\n"), "utf-16", "a.py")
    symbol = found.symbol
    assert (symbol.line, symbol.column, symbol.end_line) == (2, 9, 3)
    assert symbol.signature == "/* 🚢 */ thing = 2"


def test_a_range_that_ends_at_the_start_of_a_line_does_not_reach_into_it():
    answer = [{**node("f", 12, 0, 2), "range": span(0, 2, 0, 0)}]
    (found,) = document_symbols(answer, "/ws/a.py", ["def f():", "    pass", "x"], "utf-8", "a.py")
    assert found.symbol.end_line == 2
    assert body_of(found, ["def f():", "    pass", "x"]) == "def f():\n    pass"


def test_a_server_without_a_range_for_the_name_means_the_first_such_word():
    answer = [{**node("f", 12, 0, 2), "selectionRange": span(0, 2)}]
    lines = ["@decorated", "def f():", "    pass"]
    (found,) = document_symbols(answer, "/ws/a.py", lines, "utf-8", "a.py")
    assert (found.symbol.line, found.symbol.column) == (2, 5)


def test_depth_and_what_is_around_a_place():
    answer = [node("A", 5, 0, 9, node("b", 6, 2, 5, node("c", 12, 3, 4)))]
    found = document_symbols(answer, "/ws/a.py", [], "utf-8", "a.py")
    assert cut(found[0], 0).children == ()
    assert cut(found[0], 1).children[0].children == ()
    around = {line: innermost(found, Position(line, 1)) for line in (1, 3, 5, 20)}
    assert [one.symbol.name_path if one else "" for one in around.values()] == [
        "A", "A/b/c", "A/b", "",
    ]  # fmt: skip


@pytest.mark.parametrize("answer", [None, [], {}, "no", [None, 3], [{"name": "x"}], [{"kind": 5}]])
def test_an_odd_answer_defines_nothing(answer):
    assert paths(answer) == []


def test_places_come_alone_in_lists_and_as_links():
    place = {"uri": "file:///a", "range": span(1, 1, 2, 3)}
    link = {"targetUri": "file:///b", "targetRange": span(0, 9), "targetSelectionRange": span(4, 4)}
    told = [one.uri for one in locations([place, link, {"uri": 3}])]
    assert told == ["file:///a", "file:///b"]
    assert locations(place)[0].range.start == Position(1, 2)
    assert locations(None) == []
    assert each(Location, [place, 1])[0].range == Range(Position(1, 2), Position(1, 3))


def test_every_kind_and_severity_has_a_word():
    words = {kind_of(number) for number in EVERY}
    assert words <= {
        "class", "function", "method", "variable", "constant", "interface", "enum", "struct",
        "module", "property", "field", "constructor", "type", "key",
    }  # fmt: skip
    assert kind_of(11, "a.rs") == "trait"
    assert kind_of(99) == "variable"
    assert [severity_of(n) for n in (1, 2, 3, 4, None, 9)] == [
        "error", "warning", "info", "hint", "error", "error",
    ]  # fmt: skip
