"""The graph of files, and the walk over it."""

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steersman.operations.code.index.graph import (
    MOST_DEFINERS,
    MOST_EDGES,
    Graph,
    connect,
    rank,
    weight,
)


def edges(graph):
    return {
        source: dict(zip(graph.targets[first:last], graph.shares[first:last], strict=True))
        for source, (first, last) in enumerate(pairwise(graph.starts))
        if first != last
    }


def test_all_names_between_two_files_are_one_edge():
    graph = connect(3, {"load": [1], "save": [1], "Store": [2]}, [(0, ["load", "save"], [1, 1])])
    assert edges(graph) == {0: {1: 1.0}}


def test_a_file_does_not_lean_on_itself_nor_on_what_everybody_defines():
    many = list(range(MOST_DEFINERS + 1))
    graph = connect(20, {"main": many, "own": [15]}, [(15, ["main", "own", "os"], [3, 1, 9])])
    assert edges(graph) == {}


@pytest.mark.parametrize(
    ("stronger", "weaker"),
    [
        (("read_settings", 1), ("read", 1)),
        (("ReadSettings", 1), ("readings", 1)),
        (("read", 1), ("_read", 1)),
        (("read", 1), ("read", 2)),
        (("read", 5), ("read", 6)),
    ],
)
def test_what_a_name_says(stronger, weaker):
    assert weight(*stronger) > weight(*weaker)


def test_only_the_strongest_edges_of_a_file_are_kept():
    names = [f"name_{n}" for n in range(100)]
    defines = {name: [n + 1] for n, name in enumerate(names)}
    graph = connect(101, defines, [(0, names, [*range(1, 101)])])
    (kept,) = edges(graph).values()
    assert sorted(kept) == list(range(101 - MOST_EDGES, 101))
    assert math.isclose(sum(kept.values()), 1.0)


def test_the_walk_lifts_what_wanted_files_lean_on():
    # 0 and 1 lean on 2; 3 leans on 4. The question is about 0.
    graph = connect(5, {"a": [2], "b": [4]}, [(0, ["a"], [1]), (1, ["a"], [1]), (3, ["b"], [1])])
    found = rank(graph, {0: 1.0})
    assert found[0] > found[2] > 0
    assert found[1] == found[3] == found[4] == 0
    assert math.isclose(sum(found), 1.0, rel_tol=1e-3)


def test_nobody_asks_and_nobody_is_there():
    assert list(rank(connect(0, {}, []), {})) == []
    assert list(rank(connect(2, {}, []), {})) == [0.5, 0.5]


@given(st.data())
def test_any_graph_sums_to_one_and_survives_the_disk(data):
    files = data.draw(st.integers(1, 8))
    file = st.integers(0, files - 1)
    name = st.sampled_from(["a", "beta_gamma", "_c", "D"])
    defines = data.draw(st.dictionaries(name, st.lists(file, min_size=1, unique=True)))
    some = st.lists(name, unique=True, max_size=4)
    uses = [
        (n, names, [1] * len(names))
        for n, names in enumerate(data.draw(st.lists(some, max_size=files)))
    ]
    graph = connect(files, defines, uses)
    assert Graph.unpacked(graph.packed()) == graph
    wanted = data.draw(st.dictionaries(file, st.floats(0.1, 10)))
    found = rank(graph, wanted)
    assert math.isclose(sum(found), 1.0, rel_tol=1e-2)
    assert min(found) >= 0
