"""Which parts of files are shown, and how much of them."""

from hypothesis import given
from hypothesis import strategies as st

from steersman.operations.code.index.excerpts import (
    OVERHEAD,
    SHARE,
    Piece,
    Scale,
    Span,
    Unit,
    choose,
    tokens,
    units,
)

TEXT = """\
\"\"\"About boats.\"\"\"
import os

LIMIT = 3

@cached
# how deep
def depth(boat):
    return boat.depth


class Boat:
    \"\"\"Floats.\"\"\"

    def float(self):
        return True


print("end")
"""
CODE = TEXT.split("\n")
SPANS = [
    Span("LIMIT", "constant", 4, 4),
    Span("depth", "function", 8, 9),
    Span("Boat", "class", 12, 16),
    Span("Boat/float", "method", 15, 16),
]


def test_a_file_is_cut_at_its_definitions_without_gaps():
    assert units(SPANS, CODE) == [
        Unit("", "head", 1, 4),
        Unit("depth", "function", 6, 9),
        Unit("Boat", "class", 12, 13),
        Unit("Boat/float", "method", 15, 19),
    ]


def test_prose_is_cut_at_empty_lines():
    lines = [*(["word"] * 30), "", *(["word"] * 10)]
    assert [(u.line, u.end_line) for u in units([], lines)] == [(1, 30), (31, 41)]


def test_a_unit_is_worth_the_words_in_it_and_more_those_in_its_name():
    scale = Scale({"boat": 1.0, "depth": 2.0})
    worths = {unit.name: scale.weigh(unit, CODE)[0] for unit in units(SPANS, CODE)}
    assert worths["depth"] > worths["Boat"] > worths["Boat/float"] == 0


def test_a_long_unit_is_cut_to_where_its_words_are():
    lines = ["def long():", *["    pass"] * 98, "    anchor()", *["    pass"] * 50]
    unit = Unit("long", "function", 1, len(lines))
    first, last = Scale({"anchor": 1.0}).cut(unit, lines, 20)
    assert last - first == 19
    assert first <= 100 <= last
    assert Scale({"long": 1.0}).cut(unit, lines, 20) == (1, 20)


def test_neighbours_are_merged_and_the_best_come_first():
    scale = Scale({"boat": 1.0})
    texts = {0: CODE, 1: ["boat"]}
    found = [
        Piece(0, Unit("depth", "function", 6, 9), 0.5),
        Piece(0, Unit("Boat", "class", 12, 13), 0.4),
        Piece(1, Unit("", "text", 1, 1), 0.9),
    ]
    chosen = choose(found, texts, scale, 1000)
    assert [(one.file, one.line, one.end_line) for one in chosen] == [(1, 1, 1), (0, 6, 13)]


@given(
    st.lists(st.tuples(st.integers(1, 200), st.floats(0.01, 5)), min_size=1, max_size=12),
    st.integers(100, 3000),
)
def test_a_budget_holds_and_no_file_takes_all_of_it(files, budget):
    texts = {n: ["boat sails far"] * size for n, (size, _) in enumerate(files)}
    found = [Piece(n, Unit("", "text", 1, size), worth) for n, (size, worth) in enumerate(files)]
    chosen = choose(found, texts, Scale({"boat": 1.0}), budget)
    costs = [
        OVERHEAD + tokens("\n".join(texts[one.file][one.line - 1 : one.end_line])) for one in chosen
    ]
    assert sum(costs) <= budget
    assert all(cost <= budget * SHARE for cost in costs)


def test_tokens_are_rather_counted_too_high():
    assert tokens("x" * 3200) >= 1000
    assert tokens("ä" * 1600) >= 1000
