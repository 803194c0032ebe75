"""Rounds of faults on both stores: nothing is done twice, nothing is lost, nobody writes unasked.

A few seeds here; two hundred of each store with `make soak`. A failing round prints its seed.
"""

from collections.abc import Iterator

import pytest

from tests.faults.plan import plan_for
from tests.faults.playing import Arena, judged, on_sqlite
from tests.faults.postgres import postgres_arena
from tests.postgres import Server

FEW = (7, 10)
MANY = range(1, 201)
DEFECTS = ("settle apart", "no fence", "forget")
ENOUGH = range(5, 13)  # seeds among which every defect shows


@pytest.fixture
def on_postgres(own_server: Server) -> Iterator[Arena]:
    """Grounds on a server that may be restarted."""
    with postgres_arena(own_server) as grounds:
        yield grounds


@pytest.mark.parametrize("seed", FEW)
def test_a_round_on_sqlite(seed):
    assert_fine(judged(plan_for(seed, "sqlite"), on_sqlite))


@pytest.mark.parametrize("seed", FEW)
def test_a_round_on_postgres(seed, on_postgres):
    assert_fine(judged(plan_for(seed, "postgres"), on_postgres))


@pytest.mark.soak
@pytest.mark.parametrize("seed", MANY)
def test_many_rounds_on_sqlite(seed):
    assert_fine(judged(plan_for(seed, "sqlite"), on_sqlite))


@pytest.mark.soak
@pytest.mark.parametrize("seed", MANY)
def test_many_rounds_on_postgres(seed, on_postgres):
    assert_fine(judged(plan_for(seed, "postgres"), on_postgres))


@pytest.mark.soak
@pytest.mark.parametrize("defect", DEFECTS)
def test_a_planted_defect_is_caught(defect):
    assert found(defect)


def assert_fine(verdict):
    """Nothing is wrong; otherwise what, and how to see it again."""
    assert not verdict.wrong, verdict.line


def found(defect):
    """What the checker says about the first round in which a defect shows."""
    for seed in ENOUGH:
        verdict = judged(plan_for(seed, "sqlite"), on_sqlite, defect)
        if verdict.wrong:
            return verdict.wrong
    return ()
